# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The deprecated name that ``cuda.core`` had before its first stable release.

All of ``cuda.core`` and the classes of ``cuda.core.graph`` are reached by it, and its modules too:
``cuda.core.experimental.utils`` is ``cuda.core.utils`` itself. Importing it gives a ``DeprecationWarning``.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings

import cuda.core

_GRAPHS = ["Graph", "GraphBuilder", "GraphCompleteOptions", "GraphDebugPrintOptions"]

__all__ = [*cuda.core.__all__, *_GRAPHS]

# Makes this module a package, whose modules _Aliases finds.
__path__ = []

warnings.warn(
    "cuda.core.experimental is deprecated; import the same names from cuda.core, and those of graphs from "
    "cuda.core.graph",
    DeprecationWarning,
    stacklevel=2,
)


def __getattr__(name):
    home = "cuda.core" if hasattr(cuda.core, name) else "cuda.core.graph"
    try:
        return getattr(importlib.import_module(home), name)
    except AttributeError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


def __dir__():
    return sorted([*dir(cuda.core), *_GRAPHS])


class _Aliases:
    """Finds each module below this one: it is the module of the same name below ``cuda.core``."""

    def find_spec(self, name, path=None, target=None):
        if not name.startswith(f"{__name__}."):
            return None
        real = f"cuda.core.{name.removeprefix(f'{__name__}.')}"
        if importlib.util.find_spec(real) is None:
            return None
        return importlib.util.spec_from_loader(name, _Alias(real))


class _Alias:
    def __init__(self, name: str):
        self._module = importlib.import_module(name)
        self._spec = self._module.__spec__

    def create_module(self, spec):
        return self._module

    def exec_module(self, module) -> None:
        # The import has made this the spec of the module, which stays what it is.
        module.__spec__ = self._spec


sys.meta_path.append(_Aliases())
