# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Powers of the transition matrices of generators, with which they skip ahead."""

from __future__ import annotations

import functools

import numpy as np

__all__ = ["mrg32k3a_powers", "xorwow_powers"]

MASK = 0xFFFFFFFF
M1, M2 = 4294967087, 4294944443
STEP1 = ((0, 1, 0), (0, 0, 1), (M1 - 810728, 1403580, 0))
STEP2 = ((0, 1, 0), (0, 0, 1), (M2 - 1370589, 0, 527612))


def xorwow_step(state: int) -> int:
    """Return the next 160-bit state of the xorshift part of XORWOW."""
    x = [(state >> 32 * k) & MASK for k in range(5)]
    t = x[0] ^ (x[0] >> 2)
    new = (x[4] ^ (x[4] << 4)) ^ (t ^ (t << 1))
    return sum(word << 32 * k for k, word in enumerate([*x[1:], new & MASK]))


@functools.cache
def xorwow_columns(exponent: int) -> tuple[int, ...]:
    """Return the columns of the binary matrix of 2**exponent steps."""
    if exponent == 0:
        return tuple([xorwow_step(1 << bit) for bit in range(160)])
    half = xorwow_columns(exponent - 1)
    return tuple([applied(half, column) for column in half])


def applied(columns, state: int) -> int:
    result = 0
    while state:
        lowest = state & -state
        result ^= columns[lowest.bit_length() - 1]
        state ^= lowest
    return result


@functools.cache
def xorwow_powers(first: int, count: int) -> np.ndarray:
    """Return the matrices of 2**first, 2**(first + 1), ... steps, as words."""
    for exponent in range(first):  # fills the cache step by step, so that the recursion stays shallow
        xorwow_columns(exponent)
    words = [
        (column >> 32 * k) & MASK
        for exponent in range(first, first + count)
        for column in xorwow_columns(exponent)
        for k in range(5)
    ]
    return np.array(words, dtype=np.uint32)


@functools.cache
def mrg32k3a_powers(first: int, count: int) -> np.ndarray:
    """Return the matrices of 2**first, 2**(first + 1), ... steps of MRG32k3a, as words."""
    parts, words = [STEP1, STEP2], []
    for exponent in range(first + count):
        if exponent >= first:
            words += [entry for matrix in parts for row in matrix for entry in row]
        parts = [squared(matrix, modulus) for matrix, modulus in zip(parts, (M1, M2), strict=True)]
    return np.array(words, dtype=np.uint32)


def squared(matrix, modulus: int):
    return tuple(
        tuple(sum(matrix[row][k] * matrix[k][column] for k in range(3)) % modulus for column in range(3))
        for row in range(3)
    )
