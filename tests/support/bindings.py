# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Driver calls through the bindings, as other libraries of a process make them."""

from __future__ import annotations

import importlib.metadata

from cuda.core import CUDAError, OutOfMemoryError  # chooses the device before the bindings load the driver


def handle_return(result: tuple, api: str = "the call"):
    """Return the values of a bindings result (none, one, or a tuple), or raise its error."""
    error, *values = result
    if error:
        kind = OutOfMemoryError if error.name == "CUDA_ERROR_OUT_OF_MEMORY" else CUDAError
        raise kind(f"{api} failed with {error.name}", code=error, name=error.name, api=api)
    return None if not values else values[0] if len(values) == 1 else tuple(values)


def call_driver(name: str, *args):
    """Call a driver function, and return its values or raise its error as :func:`handle_return` does."""
    from cuda.bindings import driver

    return handle_return(getattr(driver, name)(*args), name)


def binding_version() -> tuple[int, ...]:
    """Return the version of the installed bindings, because signatures depend on it."""
    return tuple(map(int, importlib.metadata.version("cuda-bindings").split(".")[:2]))


def driver_version() -> tuple[int, int]:
    """Return the CUDA version that the driver supports."""
    version = call_driver("cuDriverGetVersion")
    return version // 1000, version % 1000 // 10
