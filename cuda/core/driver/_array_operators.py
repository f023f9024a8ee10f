# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Array operators and NumPy functions on device arrays (``__array_ufunc__``, ``__array_function__``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cuda.core.driver._array_base import ArrayBase
from cuda.core.driver._array_functions import (
    BINARY_OF,
    UNARY_OF,
    apply_operation,
    binary,
    in_place,
    join_arrays,
    select_nonzero,
    stack_arrays,
    take_elements,
    unary,
)
from cuda.core.driver._array_reductions import dot_product, reduce_axes

if TYPE_CHECKING:
    from cuda.core.driver._array_object import GPUArray

__all__ = ["ArrayOperators", "call_function", "call_ufunc"]

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
    """An n-dimensional array with NumPy's operators. Even comparisons return new arrays."""

    __hash__ = None

    def __add__(self, other) -> GPUArray:
        return binary(_ADD, self, other)

    def __radd__(self, other) -> GPUArray:
        return binary(_ADD, other, self)

    def __sub__(self, other) -> GPUArray:
        return binary(_SUBTRACT, self, other)

    def __rsub__(self, other) -> GPUArray:
        return binary(_SUBTRACT, other, self)

    def __mul__(self, other) -> GPUArray:
        return binary(_MULTIPLY, self, other)

    def __rmul__(self, other) -> GPUArray:
        return binary(_MULTIPLY, other, self)

    def __truediv__(self, other) -> GPUArray:
        return binary(_DIVIDE, self, other)

    def __rtruediv__(self, other) -> GPUArray:
        return binary(_DIVIDE, other, self)

    def __floordiv__(self, other) -> GPUArray:
        return binary(_FLOOR_DIVIDE, self, other)

    def __rfloordiv__(self, other) -> GPUArray:
        return binary(_FLOOR_DIVIDE, other, self)

    def __mod__(self, other) -> GPUArray:
        return binary(_REMAINDER, self, other)

    def __rmod__(self, other) -> GPUArray:
        return binary(_REMAINDER, other, self)

    def __pow__(self, other) -> GPUArray:
        check_exponent(self, other)
        return binary(_POWER, self, other)

    def __rpow__(self, other) -> GPUArray:
        return binary(_POWER, other, self)

    def __and__(self, other) -> GPUArray:
        return binary(_AND, self, other)

    def __rand__(self, other) -> GPUArray:
        return binary(_AND, other, self)

    def __or__(self, other) -> GPUArray:
        return binary(_OR, self, other)

    def __ror__(self, other) -> GPUArray:
        return binary(_OR, other, self)

    def __xor__(self, other) -> GPUArray:
        return binary(_XOR, self, other)

    def __rxor__(self, other) -> GPUArray:
        return binary(_XOR, other, self)

    def __lshift__(self, other) -> GPUArray:
        return binary(_LEFT, self, other)

    def __rlshift__(self, other) -> GPUArray:
        return binary(_LEFT, other, self)

    def __rshift__(self, other) -> GPUArray:
        return binary(_RIGHT, self, other)

    def __rrshift__(self, other) -> GPUArray:
        return binary(_RIGHT, other, self)

    def __iadd__(self, other) -> GPUArray:
        return in_place(_ADD, self, other)

    def __isub__(self, other) -> GPUArray:
        return in_place(_SUBTRACT, self, other)

    def __imul__(self, other) -> GPUArray:
        return in_place(_MULTIPLY, self, other)

    def __itruediv__(self, other) -> GPUArray:
        return in_place(_DIVIDE, self, other)

    def __ifloordiv__(self, other) -> GPUArray:
        return in_place(_FLOOR_DIVIDE, self, other)

    def __imod__(self, other) -> GPUArray:
        return in_place(_REMAINDER, self, other)

    def __ipow__(self, other) -> GPUArray:
        check_exponent(self, other)
        return in_place(_POWER, self, other)

    def __iand__(self, other) -> GPUArray:
        return in_place(_AND, self, other)

    def __ior__(self, other) -> GPUArray:
        return in_place(_OR, self, other)

    def __ixor__(self, other) -> GPUArray:
        return in_place(_XOR, self, other)

    def __ilshift__(self, other) -> GPUArray:
        return in_place(_LEFT, self, other)

    def __irshift__(self, other) -> GPUArray:
        return in_place(_RIGHT, self, other)

    def __eq__(self, other) -> GPUArray:
        return binary(_EQUAL, self, other)

    def __ne__(self, other) -> GPUArray:
        return binary(_NOT_EQUAL, self, other)

    def __lt__(self, other) -> GPUArray:
        return binary(_LESS, self, other)

    def __le__(self, other) -> GPUArray:
        return binary(_LESS_EQUAL, self, other)

    def __gt__(self, other) -> GPUArray:
        return binary(_GREATER, self, other)

    def __ge__(self, other) -> GPUArray:
        return binary(_GREATER_EQUAL, self, other)

    def __neg__(self) -> GPUArray:
        return unary(_NEGATIVE, self)

    def __pos__(self) -> GPUArray:
        return unary(_POSITIVE, self)

    def __abs__(self) -> GPUArray:
        return unary(_ABSOLUTE, self)

    def __invert__(self) -> GPUArray:
        return unary(_INVERT, self)


def check_exponent(base, exponent) -> None:
    if isinstance(exponent, (int, np.integer)) and exponent < 0 and base.dtype.kind in "iu":
        raise ValueError("integers to negative integer powers are not integers; convert the array to a float type")


def call_ufunc(self, ufunc, method, *inputs, out=None, **kwargs):
    """Apply a ufunc or its ``reduce`` method, or return NotImplemented if there is no kernel for it."""
    if isinstance(out, tuple):
        out = out[0]
    if out is not None and not isinstance(out, ArrayBase):
        return NotImplemented
    if method == "reduce" and ufunc in _REDUCTIONS and len(inputs) == 1 and out is None:
        return reduced(_REDUCTIONS[ufunc], inputs[0], **({"axis": 0} | kwargs))
    if method != "__call__" or kwargs:
        return NotImplemented
    operation = BINARY_OF.get(ufunc) or UNARY_OF.get(ufunc)
    if operation is None:
        return NotImplemented
    if len(inputs) == 2 and out is None:
        return binary(operation, *inputs)
    return apply_operation(operation, inputs, out, None)


def call_function(self, function, types, args, kwargs):
    """Apply a NumPy function, or return NotImplemented, which NumPy turns into a TypeError, if it is unsupported."""
    implementation = _FUNCTIONS.get(function)
    if implementation is None or not all(issubclass(kind, ArrayBase) for kind in types):
        return NotImplemented
    return implementation(*args, **kwargs)


def reduced(name: str, a, axis=None, dtype=None, out=None, keepdims: bool = False):
    if out is not None:
        raise TypeError(f"{name} of a GPUArray does not support out")
    if dtype is None:
        dtype = result_type(name, a)
    return reduce_axes(name, a, axis, dtype, None, bool(keepdims))


def result_type(name: str, a):
    """Return NumPy's result type for a sum or product, which combines short integers as 64-bit integers, or None."""
    return np.add.reduce(np.empty(0, a.dtype)).dtype if name in ("sum", "prod") and a.dtype.kind in "biu" else None


def without_dtype(name: str):
    def reduction(a, axis=None, out=None, keepdims: bool = False):
        return reduced(name, a, axis, None, out, keepdims)

    return reduction


def with_dtype(name: str):
    def reduction(a, axis=None, dtype=None, out=None, keepdims: bool = False):
        return reduced(name, a, axis, dtype, out, keepdims)

    return reduction


def mean(a, axis=None, dtype=None, out=None, keepdims: bool = False):
    if dtype is None and a.dtype == np.float16:  # as NumPy does, because the sum can exceed the largest float16
        return mean(a, axis, np.float32, out, keepdims).astype(np.float16)
    dtype = np.dtype(dtype) if dtype is not None else a.dtype if a.dtype.kind in "fc" else np.dtype(np.float64)
    total = reduced("sum", a, axis, dtype, out, keepdims)
    count = a.size // max(total.size, 1)
    return total / dtype.type(count) if dtype.kind in "fc" else (total / np.float64(count)).astype(dtype)


def dot_function(a, b, out=None):
    if out is not None:
        raise TypeError("dot of a GPUArray does not support out")
    ndim = np.ndim(a), np.ndim(b)
    if 0 in ndim:  # a Python number has the type of an array of it
        a, b = (factor if hasattr(factor, "get") else np.asarray(factor) for factor in (a, b))
        dtype = np.result_type(a.dtype, b.dtype)
        return a.astype(dtype) * b.astype(dtype)
    if ndim != (1, 1):
        raise TypeError(
            f"dot of GPUArrays needs one-dimensional arrays, not {ndim[0]} and {ndim[1]} dimensions; "
            "gpuarray.dot() takes the elements of arrays of any shape"
        )
    return dot_product(a, b)


def like(value):
    def make(a, dtype=None, order="K", subok=True, shape=None):
        if shape is not None:
            raise TypeError("shape is not supported for a GPUArray; use the gpuarray functions")
        new = a._empty_like(dtype, order)
        return new if value is None else new.fill(value)

    return make


def where_function(condition, *choices):
    if len(choices) != 2:
        raise TypeError("where of a GPUArray requires x and y")
    return select_nonzero(condition, *choices)


_REDUCTIONS = {
    np.add: "sum",
    np.multiply: "prod",
    np.maximum: "max",
    np.minimum: "min",
    np.logical_or: "any",
    np.logical_and: "all",
}
_FUNCTIONS = {
    np.sum: with_dtype("sum"),
    np.prod: with_dtype("prod"),
    np.max: without_dtype("max"),
    np.min: without_dtype("min"),
    np.any: without_dtype("any"),
    np.all: without_dtype("all"),
    np.mean: mean,
    np.where: where_function,
    np.concatenate: lambda arrays, axis=0: join_arrays(arrays, axis),
    np.stack: lambda arrays, axis=0: stack_arrays(arrays, axis),
    np.take: lambda a, indices: take_elements(a, indices),
    np.dot: dot_function,
    np.vdot: lambda a, b: dot_product(a.conj(), b),
    np.transpose: lambda a, axes=None: a.transpose(axes),
    np.reshape: lambda a, shape, order="C": a.reshape(shape, order=order),
    np.ravel: lambda a, order="C": a.ravel(order),
    np.squeeze: lambda a: a.squeeze(),
    np.copy: lambda a: a.copy(),
    np.real: lambda a: a.real,
    np.imag: lambda a: a.imag,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a: a.size,
    np.empty_like: like(None),
    np.zeros_like: like(0),
    np.ones_like: like(1),
}
