# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Run a program on the software device.

python -m cuda.emulator program.py [arguments]
python -m cuda.emulator -m module [arguments]
python -m cuda.emulator -c code [arguments]
"""

import os
import sys


def main(arguments):
    from cuda.emulator import activate

    if not arguments or arguments[0] in ("-h", "--help") or (arguments[0] in ("-m", "-c") and len(arguments) < 2):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    os.environ["CUDA_CORE_DEVICE"] = "software"  # child processes inherit it
    try:
        activate()
    except RuntimeError as error:
        print(f"python -m cuda.emulator: {error}", file=sys.stderr)
        return 1
    if arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        _set_first_path("")
        exec(compile(arguments[1], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
        return 0

    import runpy

    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        _set_first_path(os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        _set_first_path(os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


def _set_first_path(directory):
    """Set the first entry of ``sys.path`` as Python does for such a program."""
    if not sys.flags.safe_path:
        sys.path[0] = directory
    elif sys.argv[0].endswith(".py"):
        sys.path.insert(0, directory)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
