# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The bundle: the extension modules that a short program imports, linked into one shared object.

Finding, opening and relocating a shared object takes longer than initializing most of the modules. ``setup.py`` links
the bundle; ``docs/design/imports.md`` has the measurements. The finder of these modules also finds the Python modules
of the package, so that Python does not search ``sys.path`` for them.
"""

from __future__ import annotations

import os
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec, SourceFileLoader

__all__ = ["MODULES", "NAME", "PACKAGES", "BundleFinder", "bundle_path"]

# The name of the shared object in cuda.core. It cannot be imported as a module.
NAME = "_bundle"

# Relative to cuda.core. The last parts must differ: the functions that initialize the modules are named after them.
MODULES = (
    "_code._elf",
    "_code._loading",
    "_code._parameter_layout",
    "_compile._nvrtc_calls",
    "_compile._option_key",
    "_compile.cache._file_state",
    "_context",
    "_device",
    "_device_contexts",
    "_device_instances",
    "_device_resources",
    "_device_textures",
    "_dlpack",
    "_event",
    "_handles._capture_mode",
    "_handles._driver_object",
    "_handles._handles",
    "_handles._deferred_destruction",
    "_handles._launches",
    "_handles._waiting",
    "_handles._work",
    "_launch._arguments",
    "_launch_config",
    "_launcher",
    "_memory._buffer",
    "_memory._device_memory_resource",
    "_memory._ipc",
    "_memory._memory_pool",
    "_memory._memory_resource",
    "_memory._peer_access_utils",
    "_memory.adaptors._default_resource",
    "_memory.copying._copies",
    "_memory.copying._fills",
    "_memory.pools._driver_pools",
    "_memory.pools._sharing",
    "_memory.ranges._allocation",
    "_memory.ranges._location",
    "_memory.ranges._memory_range",
    "_memory.ranges._pointer_info",
    "_memory.ranges._slices",
    "_module",
    "_stream",
    "_utils._weak_handles",
    "_utils.cuda_utils",
    "_utils.options",
    "_utils.version",
)
# Relative to cuda.core. Their `__init__.py` has only a docstring, and is not executed.
PACKAGES = (
    "_code",
    "_compile",
    "_compile.cache",
    "_handles",
    "_launch",
    "_memory.adaptors",
    "_memory.copying",
    "_memory.pools",
    "_memory.ranges",
    "_utils.errors",
    "_utils.files",
    "_utils.importing",
)


class BundleFinder:
    """First on ``sys.meta_path``: finds modules of ``cuda.core`` by their full names, without a search.

    It finds the modules of the bundle, their packages, and Python files; all others are left to Python.

    Parameters
    ----------
    path : str
        The path of the shared object.
    """

    def __init__(self, path: str):
        self._path = path
        self._names = frozenset(f"cuda.core.{name}" for name in MODULES)
        self._packages = frozenset(f"cuda.core.{name}" for name in PACKAGES)

    def find_spec(self, name, path=None, target=None):
        if name in self._names:
            return spec_of(ExtensionFileLoader(name, self._path))
        if not name.startswith("cuda.core."):
            return None
        places = [f"{folder}/{name.rpartition('.')[2]}" for folder in path or ()]
        if name in self._packages:
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = places
            return spec
        files = [f"{place}.py" for place in places]
        return next((spec_of(SourceFileLoader(name, file)) for file in files if os.path.isfile(file)), None)


def spec_of(loader) -> ModuleSpec:
    """Return the spec of a module that is loaded from a file."""
    spec = ModuleSpec(loader.name, loader, origin=loader.path)
    spec.has_location = True
    return spec


def bundle_path(package_directory: str) -> str | None:
    """Return the path of the bundle for this Python; None if it was not built."""
    path = f"{package_directory}/{NAME}{EXTENSION_SUFFIXES[0]}"
    return path if os.path.exists(path) else None
