# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of random numbers."""

from __future__ import annotations

import numpy as np

from cuda.core.driver._array_base import checked_dtype, stream_for
from cuda.core.driver._array_layout import checked_shape
from cuda.core.driver._array_object import GPUArray
from cuda.core.driver._kernels import Elementwise, Operand
from cuda.core.driver._random._generators import (
    MRG32k3aRandomNumberGenerator,
    PhiloxRandomNumberGenerator,
    ScrambledSobol32RandomNumberGenerator,
    ScrambledSobol64RandomNumberGenerator,
    Sobol32RandomNumberGenerator,
    Sobol64RandomNumberGenerator,
    XORWOWRandomNumberGenerator,
    seed_getter_uniform,
    seed_getter_unique,
)
from cuda.core.driver._random._tables import (
    direction_vector_set,
    generate_direction_vectors,
    generate_scramble_constants32,
    generate_scramble_constants64,
    get_curand_version,
)
from cuda.core.driver._random_source import counter_source

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "PhiloxRandomNumberGenerator",
    "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator",
    "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
    "direction_vector_set",
    "generate_direction_vectors",
    "generate_scramble_constants32",
    "generate_scramble_constants64",
    "get_curand_version",
    "rand",
    "seed_getter_uniform",
    "seed_getter_unique",
]

# Floats in [0, 1), or all bits of integers.
_BODIES = {
    "f4": "r = (random_word(i, 0, p, q) >> 8) * 5.9604645e-8f",
    "f8": "r = ((random_word(i, 0, p, q) >> 5) * 67108864.0 + (random_word(i, 1, p, q) >> 6)) * 1.1102230246251565e-16",
    "i4": "r = (int)random_word(i, 0, p, q)",
    "u4": "r = random_word(i, 0, p, q)",
}


def rand(shape, dtype=np.float32, stream=None) -> GPUArray:
    """Return an array of uniformly distributed random numbers.

    Parameters
    ----------
    shape : int or sequence of int
        The shape of the array.
    dtype : dtype, optional
        float32 or float64 for numbers in [0, 1); int32 or uint32 for random bits. Default is float32.
    stream : Stream, optional
        The stream on which the kernel is enqueued. If None, the default stream.

    Raises
    ------
    NotImplementedError
        If ``dtype`` is another type.

    Notes
    -----
    The generator is Philox4x32-10, with a key from ``numpy.random``: ``numpy.random.seed`` makes results reproducible.
    """
    dtype = checked_dtype(dtype)
    body = _BODIES.get(dtype.str[1:])
    if body is None:
        raise NotImplementedError(f"random numbers of type {dtype} are not supported")
    result = GPUArray._new_result(checked_shape(shape), dtype)
    if not result.size:
        return result
    device = result._device
    key = ("rand", dtype)
    kernel = device.plans.get(key)
    if kernel is None:
        word = np.dtype(np.uint32)
        inputs = [Operand("p", word, is_scalar=True), Operand("q", word, is_scalar=True)]
        kernel = Elementwise("array_rand", [Operand("r", dtype)], inputs, body, counter_source())
        device.plans[key] = kernel
    seeds = np.random.randint(0, 2**32, size=2, dtype=np.uint32)
    inner = stream_for(stream, result)
    kernel.launch(device.arch, inner, result.shape, [(result._address, result.strides)], (result._address, *seeds))
    return result


def __dir__():
    return list(__all__)
