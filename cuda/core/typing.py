# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Enums, protocols and aliases of the public interface.

Every enum is a ``StrEnum``: a member equals its string, and all of ``cuda.core`` accepts either.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:  # at run time they are fetched at their first use: what a first result does not need costs nothing
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
