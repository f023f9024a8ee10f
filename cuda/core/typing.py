# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""String enums, protocols and type aliases of the public interface.

Every enum is a ``StrEnum``: a member equals its string, and every function of ``cuda.core`` accepts either.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:  # at run time, __getattr__ imports them at first access, so that importing cuda.core stays fast
    from cuda.core._utils.importing.string_enums import (
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
        value = getattr(importlib.import_module("cuda.core._utils.importing.string_enums"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__():
    return list(__all__)
