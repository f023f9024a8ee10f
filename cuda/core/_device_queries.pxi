# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Limits of contexts, and how devices are connected; a part of ``_device.pyx``."""

from libcpp.vector cimport vector

from cuda.core._device_properties import ATOMIC_CAPABILITIES, ATOMIC_OPERATIONS, CLIQUE_TYPES, P2P_ATTRIBUTES

_RDMA_SCOPES = {
    "owner": cydriver.CUflushGPUDirectRDMAWritesScope.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER,
    "all_devices": cydriver.CUflushGPUDirectRDMAWritesScope.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES,
}


def read_limit(Device device not None, int code) -> int:
    """Return a limit of the context of a device (``cuCtxGetLimit``)."""
    cdef ContextPin pin
    cdef size_t value = 0
    cdef int is_entered = 0
    cdef cydriver.CUresult err, left
    Device_pin_context(device, &pin)
    with nogil:
        is_entered = Context_enter(pin.get())
        err = cydriver.cuCtxGetLimit(&value, <cydriver.CUlimit>code)
        left = Context_leave(is_entered)
    check_limit(err)
    LEAVE_RETURN(err, b"cuCtxGetLimit", left)
    return value


def write_limit(Device device not None, int code, size_t value) -> None:
    """Change a limit of the context of a device (``cuCtxSetLimit``)."""
    cdef ContextPin pin
    cdef int is_entered = 0
    cdef cydriver.CUresult err, left
    Device_pin_context(device, &pin)
    with nogil:
        is_entered = Context_enter(pin.get())
        err = cydriver.cuCtxSetLimit(<cydriver.CUlimit>code, value)
        left = Context_leave(is_entered)
    check_limit(err)
    LEAVE_RETURN(err, b"cuCtxSetLimit", left)


# A limit that the device lacks is an error of its own in the driver.
cdef int check_limit(cydriver.CUresult err) except -1:
    if err == cydriver.CUresult.CUDA_ERROR_UNSUPPORTED_LIMIT:
        raise NotSupportedError(
            "CUDA_ERROR_UNSUPPORTED_LIMIT: the device does not have this limit",
            code=<int>err,
            name="CUDA_ERROR_UNSUPPORTED_LIMIT",
        )
    return 0


cdef object read_peer_attribute(int c_source, int c_target, int code):
    cdef int value = 0
    with nogil:
        HANDLE_RETURN(
            cydriver.cuDeviceGetP2PAttribute(&value, <cydriver.CUdevice_P2PAttribute>code, c_source, c_target),
            b"cuDeviceGetP2PAttribute",
        )
    return value


# The capabilities of a link by the names of the atomic operations; `c_target` is -1 for the link to the host.
cdef dict read_atomics(int c_source, int c_target):
    cdef vector[cydriver.CUatomicOperation] operations
    cdef vector[unsigned int] capabilities
    cdef unsigned int count = <unsigned int>len(ATOMIC_OPERATIONS)
    cdef int code
    for code in range(count):
        operations.push_back(<cydriver.CUatomicOperation>code)
    capabilities.resize(count)
    with nogil:
        if c_target < 0:
            HANDLE_RETURN(
                cydriver.cuDeviceGetHostAtomicCapabilities(capabilities.data(), operations.data(), count, c_source),
                b"cuDeviceGetHostAtomicCapabilities",
            )
        else:
            HANDLE_RETURN(
                cydriver.cuDeviceGetP2PAtomicCapabilities(
                    capabilities.data(), operations.data(), count, c_source, c_target
                ),
                b"cuDeviceGetP2PAtomicCapabilities",
            )
    return {
        name: frozenset(kind for bit, kind in enumerate(ATOMIC_CAPABILITIES) if capabilities[index] >> bit & 1)
        for index, name in enumerate(ATOMIC_OPERATIONS)
    }


cdef object read_cluster(int c_device):
    cdef cydriver.CUuuid c_uuid
    if not ALLOW_RETURN(
        cydriver.cuDeviceGetFabricClusterUuid(&c_uuid, c_device),
        cydriver.CUresult.CUDA_ERROR_NOT_SUPPORTED,
        b"cuDeviceGetFabricClusterUuid",
    ):
        return None
    return uuid_text((<char*>c_uuid.bytes)[:16])


cdef list read_cliques(int c_device):
    cdef vector[cydriver.CUcliqueInfo] cliques
    cdef size_t count = 0
    with nogil:
        ALLOW_RETURN(
            cydriver.cuDeviceGetCliqueCount(&count, c_device),
            cydriver.CUresult.CUDA_ERROR_NOT_SUPPORTED,
            b"cuDeviceGetCliqueCount",
        )
        cliques.resize(count)
        if count:
            HANDLE_RETURN(
                cydriver.cuDeviceGetCliqueInfo(cliques.data(), &count, c_device), b"cuDeviceGetCliqueInfo"
            )
    return [(CLIQUE_TYPES[<int>cliques[i].type], cliques[i].id) for i in range(count)]


cdef str uuid_text(bytes raw):
    digits = raw.hex()
    return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])


# An attribute that the driver is too old for is 0.
cdef object peer_attribute(int c_source, int c_target, int code):
    try:
        return read_peer_attribute(c_source, c_target, code)
    except CUDAError as error:
        if error.name != "CUDA_ERROR_INVALID_VALUE" or code != P2P_ATTRIBUTES["only_partial_native_atomic_supported"]:
            raise
        return 0


cdef int other_device(Device self, object peer) except -1:
    if peer is None:
        raise TypeError("peer must be a Device or an int, not None")
    cdef int c_peer = Device_find(peer)._id
    if c_peer == self._id:
        raise ValueError(f"peer must be another device, not device {c_peer} itself")
    return c_peer


cdef int reset_persisting_lines(Device device) except -1:
    cdef ContextPin pin
    cdef int is_entered = 0
    cdef cydriver.CUresult err, left
    Device_pin_context(device, &pin)
    with nogil:
        is_entered = Context_enter(pin.get())
        err = cydriver.cuCtxResetPersistingL2Cache()
        left = Context_leave(is_entered)
    return LEAVE_RETURN(err, b"cuCtxResetPersistingL2Cache", left)


cdef int flush_writes(Device device, int c_scope) except -1:
    cdef ContextPin pin
    cdef int is_entered = 0
    cdef cydriver.CUresult err, left
    Device_pin_context(device, &pin)
    with nogil:
        is_entered = Context_enter(pin.get())
        err = cydriver.cuFlushGPUDirectRDMAWrites(
            cydriver.CUflushGPUDirectRDMAWritesTarget.CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX,
            <cydriver.CUflushGPUDirectRDMAWritesScope>c_scope,
        )
        left = Context_leave(is_entered)
    return LEAVE_RETURN(err, b"cuFlushGPUDirectRDMAWrites", left)
