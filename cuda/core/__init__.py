# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pythonic access to the CUDA driver, compiler and linker.

Importing this package imports almost none of its modules. Each public name is imported on first access, so a program
pays only for the parts it uses. ``docs/design/imports.md`` has the reasons and the figures.
"""

import sys

from cuda.core._utils import completer, device_choice
from cuda.core._version import __version__

device_choice.apply()
completer.patch_completion()

# The module of each public name, relative to this package.
_HOMES = {
    "Buffer": "_memory._buffer",
    "CUDAError": "_utils.cuda_utils",
    "CUDAOutOfMemoryError": "_utils.cuda_utils",
    "CUDAWarning": "_utils.cuda_utils",
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
    "MemoryOperation": "_memory_operations",
    "MemoryResource": "_memory._buffer",
    "MemoryStatistics": "_memory._adaptors",
    "MulticastObject": "_memory._multicast",
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
    "VirtualMemoryBuffer": "_memory._virtual_memory_resource",
    "VirtualMemoryResource": "_memory._virtual_memory_resource",
    "VirtualMemoryResourceOptions": "_memory._virtual_memory_resource",
    "WorkqueueResource": "_device_resources",
    "WorkqueueResourceOptions": "_device_resources",
    "launch": "_launcher",
    "register_host_memory": "_memory._legacy",
    "set_memory_resource": "_device",
    "use_memory_resource": "_device",
}
# The module of each public name of `cuda.core.utils`.
_UTILS = {
    "CopyOptions": "_memory._copy_options",
    "FileStreamProgramCache": "_compile.cache._stores",
    "InMemoryProgramCache": "_compile.cache._stores",
    "MemcpyOverlapMode": "_memory._copy_enums",
    "MemcpySrcAccessOrder": "_memory._copy_enums",
    "ProgramCacheResource": "_compile.cache._stores",
    "StridedMemoryView": "_memoryview",
    "args_viewable_as_strided_memory": "_memoryview",
    "benchmark": "utils._benchmark",
    "cdiv": "_launch_config",
    "copy_batch": "_memory._managed_memory_ops",
    "coredump": "utils._coredump",
    "discard_batch": "_memory._managed_memory_ops",
    "discard_prefetch_batch": "_memory._managed_memory_ops",
    "kernel": "utils._source_kernel",
    "make_program_cache_key": "_compile.cache._key",
    "prefetch_batch": "_memory._managed_memory_ops",
    "register_importer": "_arrays._importers",
    "trace": "utils._trace",
}
_PACKAGES = ("checkpoint", "graph", "system", "texture", "typing", "utils")
# Private modules that are attributes without an import. Some are accessed by other packages, others are slow to load
# and rarely needed, so modules of this package load them on first use.
_MODULES = {
    "_context": "_context",
    "_device": "_device",
    "_device_resources": "_device_resources",
    "_dlpack": "_dlpack",
    "_event": "_event",
    "_graphics": "_graphics",
    "_host": "_host",
    "_kernel_arg_handler": "_kernel_arg_handler",
    "_launch_config": "_launch_config",
    "_launch_observers": "_launch_observers",
    "_launcher": "_launcher",
    "_layout": "_layout",
    "_legacy": "_memory._legacy",
    "_linker": "_linker",
    "_linker_options": "_compile._linker_options",
    "_lookup": "_compile.cache._lookup",
    "_memory": "_memory",
    "_memoryview": "_memoryview",
    "_module": "_module",
    "_nvjitlink": "_compile._nvjitlink",
    "_nvvm": "_compile._nvvm",
    "_program": "_program",
    "_ptx": "_compile._ptx",
    "_report": "_report",
    "_stream": "_stream",
    "_tensor_map": "_tensor_map",
}
# The modules that fill the slots of `_utils.slots`, for lower layers.
_SLOTS = {
    "Device": "_device",
    "arrays": "_arrays._array_copies",
    "bind kernel": "_launcher",
    "graph builder": "graph._graph",
    "graph definition": "graph._graph",
    "green stream": "_stream",
    "last launches": "_module",
    "launch": "_launcher",
    "mipmapped array": "texture._texture",
    "opaque array": "texture._texture",
    "surface object": "texture._texture",
    "tensor map": "_tensor_map",
    "texture object": "texture._texture",
    "view of array": "_memoryview",
    "view of buffer": "_memoryview",
}

# Functions that other CUDA libraries have in their modules.
_OTHER_NAMES = {
    "RawKernel": "cuda.core.utils.kernel",
    "mem_alloc": "Device.allocate",
    "synchronize": "Device.sync",
    "to_device": "Device.to_device",
}

__all__ = list(_HOMES)


def _load(name: str):
    """Import a module of this package."""
    full_name = f"{__name__}.{name}"
    try:
        __import__(full_name)  # unlike importlib.import_module(), seen by `python -X importtime`
        return sys.modules[full_name]
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith(f"{__name__}."):
            raise
        missing = error.name
    # Not built, or not completely installed.
    text = ": ".join(__getattr__("_report").diagnosis(__path__[0]))
    raise ModuleNotFoundError(text, name=missing)


def _fetch(package: str, name: str, homes: dict[str, str]):
    """Return a public name of a package on first use, and make it an ordinary attribute."""
    if name not in homes:
        _check_import(package, name)
        hint = f". Did you mean: {_OTHER_NAMES[name]}?" if name in _OTHER_NAMES else ""
        raise AttributeError(f"module {package!r} has no attribute {name!r}{hint}", name=name, obj=sys.modules[package])
    value = getattr(_load(homes[name]), name)
    setattr(sys.modules[package], name, value)
    return value


def _check_import(package: str, name: str) -> None:
    """Raise ImportError for a misspelled name in ``from package import name``, where Python suggests nothing."""
    importer = sys._getframe(3).f_globals.get("__name__")
    if importer not in ("_frozen_importlib", "importlib._bootstrap"):  # its name changes when importlib is imported
        return
    from importlib.machinery import PathFinder

    if PathFinder.find_spec(f"{package}.{name}", sys.modules[package].__path__) is not None:
        return
    from difflib import get_close_matches  # slow to import, and for this message only

    for like in get_close_matches(name, dir(sys.modules[package]), 1):
        text = f"cannot import name {name!r} from {package!r}; did you mean {like!r}?"
        raise ImportError(text, name=package, path=sys.modules[package].__file__)


def __getattr__(name):
    if name in _PACKAGES:
        return _load(name)  # the import has set the attribute
    if name in _MODULES:
        value = globals()[name] = _load(_MODULES[name])
        return value
    return _fetch(__name__, name, _HOMES)


def __dir__():
    return sorted([*__all__, *_PACKAGES, "__version__"])
