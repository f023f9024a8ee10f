# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Type aliases, protocols and string enums of :mod:`cuda.core`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

__all__ = [
    "AccessPropertyType",
    "AddressModeType",
    "ArrayFormatType",
    "CompilerBackendType",
    "DevicePointerType",  # noqa: F822 (from __getattr__)
    "DeviceResourcesType",
    "FilterModeType",
    "GraphConditionalType",
    "GraphMemoryType",
    "IsStreamType",
    "ManagedMemoryLocationType",
    "MemoryPoolAccessType",
    "ObjectCodeFormatType",
    "PCHStatusType",
    "ProcessStateType",
    "ReadModeType",
    "SourceCodeType",
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
    """The element format of an array, by NumPy's names."""

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


if TYPE_CHECKING:  # at run time, __getattr__ imports them at first access, so that importing cuda.core stays fast
    from cuda.core.typing import (
        AccessPropertyType,
        AddressModeType,
        ArrayFormatType,
        FilterModeType,
        GraphConditionalType,
        GraphMemoryType,
        ManagedMemoryLocationType,
        MemoryPoolAccessType,
        ReadModeType,
        VirtualMemoryAccessType,
        VirtualMemoryAllocationType,
        VirtualMemoryGranularityType,
        VirtualMemoryHandleType,
        VirtualMemoryLocationType,
        WorkqueueSharingScopeType,
    )


# The resources of a green context. Strings instead of imported classes, because this module imports nothing above it.
DeviceResourcesType = Sequence["SMResource | WorkqueueResource"]  # noqa: F821

# The states of :attr:`cuda.core.checkpoint.Process.state`.
ProcessStateType = Literal["running", "locked", "checkpointed", "failed"]


class IsStreamType(Protocol):
    """An object that exposes a CUDA stream to other libraries."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return ``(0, address)``: the version of the protocol, and the ``cudaStream_t`` as an int."""
        ...


class SourceCodeType(StrEnum):
    """The source languages of :class:`~cuda.core.Program`: CUDA C++, PTX and NVVM IR."""

    CXX = "c++"
    PTX = "ptx"
    NVVM = "nvvm"


class ObjectCodeFormatType(StrEnum):
    """The code formats of :class:`~cuda.core.ObjectCode`."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    OPTIXIR = "optixir"
    TILEIR = "tileir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


class CompilerBackendType(StrEnum):
    """The back ends that compile a :class:`~cuda.core.Program` or link the inputs of a :class:`~cuda.core.Linker`."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"


class PCHStatusType(StrEnum):
    """The result of creating a precompiled header in a compilation (``nvrtcGetPCHCreateStatus``)."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"


def __getattr__(name):
    if name == "DevicePointerType":  # an address on a device
        value = importlib.import_module("cuda.bindings.driver").CUdeviceptr | int | None
    elif name in __all__:
        value = getattr(importlib.import_module("cuda.core.typing"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return list(__all__)
