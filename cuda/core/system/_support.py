# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The NVML module of the bindings, whether it is compatible, and its errors for values that do not exist."""

from __future__ import annotations

import functools

from cuda.core._utils.cuda_utils import binding_version

try:
    from cuda.bindings import nvml
except ImportError:
    nvml = None

__all__ = ["CUDA_BINDINGS_NVML_IS_COMPATIBLE", "nvml", "require", "without_value"]


def _is_compatible(version: tuple[int, ...]) -> bool:
    return version >= (13, 2, 0) or (12, 9, 6) <= version < (13,)


CUDA_BINDINGS_NVML_IS_COMPATIBLE = nvml is not None and _is_compatible(binding_version())


def require(what: str) -> None:
    """Raise RuntimeError in the name of ``what`` if the bindings have no compatible NVML module."""
    if not CUDA_BINDINGS_NVML_IS_COMPATIBLE:
        raise RuntimeError(f"{what} needs cuda-bindings 13.2 or later, or 12.9.6 or later of the 12 series, with NVML")


def without_value(error: Exception) -> Exception:
    """Return an exception as one of its class and of AttributeError, so that ``hasattr()`` returns False."""
    return _remade(type(error), error.args, vars(error)).with_traceback(error.__traceback__)


def _remade(cls: type, args: tuple, state: dict) -> Exception:
    # __new__, because the constructors of the bindings take the text from NVML, whose library may be missing.
    error = _both(cls).__new__(_both(cls), *args)
    vars(error).update(state)
    return error


@functools.cache
def _both(cls: type) -> type:
    return type(cls.__name__, (cls, AttributeError), {"__module__": cls.__module__, "__reduce__": _reduce})


def _reduce(self):
    return _remade, (type(self).__mro__[1], self.args, vars(self))
