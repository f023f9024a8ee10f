# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiling and launching generated kernels."""

from __future__ import annotations

from cuda.core._launch_config import LaunchConfig
from cuda.core._launcher import launch
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core.driver._compilation import Request, compile_object
from cuda.core.driver._errors import launch_error

__all__ = ["DeviceKernel", "build_kernel", "build_user_kernel"]

MAX_BLOCKS = 2**31 - 1
MAX_CONFIGS = 512


class DeviceKernel:
    """A kernel with a fixed block size, whose grid follows from the number of elements.

    Parameters
    ----------
    kernel : :class:`~cuda.core.Kernel`
        The kernel, which loops over the grid (a grid-stride loop) if the array has more elements.
    block : int
        The number of threads of a block.
    per_block : int
        The number of elements that a block handles at once.
    """

    __slots__ = ("block", "bound", "kernel", "per_block")

    def __init__(self, kernel, block: int, per_block: int):
        self.kernel = kernel
        self.block = block
        self.per_block = per_block
        # For each number of blocks the kernel bound to a configuration and the default stream.
        self.bound: dict = {}

    def launch(self, stream, size: int, *arguments) -> None:
        """Launch for ``size`` elements on a :class:`~cuda.core.Stream`, or with None on the default stream."""
        blocks = (size + self.per_block - 1) // self.per_block
        self.launch_blocks(stream, blocks if blocks < MAX_BLOCKS else MAX_BLOCKS, *arguments)

    def bound_for(self, size: int):
        """Return the kernel bound to the grid for ``size`` elements and the default stream."""
        blocks = (size - 1) // self.per_block + 1
        if blocks > MAX_BLOCKS:
            blocks = MAX_BLOCKS
        return self.bound.get(blocks) or self.bind(blocks)

    def launch_blocks(self, stream, blocks: int, *arguments) -> None:
        """Launch a grid of ``blocks`` blocks."""
        bound = self.bound.get(blocks) or self.bind(blocks)
        try:
            if stream is None:
                bound(*arguments)
            else:
                launch(stream, bound.config, self.kernel, *arguments)
        except (CUDAError, RuntimeError) as error:
            raise launch_error(error) from None

    def bind(self, blocks: int):
        """Return the kernel bound to a grid of ``blocks`` blocks and the default stream."""
        if len(self.bound) >= MAX_CONFIGS:
            self.bound.clear()
        config = LaunchConfig(grid=blocks, block=self.block)
        bound = self.bound[blocks] = self.kernel.bind(config, stream=LEGACY_DEFAULT_STREAM)
        return bound


def build_kernel(source: str, names, arch: str, block: int, per_block: int) -> list[DeviceKernel]:
    """Compile a generated source, or take it from the program cache, and return its kernels.

    Parameters
    ----------
    source : str
        The source in CUDA C++.
    names : sequence of str
        The names of the kernels.
    arch : str
        The target architecture.
    block, per_block : int
        The number of threads of a block, and of the elements that it handles at once.
    """
    code = compile_object(Request(source, options=["-w"], no_extern_c=True, arch=arch), "cubin")
    return [DeviceKernel(code.get_kernel(name), block, per_block) for name in names]


def build_user_kernel(source: str, names, arch: str, block: int, per_block: int, options, keep) -> list[DeviceKernel]:
    """Compile a source that contains code of the user; see :func:`build_kernel`.

    Raises
    ------
    CompileError
        If the user's code has errors.
    """
    code = compile_object(Request(source, options=options, keep=keep, no_extern_c=True, arch=arch), "cubin")
    return [DeviceKernel(code.get_kernel(name), block, per_block) for name in names]
