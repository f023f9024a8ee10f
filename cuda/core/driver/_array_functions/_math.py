# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations on arrays and numbers: type resolution, choice of kernels, and launches.

A plan has the kernels of an operation for given operand types. Plans are created once per device, and cached there.
"""

from __future__ import annotations

import numbers

import numpy as np

from cuda.core.driver._array_base import ArrayBase, check_device, overlap, stream_for
from cuda.core.driver._array_functions._operations import COMPARISONS, Operation
from cuda.core.driver._array_layout import broadcast_shape, broadcast_strides
from cuda.core.driver._arrays._storage import PlanFields, fast_binary, fast_unary
from cuda.core.driver._kernels import COMPUTE_TYPES, Elementwise, Operand

__all__ = ["Plan", "apply", "binary", "in_place", "launch_plan", "operand_of", "unary"]

_NUMBERS = (bool, int, float, complex, np.generic)
_PYTHON_NUMBERS = frozenset({int, float, complex})
_ARRAY_AND_NUMBER = (False, True)
_NUMBER_AND_ARRAY = (True, False)


class Plan(PlanFields):
    """The plan of an operation for operands of certain types.

    Attributes
    ----------
    elementwise : Elementwise
        The kernels.
    dtype : numpy.dtype
        The data type of the result.
    scalars : tuple
        For each operand None, or the function that converts a number to the kernel argument.
    """

    def __init__(self, elementwise: Elementwise, dtype: np.dtype, scalars: tuple, arch: str):
        self.elementwise = elementwise
        self.dtype = dtype
        self.scalars = scalars
        self.arch = arch
        # Cached for the fast path.
        self.mask = elementwise.alignment_mask
        self.packed = elementwise.packed(arch)
        self.per_block = self.packed.per_block
        self.bound = self.packed.bound

    def launch(self, merged: int, size: int, *arguments) -> None:
        """Launch for contiguous arrays on the default stream; ``merged`` is the bitwise or of their addresses."""
        kernel = self.elementwise.dense(self.arch) if merged & self.mask else self.packed
        kernel.launch(None, size, *arguments, size)


def binary(operation: Operation, a, b, out=None, stream=None):
    """Return the result of an operation on two arrays, or an array and a number.

    Parameters
    ----------
    operation : Operation
        The operation.
    a, b : ArrayBase or number
        The operands, which are broadcast; at least one is an array.
    out : ArrayBase, optional
        The array for the result. Default is a new array.
    stream : Stream, optional
        The stream on which the kernel is enqueued. If None, the default stream.

    Returns
    -------
    ArrayBase
        The result, or NotImplemented if an operand has a type that is not supported.
    """
    if out is None and stream is None:
        result = fast_binary(operation, a, b)
        if result is not None:
            return result
    return apply(operation, (a, b), out, stream)


def unary(operation: Operation, a: ArrayBase, out=None, stream=None, dtype=None):
    """Return the result of an operation on an array; see :func:`binary`.

    Parameters
    ----------
    dtype : dtype, optional
        The data type of a new result. If None, NumPy's.
    """
    if out is None and stream is None:
        result = fast_unary(operation, a, dtype)
        if result is not None:
            return result
    return apply(operation, (a,), out, stream, dtype)


def in_place(operation: Operation, a: ArrayBase, b):
    """Apply an operation to an array in place; its data type stays."""
    result = fast_binary(operation, a, b, True)
    if result is not None:
        return result
    shape = operand_shape(b)
    if shape is None:
        return NotImplemented
    if broadcast_shape(a.shape, shape) != a.shape:
        raise ValueError(f"an array of shape {a.shape} cannot take the result for an operand of shape {shape}")
    return apply(operation, (a, b), a, None)


def apply(operation: Operation, operands: tuple, out, stream, dtype=None):
    """Apply any operation to any operands; see :func:`binary` and :func:`unary`."""
    operands = tuple(map(operand_of, operands))
    if any(operand is NotImplemented for operand in operands):
        return NotImplemented
    arrays = [operand for operand in operands if isinstance(operand, ArrayBase)]
    first = arrays[0]
    plan = plan_of(operation, first._device, operands, out.dtype if out is not None else dtype)
    if plan.__class__ is not Plan:
        # A comparison with a number outside the range of the type has the same result for all elements.
        result = first._new_like(first.dtype) if out is None else out
        return result.fill(plan)
    shape = first.shape if len(operands) == 1 else broadcast_shape(*(operand_shape(item) for item in operands))
    if out is None:
        like = next((item for item in arrays if item.shape == shape), None)
        out = first._new(shape, plan.dtype) if like is None else like._new_like(plan.dtype)
    elif out.shape != shape:
        raise ValueError(f"out must have shape {shape}, not {out.shape}")
    elif not isinstance(out, ArrayBase):
        raise TypeError(f"out must be a GPUArray, not {type(out).__name__}")
    # An operand that overlaps the result, other than element by element, is copied first.
    operands = tuple(
        item.copy() if isinstance(item, ArrayBase) and item is not out and overlap(item, out) else item
        for item in operands
    )
    launch_plan(plan, stream, out, operands)
    return out


def launch_plan(plan: Plan, stream, out: ArrayBase, operands) -> None:
    """Launch the kernel of a plan on operands that broadcast to the shape of ``out``."""
    device = out._device
    arrays = [item for item in operands if isinstance(item, ArrayBase)]
    for item in (out, *arrays):
        item._check_open()
    check_device(device, *(item._device for item in arrays))
    shape = out.shape
    places = [(out._address, out.strides)]
    arguments = [out._argument]
    for item, make in zip(operands, plan.scalars, strict=True):
        if make is None:
            places.append((item._address, broadcast_strides(item.shape, item.strides, shape)))
            arguments.append(item._argument)
        else:
            arguments.append(make(item))
    inner = stream_for(stream, *arrays, out)
    plan.elementwise.launch(device.arch, inner, shape, places, arguments)


def operand_of(item):
    """Return an operand as an array or a number; NotImplemented if it is neither."""
    if isinstance(item, (ArrayBase, *_NUMBERS)):
        return NotImplemented if isinstance(item, np.generic) and item.dtype.kind not in "biufc" else item
    if isinstance(item, np.ndarray) and item.ndim == 0 and item.dtype.kind in "biufc":
        return item[()]
    return complex(item) if isinstance(item, numbers.Complex) else NotImplemented


def operand_shape(item) -> tuple[int, ...] | None:
    item = operand_of(item)
    return item.shape if isinstance(item, ArrayBase) else None if item is NotImplemented else ()


def type_of(item):
    """Return the type of an operand for NumPy's promotion rules: its dtype, or the type of a Python number."""
    if isinstance(item, (ArrayBase, np.generic)):
        return item.dtype
    if type(item) in _PYTHON_NUMBERS:
        return type(item)
    return np.dtype(bool) if isinstance(item, bool) else simple_type(item)


def simple_type(item) -> type:
    return next(kind for kind in (int, float, complex) if isinstance(item, kind))


def plan_of(operation: Operation, device, operands, out_dtype=None):
    """Return the plan for operands of these types, or the value of all elements of the result if it is constant."""
    kinds = tuple([type_of(item) for item in operands])
    scalar = tuple([not isinstance(item, ArrayBase) for item in operands])
    if any(scalar):
        for item, kind in zip(operands, kinds, strict=True):
            if kind is int and operation in COMPARISONS:
                known = known_comparison(operation, operands, kinds, item)
                if known is not None:
                    return known
        key = (operation, *kinds, scalar, out_dtype)
    else:
        key = (operation, *kinds) if out_dtype is None else (operation, *kinds, out_dtype)
    plan = device.plans.get(key)
    if plan is None:
        plan = device.plans[key] = make_plan(operation, kinds, scalar, out_dtype, device.arch)
    return plan


def known_comparison(operation: Operation, operands, kinds, number: int):
    """Return the result of a comparison with a number outside the range of an integer type; None if it is inside."""
    dtype = next(kind for kind in kinds if kind is not int)
    if dtype.kind not in "iu" or np.iinfo(dtype).min <= number <= np.iinfo(dtype).max:
        return None
    sample = [np.zeros(1, dtype) if isinstance(item, ArrayBase) else item for item in operands]
    return int(operation.ufunc(*sample)[0])


def make_plan(operation: Operation, kinds, scalar, out_dtype, arch: str) -> Plan:
    *loop, natural = operation.resolve(*kinds)
    for dtype in (*loop, natural):
        if dtype not in COMPUTE_TYPES:
            raise TypeError(f"{operation.name} is not supported for elements of type {dtype}")
    names = "ab"[: len(loop)]
    inputs = [
        Operand(name, converted if is_scalar else kind, converted, is_scalar)
        for name, kind, converted, is_scalar in zip(names, kinds, loop, scalar, strict=True)
    ]
    result = out_dtype if out_dtype is not None else result_dtype(operation, kinds, scalar, loop, natural)
    # The result is computed in NumPy's type, and stored in the type of the output.
    output = Operand("r", result, natural if natural.kind != "b" or result.kind == "b" else result)
    if natural.kind == "c" and result.kind != "c":
        raise TypeError(f"{operation.name} has complex results, which an array of type {result} cannot store")
    expression = operation.expression(loop[0].kind)
    if len(loop) == 2 and {loop[0].kind, loop[1].kind} == {"i", "u"}:
        expression = f"cuda_core::order_of(a, b) {expression.split()[1]} 0"
    types = "".join(f"typedef {item.variable} {item.name.upper()}; " for item in inputs)
    body = f"{types}typedef A T; r = ({output.variable})({expression})"
    elementwise = Elementwise(f"array_{operation.name}", [output], inputs, body)
    scalars = tuple(
        [maker_of(converted) if is_scalar else None for converted, is_scalar in zip(loop, scalar, strict=True)]
    )
    return Plan(elementwise, result, scalars, arch)


def result_dtype(operation: Operation, kinds, scalar, loop, natural) -> np.dtype:
    """Return the data type of a new result; comparisons give 0 and 1 in the type of their operands."""
    if operation not in COMPARISONS:
        return natural
    if any(scalar):
        return kinds[scalar.index(False)]
    return np.result_type(*loop)


def maker_of(dtype: np.dtype):
    """Return the function that converts a number to a kernel argument."""
    if dtype == np.float16:
        return half_argument
    return dtype.type


def half_argument(number) -> np.float32:
    return np.float32(np.float16(number))
