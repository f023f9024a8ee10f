# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Selection by a condition or by indices, joining of arrays, and linear combinations."""

from __future__ import annotations

import numpy as np

from cuda.core._utils.validators import list_argument
from cuda.core.driver._array_base import ArrayBase, check_device, overlap, stream_for
from cuda.core.driver._array_functions._math import Plan, launch_plan, maker_of, operand_of, type_of
from cuda.core.driver._array_layout import broadcast_shape, checked_axis, checked_shape
from cuda.core.driver._array_transfer import convert, copy_of, word_dtype
from cuda.core.driver._kernels import COMPUTE_TYPES, Elementwise, Operand

__all__ = ["concatenate", "if_positive", "linear_combination", "put", "stack", "take", "take_put", "where"]


def linear_combination(a, a_factor, b, b_factor, out=None, stream=None):
    """Return ``a_factor * a + b_factor * b``."""
    if not isinstance(b, ArrayBase):
        raise TypeError(f"other must be a GPUArray, not {type(b).__name__}")
    operands = {"p": checked_number(a_factor, "selffac"), "a": a, "q": checked_number(b_factor, "otherfac"), "b": b}
    dtype = np.result_type(*map(promoted, operands.values()))
    if dtype not in COMPUTE_TYPES:
        raise TypeError(f"mul_add is not supported for elements of type {dtype}")
    return compute("mul_add", operands, dict.fromkeys(operands, dtype), dtype, "r = p * a + q * b", out, stream)


def where(criterion, then_, else_, out=None, stream=None):
    """Return elements of ``then_`` where ``criterion`` is not zero, else of ``else_``."""
    if not isinstance(criterion, ArrayBase):
        raise TypeError(f"criterion must be a GPUArray, not {type(criterion).__name__}")
    then_, else_ = checked_number(then_, "then_"), checked_number(else_, "else_")
    if isinstance(then_, ArrayBase) and then_.dtype.kind == "V":
        dtype = then_.dtype
        if not isinstance(else_, ArrayBase) or else_.dtype != dtype:
            raise TypeError(f"else_ must have elements of type {dtype}, like then_")
    else:
        dtype = np.result_type(promoted(then_), promoted(else_))
    operands = {"c": criterion, "t": then_, "e": else_}
    loops = {"c": criterion.dtype, "t": dtype, "e": dtype}
    return compute("where", operands, loops, dtype, f"r = {not_zero('c', criterion.dtype)} ? t : e", out, stream)


def if_positive(criterion, then_, else_, out=None, stream=None):
    """Return elements of ``then_`` where ``criterion`` is greater than zero, else of ``else_``."""
    if not isinstance(criterion, ArrayBase):
        raise TypeError(f"criterion must be a GPUArray, not {type(criterion).__name__}")
    if criterion.dtype.kind not in "biuf":
        raise TypeError(f"elements of type {criterion.dtype} are not ordered")
    then_, else_ = checked_number(then_, "then_"), checked_number(else_, "else_")
    choices = [item for item in (then_, else_) if isinstance(item, ArrayBase)]
    for item in choices:
        if item.shape != criterion.shape:
            raise ValueError(f"then_ and else_ must have the shape of criterion, {criterion.shape}, not {item.shape}")
    if len(choices) == 2 and then_.dtype != else_.dtype:
        raise ValueError(f"then_ and else_ must have the same type, not {then_.dtype} and {else_.dtype}")
    dtype = choices[0].dtype if choices else np.result_type(promoted(then_), promoted(else_))
    operands = {"c": criterion, "t": then_, "e": else_}
    loops = {"c": criterion.dtype, "t": dtype, "e": dtype}
    return compute("if_positive", operands, loops, dtype, "r = c > 0 ? t : e", out, stream)


def compute(name: str, operands: dict, loops: dict, dtype: np.dtype, body: str, out, stream):
    """Run an elementwise kernel on arrays and numbers, which are broadcast; see :class:`Elementwise`.

    Parameters
    ----------
    operands : dict
        The arrays and numbers, by the names of their variables.
    loops : dict
        The types to which they are converted.
    dtype : dtype
        The data type of the result ``r``.
    """
    arrays = [item for item in operands.values() if isinstance(item, ArrayBase)]
    device = arrays[0]._device
    scalar = tuple([not isinstance(item, ArrayBase) for item in operands.values()])
    kinds = tuple([item.dtype if isinstance(item, ArrayBase) else loops[key] for key, item in operands.items()])
    out_dtype = dtype if out is None else out.dtype
    key = (name, kinds, tuple(loops.values()), scalar, out_dtype)
    plan = device.plans.get(key)
    if plan is None:
        inputs = [
            Operand(variable, kind, loops[variable], is_scalar)
            for variable, kind, is_scalar in zip(operands, kinds, scalar, strict=True)
        ]
        makers = tuple([maker_of(item.compute) if item.is_scalar else None for item in inputs])
        elementwise = Elementwise(f"array_{name}", [Operand("r", out_dtype, dtype)], inputs, body)
        plan = device.plans[key] = Plan(elementwise, out_dtype, makers, device.arch)
    shape = broadcast_shape(*(item.shape for item in arrays))
    if out is None:
        like = next((item for item in arrays if item.shape == shape), None)
        out = arrays[0]._new(shape, dtype) if like is None else like._new_like(dtype)
    elif out.shape != shape:
        raise ValueError(f"out must have shape {shape}, not {out.shape}")
    values = [
        copy_of(item) if isinstance(item, ArrayBase) and item is not out and overlap(item, out) else item
        for item in operands.values()
    ]
    if out.size:
        launch_plan(plan, stream, out, values)
    return out


def take(a: ArrayBase, indices: ArrayBase, out=None, stream=None, offset: int = 0):
    """Return the elements at indices of the flattened array; indices out of range give zero."""
    check_indices(indices)
    out = out if out is not None else a._new(indices.shape, a.dtype)
    check_result(out, indices.shape, a.dtype)
    a = a if a._is_c else copy_of(a, "C", stream)
    if overlap(a, out) or a._address == out._address:
        a = copy_of(a, "C", stream)
    words = word_dtype(a.itemsize)
    kernel = chosen_kernel(
        a._device,
        ("take", words, indices.dtype),
        [Operand("r", words)],
        [Operand("k", indices.dtype), Operand("a", words, is_pointer=True), *_RANGE],
        f"{_PLACE}; if (place < count) r = a[place]; else r = {{}}",
    )
    arguments = (out._address, indices._address, a._address, offset, a.size)
    run(kernel, stream, indices.shape, (out, indices), arguments, a)
    return out


def put(a: ArrayBase, indices: ArrayBase, values: ArrayBase, stream=None) -> None:
    """Store values at indices of the flattened array; indices out of range are ignored."""
    check_indices(indices)
    if values.dtype != a.dtype or values.shape != indices.shape:
        raise ValueError(
            f"values must have shape {indices.shape} and type {a.dtype}, not {values.shape} and {values.dtype}"
        )
    if not a._is_c:
        raise ValueError("put needs a C-contiguous array")
    if overlap(a, values) or a._address == values._address:
        values = copy_of(values, "C", stream)
    words = word_dtype(a.itemsize)
    kernel = chosen_kernel(
        a._device,
        ("put", words, indices.dtype),
        [],
        [Operand("v", words), Operand("k", indices.dtype), Operand("a", words, is_pointer=True), *_RANGE],
        f"{_PLACE}; if (place < count) (({Operand('a', words).storage}*)a)[place] = v",
    )
    arguments = (values._address, indices._address, a._address, 0, a.size)
    run(kernel, stream, indices.shape, (values, indices), arguments, a)


def take_put(a: ArrayBase, out: ArrayBase, source, dest, offset: int = 0, stream=None) -> None:
    """Store the elements at the indices ``source`` of one array at the indices ``dest`` of another."""
    check_indices(source)
    check_indices(dest)
    if source.shape != dest.shape:
        raise ValueError(f"dest_indices and src_indices must have the same shape, not {dest.shape} and {source.shape}")
    put(out, dest, take(a, source, None, stream, offset), stream)


def concatenate(arrays, axis: int = 0, allocator=None):
    """Return arrays joined along an axis."""
    arrays = checked_arrays(arrays)
    first = arrays[0]
    if not first.ndim:
        raise ValueError("0-d arrays cannot be concatenated")
    axis = checked_axis(axis, first.ndim)
    for number, item in enumerate(arrays):
        if item.shape[:axis] + item.shape[axis + 1 :] != first.shape[:axis] + first.shape[axis + 1 :]:
            raise ValueError(f"array {number} of shape {item.shape} does not match the first of shape {first.shape}")
    shape = list(first.shape)
    shape[axis] = sum(item.shape[axis] for item in arrays)
    result = first._new(tuple(shape), joint_dtype(arrays), allocator=allocator)
    start = 0
    for item in arrays:
        place = (slice(None),) * axis + (slice(start, start + item.shape[axis]),)
        convert(item, result[place])
        start += item.shape[axis]
    return result


def stack(arrays, axis: int = 0, allocator=None):
    """Return arrays of one shape joined along a new axis."""
    arrays = checked_arrays(arrays)
    shape = arrays[0].shape
    axis = checked_axis(axis, len(shape) + 1)
    for number, item in enumerate(arrays):
        if item.shape != shape:
            raise ValueError(f"all arrays must have the shape of the first, {shape}; array {number} has {item.shape}")
    joined = shape[:axis] + (len(arrays),) + shape[axis:]
    result = arrays[0]._new(joined, joint_dtype(arrays), allocator=allocator)
    for number, item in enumerate(arrays):
        convert(item, result[(slice(None),) * axis + (number,)])
    return result


# Negative indices count from the end. As unsigned numbers, indices out of range are at least the size.
_RANGE = (
    Operand("offset", np.dtype(np.int64), is_scalar=True),
    Operand("count", np.dtype(np.int64), is_scalar=True),
)
_PLACE = (
    "const long long wanted = (long long)k + offset; "
    "const cuda_core::size place = (cuda_core::size)(wanted < 0 ? wanted + count : wanted)"
)


def chosen_kernel(device, key, outputs, inputs, body: str) -> Elementwise:
    kernel = device.plans.get(key)
    if kernel is None:
        kernel = device.plans[key] = Elementwise(f"array_{key[0]}", outputs, inputs, body)
    return kernel


def run(kernel: Elementwise, stream, shape, arrays, arguments, *others) -> None:
    for item in (*arrays, *others):
        item._check_open()
    device = arrays[0]._device
    check_device(device, *(item._device for item in (*arrays, *others)))
    inner = stream_for(stream, *arrays, *others)
    kernel.launch(device.arch, inner, shape, [(item._address, item.strides) for item in arrays], arguments)


def not_zero(name: str, dtype: np.dtype) -> str:
    if dtype.kind not in "biufc":
        raise TypeError(f"elements of type {dtype} have no truth value")
    return f"({name}._M_re != 0 || {name}._M_im != 0)" if dtype.kind == "c" else f"({name} != 0)"


def checked_number(item, name: str):
    operand = operand_of(item)
    if operand is NotImplemented:
        raise TypeError(f"{name} must be a GPUArray or a number, not {type(item).__name__}")
    return operand


def promoted(item):
    """Return the operand of NumPy's type promotion: a dtype, or a Python number, whose type adapts."""
    kind = type_of(item)
    return item if isinstance(kind, type) else kind


def check_indices(indices) -> None:
    if not isinstance(indices, ArrayBase):
        raise TypeError(f"indices must be a GPUArray, not {type(indices).__name__}")
    if indices.dtype.kind not in "iu":
        raise TypeError(f"indices must be integers, not of type {indices.dtype}")


def check_result(out, shape, dtype) -> None:
    if not isinstance(out, ArrayBase):
        raise TypeError(f"out must be a GPUArray, not {type(out).__name__}")
    if out.shape != checked_shape(shape) or out.dtype != dtype:
        raise ValueError(f"out must have shape {shape} and type {dtype}, not shape {out.shape} and type {out.dtype}")


def checked_arrays(arrays) -> list[ArrayBase]:
    arrays = list_argument("arrays", arrays, "a sequence of GPUArrays")
    if not arrays:
        raise ValueError("arrays must have at least one array")
    for item in arrays:
        if not isinstance(item, ArrayBase):
            raise TypeError(f"arrays must be GPUArrays, not {type(item).__name__}")
    return arrays


def joint_dtype(arrays) -> np.dtype:
    dtypes = {item.dtype for item in arrays}
    return arrays[0].dtype if len(dtypes) == 1 else np.result_type(*dtypes)
