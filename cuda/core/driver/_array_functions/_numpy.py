# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NumPy functions for device arrays (``__array_ufunc__``, ``__array_function__``), such as ``numpy.add(a, b)``."""

from __future__ import annotations

import numpy as np

from cuda.core.driver._array_base import ArrayBase
from cuda.core.driver._array_functions import BINARY_OF, UNARY_OF, apply, binary, concatenate, stack, take, where
from cuda.core.driver._array_reductions import dot, reduce_axes

__all__ = ["call_function", "call_ufunc"]


def call_ufunc(self, ufunc, method, *inputs, out=None, **kwargs):
    """Apply a ufunc, or its ``reduce``; NotImplemented if there is no kernel for it."""
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
    return apply(operation, inputs, out, None)


def call_function(self, function, types, args, kwargs):
    """Apply a NumPy function; NotImplemented, which NumPy turns into a TypeError, if it is not supported."""
    implementation = _FUNCTIONS.get(function)
    if implementation is None or not all(issubclass(kind, ArrayBase) for kind in types):
        return NotImplemented
    return implementation(*args, **kwargs)


def reduced(name: str, a, axis=None, dtype=None, out=None, keepdims: bool = False):
    if out is not None:
        raise TypeError(f"{name} of a GPUArray does not take out")
    return reduce_axes(name, a, axis, dtype, None, bool(keepdims))


def without_dtype(name: str):
    def reduction(a, axis=None, out=None, keepdims: bool = False):
        return reduced(name, a, axis, None, out, keepdims)

    return reduction


def with_dtype(name: str):
    def reduction(a, axis=None, dtype=None, out=None, keepdims: bool = False):
        return reduced(name, a, axis, dtype, out, keepdims)

    return reduction


def mean(a, axis=None, dtype=None, out=None, keepdims: bool = False):
    dtype = np.dtype(dtype) if dtype is not None else a.dtype if a.dtype.kind in "fc" else np.dtype(np.float64)
    total = reduced("sum", a, axis, dtype, out, keepdims)
    return total / dtype.type(a.size // max(total.size, 1))


def like(value):
    def make(a, dtype=None, order="K", subok=True, shape=None):
        if shape is not None:
            raise TypeError("shape is not supported for a GPUArray; use the functions of gpuarray")
        new = a._empty_like(dtype, order)
        return new if value is None else new.fill(value)

    return make


def where_function(condition, *choices):
    if len(choices) != 2:
        raise TypeError("where of a GPUArray needs x and y")
    return where(condition, *choices)


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
    np.concatenate: lambda arrays, axis=0: concatenate(arrays, axis),
    np.stack: lambda arrays, axis=0: stack(arrays, axis),
    np.take: lambda a, indices: take(a, indices),
    np.dot: dot,
    np.vdot: lambda a, b: dot(a.conj(), b),
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
