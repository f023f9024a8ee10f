# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory operations: streams that write values to memory, and wait for values in memory."""

from __future__ import annotations

import math
import struct

from cuda.core._utils.cuda_utils import UnavailableError, require_driver
from cuda.core._utils.validators import check_address, find_str_enum, int_argument, shown

__all__ = ["MemoryOperation", "packed_operations"]

# By their values as CUstreamWaitValue_flags.
_CONDITIONS = (">=", "==", "&", "nor")
_SCOPES = ("system", "device")  # CUstreamMemoryBarrier_flags
_WAIT, _WRITE, _FLUSH, _BARRIER = {32: 1, 64: 4}, {32: 2, 64: 5}, 3, 6  # CUstreamBatchMemOpType
_FLUSHES = 1 << 30  # CU_STREAM_WAIT_VALUE_FLUSH
_REDUCE = 8
_REDUCTIONS = {"add": 0, "and": 5, "or": 6}  # CUstreamAtomicReductionOpType
_UNSIGNED = {32: 0b1110, 64: 0b10110}  # CUstreamAtomicReductionDataType


class MemoryOperation:
    """An operation on memory that a stream executes, or a node of a graph, without a kernel.

    The static methods create operations, for :meth:`Stream.run_operations` and
    :meth:`~cuda.core.graph.GraphNode.memory_operations`. Their ``target`` is a buffer, a view whose first element is
    meant, or an address. The memory must stay allocated until the operation has completed.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device, MemoryOperation
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> flags = device.zeros(2, np.int32, pinned=True)
    >>> values = np.asarray(flags)
    >>> values[0] = 1
    >>> stream.run_operations(MemoryOperation.wait(flags[0:], 1, "=="), MemoryOperation.write(flags[1:], 5))
    >>> stream.sync()
    >>> values
    array([1, 5], dtype=int32)
    """

    __slots__ = ("_arguments", "_packed", "_target")

    def __init__(self, *args, **kwargs):
        raise RuntimeError(
            "MemoryOperation cannot be constructed directly; use write(), reduce(), wait(), barrier() or flush()"
        )

    def __repr__(self) -> str:
        return f"<MemoryOperation {self._arguments}>"

    @staticmethod
    def write(target, value: int, *, bits: int | None = None) -> MemoryOperation:
        """Return an operation that writes a value (``CU_STREAM_MEM_OP_WRITE_VALUE_32``, ``..._64``).

        Parameters
        ----------
        target : :class:`Buffer` | :class:`~cuda.core.utils.StridedMemoryView` | int
            The memory.
        value : int
            The value, signed or unsigned.
        bits : int, optional
            32 or 64. Defaults to the size of the elements of a view, which must be integers, and to 32 for other
            memory.

        Raises
        ------
        TypeError
            If an argument has the wrong type, or ``bits`` is None and the elements of a view are not integers.
        OverflowError
            If ``value`` does not fit.
        ValueError
            If ``bits`` is neither 32 nor 64, the address is not aligned to it, or ``target`` is smaller or read-only.
        RuntimeError
            If ``target`` is a closed buffer.
        """
        if getattr(target, "readonly", False):
            raise ValueError("target must be writable, but is a read-only view")
        address, bits, value = _place(target, value, bits)
        return _operation(f"write {value} to {address:#x}", target, "=i4xQQI4xQ", _WRITE[bits], address, value, 0, 0)

    @staticmethod
    def reduce(target, value: int, operation: str = "add", *, bits: int | None = None) -> MemoryOperation:
        """Return an operation that combines memory with a value atomically (``CU_STREAM_MEM_OP_ATOMIC_REDUCTION``).

        Devices that have it report ``atomic_reduction_supported`` in their properties; drivers have it since CUDA 13.1.

        Parameters
        ----------
        target, value, bits
            As for :meth:`write`.
        operation : str, optional
            ``"add"``, the default, ``"and"`` or ``"or"``.

        Raises
        ------
        TypeError, OverflowError, ValueError, RuntimeError
            As for :meth:`write`, and if ``operation`` is unknown.
        NotSupportedError
            If the driver is older than CUDA 13.1.

        Examples
        --------
        >>> import numpy as np
        >>> from cuda.core import Device, MemoryOperation
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> count = device.zeros((), np.int32, pinned=True)
        >>> if device.properties.atomic_reduction_supported:
        ...     stream.run_operations(MemoryOperation.reduce(count, 5))
        """
        if getattr(target, "readonly", False):
            raise ValueError("target must be writable, but is a read-only view")
        code = _REDUCTIONS[find_str_enum(operation, list(_REDUCTIONS), "operation")]
        require_driver(13010, "an atomic reduction of memory")
        address, bits, number = _place(target, value, bits)
        text = f"{operation} {value} to {address:#x}"
        return _operation(text, target, "=iIiIQQQ", _REDUCE, 0, code, _UNSIGNED[bits], address, number, 0)

    @staticmethod
    def wait(
        target, value: int, condition: str = ">=", *, bits: int | None = None, flush: bool = False
    ) -> MemoryOperation:
        """Return an operation that waits for a value (``CU_STREAM_MEM_OP_WAIT_VALUE_32``, ``..._64``).

        Parameters
        ----------
        target, value, bits
            As for :meth:`write`.
        condition : str, optional
            ``">="``, the default, compares the signed difference, so it works for counters that overflow; ``"=="``,
            ``"&"`` (a common bit) and ``"nor"`` (a bit that neither has) are the others.
        flush : bool, optional
            Whether to make remote writes that the value announces visible (``CU_STREAM_WAIT_VALUE_FLUSH``). Defaults to
            False.
        """
        address, bits, value = _place(target, value, bits)
        flags = _CONDITIONS.index(find_str_enum(condition, _CONDITIONS, "condition")) | (_FLUSHES if flush else 0)
        text = f"wait for {address:#x} {condition} {value}"
        return _operation(text, target, "=i4xQQI4xQ", _WAIT[bits], address, value, flags, 0)

    @staticmethod
    def barrier(scope: str = "system") -> MemoryOperation:
        """Return an operation that orders memory accesses before and after it (``CU_STREAM_MEM_OP_BARRIER``).

        Parameters
        ----------
        scope : str, optional
            ``"system"``, the default, or ``"device"``.

        Raises
        ------
        ValueError
            If ``scope`` is unknown.
        """
        flags = _SCOPES.index(find_str_enum(scope, _SCOPES, "scope"))
        return _operation(f"barrier of the {scope}", None, "=iI", _BARRIER, flags)

    @staticmethod
    def flush() -> MemoryOperation:
        """Return an operation that makes remote writes visible (``CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES``)."""
        return _operation("flush of remote writes", None, "=iI", _FLUSH, 0)


def packed_operations(operations) -> bytes:
    """Return operations as an array of ``CUstreamBatchMemOpParams``.

    Raises
    ------
    TypeError
        If one is not a :class:`MemoryOperation`.
    ValueError
        If there are none.
    """
    for item in operations:
        if not isinstance(item, MemoryOperation):
            raise TypeError(f"operations must be MemoryOperation objects, not {type(item).__name__}")
    if not operations:
        raise ValueError("at least one operation is needed")
    return b"".join([item._packed for item in operations])


def _operation(text, target, layout, *values) -> MemoryOperation:
    self = MemoryOperation.__new__(MemoryOperation)
    self._arguments, self._target = text, target
    self._packed = struct.pack(layout, *values).ljust(48, b"\0")
    return self


def _place(target, value, bits) -> tuple[int, int, int]:
    """Return the address, the width in bits, and the value as an unsigned int."""
    if getattr(target, "is_closed", False):
        raise UnavailableError("target must be an open Buffer, but is closed")
    dtype = getattr(target, "dtype", None)
    if bits is None and dtype is not None and dtype.kind not in "iu":
        raise TypeError(f"target must have integers as elements, not {dtype}; pass bits=32 or bits=64 for their bits")
    if bits is None:
        bits = 32 if dtype is None else dtype.itemsize * 8
    if not isinstance(bits, int) or bits not in _WRITE:
        raise ValueError(f"bits must be 32 or 64, not {shown(bits)}")
    room = _size_of(target)
    if room is not None and room < bits // 8:
        raise ValueError(f"target must have at least {bits // 8} bytes, not {room}")
    address = check_address("target", getattr(target, "ptr", getattr(target, "handle", target)))
    if address % (bits // 8):
        raise ValueError(f"address {address:#x} is not aligned; it must be a multiple of {bits // 8} bytes")
    number = int_argument("value", value)
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise OverflowError(f"value must fit {bits} bits, but {shown(value)} does not")
    return address, bits, number & ((1 << bits) - 1)


def _size_of(target) -> int | None:
    """Return the bytes from the first element of a buffer or view to its end, or None for an address."""
    shape = getattr(target, "shape", None)
    if shape is None:
        return getattr(target, "size", None) if hasattr(target, "handle") else None
    if 0 in shape:
        return 0
    itemsize = 1 if target.dtype is None else target.dtype.itemsize
    if target.strides is None:
        return math.prod(shape) * itemsize
    ahead = [(count - 1) * stride for count, stride in zip(shape, target.strides, strict=True) if stride > 0]
    return (sum(ahead) + 1) * itemsize
