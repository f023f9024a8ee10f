# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of other libraries, as the other side of a copy: PEP 3118, DLPack, the CUDA array interface."""

from __future__ import annotations

from libc.stdint cimport uintptr_t

from cpython.buffer cimport PyBUF_STRIDED, PyBUF_STRIDED_RO, PyBuffer_Release, PyObject_CheckBuffer, PyObject_GetBuffer
from cuda.bindings cimport cydriver

from cuda.core._arrays._interfaces cimport parse_itemsize, read_entries
from cuda.core._dlpack cimport (
    DEVICE_CPU,
    DEVICE_CUDA,
    DEVICE_CUDA_HOST,
    DEVICE_CUDA_MANAGED,
    DLPACK_FLAG_IS_COPIED,
    DLPack_read,
    DLPack_release,
    DLPackSource,
    DLTensor,
)
from cuda.core._handles._handles cimport Allocation, StreamHandle, address
from cuda.core._layout cimport check_reach, checked_itemsize, checked_shape, checked_strides
from cuda.core._memory.copying._copies cimport check_apart, copy_boxes, copy_bytes
from cuda.core._stream cimport Stream, Stream_wrap

from math import prod

from cuda.core._arrays._strided_boxes import have_common_bytes, plan_copy
from cuda.core._memory.copying._plain_bytes import holds_objects
from cuda.core._utils.validators import check_address

__all__ = []


cdef class Operand:
    """The memory of an array, held while a copy is put into a stream."""

    cdef:
        cydriver.CUdeviceptr _pointer
        tuple _shape
        tuple _strides      # in bytes
        size_t _itemsize
        bint _is_on_host    # only the host knows the memory
        Py_buffer _view
        bint _has_view
        DLPackSource _tensor

    def __dealloc__(self):
        if self._has_view:
            PyBuffer_Release(&self._view)
        DLPack_release(&self._tensor)


cdef int copy_to_array(
    object array, const Allocation& source, Stream stream, const StreamHandle& h_stream, object options
) except -1:
    cdef Operand target = Operand_open(array, "dst", True, stream, h_stream)
    cdef cydriver.CUdeviceptr pointer = source.pointer
    cdef size_t size = checked_size(target, source.size)
    if is_contiguous(target):
        check_apart(target._pointer, pointer, size)
        return copy_bytes(target._pointer, pointer, size, h_stream, options)
    check_strided(target, pointer, options)
    copy_boxes(
        plan_copy(bytes_of(target), (*target._strides, 1), packed(bytes_of(target)), 1),
        target._pointer, target._is_on_host, pointer, False, h_stream,
    )
    return 0


cdef int copy_from_array(
    const Allocation& target, object array, Stream stream, const StreamHandle& h_stream, object options
) except -1:
    cdef Operand source = Operand_open(array, "src", False, stream, h_stream)
    cdef cydriver.CUdeviceptr pointer = target.pointer
    cdef size_t size = checked_size(source, target.size)
    if is_contiguous(source):
        check_apart(pointer, source._pointer, size)
        return copy_bytes(pointer, source._pointer, size, h_stream, options)
    check_strided(source, pointer, options)
    copy_boxes(
        plan_copy(bytes_of(source), packed(bytes_of(source)), (*source._strides, 1), 1),
        pointer, False, source._pointer, source._is_on_host, h_stream,
    )
    return 0


cdef Operand Operand_open(
    object array, str name, bint is_written, Stream stream, const StreamHandle& h_stream
):
    cdef Operand self = Operand.__new__(Operand)
    # An array of a device may have the buffer protocol too, and refuse it.
    if PyObject_CheckBuffer(array) and not hasattr(array, "__cuda_array_interface__"):
        open_buffer(self, array, name, is_written)
    elif hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
        open_tensor(self, array, name, is_written, h_stream)
    elif hasattr(array, "__cuda_array_interface__"):
        open_interface(self, array.__cuda_array_interface__, name, is_written, stream, h_stream)
    else:
        raise TypeError(
            f"{name} must be a Buffer, or an array with the buffer protocol, DLPack or the CUDA array interface, "
            f"not {type(array).__name__}"
        )
    return self


cdef int open_buffer(Operand self, object array, str name, bint is_written) except -1:
    try:
        PyObject_GetBuffer(array, &self._view, PyBUF_STRIDED if is_written else PyBUF_STRIDED_RO)
    except (BufferError, ValueError) as error:
        raise TypeError(f"{name} is no memory to {'write to' if is_written else 'read'}: {error}") from error
    self._has_view = True
    if holds_objects(array, b"" if self._view.format == NULL else self._view.format):
        raise TypeError(f"{name} must have elements of plain bytes; these refer to Python objects")
    self._pointer = <uintptr_t>self._view.buf
    self._itemsize = self._view.itemsize
    self._is_on_host = True
    self._shape = tuple([self._view.shape[i] for i in range(self._view.ndim)])
    # The arrays of ctypes give no strides, although they were asked for them.
    if self._view.strides == NULL:
        self._strides = in_bytes(packed(self._shape), self._itemsize)
    else:
        self._strides = tuple([self._view.strides[i] for i in range(self._view.ndim)])
    return 0


cdef int open_tensor(
    Operand self, object array, str name, bint is_written, const StreamHandle& h_stream
) except -1:
    cdef DLTensor* tensor
    kind = int(array.__dlpack_device__()[0])
    if kind not in (DEVICE_CPU, DEVICE_CUDA, DEVICE_CUDA_HOST, DEVICE_CUDA_MANAGED):
        raise TypeError(f"{name} must be in memory of the host or of CUDA, not on DLPack's device type {kind}")
    DLPack_read(capsule_of(array, kind, h_stream), &self._tensor)
    tensor = self._tensor.tensor
    if is_written:
        check_writable(name, self._tensor.is_readonly)
        if self._tensor.versioned != NULL and self._tensor.versioned.flags & DLPACK_FLAG_IS_COPIED:
            raise TypeError(f"{name} gives a copy of its memory, which nobody would see written")
    if tensor.dtype.bits * tensor.dtype.lanes % 8 != 0 or tensor.dtype.bits * tensor.dtype.lanes == 0:
        bits = tensor.dtype.bits * tensor.dtype.lanes
        raise TypeError(f"{name} has elements of {bits} bits, which are no whole bytes")
    self._itemsize = tensor.dtype.bits * tensor.dtype.lanes // 8
    self._pointer = <uintptr_t>tensor.data + tensor.byte_offset
    self._is_on_host = kind == DEVICE_CPU
    self._shape = tuple([tensor.shape[i] for i in range(tensor.ndim)])
    if tensor.strides == NULL:
        self._strides = in_bytes(packed(self._shape), self._itemsize)
    else:
        self._strides = in_bytes([tensor.strides[i] for i in range(tensor.ndim)], self._itemsize)
    return 0


# The exporter orders its own work before that of the stream.
cdef object capsule_of(object array, int kind, const StreamHandle& h_stream):
    number = None
    if kind in (DEVICE_CUDA, DEVICE_CUDA_MANAGED):
        number = address(h_stream) or 1     # DLPack's number of the legacy default stream
    try:
        return array.__dlpack__(stream=number, max_version=(1, 0))
    except TypeError:
        # An exporter from before DLPack 1.0 does not know the second argument.
        return array.__dlpack__(stream=number)


cdef int open_interface(
    Operand self, object interface, str name, bint is_written, Stream stream, const StreamHandle& h_stream
) except -1:
    shape, typestr, self._pointer, is_readonly = read_entries(interface)
    self._itemsize = checked_itemsize(parse_itemsize(typestr))
    if is_written:
        check_writable(name, is_readonly)
    if typestr[1:2] == "O":
        raise TypeError(f"{name} must have elements of plain bytes; these refer to Python objects")
    self._shape = checked_shape(tuple(shape) if isinstance(shape, list) else shape)
    strides = interface.get("strides")
    if strides is None:
        self._strides = in_bytes(packed(self._shape), self._itemsize)
    else:
        self._strides = checked_strides(tuple(strides) if isinstance(strides, list) else strides, len(self._shape))
    check_reach(self._shape, self._strides, 1, self._itemsize)
    number = interface.get("stream")
    if number is not None:
        number = check_address(f"the stream of {name}", number)
        if number == 0:
            raise ValueError(f"{name} names the stream 0, which the CUDA array interface forbids")
        if number != address(h_stream):
            stream.wait(Stream_wrap(<cydriver.CUstream><uintptr_t>number, None))
    return 0


cdef int check_writable(str name, bint is_readonly) except -1:
    if is_readonly:
        raise TypeError(f"{name} is no memory to write to: it is read-only")
    return 0


cdef size_t checked_size(Operand self, size_t size) except? <size_t>-1:
    mine = prod(self._shape) * self._itemsize
    if mine != size:
        raise ValueError(f"the array and the buffer of a copy must have the same size, not {mine} and {size} bytes")
    return size


cdef int check_strided(Operand self, cydriver.CUdeviceptr buffer, object options) except -1:
    cdef tuple shape = bytes_of(self)
    if options is not None:
        raise ValueError("options are for contiguous memory only; make a contiguous copy of the array first")
    if have_common_bytes(shape, self._pointer, (*self._strides, 1), buffer, packed(shape), 1):
        raise ValueError(f"the array and the buffer overlap: they are at {self._pointer:#x} and {buffer:#x}")
    return 0


cdef bint is_contiguous(Operand self) except -1:
    cdef object expected = self._itemsize
    if 0 in self._shape:
        return True
    for extent, stride in zip(reversed(self._shape), reversed(self._strides)):
        if extent != 1:
            if stride != expected:
                return False
            expected *= extent
    return True


# The shape with the bytes of an element as its last axis: strides need be no multiples of the element.
cdef tuple bytes_of(Operand self):
    return (*self._shape, self._itemsize)


# Strides in elements of an array without gaps.
cdef tuple packed(tuple shape):
    strides = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


cdef tuple in_bytes(object strides, size_t itemsize):
    return tuple([stride * itemsize for stride in strides])
