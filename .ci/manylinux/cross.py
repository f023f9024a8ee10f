# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Builds a wheel for another architecture with this machine's Python: `python cross.py ARCH FOLDER`, in the source.

The configuration of this Python is copied and says that the machine is of the other architecture. The headers are those
of this Python, which are equal on all 64-bit Linux platforms.
"""

import importlib
import os
import pprint
import subprocess
import sys
import sysconfig
from pathlib import Path

CONFIGURATION = "_sysconfigdata_cross"


def main(arch: str, target: str) -> int:
    here = os.uname().machine
    known = importlib.import_module(sysconfig._get_sysconfigdata_name()).build_time_vars
    names = ("EXT_SUFFIX", "SOABI", "MULTIARCH", "HOST_GNU_TYPE")
    changed = known | {name: str(known.get(name, "")).replace(here, arch) for name in names}
    folder = Path("build", "cross").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{CONFIGURATION}.py").write_text(f"build_time_vars = {pprint.pformat(changed)}\n")
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "WHEEL_ARCH": arch,
        "_PYTHON_HOST_PLATFORM": f"linux-{arch}",
        "_PYTHON_SYSCONFIGDATA_NAME": CONFIGURATION,
    }
    command = [sys.executable, "setup.py", "--quiet", "bdist_wheel", "--dist-dir", target]
    return subprocess.run(command, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
