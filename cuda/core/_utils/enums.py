# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Maps between the strings of public enums and the values of the driver's enums."""

from __future__ import annotations

import importlib
from enum import StrEnum

from cuda.core._utils.validators import find_str_enum
from cuda.core.typing import (
    AccessPropertyType,
    AddressModeType,
    ArrayFormatType,
    FilterModeType,
    GraphConditionalType,
    ManagedMemoryLocationType,
    MemoryPoolAccessType,
    ProcessStateType,
    VirtualMemoryAccessType,
    VirtualMemoryAllocationType,
    VirtualMemoryGranularityType,
    VirtualMemoryHandleType,
    VirtualMemoryLocationType,
    WorkqueueSharingScopeType,
)

__all__ = [
    "ACCESS_PROPERTY",
    "ADDRESS_MODE",
    "ARRAY_FORMAT",
    "FILTER_MODE",
    "GRAPH_CONDITIONAL",
    "MANAGED_MEMORY_LOCATION",
    "MEMORY_POOL_ACCESS",
    "PROCESS_STATE",
    "VIRTUAL_MEMORY_ACCESS",
    "VIRTUAL_MEMORY_ALLOCATION",
    "VIRTUAL_MEMORY_GRANULARITY",
    "VIRTUAL_MEMORY_HANDLE",
    "VIRTUAL_MEMORY_LOCATION",
    "WORKQUEUE_SHARING_SCOPE",
    "EnumMap",
    "EnumTable",
]


class EnumMap:
    """A map between the strings of a public enum and the values of an enum of the driver.

    Parameters
    ----------
    public : type of StrEnum, or Literal
        The public strings.
    driver_enum : str
        The enum of the bindings.
    prefix : str
        The common prefix of the names of the driver's values.
    names : dict of str to str
        For each public string, the name of the driver's value without the prefix.
    """

    def __init__(self, public, driver_enum: str, prefix: str, names: dict[str, str]):
        self.public = public
        self.driver_enum = driver_enum
        self.prefix = prefix
        self.names = {value: prefix + name for value, name in names.items()}
        self._to_driver = None
        self._from_driver = None

    def to_driver(self, value: str, label: str | None = None):
        """Return the driver's value for a public string, in upper or lower case.

        Parameters
        ----------
        value : str
            The string, or the member of the public enum.
        label : str, optional
            The name of the argument, for the message.

        Raises
        ------
        ValueError
            If there is no such choice; the message lists all.
        NotImplementedError
            If the installed bindings lack the value.
        """
        values = self._load()
        text = value if type(value) is self.public else find_str_enum(value, self.names, label or self.driver_enum)
        try:
            return values[text]
        except KeyError:
            name = self.names[text]
            raise NotImplementedError(f"{str(text)!r} needs newer cuda-bindings, which have {name}") from None

    def from_driver(self, value: int):
        """Return the member of the public enum for a driver value, or the string if ``public`` is a Literal.

        Raises
        ------
        RuntimeError
            If the driver returned a value that has no public string.
        """
        self._load()
        try:
            text = self._from_driver[int(value)]
        except KeyError:
            raise RuntimeError(f"the driver returned an unknown {self.driver_enum}, {int(value)}") from None
        return self.public(text) if isinstance(self.public, type) and issubclass(self.public, StrEnum) else text

    def members(self) -> dict:
        """Return the driver's value for each member of the public enum."""
        return {self.public(text): value for text, value in self._load().items()}

    def _load(self):
        # On first use, because importing the bindings takes long.
        if self._to_driver is None:
            values = getattr(importlib.import_module("cuda.bindings.driver"), self.driver_enum, None)
            # Older bindings, such as those of CUDA 12, lack some values and enums.
            to_driver = {text: getattr(values, name) for text, name in self.names.items() if hasattr(values, name)}
            self._from_driver = {int(value): text for text, value in to_driver.items()}
            self._to_driver = to_driver
        return self._to_driver


class EnumTable:
    """A descriptor: a dict from the members of a public enum to the driver's values, created at each access.

    Parameters
    ----------
    choices : EnumMap
        The map of the enum.
    none : str | int, optional
        The driver's value for the key None, or its name without the prefix. If None, there is no such key.
    """

    def __init__(self, choices: EnumMap, none: str | int | None = None):
        self.choices = choices
        self.none = none

    def __get__(self, instance, owner=None) -> dict:
        table = self.choices.members()
        if isinstance(self.none, str):
            table[None] = getattr(type(next(iter(table.values()))), self.choices.prefix + self.none)
        elif self.none is not None:
            table[None] = self.none
        return table


ACCESS_PROPERTY = EnumMap(
    AccessPropertyType,
    "CUaccessProperty",
    "CU_ACCESS_PROPERTY_",
    {"normal": "NORMAL", "streaming": "STREAMING", "persisting": "PERSISTING"},
)

ADDRESS_MODE = EnumMap(
    AddressModeType,
    "CUaddress_mode",
    "CU_TR_ADDRESS_MODE_",
    {"wrap": "WRAP", "clamp": "CLAMP", "mirror": "MIRROR", "border": "BORDER"},
)

ARRAY_FORMAT = EnumMap(
    ArrayFormatType,
    "CUarray_format",
    "CU_AD_FORMAT_",
    {
        "uint8": "UNSIGNED_INT8",
        "uint16": "UNSIGNED_INT16",
        "uint32": "UNSIGNED_INT32",
        "int8": "SIGNED_INT8",
        "int16": "SIGNED_INT16",
        "int32": "SIGNED_INT32",
        "float16": "HALF",
        "float32": "FLOAT",
    },
)

FILTER_MODE = EnumMap(FilterModeType, "CUfilter_mode", "CU_TR_FILTER_MODE_", {"point": "POINT", "linear": "LINEAR"})

GRAPH_CONDITIONAL = EnumMap(
    GraphConditionalType,
    "CUgraphConditionalNodeType",
    "CU_GRAPH_COND_TYPE_",
    {"if": "IF", "while": "WHILE", "switch": "SWITCH"},
)

MANAGED_MEMORY_LOCATION = EnumMap(
    ManagedMemoryLocationType,
    "CUmemLocationType",
    "CU_MEM_LOCATION_TYPE_",
    {"device": "DEVICE", "host": "HOST", "host_numa": "HOST_NUMA"},
)

MEMORY_POOL_ACCESS = EnumMap(
    MemoryPoolAccessType,
    "CUmemAccess_flags",
    "CU_MEM_ACCESS_FLAGS_PROT_",
    {"rw": "READWRITE", "r": "READ", "": "NONE"},
)

PROCESS_STATE = EnumMap(
    ProcessStateType,
    "CUprocessState",
    "CU_PROCESS_STATE_",
    {"running": "RUNNING", "locked": "LOCKED", "checkpointed": "CHECKPOINTED", "failed": "FAILED"},
)

VIRTUAL_MEMORY_ACCESS = EnumMap(
    VirtualMemoryAccessType,
    "CUmemAccess_flags",
    "CU_MEM_ACCESS_FLAGS_PROT_",
    {"rw": "READWRITE", "r": "READ"},
)

VIRTUAL_MEMORY_ALLOCATION = EnumMap(
    VirtualMemoryAllocationType,
    "CUmemAllocationType",
    "CU_MEM_ALLOCATION_TYPE_",
    {"pinned": "PINNED", "managed": "MANAGED"},
)

VIRTUAL_MEMORY_GRANULARITY = EnumMap(
    VirtualMemoryGranularityType,
    "CUmemAllocationGranularity_flags",
    "CU_MEM_ALLOC_GRANULARITY_",
    {"minimum": "MINIMUM", "recommended": "RECOMMENDED"},
)

VIRTUAL_MEMORY_HANDLE = EnumMap(
    VirtualMemoryHandleType,
    "CUmemAllocationHandleType",
    "CU_MEM_HANDLE_TYPE_",
    {"posix_fd": "POSIX_FILE_DESCRIPTOR", "win32_kmt": "WIN32_KMT", "fabric": "FABRIC"},
)

VIRTUAL_MEMORY_LOCATION = EnumMap(
    VirtualMemoryLocationType,
    "CUmemLocationType",
    "CU_MEM_LOCATION_TYPE_",
    {
        "device": "DEVICE",
        "host": "HOST",
        "host_numa": "HOST_NUMA",
        "host_numa_current": "HOST_NUMA_CURRENT",
    },
)

WORKQUEUE_SHARING_SCOPE = EnumMap(
    WorkqueueSharingScopeType,
    "CUdevWorkqueueConfigScope",
    "CU_WORKQUEUE_SCOPE_",
    {"device_ctx": "DEVICE_CTX", "green_ctx_balanced": "GREEN_CTX_BALANCED"},
)
