# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks an installed wheel where nothing else is: every extension is loaded, and the software device answers.

Runs without a compiler, and without the driver bindings, which are an extra: `.ci/wheel` calls it.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import sysconfig
from pathlib import Path

os.environ["CUDA_CORE_DEVICE"] = "software"

import cuda.core
from cuda.core import Device, LegacyPinnedMemoryResource


def main() -> int:
    package = Path(cuda.core.__file__).parent
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    names = [path.relative_to(package).as_posix().removesuffix(suffix) for path in package.rglob(f"*{suffix}")]
    wrong = [name for name in sorted(names) if fails(f"cuda.core.{name.replace('/', '.')}")]
    device = Device()
    device.set_current()
    stream = device.create_stream()
    buffer = LegacyPinnedMemoryResource().allocate(64)
    buffer.fill(7, stream=stream)
    stream.sync()
    if ctypes.string_at(int(buffer.handle), 64) != b"\7" * 64:
        wrong.append("a fill")
    print(f"{len(names)} extensions, device {device.name!r}", *(f"; failed: {name}" for name in wrong))
    return int(bool(wrong) or len(names) < 40)


def fails(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return not (error.name or "").startswith("cuda.bindings")  # not installed here
    return False


if __name__ == "__main__":
    sys.exit(main())
