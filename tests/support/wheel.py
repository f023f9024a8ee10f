# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks that a wheel matches the checkout: modules, extensions, stubs, headers, and the software device.

python wheel.py WHEEL

The architecture in the name of the wheel can be another one than this machine's.
"""

from __future__ import annotations

import runpy
import sys
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILDERS = {"cuda/emulator/build.py", "cuda/emulator/_generate.py"}
HOST_HEADERS = runpy.run_path(str(ROOT / "tools" / "host_headers.py"))["HEADERS"]
# Generated files: declarations of driver functions, headers, and stubs of packages that import names lazily.
GENERATED = {
    *(f"cuda/core/driver/include/host/{name}" for name in HOST_HEADERS),
    *(f"cuda/core/_utils/{name}" for name in ("cydriver.pxd", "cynvrtc.pxd")),
    *(f"cuda/core/_utils/{name}" for name in ("driver_calls_list.hpp", "nvrtc_calls_list.hpp")),
    *(f"cuda/core/{package}/__init__.pyi" for package in ("_memory", "utils")),
}


def expected(is_x86: bool) -> set[str]:
    """Return the files that a wheel of this checkout has for this Python."""
    core, emulator = ROOT / "cuda" / "core", ROOT / "cuda" / "emulator"
    files = {path for path in core.rglob("*") if path.suffix in (".py", ".pyx", ".pxi", ".pxd", ".hpp")}
    files |= {*emulator.glob("*.py")}
    for headers in (emulator / "device_include", core / "driver" / "include"):
        files |= {path for path in headers.rglob("*") if path.is_file()}
    names = {path.relative_to(ROOT).as_posix() for path in files} - BUILDERS
    programs = (path.relative_to(ROOT) for path in (ROOT / "examples").rglob("*") if path.suffix in (".py", ".ipynb"))
    names |= {f"cuda/core/{str(path).replace('examples', 'examples/programs', 1)}" for path in programs}
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    if not is_x86:
        suffix = suffix.replace("x86_64", "aarch64")
    stems = {path.relative_to(ROOT).with_suffix("").as_posix() for path in core.rglob("*.pyx")}
    names |= {f"{stem}{kind}" for stem in stems for kind in (".pyi", suffix)}
    others = {"cuda/core/py.typed", "cuda/emulator/py.typed", "cuda/emulator/_emulator.so", "cuda/core/__init__.pyi"}
    return names | GENERATED | others


def main() -> int:
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        names = {name for name in wheel.namelist() if name.startswith("cuda/") and name[-1] != "/"}
    wanted = expected("aarch64" not in sys.argv[1])
    lacking, foreign = sorted(wanted - names), sorted(names - wanted)
    for text, wrong in (("lacks", lacking), ("has, but should not", foreign)):
        if wrong:
            print(f"{sys.argv[1]} {text}: {', '.join(wrong)}", file=sys.stderr)
    return int(bool(lacking or foreign))


if __name__ == "__main__":
    sys.exit(main())
