# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Enums of flags and attributes under their classic names, and version numbers."""

from __future__ import annotations

import enum
from types import SimpleNamespace

from cuda.core._classic import DeviceProperties

__all__ = [
    "TRSA_OVERRIDE_FORMAT",
    "TRSF_NORMALIZED_COORDINATES",
    "TRSF_READ_AS_INTEGER",
    "TR_DEFAULT",
    "VERSION",
    "VERSION_STATUS",
    "VERSION_TEXT",
    "address_mode",
    "array3d_flags",
    "array_cubemap_face",
    "array_format",
    "compute_mode",
    "ctx_flags",
    "device_attribute",
    "event_flags",
    "filter_mode",
    "func_cache",
    "function_attribute",
    "graphics_register_flags",
    "host_alloc_flags",
    "ipc_mem_flags",
    "jit_fallback",
    "jit_input_type",
    "jit_option",
    "jit_target",
    "limit",
    "mem_attach_flags",
    "mem_host_register_flags",
    "memory_type",
    "pointer_attribute",
    "profiler_output_mode",
    "shared_config",
    "stream_flags",
]

# The PyCUDA version that this interface matches, which programs compare.
VERSION = (2026, 1)
VERSION_STATUS = ""
VERSION_TEXT = "2026.1"

TRSA_OVERRIDE_FORMAT = 1
TRSF_READ_AS_INTEGER = 1
TRSF_NORMALIZED_COORDINATES = 2
TR_DEFAULT = -1


class Namespace(enum.IntEnum):
    """Base class of the enums, whose members are ints with the bare name as their str().

    Each class has two dicts: ``names`` maps names, including aliases, to members, and ``values`` maps numbers to
    members.
    """

    def __str__(self):
        return self._name_

    def __repr__(self):
        return f"cuda.core.driver.{type(self).__name__}.{self._name_}"


def _namespace(name: str, doc: str, **members: int) -> type[Namespace]:
    space = Namespace(name, members, module=__name__)
    space.__doc__ = doc
    space.names = dict(space.__members__)
    space.values = {int(member): member for member in space}
    return space


# Attributes without a property of DeviceProperties: superseded attributes, and attributes of the newest drivers.
_ATTRIBUTES_WITHOUT_ROW = {
    "CAN_USE_STREAM_MEM_OPS_V1": 92,
    "CAN_USE_64_BIT_STREAM_MEM_OPS_V1": 93,
    "CAN_USE_STREAM_WAIT_VALUE_NOR_V1": 94,
    "COOPERATIVE_MULTI_DEVICE_LAUNCH": 96,
    "VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED": 102,
    "ATOMIC_REDUCTION_SUPPORTED": 148,
    "LOCALITY_DOMAIN_COUNT": 149,
    "MAX_OVERSIZED_SHARED_MEMORY_PER_BLOCK": 150,
    "D3D12_CIG_STREAMS_SUPPORTED": 151,
    "DMA_BUF_MMAP_SUPPORTED": 152,
    "LOGICAL_ENDPOINT_UNICAST_SUPPORTED": 153,
    "LOGICAL_ENDPOINT_MULTICAST_SUPPORTED": 154,
    "LOGICAL_ENDPOINT_COUNTED_OPS_SUPPORTED": 155,
    "LOGICAL_ENDPOINT_UNICAST_ACCESS_ON_OWNER_DEVICE_SUPPORTED": 156,
    "LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT": 157,
    "LOGICAL_ENDPOINT_SUPPORTED_HANDLE_TYPES": 158,
    "VULKAN_CIG_STREAMS_SUPPORTED": 159,
    "TENSOR_MAP_LARGE_TENSOR_MIN_SIZE": 160,
    "GPU_DIRECT_RDMA_WITH_LOCALIZED_MEMORY_SUPPORTED": 161,
}


def _device_attributes() -> dict[str, int]:
    """Return the codes of all device attributes, keyed by driver name, including names of older versions."""
    rows = {name.upper(): row.code for name, row in vars(DeviceProperties).items() if hasattr(row, "driver_name")}
    return (
        rows
        | _ATTRIBUTES_WITHOUT_ROW
        | {
            "SHARED_MEMORY_PER_BLOCK": rows["MAX_SHARED_MEMORY_PER_BLOCK"],
            "REGISTERS_PER_BLOCK": rows["MAX_REGISTERS_PER_BLOCK"],
            "GPU_OVERLAP": 15,
            "MAXIMUM_TEXTURE2D_ARRAY_WIDTH": rows["MAXIMUM_TEXTURE2D_LAYERED_WIDTH"],
            "MAXIMUM_TEXTURE2D_ARRAY_HEIGHT": rows["MAXIMUM_TEXTURE2D_LAYERED_HEIGHT"],
            "MAXIMUM_TEXTURE2D_ARRAY_NUMSLICES": rows["MAXIMUM_TEXTURE2D_LAYERED_LAYERS"],
        }
    )


device_attribute = _namespace("device_attribute", "Device attributes (``CUdevice_attribute``).", **_device_attributes())
ctx_flags = _namespace(
    "ctx_flags",
    "Flags of the primary context: how the host waits for the device (``CUctx_flags``).",
    SCHED_AUTO=0,
    SCHED_SPIN=1,
    SCHED_YIELD=2,
    SCHED_BLOCKING_SYNC=4,
    BLOCKING_SYNC=4,
    SCHED_MASK=7,
    MAP_HOST=8,
    LMEM_RESIZE_TO_MAX=16,
    FLAGS_MASK=0xFF,
)
event_flags = _namespace(
    "event_flags",
    "Flags of :class:`Event` (``CUevent_flags``).",
    DEFAULT=0,
    BLOCKING_SYNC=1,
    DISABLE_TIMING=2,
    INTERPROCESS=4,
)
stream_flags = _namespace("stream_flags", "Flags of :class:`Stream` (``CUstream_flags``).", DEFAULT=0, NON_BLOCKING=1)
function_attribute = _namespace(
    "function_attribute",
    "Attributes of kernels, for :meth:`Function.get_attribute` (``CUfunction_attribute``).",
    MAX_THREADS_PER_BLOCK=0,
    SHARED_SIZE_BYTES=1,
    CONST_SIZE_BYTES=2,
    LOCAL_SIZE_BYTES=3,
    NUM_REGS=4,
    PTX_VERSION=5,
    BINARY_VERSION=6,
    CACHE_MODE_CA=7,
    MAX_DYNAMIC_SHARED_SIZE_BYTES=8,
    PREFERRED_SHARED_MEMORY_CARVEOUT=9,
    CLUSTER_SIZE_MUST_BE_SET=10,
    REQUIRED_CLUSTER_WIDTH=11,
    REQUIRED_CLUSTER_HEIGHT=12,
    REQUIRED_CLUSTER_DEPTH=13,
    NON_PORTABLE_CLUSTER_SIZE_ALLOWED=14,
    CLUSTER_SCHEDULING_POLICY_PREFERENCE=15,
    DEVICE_NODE_UPDATE_SUPPORTED=16,
    SHARED_MEMORY_MODE=17,
    MAX=18,
)
pointer_attribute = _namespace(
    "pointer_attribute", "Attributes of addresses (``CUpointer_attribute``).",
    CONTEXT=1, MEMORY_TYPE=2, DEVICE_POINTER=3, HOST_POINTER=4,
)  # fmt: skip
func_cache = _namespace(
    "func_cache",
    "How on-chip memory is split into shared memory and L1 (``CUfunc_cache``).",
    PREFER_NONE=0,
    PREFER_SHARED=1,
    PREFER_L1=2,
    PREFER_EQUAL=3,
)
shared_config = _namespace(
    "shared_config", "Shared memory bank sizes, which have no effect on current devices (``CUsharedconfig``).",
    DEFAULT_BANK_SIZE=0, FOUR_BYTE_BANK_SIZE=1, EIGHT_BYTE_BANK_SIZE=2,
)  # fmt: skip
array_format = _namespace(
    "array_format",
    "The data type of an :class:`Array` channel (``CUarray_format``).",
    UNSIGNED_INT8=1,
    UNSIGNED_INT16=2,
    UNSIGNED_INT32=3,
    SIGNED_INT8=8,
    SIGNED_INT16=9,
    SIGNED_INT32=10,
    HALF=16,
    FLOAT=32,
)
address_mode = _namespace(
    "address_mode", "The result of a fetch outside a texture (``CUaddress_mode``).", WRAP=0, CLAMP=1, MIRROR=2, BORDER=3
)
filter_mode = _namespace("filter_mode", "Whether a fetch interpolates (``CUfilter_mode``).", POINT=0, LINEAR=1)
memory_type = _namespace("memory_type", "The kind of memory (``CUmemorytype``).", HOST=1, DEVICE=2, ARRAY=3, UNIFIED=4)
compute_mode = _namespace(
    "compute_mode", "Who can use a device (``CUcomputemode``).", DEFAULT=0, PROHIBITED=2, EXCLUSIVE_PROCESS=3
)
mem_attach_flags = _namespace(
    "mem_attach_flags", "Who can access managed memory (``CUmemAttach_flags``).", GLOBAL=1, HOST=2, SINGLE=4
)
limit = _namespace(
    "limit",
    "Limits, for :meth:`Context.set_limit` (``CUlimit``).",
    STACK_SIZE=0,
    PRINTF_FIFO_SIZE=1,
    MALLOC_HEAP_SIZE=2,
    DEV_RUNTIME_SYNC_DEPTH=3,
    DEV_RUNTIME_PENDING_LAUNCH_COUNT=4,
    MAX_L2_FETCH_GRANULARITY=5,
    PERSISTING_L2_CACHE_SIZE=6,
)
jit_option = _namespace(
    "jit_option",
    "Options for the driver's compiler and linker (``CUjit_option``).",
    MAX_REGISTERS=0,
    THREADS_PER_BLOCK=1,
    WALL_TIME=2,
    INFO_LOG_BUFFER=3,
    INFO_LOG_BUFFER_SIZE_BYTES=4,
    ERROR_LOG_BUFFER=5,
    ERROR_LOG_BUFFER_SIZE_BYTES=6,
    OPTIMIZATION_LEVEL=7,
    TARGET_FROM_CUCONTEXT=8,
    TARGET=9,
    FALLBACK_STRATEGY=10,
)
_TARGETS = (30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121)
jit_target = _namespace(
    "jit_target",
    "Target architectures of the driver's compiler (``CUjit_target``).",
    **{f"COMPUTE_{number}": number for number in _TARGETS},
    **{f"COMPUTE_{number}A": 0x10000 + number for number in _TARGETS if number >= 90},
)
jit_fallback = _namespace(
    "jit_fallback", "Whether PTX or machine code is preferred (``CUjit_fallback``).", PREFER_PTX=0, PREFER_BINARY=1
)
jit_input_type = _namespace(
    "jit_input_type",
    "Code types that a :class:`Linker` accepts (``CUjitInputType``).",
    CUBIN=0,
    PTX=1,
    FATBINARY=2,
    OBJECT=3,
    LIBRARY=4,
)
ipc_mem_flags = _namespace(
    "ipc_mem_flags", "How another process's memory is opened (``CUipcMem_flags``).", LAZY_ENABLE_PEER_ACCESS=1
)
graphics_register_flags = _namespace(
    "graphics_register_flags", "How CUDA uses a graphics resource (``CUgraphicsRegisterFlags``).",
    NONE=0, READ_ONLY=1, WRITE_DISCARD=2, SURFACE_LDST=4, TEXTURE_GATHER=8,
)  # fmt: skip
graphics_map_flags = _namespace(
    "graphics_map_flags",
    "How kernels use a mapped resource (``CUgraphicsMapResourceFlags``).",
    NONE=0,
    READ_ONLY=1,
    WRITE_DISCARD=2,
)
array_cubemap_face = _namespace(
    "array_cubemap_face", "The faces of a cube map (``CUarray_cubemap_face``).",
    POSITIVE_X=0, NEGATIVE_X=1, POSITIVE_Y=2, NEGATIVE_Y=3, POSITIVE_Z=4, NEGATIVE_Z=5,
)  # fmt: skip
profiler_output_mode = _namespace(
    "profiler_output_mode", "The format of a profile, which CUDA 13 does not write.", KEY_VALUE_PAIR=0, CSV=1
)

host_alloc_flags = SimpleNamespace(PORTABLE=1, DEVICEMAP=2, DEVICE_MAP=2, WRITECOMBINED=4, WRITE_COMBINED=4)
mem_host_register_flags = SimpleNamespace(PORTABLE=1, DEVICEMAP=2)
array3d_flags = SimpleNamespace(
    **{"2DARRAY": 1}, ARRAY3D_2DARRAY=1, ARRAY3D_LAYERED=1, LAYERED=1, SURFACE_LDST=2, CUBEMAP=4, TEXTURE_GATHER=8
)
