# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The structures of DLPack 1.0, and functions that create and read capsules."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t

from cuda.core._native._cuda_core cimport Anchor


cdef struct DLDevice:
    int32_t device_type
    int32_t device_id


cdef struct DLDataType:
    uint8_t code
    uint8_t bits
    uint16_t lanes


cdef struct DLTensor:
    void* data
    DLDevice device
    int32_t ndim
    DLDataType dtype
    int64_t* shape
    int64_t* strides    # in elements; NULL for C order
    uint64_t byte_offset


cdef struct DLManagedTensor:
    DLTensor dl_tensor
    void* manager_ctx
    void (*deleter)(DLManagedTensor*) noexcept nogil


cdef struct DLPackVersion:
    uint32_t major
    uint32_t minor


cdef struct DLManagedTensorVersioned:
    DLPackVersion version
    void* manager_ctx
    void (*deleter)(DLManagedTensorVersioned*) noexcept nogil
    uint64_t flags
    DLTensor dl_tensor


cdef enum:
    DLPACK_FLAG_READ_ONLY = 1
    DLPACK_FLAG_IS_COPIED = 2
    DLPACK_FLAG_IS_PADDED = 4


# The device types of DLDevice.
cdef enum:
    DEVICE_CPU = 1
    DEVICE_CUDA = 2
    DEVICE_CUDA_HOST = 3
    DEVICE_CUDA_MANAGED = 13


# The codes of DLDataType.
cdef enum:
    kDLInt = 0
    kDLUInt = 1
    kDLFloat = 2
    kDLBfloat = 4
    kDLComplex = 5
    kDLBool = 6


# The functions with which C code exchanges tensors of a type, its `__dlpack_c_exchange_api__`. Each returns 0, or -1
# with a Python exception set. None of them synchronizes.
ctypedef void (*SetError)(void* context, const char* kind, const char* message) noexcept nogil

cdef struct DLPackExchangeAPI:
    DLPackVersion version
    void* previous_api
    int (*allocate)(DLTensor*, DLManagedTensorVersioned**, void*, SetError) noexcept nogil
    int (*managed_from_object)(void*, DLManagedTensorVersioned**) except -1
    int (*object_from_managed)(DLManagedTensorVersioned*, void**) except -1
    int (*borrow_from_object)(void*, DLTensor*) except -1
    int (*current_work_stream)(int32_t, int32_t, void**) except -1


# The numpy module, imported on first use.
cdef object numpy()
# Sets the element type for NumPy's `dtype.kind` and `dtype.itemsize`. False if DLPack has none.
cdef bint DLPack_element(char kind, int64_t itemsize, DLDataType* element) noexcept nogil
# The element type of a NumPy dtype, with a byte for each element of less than 8 bits. BufferError if DLPack has none.
cdef DLDataType DLPack_element_of_dtype(object dtype) except *
# The NumPy dtype of an element type. NotImplementedError or TypeError if NumPy has none.
cdef object DLPack_dtype(DLDataType element, bint is_padded)

# Creates a capsule for `tensor`, whose shape and strides are copied. `owner` and `anchor` stay alive until the consumer
# calls the deleter.
cdef object DLPack_export(const DLTensor& tensor, object owner, const Anchor& anchor, bint versioned, uint64_t flags)

# Creates a capsule for a vector of int8 at `pointer`, on `device`: (device_type, device_id).
cdef object DLPack_export_bytes(
    uintptr_t pointer, int64_t size, tuple device, object owner, const Anchor& anchor, bint versioned, bint is_readonly
)

# Returns true if a consumer that passes `max_version` gets a versioned capsule. BufferError for unsupported arguments.
cdef bint DLPack_negotiate(object max_version, object dl_device, object copy, tuple own_device) except -1

# Rejects a `stream` that the protocol does not have: 0, which is ambiguous, and values less than -1.
cdef int DLPack_check_stream(object stream) except -1

# A tensor taken from a capsule, which DLPack_release() must release once.
cdef struct DLPackSource:
    DLTensor* tensor
    bint is_readonly
    DLManagedTensor* plain
    DLManagedTensorVersioned* versioned

# ValueError if a field of a tensor is invalid.
cdef int DLPack_check(const DLTensor* tensor) except -1
# Takes the tensor from a capsule. BufferError if the capsule is used or unknown, ValueError as for DLPack_check().
cdef int DLPack_read(object capsule, DLPackSource* source) except -1
cdef void DLPack_release(DLPackSource* source) noexcept nogil
