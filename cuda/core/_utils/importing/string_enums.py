# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The enums that :mod:`cuda.core.typing` imports at first access, because compilations do not use them."""

from __future__ import annotations

from enum import StrEnum

__all__ = [
    "AccessPropertyType",
    "AddressModeType",
    "ArrayFormatType",
    "FilterModeType",
    "GraphConditionalType",
    "GraphMemoryType",
    "ManagedMemoryLocationType",
    "MemoryPoolAccessType",
    "ReadModeType",
    "VirtualMemoryAccessType",
    "VirtualMemoryAllocationType",
    "VirtualMemoryGranularityType",
    "VirtualMemoryHandleType",
    "VirtualMemoryLocationType",
    "WorkqueueSharingScopeType",
]


def _public(cls):
    cls.__module__ = "cuda.core.typing"
    return cls


@_public
class GraphConditionalType(StrEnum):
    """The type of a conditional node (``CUgraphConditionalNodeType``)."""

    IF = "if"
    WHILE = "while"
    SWITCH = "switch"


@_public
class GraphMemoryType(StrEnum):
    """The location of the memory of an allocation node."""

    DEVICE = "device"
    HOST = "host"
    MANAGED = "managed"


@_public
class ManagedMemoryLocationType(StrEnum):
    """The preferred location of a managed memory pool."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"


@_public
class MemoryPoolAccessType(StrEnum):
    """Access rights of a device to the memory of a pool (``CUmemAccess_flags``)."""

    READ_WRITE = "rw"
    READ = "r"
    NONE = ""


@_public
class VirtualMemoryHandleType(StrEnum):
    """The type of the handle that exports virtual memory to other processes (``CUmemAllocationHandleType``)."""

    POSIX_FD = "posix_fd"
    WIN32_KMT = "win32_kmt"
    FABRIC = "fabric"


@_public
class VirtualMemoryLocationType(StrEnum):
    """The location of virtual memory (``CUmemLocationType``)."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"
    HOST_NUMA_CURRENT = "host_numa_current"


@_public
class VirtualMemoryGranularityType(StrEnum):
    """The granularity that sizes of virtual memory are rounded up to (``CUmemAllocationGranularity_flags``)."""

    MINIMUM = "minimum"
    RECOMMENDED = "recommended"


@_public
class VirtualMemoryAccessType(StrEnum):
    """Access rights of a device to virtual memory (``CUmemAccess_flags``)."""

    READ_WRITE = "rw"
    READ = "r"


@_public
class VirtualMemoryAllocationType(StrEnum):
    """The type of an allocation of virtual memory (``CUmemAllocationType``)."""

    PINNED = "pinned"
    MANAGED = "managed"


@_public
class ArrayFormatType(StrEnum):
    """The element format of an array; the values are NumPy's names."""

    UINT8 = "uint8"
    UINT16 = "uint16"
    UINT32 = "uint32"
    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    FLOAT16 = "float16"
    FLOAT32 = "float32"


@_public
class AccessPropertyType(StrEnum):
    """Access properties: how long the L2 cache keeps data that kernels access (``CUaccessProperty``)."""

    NORMAL = "normal"
    STREAMING = "streaming"
    PERSISTING = "persisting"


@_public
class AddressModeType(StrEnum):
    """Address modes: how texture coordinates out of range are handled (``CUaddress_mode``)."""

    WRAP = "wrap"
    CLAMP = "clamp"
    MIRROR = "mirror"
    BORDER = "border"


@_public
class FilterModeType(StrEnum):
    """Filter modes: nearest element, or linear interpolation (``CUfilter_mode``)."""

    POINT = "point"
    LINEAR = "linear"


@_public
class ReadModeType(StrEnum):
    """Read modes of integer textures: integers, or normalized floats (``CU_TRSF_READ_AS_INTEGER``)."""

    ELEMENT_TYPE = "element_type"
    NORMALIZED_FLOAT = "normalized_float"


@_public
class WorkqueueSharingScopeType(StrEnum):
    """Sharing scopes of the work queues of a context (``CUdevWorkqueueConfigScope``)."""

    DEVICE_CTX = "device_ctx"
    GREEN_CTX_BALANCED = "green_ctx_balanced"
