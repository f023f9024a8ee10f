# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tools for classic programs: per-context memoization, occupancy, and the classic names of pools and types."""

from __future__ import annotations

import functools
import gc
import operator

from cuda.core._classic import RLock, shown
from cuda.core.driver._checks import checked_int
from cuda.core.driver._constants import device_attribute
from cuda.core.driver._context import Context, Device, context_for, get_default_device, make_default_context
from cuda.core.driver._pools import (
    DeviceMemoryPool,
    PageLockedAllocator,
    PageLockedMemoryPool,
    PooledDeviceAllocation,
    PooledHostAllocation,
    bitlog2,
)
from cuda.core.driver._types import (
    ScalarArg,
    TypeNameNotKnown,
    VectorArg,
    dtype_to_ctype,
    get_arg_type,
    get_or_register_dtype,
    parse_c_arg,
    register_dtype,
)

__all__ = [
    "DebugMemoryPool",
    "DeviceData",
    "DeviceMemoryPool",
    "OccupancyRecord",
    "PageLockedAllocator",
    "PageLockedMemoryPool",
    "PooledDeviceAllocation",
    "PooledHostAllocation",
    "ScalarArg",
    "TypeNameNotKnown",
    "VectorArg",
    "bitlog2",
    "clear_context_caches",
    "context_dependent_memoize",
    "dtype_to_ctype",
    "get_arg_type",
    "get_default_device",
    "get_or_register_dtype",
    "init_cuda_context_fixture",
    "make_default_context",
    "mark_cuda_test",
    "parse_c_arg",
    "register_dtype",
]


def context_dependent_memoize(func):
    """Decorate a function to cache its results for each context and set of arguments.

    Parameters
    ----------
    func : callable
        A function with hashable arguments.

    Returns
    -------
    callable
        The function with a cache. It raises TypeError for unhashable arguments, and LogicError if no context is
        current.

    Examples
    --------
    >>> @context_dependent_memoize
    ... def get_kernel(dtype):
    ...     return SourceModule(source_for(dtype)).get_function("kernel")
    """
    results: dict = {}
    with _lock:
        _caches.append(results)

    @functools.wraps(func)
    def memoized(*args, **kwargs):
        context = context_for("cuCtxGetCurrent")
        # A device's contexts are equal, but resources of a detached context are invalid in another one.
        known = results.get(id(context))
        if known is None or known[0] is not context:
            drop_detached(results)
            known = results[id(context)] = (context, {})
        key = (args, tuple(sorted(kwargs.items()))) if kwargs else args
        try:
            return known[1][key]
        except KeyError:
            result = known[1][key] = func(*args, **kwargs)
            return result

    return memoized


def clear_context_caches() -> None:
    """Clear the caches of all functions decorated with :func:`context_dependent_memoize`."""
    with _lock:
        caches = list(_caches)
    for results in caches:
        results.clear()


def mark_cuda_test(func):
    """Decorate a test to run in a new context on the default device, which is detached afterwards.

    Parameters
    ----------
    func : callable
        The test.

    Returns
    -------
    callable
        The decorated test. It raises RuntimeError if no context can be created.
    """

    @functools.wraps(func)
    def test(*args, **kwargs):
        generator = init_cuda_context_fixture()
        next(generator)
        try:
            return func(*args, **kwargs)
        finally:
            next(generator, None)

    return test


def init_cuda_context_fixture():
    """Create a context on the default device, yield it, and detach it, as the body of a pytest fixture.

    Raises
    ------
    RuntimeError
        If no context can be created.

    Examples
    --------
    >>> @pytest.fixture(autouse=True)
    ... def context():
    ...     yield from init_cuda_context_fixture()
    """
    context = make_default_context()
    try:
        yield context
    finally:
        clear_context_caches()
        if not context._is_detached:
            context.detach()
        gc.collect()


def drop_detached(results: dict) -> None:
    for key, (context, _) in list(results.items()):
        if context._is_detached:
            results.pop(key, None)


_lock = RLock()
_caches: list[dict] = []


class DeviceData:
    """Limits and alignments of a device.

    Parameters
    ----------
    dev : Device, optional
        The device. Defaults to the current context's device.

    Attributes
    ----------
    max_threads : int
        The maximum number of threads per block.
    warp_size : int
        The number of threads per warp.
    warps_per_mp, thread_blocks_per_mp : int
        The maximum number of resident warps per SM, and of resident blocks per SM.
    registers, shared_memory : int
        The maximum number of registers per block, and the maximum shared memory per block in bytes.
    registers_per_mp, shared_memory_per_mp : int
        The number of registers per SM, and the shared memory per SM in bytes.
    smem_granularity, smem_alloc_granularity : int
        The number of shared memory banks, and the shared memory allocation granularity in bytes.
    register_allocation_unit : str
        The unit of register allocation: ``"warp"``.

    Raises
    ------
    LogicError
        If ``dev`` is None, and no context is current.
    """

    def __init__(self, dev: Device | None = None):
        dev = Context.get_device() if dev is None else dev
        if not isinstance(dev, Device):
            raise TypeError(f"dev must be a Device, not {type(dev).__name__}")

        def get(name: str) -> int:
            return dev.get_attribute(getattr(device_attribute, name))

        self.max_threads = get("MAX_THREADS_PER_BLOCK")
        self.warp_size = get("WARP_SIZE")
        self.warps_per_mp = get("MAX_THREADS_PER_MULTIPROCESSOR") // self.warp_size
        self.thread_blocks_per_mp = get("MAX_BLOCKS_PER_MULTIPROCESSOR")
        self.registers = get("MAX_REGISTERS_PER_BLOCK")
        self.registers_per_mp = get("MAX_REGISTERS_PER_MULTIPROCESSOR")
        self.shared_memory = get("MAX_SHARED_MEMORY_PER_BLOCK")
        self.shared_memory_per_mp = get("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR")
        self._reserved = get("RESERVED_SHARED_MEMORY_PER_BLOCK")
        self.smem_granularity = 32
        self.smem_alloc_granularity = 128 if dev.compute_capability() >= (8, 0) else 256
        self.register_allocation_unit = "warp"

    def __repr__(self):
        return f"DeviceData({', '.join(f'{name}={value}' for name, value in vars(self).items() if name[0] != '_')})"

    def align(self, bytes: int, word_size: int = 4) -> int:
        """Return a number of bytes rounded up to a multiple of :meth:`align_bytes`."""
        return rounded_up(bytes, self.align_bytes(word_size))

    def align_dtype(self, elements: int, dtype_size: int) -> int:
        """Return a number of elements rounded up to a multiple of :meth:`align_words`."""
        return rounded_up(elements, self.align_words(dtype_size))

    def align_words(self, word_size: int) -> int:
        """Return the row alignment in words. See :meth:`align_bytes`."""
        return self.align_bytes(word_size) // word_size

    def align_bytes(self, word_size: int = 4) -> int:
        """Return the row alignment in bytes for coalesced accesses.

        Parameters
        ----------
        word_size : int, optional
            The size of an access in bytes: 4, 8 or 16. Defaults to 4.

        Raises
        ------
        ValueError
            If ``word_size`` is not 4, 8 or 16.
        """
        sizes = {4: 64, 8: 128, 16: 128}
        if word_size not in sizes:
            raise ValueError(f"word_size must be 4, 8 or 16, not {word_size}")
        return sizes[word_size]

    def coalesce(self, thread_count: int) -> int:
        """Return a number of threads rounded up to whole warps."""
        return rounded_up(thread_count, self.warp_size)

    @staticmethod
    def make_valid_tex_channel_count(size: int) -> int:
        """Return the smallest valid number of texture channels (1, 2 or 4) that is at least ``size``.

        Raises
        ------
        ValueError
            If ``size`` is more than 4.
        """
        for count in (1, 2, 4):
            if size <= count:
                return count
        raise ValueError(f"textures have at most 4 channels, not {size}")


class OccupancyRecord:
    """The occupancy of a kernel: its resident blocks and warps per SM.

    Parameters
    ----------
    devdata : DeviceData
        The device limits.
    threads : int
        The number of threads per block.
    shared_mem : int, optional
        The shared memory per block in bytes. Defaults to 0.
    registers : int, optional
        The number of registers per thread. Defaults to 0.

    Attributes
    ----------
    tb_per_mp : int
        The number of resident blocks per SM.
    limited_by : str
        The limiting resource: ``"device"``, ``"warps"``, ``"regs"`` or ``"smem"``.
    warps_per_mp : int
        The number of resident warps per SM.
    occupancy : float
        The fraction of the maximum number of resident warps, from 0 to 1.

    Raises
    ------
    TypeError
        If ``devdata`` is not a DeviceData, or another argument is not an int.
    ValueError
        If the device cannot run even one block.
    """

    _REGISTERS_OF_WARP = 256

    def __init__(self, devdata: DeviceData, threads: int, shared_mem: int = 0, registers: int = 0):
        if isinstance(devdata, Device) or not hasattr(devdata, "warps_per_mp"):
            raise TypeError(f"devdata must be a DeviceData, not {type(devdata).__name__}")
        threads, shared_mem = checked_int("threads", threads), checked_int("shared_mem", shared_mem)
        registers = checked_int("registers", registers)
        for name, value, least, most in (
            ("threads", threads, 1, devdata.max_threads),
            ("shared_mem", shared_mem, 0, devdata.shared_memory_per_mp - devdata._reserved),
            ("registers", registers * threads, 0, devdata.registers),
        ):
            if not least <= value <= most:
                raise ValueError(f"{name} of a block must be from {least} to {most}, not {shown(value)}")
        warps = (threads + devdata.warp_size - 1) // devdata.warp_size
        limits = [("device", devdata.thread_blocks_per_mp), ("warps", devdata.warps_per_mp // warps)]
        if registers:
            of_warp = rounded_up(registers * devdata.warp_size, self._REGISTERS_OF_WARP)
            limits.append(("regs", devdata.registers_per_mp // of_warp // warps))
        if shared_mem:
            of_block = rounded_up(shared_mem + devdata._reserved, devdata.smem_alloc_granularity)
            limits.append(("smem", devdata.shared_memory_per_mp // of_block))
        self.limited_by, self.tb_per_mp = min(limits, key=lambda item: item[1])
        if not self.tb_per_mp:
            raise ValueError(f"no block of {threads} threads with {registers} registers each fits on a multiprocessor")
        self.warps_per_mp = self.tb_per_mp * warps
        self.occupancy = self.warps_per_mp / devdata.warps_per_mp

    def __repr__(self):
        return f"<OccupancyRecord {self.tb_per_mp} blocks, occupancy {self.occupancy:.2f}, by {self.limited_by}>"


def rounded_up(value: int, step: int) -> int:
    return (operator.index(value) + step - 1) // step * step


class DebugMemoryPool(DeviceMemoryPool):
    """A pool of device memory that logs each allocation.

    Parameters
    ----------
    interactive : bool, optional
        Whether to print a line for each allocation. Defaults to True.
    logfile : file, optional
        A file that also receives the lines.
    """

    def __init__(self, interactive: bool = True, logfile=None):
        super().__init__()
        self.interactive = interactive
        self.logfile = logfile

    def allocate(self, size: int) -> PooledDeviceAllocation:
        """Allocate memory of at least ``size`` bytes, and log it. See :meth:`DeviceMemoryPool.allocate`."""
        held = self.held_blocks
        memory = super().allocate(size)
        how = "reused" if self.held_blocks < held else "new"
        line = f"allocated {size} bytes ({how}); {self.active_bytes} bytes in {self.active_blocks} blocks are in use"
        if self.interactive:
            print(line)
        if self.logfile is not None:
            print(line, file=self.logfile)
        return memory


def __dir__():
    return list(__all__)
