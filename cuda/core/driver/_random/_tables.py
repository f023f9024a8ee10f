# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tables for Sobol sequences, read from the library cuRAND on the host."""

from __future__ import annotations

import builtins
import ctypes
import enum
import functools
import importlib.util
import os

import numpy as np

from cuda.core.driver._array_object import GPUArray
from cuda.core.driver._checks import whole
from cuda.core.driver._copies import memcpy_dtod_async

__all__ = [
    "direction_vector_set",
    "generate_direction_vectors",
    "generate_scramble_constants",
    "generate_scramble_constants32",
    "generate_scramble_constants64",
    "get_curand_version",
]

# The number of dimensions in the tables.
DIMENSIONS = 20000
_NAMES = ("libcurand.so.10", "libcurand.so")


class direction_vector_set(enum.IntEnum):
    """The sets of direction vectors: 32 or 64 bits, for plain or scrambled sequences."""

    VECTOR_32 = 101
    SCRAMBLED_VECTOR_32 = 102
    VECTOR_64 = 103
    SCRAMBLED_VECTOR_64 = 104

    def __str__(self):
        return self.name


def get_curand_version() -> tuple[int, int, int] | None:
    """Return the version of the library cuRAND, or None if it is not installed."""
    library = load_library()
    if library is None:
        return None
    number = ctypes.c_int()
    call(library.curandGetVersion, ctypes.byref(number))
    return number.value // 1000, number.value // 100 % 10, number.value % 100


def generate_direction_vectors(count: int, direction: int = direction_vector_set.VECTOR_32) -> GPUArray:
    """Return the direction vectors of the first ``count`` dimensions. The table of 20,000 dimensions is repeated.

    Parameters
    ----------
    count : int
        The number of dimensions.
    direction : direction_vector_set, optional
        The set of vectors. Default is ``VECTOR_32``.

    Returns
    -------
    GPUArray
        An array of shape (count, 32) and type uint32, or (count, 64) and uint64.

    Raises
    ------
    RuntimeError
        If cuRAND is not installed.
    """
    if not isinstance(direction, direction_vector_set):
        direction = direction_vector_set(whole("direction", direction, 0, 1000))
    width = 64 if direction in (direction_vector_set.VECTOR_64, direction_vector_set.SCRAMBLED_VECTOR_64) else 32
    name = f"curandGetDirectionVectors{width}"
    return repeated(table(name, width, width, int(direction)), count)


def generate_scramble_constants32(count: int) -> GPUArray:
    """Return 32-bit scramble constants for ``count`` dimensions; see :func:`generate_direction_vectors`."""
    return generate_scramble_constants(count, 32)


def generate_scramble_constants64(count: int) -> GPUArray:
    """Return 64-bit scramble constants for ``count`` dimensions; see :func:`generate_direction_vectors`."""
    return generate_scramble_constants(count, 64)


def generate_scramble_constants(count: int, width: int) -> GPUArray:
    """Return scramble constants of 32 or 64 bits."""
    return repeated(table(f"curandGetScrambleConstants{width}", width, 1)[:, 0], count)


def repeated(rows: np.ndarray, count: int) -> GPUArray:
    count = whole("count", count, 1)
    first = np.ascontiguousarray(rows[:count])
    result = GPUArray((count, *first.shape[1:]), first.dtype)
    result[: len(first)].set(first)
    # Repeat the rows on the device, doubling with each copy: on the host a large array would take seconds.
    done = len(first)
    row_bytes = first.nbytes // done
    while done < count:
        more = min(done, count - done)
        memcpy_dtod_async(result._address + done * row_bytes, result._address, more * row_bytes, None)
        done += more
    return result


def table(name: str, width: int, columns: int, *arguments: int) -> np.ndarray:
    """Return a table of the library, as an array in its memory."""
    library = load_library()
    if library is None:
        raise builtins.RuntimeError(
            "the library cuRAND, which has the tables for Sobol sequences, is not installed: "
            "pip install nvidia-curand, or pass the vectors"
        )
    address = ctypes.c_void_p()
    call(getattr(library, name), ctypes.byref(address), *arguments)
    word = ctypes.c_uint32 if width == 32 else ctypes.c_uint64
    words = ctypes.cast(address, ctypes.POINTER(word))
    return np.ctypeslib.as_array(words, (DIMENSIONS, columns))


def call(function, *arguments) -> None:
    status = function(*arguments)
    if status:
        raise builtins.RuntimeError(f"{function.__name__} failed with status {status}")


@functools.cache
def load_library():
    for name in library_names():
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    return None


def library_names() -> list[str]:
    """Return the paths of the library in wheels, and its names for the system's search path."""
    found = importlib.util.find_spec("nvidia")
    folders = [] if found is None else list(found.submodule_search_locations or ())
    # Wheels for CUDA 13 share the folder cu13; that for CUDA 12 has a folder of its own.
    wheels = [
        path for folder in folders for name in ("cu13", "curand") for path in [f"{folder}/{name}/lib/{_NAMES[0]}"]
    ]
    return [*(path for path in wheels if os.path.isfile(path)), *_NAMES]
