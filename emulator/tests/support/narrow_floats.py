# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Floating-point formats of 16 bits in NumPy, with exact rounding, as references for kernels."""

from __future__ import annotations

import math

import numpy as np

ROUND = {"rn": np.rint, "rz": np.trunc, "rd": np.floor, "ru": np.ceil}
CANONICAL_NAN = 0x7FFF


class Format:
    """A binary format of 16 bits.

    Parameters
    ----------
    name : str
        The name in CUDA's functions, such as ``"half"``.
    type_name : str
        The C++ type.
    digits : int
        The digits of the significand, including the implicit one.
    least : int
        The exponent of the smallest positive value.
    """

    def __init__(self, name: str, type_name: str, digits: int, least: int):
        self.name = name
        self.type = type_name
        self.digits = digits
        self.least = least
        self.infinity = 0x7C00 if name == "half" else 0x7F80
        self.largest = float(self.values(np.array([self.infinity - 1], np.uint16))[0])

    def values(self, bits):
        """Return the values of bits as float64."""
        if self.name == "half":
            return bits.view(np.float16).astype(np.float64)
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)

    def rounded(self, values, mode: str = "rn"):
        """Return the bits of float64 values, each rounded once."""
        values = np.asarray(values, np.float64)
        finite = np.where(np.isfinite(values), values, 0.0)
        quantum = np.ldexp(1.0, np.maximum(np.frexp(finite)[1] - self.digits, self.least))
        result = ROUND[mode](finite / quantum) * quantum
        over = np.abs(result) > self.largest
        grows = (mode == "rn") | (mode == "ru") & (result > 0) | (mode == "rd") & (result < 0)
        result = np.where(over, np.copysign(np.where(grows, np.inf, self.largest), result), result)
        result = np.where(np.isfinite(values), np.copysign(result, values), values)
        return self.encoded(result)

    def encoded(self, exact):
        """Return the bits of float64 values that the format can represent."""
        if self.name == "half":
            bits = exact.astype(np.float16).view(np.uint16)
        else:
            bits = (exact.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
        return np.where(np.isnan(exact), np.uint16(CANONICAL_NAN), bits)

    def fused(self, a, b, c):
        """Return the bits of a * b + c for float64 arrays, computed with integers and rounded once."""
        places = -self.least
        a, b, c = ([int(value) for value in np.ldexp(values, places)] for values in (a, b, c))
        return self.encoded(np.array([self._rounded(x * y + (z << places)) for x, y, z in zip(a, b, c, strict=True)]))

    def _rounded(self, exact: int) -> float:
        """Return an integer number of squares of the smallest value, rounded to the format."""
        size = abs(exact)
        shift = max(size.bit_length() - self.digits, -self.least)
        kept, rest = size >> shift, (size & ((1 << shift) - 1)) << 1
        kept += rest > 1 << shift or (rest == 1 << shift and kept & 1)
        value = math.ldexp(kept, shift + 2 * self.least)
        return math.copysign(math.inf if value > self.largest else value, exact)


HALF = Format("half", "__half", 11, -24)
BFLOAT16 = Format("bfloat16", "__nv_bfloat16", 8, -133)
