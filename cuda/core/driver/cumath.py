# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Elementwise mathematical functions. Results have the data type of the array."""

from __future__ import annotations

import warnings

import numpy as np

from cuda.core.driver._array_base import ArrayBase, check_array, check_on_device, stream_for
from cuda.core.driver._array_functions import BINARY_OF, UNARY_OF, apply_operation
from cuda.core.driver._array_layout import broadcast_shape, broadcast_strides
from cuda.core.driver._array_object import GPUArray
from cuda.core.driver._kernels import Elementwise, Operand

__all__ = [
    "acos",
    "asin",
    "atan",
    "atan2",
    "ceil",
    "cos",
    "cosh",
    "exp",
    "fabs",
    "floor",
    "fmod",
    "frexp",
    "ldexp",
    "log",
    "log10",
    "modf",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]


def elementwise_function(name: str, ufunc: np.ufunc, what: str, kinds: str = ""):
    """Return the elementwise function for a NumPy ufunc."""
    operation = UNARY_OF[ufunc]

    def function(array, *ignored, out=None, stream=None) -> GPUArray:
        check_array("array", array)
        if ignored:
            text = f"{name} accepts out and stream by name only; the second argument has no effect"
            warnings.warn(text, DeprecationWarning, stacklevel=2)
        if array.dtype.kind not in "biufc":
            raise TypeError(f"{name} is not supported for elements of type {array.dtype}")
        return apply_operation(operation, (array,), out, stream, array.dtype)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""Return {what} of each element{kinds}.

    Parameters
    ----------
    array : GPUArray
        The operand.
    out : GPUArray, optional
        The array for the result. Defaults to a new array with the data type of ``array``.
    stream : Stream, optional
        The stream to enqueue the kernel on. Defaults to the default stream.

    Raises
    ------
    TypeError
        If the function does not support the data type.

    Warns
    -----
    DeprecationWarning
        If a second positional argument is given, which has no effect.
    """
    return function


_COMPLEX = ", real or complex"
fabs = elementwise_function("fabs", np.fabs, "the absolute value")
ceil = elementwise_function("ceil", np.ceil, "the smallest integer not less than the value")
floor = elementwise_function("floor", np.floor, "the largest integer not greater than the value")
exp = elementwise_function("exp", np.exp, "the exponential", _COMPLEX)
log = elementwise_function("log", np.log, "the natural logarithm", _COMPLEX)
log10 = elementwise_function("log10", np.log10, "the logarithm to base 10", _COMPLEX)
sqrt = elementwise_function("sqrt", np.sqrt, "the square root", _COMPLEX)
sin = elementwise_function("sin", np.sin, "the sine", _COMPLEX)
cos = elementwise_function("cos", np.cos, "the cosine", _COMPLEX)
tan = elementwise_function("tan", np.tan, "the tangent", _COMPLEX)
asin = elementwise_function("asin", np.arcsin, "the inverse sine")
acos = elementwise_function("acos", np.arccos, "the inverse cosine")
atan = elementwise_function("atan", np.arctan, "the inverse tangent")
sinh = elementwise_function("sinh", np.sinh, "the hyperbolic sine", _COMPLEX)
cosh = elementwise_function("cosh", np.cosh, "the hyperbolic cosine", _COMPLEX)
tanh = elementwise_function("tanh", np.tanh, "the hyperbolic tangent", _COMPLEX)


def fmod(arg, mod, stream=None) -> GPUArray:
    """Return the remainder of ``arg / mod`` with the sign of ``arg``.

    Parameters
    ----------
    arg, mod : GPUArray or number
        The operands, which are broadcast. At least one must be an array.
    stream : Stream, optional
        The stream to enqueue the kernel on. Defaults to the default stream.

    Raises
    ------
    TypeError
        If neither operand is a GPUArray, or the function does not support a data type.
    ValueError
        If the shapes cannot be broadcast.
    """
    return apply_binary(np.fmod, arg, mod, stream)


def atan2(y, x, stream=None) -> GPUArray:
    """Return the angle of the point ``(x, y)`` in radians. See :func:`fmod` for the parameters.

    Parameters
    ----------
    y, x : GPUArray
        The coordinates.
    """
    return apply_binary(np.arctan2, y, x, stream)


def frexp(arg, stream=None) -> tuple[GPUArray, GPUArray]:
    """Return significands in [0.5, 1) and exponents of 2, both with the data type of ``arg``.

    Parameters
    ----------
    arg : GPUArray
        An array of real floating-point elements.
    stream : Stream, optional
        The stream to enqueue the kernel on. Defaults to the default stream.

    Raises
    ------
    TypeError
        If ``arg`` is not a GPUArray of real floating-point elements.
    """
    body = "int whole = 0; r = frexp(a, &whole); s = whole"
    return split("frexp", body, arg, stream)


def modf(arg, stream=None) -> tuple[GPUArray, GPUArray]:
    """Return fractional and integral parts, both with the sign and data type of ``arg``. See :func:`frexp`."""
    return split("modf", "s = trunc(a); r = copysign(a - s == a - s ? a - s : decltype(a)(0), a)", arg, stream)


def ldexp(significand, exponent, stream=None) -> GPUArray:
    """Return ``significand * 2**exponent``.

    Parameters
    ----------
    significand : GPUArray
        An array of real floating-point elements.
    exponent : GPUArray
        The exponents, which are broadcast with ``significand``. Floats are truncated.
    stream : Stream, optional
        The stream to enqueue the kernel on. Defaults to the default stream.

    Raises
    ------
    TypeError
        If an operand is not a GPUArray, or ``significand`` does not have real floating-point elements.
    ValueError
        If the shapes cannot be broadcast.
    """
    check_array("significand", significand)
    check_array("exponent", exponent)
    check_float("ldexp", significand)
    shape = broadcast_shape(significand.shape, exponent.shape)
    result = GPUArray(shape, significand.dtype, significand.allocator)
    inputs = [Operand("a", significand.dtype), Operand("b", exponent.dtype)]
    launch_elementwise("ldexp", "r = ldexp(a, (int)b)", [result], inputs, [significand, exponent], stream)
    return result


def apply_binary(ufunc, first, second, stream):
    arrays = [item for item in (first, second) if isinstance(item, ArrayBase)]
    if not arrays:
        raise TypeError(f"{ufunc.__name__} requires a GPUArray, not {type(first).__name__}")
    result = apply_operation(BINARY_OF[ufunc], (first, second), None, stream)
    if result is NotImplemented:
        raise TypeError(f"{ufunc.__name__} accepts only GPUArrays and numbers")
    return result


def split(name: str, body: str, arg, stream):
    check_array("arg", arg)
    check_float(name, arg)
    results = arg._new_like(arg.dtype), arg._new_like(arg.dtype)
    launch_elementwise(name, body, results, [Operand("a", arg.dtype)], [arg], stream)
    return results


def launch_elementwise(name: str, body: str, results, inputs, arrays, stream) -> None:
    """Run an elementwise kernel that stores one or two results of the same data type."""
    device = results[0]._device
    for item in arrays:
        item._check_open()
    check_on_device(device, *(item._device for item in arrays))
    key = (name, *(item.dtype for item in arrays))
    kernel = device.plans.get(key)
    if kernel is None:
        outputs = [Operand(letter, item.dtype) for letter, item in zip("rs", results, strict=False)]
        kernel = device.plans[key] = Elementwise(f"array_{name}", outputs, inputs, body)
    shape = results[0].shape
    places = [(item._address, item.strides) for item in results]
    places += [(item._address, broadcast_strides(item.shape, item.strides, shape)) for item in arrays]
    inner = stream_for(stream, *results, *arrays)
    kernel.launch(device.arch, inner, shape, places, [place[0] for place in places])


def check_float(name: str, array) -> None:
    if array.dtype.kind != "f":
        raise TypeError(f"{name} requires real floating-point elements, not elements of type {array.dtype}")


def __dir__():
    return list(__all__)
