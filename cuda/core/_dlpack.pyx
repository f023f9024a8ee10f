# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""DLPack: export of memory to other libraries, and import of their tensors."""

from __future__ import annotations

from libc.stdint cimport UINT64_MAX, int32_t, int64_t, uint8_t, uint64_t, uintptr_t
from libcpp.vector cimport vector

from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New, PyCapsule_SetName

from cuda.core._native._cuda_core cimport Anchor
from cuda.core._utils._cpython cimport is_interpreter_exiting

import importlib
from enum import IntEnum

from cuda.core._utils.validators import shown

__all__ = ["DLDeviceType", "classify_dl_device", "make_py_capsule"]

cdef const char* PLAIN = b"dltensor"
cdef const char* PLAIN_USED = b"used_dltensor"
cdef const char* VERSIONED = b"dltensor_versioned"
cdef const char* VERSIONED_USED = b"used_dltensor_versioned"


class DLDeviceType(IntEnum):
    """The DLPack device types that this library supports."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLCUDAManaged = 13


def classify_dl_device(buf) -> tuple[int, int]:
    """Return the DLPack device of an object that describes memory.

    Parameters
    ----------
    buf : object
        A :class:`Buffer`, or another object with ``is_device_accessible``, ``is_host_accessible``, ``is_managed`` and
        ``device_id``.

    Returns
    -------
    tuple[int, int]
        ``(device_type, device_id)``.

    Raises
    ------
    BufferError
        If neither a device nor the host can access the memory.
    """
    if buf.is_device_accessible:
        if not buf.is_host_accessible:
            return (int(DLDeviceType.kDLCUDA), buf.device_id)
        return (int(DLDeviceType.kDLCUDAManaged if buf.is_managed else DLDeviceType.kDLCUDAHost), 0)
    if buf.is_host_accessible:
        return (int(DLDeviceType.kDLCPU), 0)
    raise BufferError("memory that neither a device nor the host can access cannot be exported with DLPack")


def make_py_capsule(buf, versioned: bool):
    """Export a buffer as a DLPack capsule with a one-dimensional tensor of int8.

    Parameters
    ----------
    buf : object
        A :class:`Buffer`, or another object with ``handle``, ``size``, and the attributes that
        :func:`classify_dl_device` reads. The capsule, and then the consumer of its tensor, keep it alive.
    versioned : bool
        Whether to create a capsule of DLPack 1.0, ``"dltensor_versioned"``.

    Returns
    -------
    capsule
        The DLPack capsule.
    """
    return DLPack_export_bytes(
        <uintptr_t>int(buf.handle), buf.size, classify_dl_device(buf), buf, Anchor(), versioned, False
    )


cdef object DLPack_export_bytes(
    uintptr_t pointer, int64_t size, tuple device, object owner, const Anchor& anchor, bint versioned, bint is_readonly
):
    cdef DLTensor tensor
    cdef int64_t stride = 1
    tensor.data = <void*>pointer
    tensor.device.device_type = device[0]
    tensor.device.device_id = device[1]
    tensor.ndim = 1
    tensor.dtype.code = kDLInt
    tensor.dtype.bits = 8
    tensor.dtype.lanes = 1
    tensor.shape = &size
    tensor.strides = &stride
    tensor.byte_offset = 0
    return DLPack_export(tensor, owner, anchor, versioned, DLPACK_FLAG_READ_ONLY if is_readonly else 0)


# An exported tensor: the struct that the consumer receives, and the memory it points to.
cdef cppclass Export:
    DLManagedTensor plain
    DLManagedTensorVersioned versioned
    vector[int64_t] extents     # shape, then strides
    Anchor owner
    Anchor anchor


cdef object DLPack_export(const DLTensor& tensor, object owner, const Anchor& anchor, bint versioned, uint64_t flags):
    cdef Export* export = new Export()
    cdef DLTensor described = tensor
    cdef int32_t i
    try:
        export.owner = Anchor.of_object(<PyObject*>owner)
        export.anchor = anchor
        export.extents.resize(2 * tensor.ndim)
        for i in range(tensor.ndim):
            export.extents[i] = tensor.shape[i]
            if tensor.strides != NULL:
                export.extents[tensor.ndim + i] = tensor.strides[i]
        described.shape = export.extents.data() if tensor.ndim else NULL
        described.strides = export.extents.data() + tensor.ndim if tensor.ndim and tensor.strides != NULL else NULL
        if versioned:
            export.versioned.version.major = 1
            export.versioned.version.minor = 0
            export.versioned.manager_ctx = export
            export.versioned.deleter = delete_versioned
            export.versioned.flags = flags
            export.versioned.dl_tensor = described
            return PyCapsule_New(&export.versioned, VERSIONED, drop_versioned)
        export.plain.dl_tensor = described
        export.plain.manager_ctx = export
        export.plain.deleter = delete_plain
        return PyCapsule_New(&export.plain, PLAIN, drop_plain)
    except BaseException:
        del export
        raise


cdef void delete_plain(DLManagedTensor* managed) noexcept nogil:
    if managed != NULL:
        del_export(<Export*>managed.manager_ctx)


cdef void delete_versioned(DLManagedTensorVersioned* managed) noexcept nogil:
    if managed != NULL:
        del_export(<Export*>managed.manager_ctx)


cdef inline void del_export(Export* export) noexcept nogil:
    del export


# Capsule destructors: a capsule that no consumer has renamed still owns its tensor.
cdef void drop_plain(object capsule) noexcept:
    cdef DLManagedTensor* managed
    if PyCapsule_IsValid(capsule, PLAIN):
        managed = <DLManagedTensor*>PyCapsule_GetPointer(capsule, PLAIN)
        managed.deleter(managed)


cdef void drop_versioned(object capsule) noexcept:
    cdef DLManagedTensorVersioned* managed
    if PyCapsule_IsValid(capsule, VERSIONED):
        managed = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, VERSIONED)
        managed.deleter(managed)


cdef bint DLPack_negotiate(object max_version, object dl_device, object copy, tuple own_device) except -1:
    if dl_device is not None and dl_device != own_device:
        raise BufferError(f"dl_device must be None or the device of the memory, {own_device}, not {shown(dl_device)}")
    if copy:
        raise BufferError("copy must be None or False, not True, because DLPack export does not copy")
    if max_version is None:
        return False
    if not isinstance(max_version, tuple):
        raise TypeError(f"max_version must be a tuple (major, minor) or None, not {type(max_version).__name__}")
    if len(<tuple>max_version) != 2:
        raise BufferError(f"max_version must be a tuple (major, minor), not {shown(max_version)}")
    return max_version >= (1, 0)


cdef int DLPack_check_stream(object stream) except -1:
    if stream is not None and (isinstance(stream, bool) or not isinstance(stream, int)):
        raise TypeError(f"stream must be an int or None, not {type(stream).__name__}")
    if stream is not None and (stream == 0 or not -1 <= stream <= UINT64_MAX):
        raise ValueError(
            "stream must be None or 1 for the legacy default stream, 2 for the per-thread one, another address, or -1 "
            f"for no ordering, not {shown(stream)}"
        )
    return 0


# Slightly below 2**63 bytes, because of rounding.
cdef double MAX_REACH = 9.2e18
cdef enum:
    MAX_NDIM = 64


cdef int DLPack_read(object capsule, DLPackSource* source) except -1:
    cdef DLManagedTensorVersioned* versioned = NULL
    cdef DLManagedTensor* plain = NULL
    source.plain = NULL
    source.versioned = NULL
    if PyCapsule_IsValid(capsule, VERSIONED):
        versioned = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, VERSIONED)
        if versioned.version.major != 1:
            raise BufferError(f"the DLPack capsule must have version 1.x, not {versioned.version.major}.x")
        PyCapsule_SetName(capsule, VERSIONED_USED)
        source.tensor = &versioned.dl_tensor
        source.is_readonly = versioned.flags & DLPACK_FLAG_READ_ONLY != 0
        source.versioned = versioned
    elif PyCapsule_IsValid(capsule, PLAIN):
        plain = <DLManagedTensor*>PyCapsule_GetPointer(capsule, PLAIN)
        PyCapsule_SetName(capsule, PLAIN_USED)
        source.tensor = &plain.dl_tensor
        source.is_readonly = False
        source.plain = plain
    else:
        raise BufferError(f"__dlpack__() must return an unused DLPack capsule, not {shown(capsule)}")
    # The capsule is renamed, so the caller must release the tensor, even if the check below fails.
    return DLPack_check(source.tensor)


# Checks the fields of a foreign tensor before use. The memory that its pointers refer to cannot be checked.
cdef int DLPack_check(const DLTensor* tensor) except -1:
    cdef int32_t i
    cdef double elements = 1
    cdef double reach = 0
    cdef double element_size = max(1, tensor.dtype.bits * tensor.dtype.lanes // 8)
    if not 0 <= tensor.ndim <= MAX_NDIM:
        raise ValueError(f"a tensor must have from 0 to {MAX_NDIM} axes, not {tensor.ndim}")
    if tensor.ndim > 0 and tensor.shape == NULL:
        raise ValueError(f"a tensor with {tensor.ndim} axes must have a shape, not a null pointer")
    if tensor.byte_offset > UINT64_MAX - <uintptr_t>tensor.data:
        raise ValueError(f"byte_offset of a tensor must not exceed the address space, but is {tensor.byte_offset}")
    for i in range(tensor.ndim):
        if tensor.shape[i] < 0:
            raise ValueError(f"extents must not be negative: axis {i} has {tensor.shape[i]}")
        elements *= max(1, <double>tensor.shape[i])
        if tensor.strides != NULL and tensor.shape[i] > 1:
            reach += abs(<double>tensor.strides[i]) * (tensor.shape[i] - 1)
    if max(elements, reach + 1) * element_size >= MAX_REACH:
        shape = tuple([tensor.shape[i] for i in range(tensor.ndim)])
        raise ValueError(f"a tensor must not be larger than the address space, but has the shape {shape}")
    return 0


cdef void DLPack_release(DLPackSource* source) noexcept nogil:
    # A deleter can be a ctypes function of a Python module, which may be gone at exit.
    if is_interpreter_exiting():
        pass
    elif source.versioned != NULL and source.versioned.deleter != NULL:
        source.versioned.deleter(source.versioned)
    elif source.plain != NULL and source.plain.deleter != NULL:
        source.plain.deleter(source.plain)
    source.versioned = NULL
    source.plain = NULL
    source.tensor = NULL


# (code, bits) of the DLPack types that NumPy does not have, and their names in the ml_dtypes package.
_EXTENSION_NAMES = {
    (4, 16): "bfloat16",
    (7, 8): "float8_e3m4",
    (8, 8): "float8_e4m3",
    (9, 8): "float8_e4m3b11fnuz",
    (10, 8): "float8_e4m3fn",
    (11, 8): "float8_e4m3fnuz",
    (12, 8): "float8_e5m2",
    (13, 8): "float8_e5m2fnuz",
    (14, 8): "float8_e8m0fnu",
    (15, 6): "float6_e2m3fn",
    (16, 6): "float6_e3m2fn",
    (17, 4): "float4_e2m1fn",
    (kDLInt, 4): "int4",
    (kDLInt, 2): "int2",
    (kDLInt, 1): "int1",
    (kDLUInt, 4): "uint4",
    (kDLUInt, 2): "uint2",
    (kDLUInt, 1): "uint1",
}
_EXTENSIONS = {name: element for element, name in _EXTENSION_NAMES.items()}

_KINDS = {kDLInt: "i", kDLUInt: "u", kDLFloat: "f", kDLComplex: "c", kDLBool: "b"}

# (code, bits) -> dtype, filled on first use.
cdef dict _dtypes = {}

cdef object _numpy = None


cdef object numpy():
    global _numpy
    if _numpy is None:
        _numpy = importlib.import_module("numpy")
    return _numpy


cdef bint DLPack_element(char kind, int64_t itemsize, DLDataType* element) noexcept nogil:
    if kind == c"i" and itemsize in (1, 2, 4, 8):
        element.code = kDLInt
    elif kind == c"u" and itemsize in (1, 2, 4, 8):
        element.code = kDLUInt
    elif kind == c"f" and itemsize in (2, 4, 8):
        element.code = kDLFloat
    elif kind == c"c" and itemsize in (8, 16):
        element.code = kDLComplex
    elif kind == c"b" and itemsize == 1:
        element.code = kDLBool
    else:
        return False
    element.bits = <uint8_t>(itemsize * 8)
    element.lanes = 1
    return True


cdef DLDataType DLPack_element_of_dtype(object dtype) except *:
    cdef DLDataType element
    if dtype.isnative and DLPack_element(<char>ord(dtype.kind), dtype.itemsize, &element):
        return element
    known = _EXTENSIONS.get(dtype.name)
    if known is not None:
        element.code, element.bits = known
        element.lanes = 1
        return element
    reason = "it is not in native byte order" if not dtype.isnative else "DLPack has no such type"
    raise BufferError(f"dtype {dtype} cannot be exported with DLPack: {reason}")


cdef object DLPack_dtype(DLDataType element, bint is_padded):
    cdef object key
    cdef object dtype
    if element.lanes != 1:
        raise NotImplementedError(f"NumPy has no dtype for vectors: the elements have {element.lanes} lanes")
    if element.bits % 8 != 0 and not is_padded:
        raise TypeError(f"NumPy has no dtype for elements of {element.bits} bits packed into bytes")
    key = (element.code, element.bits)
    dtype = _dtypes.get(key)
    if dtype is None:
        dtype = _dtypes[key] = _find_dtype(element)
    return dtype


cdef object _find_dtype(DLDataType element):
    cdef DLDataType known
    kind = _KINDS.get(element.code)
    if kind is not None and DLPack_element(<char>ord(kind), element.bits // 8, &known) and known.bits == element.bits:
        return numpy().dtype(f"{kind}{element.bits // 8}")
    name = _EXTENSION_NAMES.get((element.code, element.bits))
    if name is None:
        raise TypeError(f"NumPy has no dtype for DLPack type code {element.code} with {element.bits} bits")
    try:
        extension = getattr(importlib.import_module("ml_dtypes"), name)
    except (ImportError, AttributeError) as error:
        raise NotImplementedError(f"a dtype for {name} needs a recent version of the ml_dtypes package") from error
    return numpy().dtype(extension)
