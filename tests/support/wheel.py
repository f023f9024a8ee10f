# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks that wheels match the checkout: modules, extensions, stubs, headers, and the software device.

python wheel.py WHEEL...

The architecture in the name of a wheel can be another one than this machine's.
"""

from __future__ import annotations

import runpy
import sys
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EMULATOR = ROOT / "emulator"
HOST_HEADERS = runpy.run_path(str(ROOT / "tools" / "host_headers.py"))["HEADERS"]
# Generated files: declarations of driver functions, headers, and stubs of packages that import names lazily.
GENERATED = {
    *(f"cuda/core/driver/include/host/{name}" for name in HOST_HEADERS),
    *(f"cuda/core/_utils/{name}" for name in ("cydriver.pxd", "cynvrtc.pxd")),
    *(f"cuda/core/_utils/{name}" for name in ("driver_calls_list.hpp", "nvrtc_calls_list.hpp")),
    *(f"cuda/core/{package}/__init__.pyi" for package in ("_memory", "utils")),
}


def library(is_x86: bool) -> set[str]:
    """Return the files that a wheel of the library has for this Python."""
    core = ROOT / "cuda" / "core"
    files = {path for path in core.rglob("*") if path.suffix in (".py", ".pyx", ".pxi", ".pxd", ".hpp")}
    files |= {path for path in (core / "driver" / "include").rglob("*") if path.is_file()}
    names = {path.relative_to(ROOT).as_posix() for path in files}
    programs = (path.relative_to(ROOT) for path in (ROOT / "examples").rglob("*") if path.suffix in (".py", ".ipynb"))
    names |= {f"cuda/core/{str(path).replace('examples', 'examples/programs', 1)}" for path in programs}
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    if not is_x86:
        suffix = suffix.replace("x86_64", "aarch64")
    stems = {path.relative_to(ROOT).with_suffix("").as_posix() for path in core.rglob("*.pyx")}
    names |= {f"{stem}{kind}" for stem in stems for kind in (".pyi", suffix)}
    return names | GENERATED | {"cuda/core/py.typed", "cuda/core/__init__.pyi"}


def software_device() -> set[str]:
    """Return the files that a wheel of the software device has."""
    package = EMULATOR / "cuda" / "emulator"
    headers = (package / "device_include", package / "programs" / "include")
    files = {path for folder in headers for path in folder.rglob("*") if path.is_file()}
    files |= {*package.rglob("*.py"), package / "triton" / "libdevice.ll"}
    opened = ("libnvrtc.so.12", "libnvrtc.so.13", "libnvJitLink.so.12", "libnvJitLink.so.13", "libnvidia-ml.so.1")
    files |= {package / name for name in ("py.typed", "_emulator.so", *opened)}
    return {path.relative_to(EMULATOR).as_posix() for path in files}


def check(wheel: Path) -> list[str]:
    """Return what is wrong with a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if name.startswith("cuda/") and name[-1] != "/"}
    is_library = wheel.name.startswith("cuda_core-")
    wanted = library("aarch64" not in wheel.name) if is_library else software_device()
    problems = {"lacks": sorted(wanted - names), "has, but should not": sorted(names - wanted)}
    found = [f"{wheel} {text}: {', '.join(wrong)}" for text, wrong in problems.items() if wrong]
    if not is_library and "-py3-none-" not in wheel.name:
        found.append(f"{wheel} should serve every Python")
    return found


def main() -> int:
    problems = [problem for wheel in sys.argv[1:] for problem in check(Path(wheel))]
    print(*problems, sep="\n", end="\n" * bool(problems), file=sys.stderr)
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
