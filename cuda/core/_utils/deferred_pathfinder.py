# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Puts off the import of ``cuda.pathfinder``, which takes longer than all of this package.

The modules of ``cuda.bindings`` import it for one function, which is to find the driver and NVRTC: the driver
has a name that the dynamic linker knows, and NVRTC is nearly always in the wheel beside the bindings. So until
anything else is asked of ``cuda.pathfinder``, its module has that function only, which finds these two; the
first look at another name, or a library that is elsewhere, executes the module as it is.
"""

from __future__ import annotations

import _thread
import sys
from importlib.machinery import PathFinder

__all__ = ["MISSING_DRIVER", "defer"]

MISSING_DRIVER = (
    "the CUDA driver (libcuda.so.1) was not found; install the NVIDIA display driver, version 580 or newer, "
    "on a machine with an NVIDIA GPU, or use the software device: set CUDA_CORE_DEVICE=auto, or run "
    "python -m cuda.emulator program.py"
)

_NAME = "cuda.pathfinder"
_FUNCTION = "load_nvidia_dynamic_lib"
_DRIVER = "libcuda.so.1"
_COMPILER = "libnvrtc.so.13"
_lock = _thread.RLock()

ModuleType = type(sys)


def defer() -> None:
    """Put off the import of ``cuda.pathfinder``, unless it was imported already or is not there."""
    if sys.platform != "linux" or _NAME in sys.modules:
        return
    spec = PathFinder.find_spec(_NAME, sys.modules["cuda"].__path__)
    if spec is not None:
        # Importing importlib.util, whose function makes such a module, takes longer than all else here.
        module = _Deferred(_NAME, None)
        module.__spec__, module.__loader__ = spec, spec.loader
        module.__package__, module.__path__ = _NAME, spec.submodule_search_locations
        module.__file__, module.__cached__ = spec.origin, spec.cached
        module.__dict__[_FUNCTION] = _load_quickly
        sys.modules[_NAME] = sys.modules["cuda"].pathfinder = module


class _Deferred(ModuleType):
    """A module that is executed when a name is asked for that it does not have."""

    def __getattr__(self, name):
        with _lock:
            # Executing it asks for names that it does not have yet.
            if self.__dict__.get("_is_executing"):
                raise AttributeError(f"module {_NAME!r} has no attribute {name!r}")
            if type(self) is _Deferred:
                _execute(self)
        return getattr(self, name)


def _execute(module) -> None:
    module.__dict__["_is_executing"] = True
    quick = module.__dict__.pop(_FUNCTION)
    try:
        module.__spec__.loader.exec_module(module)
    except BaseException:
        module.__dict__[_FUNCTION] = quick
        raise
    finally:
        del module.__dict__["_is_executing"]
    module.__class__ = ModuleType


class _Library:
    """What the bindings need of a library that is loaded; the rest is found when it is asked for."""

    def __init__(self, name: str, library):
        self._name = name
        self._handle_uint = library._handle

    def __getattr__(self, attribute):
        return getattr(_load_thoroughly(self._name), attribute)

    def __repr__(self):
        return repr(_load_thoroughly(self._name))


def _load_quickly(libname: str):
    """Load a library of the CUDA toolkit or driver, as ``cuda.pathfinder.load_nvidia_dynamic_lib`` does."""
    library = _find(libname) if type(sys.modules.get(_NAME)) is _Deferred else None
    if library is not None:
        return _Library(libname, library)
    try:
        return _load_thoroughly(libname)
    except RuntimeError as error:
        if libname != "cuda":
            raise
        # What programs catch is the class.
        raise type(error)(MISSING_DRIVER) from None


def _load_thoroughly(libname: str):
    # Looking at a name executes the module, and this function is another one then.
    pathfinder = sys.modules[_NAME]
    pathfinder.LoadedDL  # noqa: B018
    return getattr(pathfinder, _FUNCTION)(libname)


def _find(libname: str):
    import ctypes
    import os

    def opened(path, mode=os.RTLD_NOW):
        try:
            return ctypes.CDLL(path, mode)
        except OSError:
            return None

    if libname == "cuda":
        return opened(_DRIVER)
    if libname != "nvrtc":
        return None
    library = opened(_COMPILER, os.RTLD_NOLOAD | os.RTLD_NOW)
    for entry in sys.path if library is None else ():
        path = f"{entry}/nvidia/cu13/lib/{_COMPILER}"
        if entry.endswith("-packages") and os.path.exists(path):
            return opened(path)
    return library
