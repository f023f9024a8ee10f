# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The kernels in ``kernels``, run on NumPy arrays by ``cuda.core``."""

from __future__ import annotations

import functools
import shutil
from pathlib import Path

import numpy as np

from support.paths import KERNELS


def header_folders() -> list[str] | None:
    """Return the directories of the CUDA headers, or None if some are missing.

    The software device needs none.
    """
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


def cccl_folder() -> str | None:
    """Return the directory of the CUDA Core Compute Libraries, or None if they are not installed."""
    from cuda.pathfinder import locate_nvidia_header_directory

    found = locate_nvidia_header_directory("cccl")
    return str(found.abs_path) if found is not None else None


def curand_folder() -> str | None:
    """Return the directory of the cuRAND headers, or None if they are not installed."""
    from cuda.pathfinder import locate_nvidia_header_directory

    found = locate_nvidia_header_directory("curand")
    return str(found.abs_path) if found is not None else None


class KernelFile:
    """The kernels of a file, compiled on the first call.

    Parameters
    ----------
    name : str
        The file.
    *expressions : str
        Names of templates, such as ``"reduce<int, Least, 64>"``.
    headers : bool, optional
        Whether the file includes CUDA headers.
    cccl : bool, optional
        Whether the file includes headers of the CUDA Core Compute Libraries.
    curand : bool, optional
        Whether the file includes cuRAND headers.
    define : str, optional
        A macro to define.
    """

    def __init__(
        self, name: str, *expressions: str, headers=False, cccl=False, curand=False, define: str | None = None
    ):
        self.path = KERNELS / name
        self.expressions = expressions
        self.headers = headers
        self.cccl = cccl
        self.curand = curand
        self.define = define

    @functools.cached_property
    def code(self):
        """The object code, for the current device."""
        from cuda.core import Program, ProgramOptions

        folders = (header_folders() if self.headers else None) or []
        folders = [*folders, *([cccl_folder()] if self.cccl else []), *([curand_folder()] if self.curand else [])]
        # Without fused multiply-add, so that sums round as in NumPy.
        options = ProgramOptions(
            name=self.path.name, std="c++17", include_path=folders or None, fma=False, define_macro=self.define
        )
        return Program(self.path.read_text(), "c++", options).compile("cubin", name_expressions=self.expressions)

    def __call__(self, stream, name, grid, block, *arguments, shared=0, cooperative=False) -> None:
        """Run a kernel and wait for it; arrays among the arguments are copied to the device and back."""
        from cuda.core import LaunchConfig, launch

        config = LaunchConfig(grid=grid, block=block, shmem_size=shared, is_cooperative=cooperative)
        copies = {index: Copy(array, stream) for index, array in enumerate(arguments) if isinstance(array, np.ndarray)}
        values = [copies[index].device if index in copies else value for index, value in enumerate(arguments)]
        launch(stream, config, self.code.get_kernel(name), *values)
        for copy in copies.values():
            copy.device.copy_to(copy.host, stream=stream)
        stream.sync()
        for copy in copies.values():
            copy.finish()


class Copy:
    """An array on the device, for one launch."""

    def __init__(self, array, stream):
        from cuda.core import LegacyPinnedMemoryResource

        assert array.flags.c_contiguous
        self.array = array
        self.host = LegacyPinnedMemoryResource().allocate(array.nbytes)
        self.device = stream.device.allocate(array.nbytes, stream=stream)
        self.bytes[:] = array.reshape(-1).view(np.uint8)
        self.device.copy_from(self.host, stream=stream)

    @property
    def bytes(self):
        return np.from_dlpack(self.host).view(np.uint8)

    def finish(self) -> None:
        """Store the result in the array, and free both buffers."""
        if self.array.flags.writeable:
            self.array.reshape(-1).view(np.uint8)[:] = self.bytes
        self.device.close()
        self.host.close()
