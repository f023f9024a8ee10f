# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pythonic access to the CUDA driver, compiler and linker.

Importing this package imports almost none of its modules: each public name is imported at its first access, so that
a program pays only for what it uses. ``docs/design/imports.md`` has the reasons and the figures.
"""

import importlib
import sys

from cuda.core._utils import completer, device_choice
from cuda.core._utils.importing.deferred import deferred_names
from cuda.core._version import __version__

device_choice.apply()
completer.patch_completion()

# The module of each public name, relative to this package.
_HOMES = {
    "Buffer": "_memory._buffer",
    "CUDAError": "_utils.cuda_utils",
    "CachingMemoryResource": "_memory._adaptors",
    "Context": "_context",
    "ContextOptions": "_context",
    "Device": "_device",
    "DeviceMemoryResource": "_memory._device_memory_resource",
    "DeviceMemoryResourceOptions": "_memory._device_memory_resource",
    "DeviceResources": "_device_resources",
    "Event": "_event",
    "EventOptions": "_event",
    "GraphMemoryResource": "_memory._graph_memory_resource",
    "GraphicsResource": "_graphics",
    "Host": "_host",
    "Kernel": "_module",
    "LEGACY_DEFAULT_STREAM": "_stream",
    "LaunchConfig": "_launch_config",
    "LaunchError": "_utils.cuda_utils",
    "LegacyPinnedMemoryResource": "_memory._legacy",
    "LimitingMemoryResource": "_memory.adaptors",
    "Linker": "_linker",
    "LinkerOptions": "_linker",
    "LoggingMemoryResource": "_memory.adaptors",
    "ManagedBuffer": "_memory._managed_buffer",
    "ManagedMemoryResource": "_memory._managed_memory_resource",
    "ManagedMemoryResourceOptions": "_memory._managed_memory_resource",
    "MemoryResource": "_memory._buffer",
    "MemoryStatistics": "_memory._adaptors",
    "NVRTCError": "_utils.cuda_utils",
    "NotSupportedError": "_utils.cuda_utils",
    "ObjectCode": "_module",
    "OutOfMemoryError": "_utils.cuda_utils",
    "PER_THREAD_DEFAULT_STREAM": "_stream",
    "PinnedMemoryResource": "_memory._pinned_memory_resource",
    "PinnedMemoryResourceOptions": "_memory._pinned_memory_resource",
    "Program": "_program",
    "ProgramOptions": "_program",
    "SMResource": "_device_resources",
    "SMResourceOptions": "_device_resources",
    "StatisticsMemoryResource": "_memory.adaptors",
    "Stream": "_stream",
    "StreamOptions": "_stream",
    "TensorMapDescriptor": "_tensor_map",
    "TensorMapDescriptorOptions": "_tensor_map",
    "TrackedAllocation": "_memory.adaptors",
    "TrackingMemoryResource": "_memory.adaptors",
    "VirtualMemoryResource": "_memory._virtual_memory_resource",
    "VirtualMemoryResourceOptions": "_memory._virtual_memory_resource",
    "WorkqueueResource": "_device_resources",
    "WorkqueueResourceOptions": "_device_resources",
    "launch": "_launcher",
    "register_host_memory": "_memory._legacy",
    "set_memory_resource": "_device",
    "use_memory_resource": "_device",
}
_PACKAGES = ("checkpoint", "graph", "system", "texture", "typing", "utils")
# Private modules that other packages access as attributes without importing them.
_MODULES = frozenset(
    {
        "_context",
        "_device",
        "_device_resources",
        "_dlpack",
        "_event",
        "_graphics",
        "_host",
        "_kernel_arg_handler",
        "_launch_config",
        "_launcher",
        "_layout",
        "_linker",
        "_memory",
        "_memoryview",
        "_module",
        "_program",
        "_stream",
        "_tensor_map",
    }
)

__all__ = list(_HOMES)


__getattr__ = deferred_names(__name__, _HOMES, _MODULES.union(_PACKAGES))


def __dir__():
    return sorted([*__all__, *_PACKAGES, "__version__"])
