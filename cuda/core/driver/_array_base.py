# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The array base class: memory, shape, strides, data type, and interchange protocols."""

from __future__ import annotations

import numpy as np

from cuda import core
from cuda.core import LEGACY_DEFAULT_STREAM, Buffer
from cuda.core._classic import capture_count, list_argument, shown
from cuda.core.driver._array_layout import (
    c_byte_strides,
    checked_array_shape,
    f_byte_strides,
    kept_order_strides,
    memory_range,
)
from cuda.core.driver._array_memory import ResultAllocation, open_results, share_result, take_array
from cuda.core.driver._checks import callable_argument, checked_int, numpy_dtype, ordered
from cuda.core.driver._context import Context, Device, context_for
from cuda.core.driver._device_memory import DeviceAllocation, as_pointer, mem_alloc
from cuda.core.driver._errors import INVALID_CONTEXT, INVALID_HANDLE, logic_error
from cuda.core.driver._storage import ArrayStorage, fast_array, make_view, set_layout
from cuda.core.driver._streams import core_stream
from cuda.core.utils import StridedMemoryView

__all__ = [
    "ArrayBase",
    "ArrayDevice",
    "ArrayFlags",
    "array_device",
    "check_array",
    "check_on_device",
    "checked_dtype",
    "device_of",
    "overlap",
    "splay",
    "stream_for",
]


class ArrayDevice:
    """The device properties that arrays need, and the device's operation plans.

    Attributes
    ----------
    ordinal : int
        The device ordinal.
    arch : str
        The target architecture of kernels, such as ``"sm_90"``.
    multiprocessors : int
        The number of SMs.
    plans : dict
        The operation plans, keyed by operation and operand types.
    """

    def __init__(self, ordinal: int):
        device = core.Device(ordinal)
        self.ordinal = ordinal
        self.arch = f"sm_{device.arch}"
        self.multiprocessors = device.properties.multiprocessor_count
        self.plans: dict = {}

    def __repr__(self):
        return f"<device {self.ordinal} of arrays, {self.arch}>"


def array_device(api: str = "cuMemAlloc") -> ArrayDevice:
    """Return the device of the current context, or raise LogicError for the driver call ``api`` if there is none."""
    context = context_for(api)
    return context.array_device or device_of(context)


def device_of(context: Context) -> ArrayDevice:
    """Return the device of a context, and cache it in the context."""
    ordinal = context._device._ordinal
    found = _devices.get(ordinal)
    if found is None:
        found = _devices.setdefault(ordinal, ArrayDevice(ordinal))
    context.array_device = found
    return found


def check_array(name: str, array) -> None:
    """Raise TypeError unless an argument is an array."""
    if not isinstance(array, ArrayBase):
        raise TypeError(f"{name} must be a GPUArray, not {type(array).__name__}")


def check_on_device(device: ArrayDevice, *others: ArrayDevice) -> None:
    """Raise LogicError unless all arrays are on the current context's device."""
    for other in (array_device("cuLaunchKernel"), *others):
        if other is not device:
            raise logic_error(
                "cuLaunchKernel",
                INVALID_CONTEXT,
                f"an array is in a context of device {device.ordinal}, but another array or the current context is on "
                f"device {other.ordinal}",
            )


_devices: dict[int, ArrayDevice] = {}


MAX_BYTES = 2**63 - 1


class ArrayBase(ArrayStorage):
    """An n-dimensional array in device memory, without operations."""

    # NumPy arrays and scalars leave binary operators to this class.
    __array_priority__ = 100

    def __init__(self, shape, dtype, allocator=mem_alloc, base=None, gpudata=None, strides=None, order: str = "C"):
        is_plain = gpudata is None and strides is None and base is None and allocator is mem_alloc
        if is_plain and order == "C" and fast_array(self, shape, dtype):
            return
        shape = checked_array_shape(shape)
        dtype = checked_dtype(dtype)
        if strides is None:
            order = ordered(order)
            strides = (c_byte_strides if order == "C" else f_byte_strides)(shape, dtype.itemsize)
        else:
            strides = tuple([checked_int("each of strides", stride) for stride in list_argument("strides", strides)])
            if any(stride % dtype.alignment for stride in strides):
                raise ValueError(
                    f"strides must be multiples of {dtype.alignment} bytes for {dtype}, not {shown(strides)}"
                )
            if len(strides) != len(shape):
                raise ValueError(f"strides must have one item per dimension, got {shown(strides)} for shape {shape}")
        low, high = memory_range(shape, strides, dtype.itemsize)
        if high - low > MAX_BYTES:
            raise ValueError(f"an array of shape {shown(shape)} and type {dtype} has more than {MAX_BYTES} bytes")
        self._device = array_device()
        set_layout(self, shape, strides, dtype)
        self.allocator = allocator = mem_alloc if allocator is None else callable_argument("allocator", allocator)
        if gpudata is None and self.size:
            if low < 0 or (high != self.nbytes and not self._is_c and not self._is_f and high > self.nbytes):
                raise ValueError(f"strides {strides} do not match a new array of shape {shape}")
            if self.nbytes > MAX_BYTES:
                raise ValueError(f"an array of shape {shown(shape)} and type {dtype} has more than {MAX_BYTES} bytes")
            if allocator is mem_alloc:
                gpudata = take_array(context_for("cuMemAlloc"), self.nbytes)
            else:
                gpudata = allocator(self.nbytes)
            if gpudata is None:
                raise TypeError(f"allocator must return device memory, not None: {shown(allocator)}")
            check_room("the memory returned by allocator", gpudata, self.nbytes)
        else:
            check_room("gpudata", gpudata, high)
        self._set_memory(gpudata, base)

    def _set_memory(self, gpudata, base) -> None:
        self.base = base
        self._gpudata = gpudata
        self._owner = gpudata if isinstance(gpudata, Buffer) else getattr(base, "_owner", _OPEN)
        self._address = 0 if gpudata is None else as_pointer(gpudata)
        # Passing the allocation itself lets the launch keep the memory alive and check that it is open.
        self._argument = gpudata if isinstance(gpudata, DeviceAllocation) else self._address

    def _new(self, shape, dtype, strides=None, allocator=None):
        """Return a new array of the same class for a result. ``allocator`` defaults to this array's."""
        return type(self)._new_result(shape, dtype, strides, self.allocator if allocator is None else allocator)

    @classmethod
    def _new_result(cls, shape, dtype, strides=None, allocator=mem_alloc):
        """Return a new array for a result. ``shape`` and ``dtype`` must already be checked."""
        new = ArrayStorage.__new__(cls)
        set_layout(new, shape, c_byte_strides(shape, dtype.itemsize) if strides is None else strides, dtype)
        if new.nbytes > MAX_BYTES:
            raise ValueError(f"an array of shape {shown(shape)} and type {dtype} has more than {MAX_BYTES} bytes")
        context = context_for("cuMemAlloc")
        new._device = context.array_device or device_of(context)
        new._take_memory(allocator, context)
        return new

    def _new_dense(self, dtype, context):
        """Return a new array for a result, with the shape and order of this array, which must be contiguous."""
        new = ArrayStorage.__new__(type(self))
        new.shape = self.shape
        new.dtype = dtype
        new.size = size = self.size
        itemsize = dtype.itemsize
        if dtype is self.dtype or itemsize == self.dtype.itemsize:
            new.strides = self.strides
        else:
            new.strides = (c_byte_strides if self._is_c else f_byte_strides)(self.shape, itemsize)
        new.nbytes = size * itemsize
        new._is_c = self._is_c
        new._is_f = self._is_f
        new._device = self._device
        new._take_memory(self.allocator, context)
        return new

    def _new_number(self, dtype, context):
        """Return a new 0-d array for a result."""
        new = ArrayStorage.__new__(type(self))
        new.shape = new.strides = ()
        new.dtype = dtype
        new.size = 1
        new.nbytes = dtype.itemsize
        new._is_c = new._is_f = True
        new._device = self._device
        new._take_memory(self.allocator, context)
        return new

    def _take_memory(self, allocator, context) -> None:
        self.allocator = allocator
        self.base = None
        if not self.size:
            self._gpudata, self._owner, self._address, self._argument = None, _OPEN, 0, 0
        elif allocator is mem_alloc:
            # The common case: the default allocator.
            self._gpudata = self._owner = self._argument = memory = (context.take_result or open_results(context))(
                self.nbytes
            )
            self._address = memory.handle
        else:
            memory = allocator(self.nbytes)
            check_room("the memory returned by allocator", memory, self.nbytes)
            self._set_memory(memory, None)

    def _new_like(self, dtype, order: str = "K"):
        """Return a new array for a result, with this array's shape. ``order`` is as for :func:`empty_like`."""
        return self._new(self.shape, dtype, self._strides_like(dtype, order))

    def _empty_like(self, dtype=None, order: str = "K"):
        """Return a new array like this one for the program, from its allocator instead of the result pool."""
        dtype = self.dtype if dtype is None else checked_dtype(dtype)
        if self._is_c and order in ("K", "C"):
            return type(self)(self.shape, dtype, self.allocator)
        return type(self)(self.shape, dtype, self.allocator, strides=self._strides_like(dtype, order))

    def _strides_like(self, dtype, order: str = "K") -> tuple[int, ...]:
        """Return the strides of a contiguous array with this array's shape and the given order."""
        if order == "K":
            return kept_order_strides(self.shape, self.strides, dtype.itemsize)
        if order == "C" or (order == "A" and not (self._is_f and not self._is_c)):
            return c_byte_strides(self.shape, dtype.itemsize)
        if order in ("F", "A"):
            return f_byte_strides(self.shape, dtype.itemsize)
        raise ValueError(f"order must be 'C', 'F', 'A' or 'K', not {shown(order)}")

    def _view(self, offset: int, shape, strides, dtype):
        """Return a view of the array's memory, starting ``offset`` bytes after its first element."""
        return make_view(self, offset, shape, strides, dtype)

    def _check_open(self) -> None:
        if self._owner.is_closed:
            raise logic_error("the array", INVALID_HANDLE, "its memory was freed, or its context is detached")

    def _share(self) -> None:
        """Defer freeing the memory to the end of all pending device work, because external code might use it."""
        if self._owner.__class__ is ResultAllocation:
            share_result(self._owner)

    def _pointer_on(self, stream) -> int:
        """Return the kernel argument for a launch on a stream, where None is the default stream."""
        self._check_open()
        if stream is not None and self._owner.__class__ is ResultAllocation:
            stream_for(stream, self)
        return self._address

    @property
    def __cuda_array_interface__(self) -> dict:
        """The CUDA Array Interface, version 3, as a dict.

        Raises
        ------
        LogicError
            If the memory was freed, or its context is detached.
        """
        self._check_open()
        self._share()
        return {
            "shape": self.shape,
            "strides": self.strides,
            "data": (self._address if self.size else 0, False),
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "stream": None,
            "version": 3,
        }

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """Export the array with DLPack. See :meth:`cuda.core.utils.StridedMemoryView.__dlpack__`."""
        view = StridedMemoryView.from_cuda_array_interface(self, stream_ptr=-1)
        return view.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return ``(device_type, device_id)`` of the DLPack protocol."""
        return _DLPACK_CUDA, self._device.ordinal

    @property
    def gpudata(self):
        """The allocation, or the address for a view, or None for an array without elements."""
        self._share()
        return self._gpudata

    @gpudata.setter
    def gpudata(self, memory):
        self._set_memory(memory, self.base)

    @property
    def ptr(self) -> int:
        """The address of the first element as an int.

        Raises
        ------
        LogicError
            If the memory was freed, or its context is detached.
        """
        self._check_open()
        self._share()
        return self._address

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self.dtype.itemsize

    @property
    def mem_size(self) -> int:
        """The number of elements, like ``size``."""
        return self.size

    @property
    def flags(self) -> ArrayFlags:
        """The layout flags: whether the array is contiguous in C order and in Fortran order."""
        return ArrayFlags(self._is_c, self._is_f)

    @property
    def _grid(self) -> tuple[int, int]:
        return self._splayed[0]

    @property
    def _block(self) -> tuple[int, int, int]:
        return self._splayed[1]

    @property
    def _splayed(self):
        return splay(self.size, self._device)


def stream_for(stream, *arrays):
    """Return the :mod:`cuda.core` stream for an array operation, or None for the default stream.

    If another stream uses an array, its memory is freed after all pending device work instead of in default-stream
    order. A stream that does not synchronize with the default stream waits for it once per array, because earlier
    work there might still use the memory.
    """
    if stream is None:
        return None
    inner = core_stream(stream)
    results = [array for array in arrays if array._owner.__class__ is ResultAllocation]
    if results:
        if inner.is_nonblocking and not capture_count():
            inner.wait(LEGACY_DEFAULT_STREAM)
        for array in results:
            array._share()
    return inner


class ArrayFlags:
    """Layout flags of an array.

    Attributes
    ----------
    c_contiguous, f_contiguous, forc : bool
        Whether the array is contiguous in C order, in Fortran order, or in either.
    """

    __slots__ = ("c_contiguous", "f_contiguous", "forc")

    def __init__(self, c_contiguous: bool, f_contiguous: bool):
        self.c_contiguous = c_contiguous = bool(c_contiguous)
        self.f_contiguous = f_contiguous = bool(f_contiguous)
        self.forc = c_contiguous or f_contiguous

    def __getitem__(self, name: str) -> bool:
        names = {"C": "c_contiguous", "F": "f_contiguous"}
        found = names.get(name, name.lower() if isinstance(name, str) else None)
        if found not in self.__slots__:
            raise KeyError(f"flag must be C_CONTIGUOUS, F_CONTIGUOUS or FORC, not {name!r}")
        return getattr(self, found)

    def __repr__(self):
        return f"<flags c_contiguous={self.c_contiguous} f_contiguous={self.f_contiguous}>"


def splay(n: int, dev=None) -> tuple[tuple[int, int], tuple[int, int, int]]:
    """Return a grid and a block for kernels with a grid-stride loop over ``n`` elements.

    Parameters
    ----------
    n : int
        The number of elements.
    dev : Device, optional
        The device. Defaults to the current context's device.

    Returns
    -------
    ((int, int), (int, int, int))
        The grid, with at most as many blocks as can be resident on the device, and a block of 32 to 128 threads.

    Raises
    ------
    TypeError
        If ``n`` is not an int, or ``dev`` is not a device.
    ValueError
        If ``n`` is negative.
    LogicError
        If ``dev`` is None and no context is current.
    """
    n = checked_int("n", n, 0)
    if dev is None:
        dev = array_device()
    elif not (hasattr(dev, "multiprocessors") or isinstance(dev, Device)):
        raise TypeError(f"dev must be a Device or None, not {type(dev).__name__}")
    elif not hasattr(dev, "multiprocessors"):
        dev = _Multiprocessors(dev)
    threads = min(max(32, (n + 31) // 32 * 32), 128)
    most = dev.multiprocessors * 8
    blocks = min(max(1, (n + threads - 1) // threads), most)
    return (blocks, 1), (threads, 1, 1)


class _Multiprocessors:
    def __init__(self, device):
        self.multiprocessors = device.multiprocessor_count


class _NeverClosed:
    is_closed = False


def checked_dtype(dtype) -> np.dtype:
    """Return a dtype supported in device memory.

    Raises
    ------
    TypeError
        If elements are Python objects, have a non-native byte order, extended precision, or no size, or if the dtype
        is a subarray.
    """
    dtype = numpy_dtype(dtype)
    if dtype.hasobject:
        raise TypeError("elements in device memory cannot be Python objects")
    if not dtype.isnative:
        raise TypeError(
            f"dtype {dtype.str} does not have the device's byte order; convert to {dtype.newbyteorder('=').str}"
        )
    if dtype in (np.longdouble, np.clongdouble):
        raise TypeError(f"dtype {dtype} is not supported on devices; convert to float64 or complex128")
    if dtype.subdtype is not None or dtype.itemsize == 0:
        raise TypeError(f"dtype must describe single elements of nonzero size, not {dtype}")
    return dtype


def check_room(name: str, memory, nbytes: int) -> None:
    """Raise ValueError if an allocation is too small for an array."""
    if isinstance(memory, Buffer) and memory.size < nbytes:
        raise ValueError(f"{name} has {memory.size} bytes, but the array needs {nbytes}")


def overlap(first: ArrayBase, second: ArrayBase) -> bool:
    """Return whether two arrays might share memory in any way other than element by element."""
    if first.size == 0 or second.size == 0:
        return False
    if (first._address, first.shape, first.strides) == (second._address, second.shape, second.strides):
        return first.dtype.itemsize != second.dtype.itemsize
    low, high = memory_range(first.shape, first.strides, first.dtype.itemsize)
    other_low, other_high = memory_range(second.shape, second.strides, second.dtype.itemsize)
    return first._address + low < second._address + other_high and second._address + other_low < first._address + high


_OPEN = _NeverClosed()
_DLPACK_CUDA = 2
