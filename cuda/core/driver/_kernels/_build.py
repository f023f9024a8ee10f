# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiling and launching the kernels that the library generates."""

from __future__ import annotations

from cuda.core._launch_config import LaunchConfig
from cuda.core._launcher import launch
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from cuda.core._utils.cuda_utils import CUDAError
from cuda.core.driver._compile._compilation import Request, compile_object
from cuda.core.driver._errors import launch_error

__all__ = ["DeviceKernel", "build_kernel", "build_user_kernel"]

MOST_BLOCKS = 2**31 - 1
MOST_CONFIGS = 512


class DeviceKernel:
    """A kernel whose blocks share the elements of a call.

    Parameters
    ----------
    kernel : :class:`~cuda.core.Kernel`
        What is launched.
    block : int
        Threads of a block.
    per_block : int
        Elements that a block handles. A larger array is handled in several rounds where the grid has its limit.
    """

    __slots__ = ("block", "bound", "kernel", "per_block")

    def __init__(self, kernel, block: int, per_block: int):
        self.kernel = kernel
        self.block = block
        self.per_block = per_block
        # By number of blocks: configurations bound to the default stream.
        self.bound: dict = {}

    def launch(self, stream, size: int, *arguments) -> None:
        """Launch for `size` elements, on a :class:`~cuda.core.Stream` or, with None, on the default stream."""
        blocks = (size + self.per_block - 1) // self.per_block
        self.launch_blocks(stream, blocks if blocks < MOST_BLOCKS else MOST_BLOCKS, *arguments)

    def bound_for(self, size: int):
        """Return the kernel bound to the blocks for `size` elements on the default stream."""
        blocks = (size - 1) // self.per_block + 1
        if blocks > MOST_BLOCKS:
            blocks = MOST_BLOCKS
        return self.bound.get(blocks) or self.bind(blocks)

    def launch_blocks(self, stream, blocks: int, *arguments) -> None:
        """Launch so many blocks."""
        bound = self.bound.get(blocks) or self.bind(blocks)
        try:
            if stream is None:
                bound(*arguments)
            else:
                launch(stream, bound.config, self.kernel, *arguments)
        except (CUDAError, RuntimeError) as error:
            raise launch_error(error) from None

    def bind(self, blocks: int):
        """Return the kernel bound to so many blocks on the default stream."""
        if len(self.bound) >= MOST_CONFIGS:
            self.bound.clear()
        config = LaunchConfig(grid=blocks, block=self.block)
        bound = self.bound[blocks] = self.kernel.bind(config, stream=LEGACY_DEFAULT_STREAM)
        return bound


def build_kernel(source: str, names, arch: str, block: int, per_block: int) -> list[DeviceKernel]:
    """Compile a source of ours, or find it in the cache of compiled programs, and return its kernels.

    Parameters
    ----------
    source : str
        CUDA C++.
    names : sequence of str
        Names of the kernels.
    arch : str
        Target architecture.
    block, per_block : int
        Threads of a block, and the elements that it handles.
    """
    code = compile_object(Request(source, options=["-w"], no_extern_c=True, arch=arch), "cubin")
    return [DeviceKernel(code.get_kernel(name), block, per_block) for name in names]


def build_user_kernel(source: str, names, arch: str, block: int, per_block: int, options, keep) -> list[DeviceKernel]:
    """Compile a source that has a user's text in it; see :func:`build_kernel`.

    Raises
    ------
    CompileError
        If the text is wrong.
    """
    code = compile_object(Request(source, options=options, keep=keep, no_extern_c=True, arch=arch), "cubin")
    return [DeviceKernel(code.get_kernel(name), block, per_block) for name in names]
