# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Enums, protocols and aliases of the public interface.

Every enum is a ``StrEnum``: a member equals its string, and all of ``cuda.core`` accepts either.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from enum import StrEnum
from typing import Literal, Protocol

__all__ = [
    "AccessPropertyType",
    "AddressModeType",
    "ArrayFormatType",
    "CompilerBackendType",
    "DevicePointerType",  # noqa: F822 (resolved at first use, below)
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

# What a green context is made from. The classes are named, not imported: this module is a leaf.
DeviceResourcesType = Sequence["SMResource | WorkqueueResource"]  # noqa: F821

# The states of a process in checkpointing.
ProcessStateType = Literal["running", "locked", "checkpointed", "failed"]


class IsStreamType(Protocol):
    """An object that gives a CUDA stream to other libraries."""

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return ``(0, address)``: the version of the protocol and the address of the ``cudaStream_t``."""
        ...


class SourceCodeType(StrEnum):
    """The language of a :class:`~cuda.core.Program`."""

    CXX = "c++"
    PTX = "ptx"
    NVVM = "nvvm"


class ObjectCodeFormatType(StrEnum):
    """The format of an :class:`~cuda.core.ObjectCode`."""

    PTX = "ptx"
    CUBIN = "cubin"
    LTOIR = "ltoir"
    FATBIN = "fatbin"
    OBJECT = "object"
    LIBRARY = "library"


class CompilerBackendType(StrEnum):
    """What compiles a :class:`~cuda.core.Program` or links for a :class:`~cuda.core.Linker`."""

    NVRTC = "NVRTC"
    NVVM = "NVVM"
    NVJITLINK = "nvJitLink"
    DRIVER = "driver"


class PCHStatusType(StrEnum):
    """What became of the precompiled header of a compilation."""

    CREATED = "created"
    NOT_ATTEMPTED = "not_attempted"
    FAILED = "failed"


class GraphConditionalType(StrEnum):
    """The kind of a conditional node."""

    IF = "if"
    WHILE = "while"
    SWITCH = "switch"


class GraphMemoryType(StrEnum):
    """Where the memory of an allocation node lives."""

    DEVICE = "device"
    HOST = "host"
    MANAGED = "managed"


class ManagedMemoryLocationType(StrEnum):
    """The preferred location of a managed memory pool."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"


class MemoryPoolAccessType(StrEnum):
    """What a device may do with the memory of a pool."""

    READ_WRITE = "rw"
    READ = "r"
    NONE = ""


class VirtualMemoryHandleType(StrEnum):
    """How virtual memory is exported to other processes."""

    POSIX_FD = "posix_fd"
    WIN32_KMT = "win32_kmt"
    FABRIC = "fabric"


class VirtualMemoryLocationType(StrEnum):
    """Where virtual memory lives."""

    DEVICE = "device"
    HOST = "host"
    HOST_NUMA = "host_numa"
    HOST_NUMA_CURRENT = "host_numa_current"


class VirtualMemoryGranularityType(StrEnum):
    """Which unit sizes of virtual memory are rounded up to."""

    MINIMUM = "minimum"
    RECOMMENDED = "recommended"


class VirtualMemoryAccessType(StrEnum):
    """What a device may do with virtual memory."""

    READ_WRITE = "rw"
    READ = "r"


class VirtualMemoryAllocationType(StrEnum):
    """The kind of an allocation of virtual memory."""

    PINNED = "pinned"
    MANAGED = "managed"


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


class AccessPropertyType(StrEnum):
    """How long the L2 cache keeps what a kernel accesses (``CUaccessProperty``)."""

    NORMAL = "normal"
    STREAMING = "streaming"
    PERSISTING = "persisting"


class AddressModeType(StrEnum):
    """What a texture gives for coordinates outside it."""

    WRAP = "wrap"
    CLAMP = "clamp"
    MIRROR = "mirror"
    BORDER = "border"


class FilterModeType(StrEnum):
    """How a texture is read between its elements."""

    POINT = "point"
    LINEAR = "linear"


class ReadModeType(StrEnum):
    """What a read of an integer texture gives."""

    ELEMENT_TYPE = "element_type"
    NORMALIZED_FLOAT = "normalized_float"


class WorkqueueSharingScopeType(StrEnum):
    """Who shares the work queues of a context."""

    DEVICE_CTX = "device_ctx"
    GREEN_CTX_BALANCED = "green_ctx_balanced"


def __getattr__(name):
    # An address on a device. Resolved at first use, because it needs the bindings' driver module.
    if name == "DevicePointerType":
        value = importlib.import_module("cuda.bindings.driver").CUdeviceptr | int | None
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return list(__all__)
