# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""List the examples, or run one of them.

python -m cuda.core.examples                     the names of the examples, and what they do
python -m cuda.core.examples NAME [ARGUMENTS]    run an example, on the software device if there is no GPU
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

__all__ = ["main"]

_HERE = Path(__file__).resolve().parent


def programs() -> dict[str, Path]:
    """Return the paths of the examples by name: beside this file if it is installed, or in the checkout."""
    installed = _HERE / "programs"
    directory = installed if installed.is_dir() else _HERE.parents[2] / "examples"
    return {path.stem: path for path in sorted(directory.glob("*.py"))}


def main(arguments: list[str] | None = None) -> int:
    """List the examples or run one, and return the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    found = programs()
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max(map(len, found))
        for name, path in found.items():
            text = ast.get_docstring(ast.parse(path.read_text())) or ""
            print(f"{name:{width}}  {text.partition(chr(10))[0]}")
        print("\nRun one with: python -m cuda.core.examples NAME")
        return 0
    name, *rest = arguments
    if name not in found:
        print(f"there is no example {name!r}; the names are: {', '.join(found)}", file=sys.stderr)
        return 2
    # A process of its own: an example may start others, which import it as their main module.
    environment = {"CUDA_CORE_DEVICE": "auto"} | os.environ
    return subprocess.run([sys.executable, str(found[name]), *rest], env=environment).returncode


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as head, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        status = 0
    sys.exit(status)
