# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Array operators: arithmetic, bitwise operations and comparisons, each one elementwise kernel."""

from __future__ import annotations

import numpy as np

from cuda.core.driver._array_base import ArrayBase
from cuda.core.driver._array_functions import BINARY_OF, UNARY_OF, binary, in_place, unary

__all__ = ["ArrayOperators"]

_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE, _POWER = (
    BINARY_OF[ufunc] for ufunc in (np.add, np.subtract, np.multiply, np.true_divide, np.power)
)
_FLOOR_DIVIDE, _REMAINDER, _AND, _OR, _XOR, _LEFT, _RIGHT = (
    BINARY_OF[ufunc]
    for ufunc in (
        *(np.floor_divide, np.remainder, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift),
    )
)
_EQUAL, _NOT_EQUAL, _LESS, _LESS_EQUAL, _GREATER, _GREATER_EQUAL = (
    BINARY_OF[ufunc] for ufunc in (np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal)
)
_NEGATIVE, _POSITIVE, _ABSOLUTE, _INVERT = (
    UNARY_OF[ufunc] for ufunc in (np.negative, np.positive, np.absolute, np.invert)
)


class ArrayOperators(ArrayBase):
    """An n-dimensional array with NumPy's operators, which return new arrays, also for comparisons."""

    __hash__ = None

    def __add__(self, other):
        return binary(_ADD, self, other)

    def __radd__(self, other):
        return binary(_ADD, other, self)

    def __sub__(self, other):
        return binary(_SUBTRACT, self, other)

    def __rsub__(self, other):
        return binary(_SUBTRACT, other, self)

    def __mul__(self, other):
        return binary(_MULTIPLY, self, other)

    def __rmul__(self, other):
        return binary(_MULTIPLY, other, self)

    def __truediv__(self, other):
        return binary(_DIVIDE, self, other)

    def __rtruediv__(self, other):
        return binary(_DIVIDE, other, self)

    def __floordiv__(self, other):
        return binary(_FLOOR_DIVIDE, self, other)

    def __rfloordiv__(self, other):
        return binary(_FLOOR_DIVIDE, other, self)

    def __mod__(self, other):
        return binary(_REMAINDER, self, other)

    def __rmod__(self, other):
        return binary(_REMAINDER, other, self)

    def __pow__(self, other):
        check_exponent(self, other)
        return binary(_POWER, self, other)

    def __rpow__(self, other):
        return binary(_POWER, other, self)

    def __and__(self, other):
        return binary(_AND, self, other)

    def __rand__(self, other):
        return binary(_AND, other, self)

    def __or__(self, other):
        return binary(_OR, self, other)

    def __ror__(self, other):
        return binary(_OR, other, self)

    def __xor__(self, other):
        return binary(_XOR, self, other)

    def __rxor__(self, other):
        return binary(_XOR, other, self)

    def __lshift__(self, other):
        return binary(_LEFT, self, other)

    def __rlshift__(self, other):
        return binary(_LEFT, other, self)

    def __rshift__(self, other):
        return binary(_RIGHT, self, other)

    def __rrshift__(self, other):
        return binary(_RIGHT, other, self)

    def __iadd__(self, other):
        return in_place(_ADD, self, other)

    def __isub__(self, other):
        return in_place(_SUBTRACT, self, other)

    def __imul__(self, other):
        return in_place(_MULTIPLY, self, other)

    def __itruediv__(self, other):
        return in_place(_DIVIDE, self, other)

    def __ifloordiv__(self, other):
        return in_place(_FLOOR_DIVIDE, self, other)

    def __imod__(self, other):
        return in_place(_REMAINDER, self, other)

    def __ipow__(self, other):
        check_exponent(self, other)
        return in_place(_POWER, self, other)

    def __iand__(self, other):
        return in_place(_AND, self, other)

    def __ior__(self, other):
        return in_place(_OR, self, other)

    def __ixor__(self, other):
        return in_place(_XOR, self, other)

    def __ilshift__(self, other):
        return in_place(_LEFT, self, other)

    def __irshift__(self, other):
        return in_place(_RIGHT, self, other)

    def __eq__(self, other):
        return binary(_EQUAL, self, other)

    def __ne__(self, other):
        return binary(_NOT_EQUAL, self, other)

    def __lt__(self, other):
        return binary(_LESS, self, other)

    def __le__(self, other):
        return binary(_LESS_EQUAL, self, other)

    def __gt__(self, other):
        return binary(_GREATER, self, other)

    def __ge__(self, other):
        return binary(_GREATER_EQUAL, self, other)

    def __neg__(self):
        return unary(_NEGATIVE, self)

    def __pos__(self):
        return unary(_POSITIVE, self)

    def __abs__(self):
        return unary(_ABSOLUTE, self)

    def __invert__(self):
        return unary(_INVERT, self)


def check_exponent(base, exponent) -> None:
    if isinstance(exponent, (int, np.integer)) and exponent < 0 and base.dtype.kind in "iu":
        raise ValueError("integers to negative integer powers are not integers; convert the array to a float type")
