# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Directories of the CUDA headers that kernels of the tests include."""

from __future__ import annotations

import shutil
from pathlib import Path


def header_folders() -> list[str] | None:
    """Return the directories of CUDA's headers, or None if some are missing. The software device needs none."""
    import cuda.emulator

    if cuda.emulator.is_active():
        return []
    from cuda.pathfinder import locate_nvidia_header_directory

    found = [locate_nvidia_header_directory(name) for name in ("cudart", "cccl")]
    folders = [str(folder.abs_path) for folder in found if folder is not None]
    if nvcc := shutil.which("nvcc"):
        toolkit = Path(nvcc).resolve().parents[1] / "include"
        folders += [str(toolkit), str(toolkit / "cccl")]
    # The wheel of the runtime lacks the headers of `crt`, which its own headers include.
    parts = ("cuda_fp16.h", "crt/host_defines.h", "cuda/std/type_traits")
    return folders if all(any(Path(folder, part).exists() for folder in folders) for part in parts) else None
