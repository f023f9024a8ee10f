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

# The module of each public name, by package; modules are relative to this package.
_PUBLIC = {
    "cuda.core": {
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
        "ExternalMemory": "_graphics",
        "ExternalSemaphore": "_graphics",
        "GraphMemoryResource": "_memory._graph_memory_resource",
        "GraphicsResource": "_graphics",
        "Host": "_host",
        "Kernel": "_module",
        "LEGACY_DEFAULT_STREAM": "_stream",
        "LaunchConfig": "_launch_config",
        "LaunchError": "_utils.cuda_utils",
        "LegacyPinnedMemoryResource": "_memory._page_locked",
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
        "register_host_memory": "_memory._unpooled",
        "set_memory_resource": "_device",
        "use_memory_resource": "_device",
    },
    "cuda.core.utils": {
        "CopyOptions": "_memory._copy_options",
        "FileStreamProgramCache": "_compile.cache._stores",
        "InMemoryProgramCache": "_compile.cache._stores",
        "MemcpyOverlapMode": "_memory._copy_enums",
        "MemcpySrcAccessOrder": "_memory._copy_enums",
        "ProgramCacheResource": "_compile.cache._stores",
        "SourceKernel": "utils._source_kernel",
        "StridedMemoryView": "_memoryview",
        "args_viewable_as_strided_memory": "_memoryview",
        "benchmark": "utils._benchmark",
        "cdiv": "_launch_config",
        "copy_batch": "_memory._managed_memory_ops",
        "coredump": "utils._coredump",
        "decompress_batch": "_memory._managed_memory_ops",
        "discard_batch": "_memory._managed_memory_ops",
        "discard_prefetch_batch": "_memory._managed_memory_ops",
        "driver_log": "utils._driver_log",
        "kernel": "utils._source_kernel",
        "make_program_cache_key": "_compile.cache._key",
        "prefetch_batch": "_memory._managed_memory_ops",
        "register_importer": "_arrays._importers",
        "trace": "utils._trace",
    },
}
_HOMES = _PUBLIC[__name__]
_PACKAGES = ("checkpoint", "graph", "system", "texture", "typing", "utils")
# Private modules that are attributes without an import, because other packages use them so.
_FRONT_MODULES = {"_dlpack", "_kernel_arg_handler", "_layout", "_memoryview"}
_FRONT_MODULES.update(home.partition(".")[0] for home in _HOMES.values())
# The modules that fill the slots of `_utils.slots`, for lower layers.
_SLOTS = {
    "Device": "_device",
    "Event": "_event",
    "arrays": "_arrays._array_copies",
    "bind kernel": "_launcher",
    "captured operands": "graph._graph",
    "cast of view": "utils._casts",
    "external semaphore": "_graphics",
    "graph builder": "graph._graph",
    "graph definition": "graph._graph",
    "green stream": "_stream",
    "last launches": "_module",
    "launch": "_launcher",
    "mipmapped array": "texture._texture",
    "opaque array": "texture._texture",
    "stream attributes": "_launch_attributes",
    "surface object": "texture._texture",
    "tensor map": "_tensor_map",
    "texture object": "texture._texture",
    "view of array": "_memoryview",
    "view of buffer": "_memoryview",
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
    text = ": ".join(_load("_report").diagnosis(__path__[0]))
    raise ModuleNotFoundError(text, name=missing)


def _fetch(package: str, name: str, homes: dict[str, str]):
    """Return a public name of a package on first use, and make it an ordinary attribute."""
    if name not in homes:
        instead = _load("_utils.other_names").suggestion("cuda.core", name)
        text = f"module {package!r} has no attribute {name!r}{instead}"
        # Without the module, the interpreter does not append a suggestion of its own.
        raise AttributeError(text, name=name) if instead else AttributeError(text, name=name, obj=sys.modules[package])
    value = getattr(_load(homes[name]), name)
    setattr(sys.modules[package], name, value)
    return value


class _OtherNames:
    """The last import finder, which explains names of other libraries in ``from cuda.core import name``.

    The interpreter drops the text of the AttributeError there, but looks for a module of that name before it fails.
    """

    @staticmethod
    def find_spec(name, path=None, target=None):
        package, _, name = name.rpartition(".")
        if package not in _PUBLIC or name in _PUBLIC[package]:
            return
        instead = _load("_utils.other_names").suggestion("cuda.core", name)
        if instead:
            raise ImportError(f"cannot import name {name!r} from {package!r}{instead}", name=package)


sys.meta_path.append(_OtherNames)


def __getattr__(name):
    if name in _PACKAGES or name in _FRONT_MODULES:
        return _load(name)  # the import has set the attribute
    return _fetch(__name__, name, _HOMES)


def __dir__():
    return sorted([*__all__, *_PACKAGES, "__version__"])
