# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tab completion in interactive Python without evaluating computed attributes.

``rlcompleter`` evaluates each attribute that it offers, to see whether it is callable. It skips instances of
``property``, but not other computed attributes, which may call the driver and raise. This module extends the test to
all computed attributes. ``CUDA_CORE_DONT_FIX_TAB_COMPLETION``, set to anything but 0, disables it.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import PathFinder

__all__ = ["patch_completion"]


_NAME = "rlcompleter"


def patch_completion() -> None:
    """Patch ``rlcompleter``, now or when it is imported."""
    if not _is_set(os.environ.get("CUDA_CORE_DONT_FIX_TAB_COMPLETION", "")):
        if _NAME in sys.modules:
            _patch(sys.modules[_NAME])
        else:
            sys.meta_path.insert(0, _Finder())


def _is_set(text: str) -> bool:
    try:
        return int(text) != 0
    except ValueError:
        return text != ""


class _ComputedType(type):
    def __instancecheck__(cls, descriptor):
        return hasattr(type(descriptor), "__get__") and not callable(descriptor)


class _Computed(metaclass=_ComputedType):
    """A class for which isinstance() is true for every computed attribute."""


def _patch(module) -> None:
    # Code of the module finds this name before the builtin one.
    module.property = _Computed


class _Finder:
    """First on ``sys.meta_path`` until ``rlcompleter`` is imported: lets :class:`_Loader` load it."""

    def find_spec(self, name, path=None, target=None):
        if name != _NAME:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader:
    """Loads ``rlcompleter`` with its own loader, then patches it."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module) -> None:
        self._loader.exec_module(module)
        module.__spec__.loader = module.__loader__ = self._loader
        _patch(module)
