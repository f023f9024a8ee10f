# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory: buffers, and the memory resources that allocate them. Each name is imported at its first access."""

from cuda.core._utils.importing.deferred import deferred_names

# The module of each public name, relative to this package.
_HOMES = {
    "Buffer": "_buffer",
    "DeviceMemoryResource": "_device_memory_resource",
    "DeviceMemoryResourceOptions": "_device_memory_resource",
    "GraphMemoryResource": "_graph_memory_resource",
    "LegacyPinnedMemoryResource": "_legacy",
    "ManagedBuffer": "_managed_buffer",
    "ManagedMemoryResource": "_managed_memory_resource",
    "ManagedMemoryResourceOptions": "_managed_memory_resource",
    "MemoryResource": "_buffer",
    "PinnedMemoryResource": "_pinned_memory_resource",
    "PinnedMemoryResourceOptions": "_pinned_memory_resource",
    "VirtualMemoryResource": "_virtual_memory_resource",
    "VirtualMemoryResourceOptions": "_virtual_memory_resource",
    "register_host_memory": "_legacy",
}

__all__ = list(_HOMES)
__getattr__ = deferred_names(__name__, _HOMES)


def __dir__():
    return sorted(__all__)
