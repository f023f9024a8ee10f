# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Reductions of arrays to one value, or along axes."""

from __future__ import annotations

import threading

import numpy as np

from cuda.core.driver._array_base import ArrayBase, check_device, checked_dtype, stream_for
from cuda.core.driver._array_layout import broadcast_shape, checked_axis
from cuda.core.driver._array_transfer import copy_of, is_packed
from cuda.core.driver._arrays._storage import ReductionPlan, fast_reduction
from cuda.core.driver._copies import memset_d8_async
from cuda.core.driver._device_memory import as_pointer, mem_alloc
from cuda.core.driver._kernels import COMPUTE_TYPES, compute_dtype, prelude, storage_name
from cuda.core.driver._kernels._reduction import TICKET_BYTES, AxisReduction, Reduction, next_turn
from cuda.core.driver._streams import keep_until_done

__all__ = ["all_of", "any_of", "dot", "reduce_all", "reduce_axes", "scratch_memory", "subset_dot", "subset_reduce"]

PACK_BYTES = 16
SCRATCH_BYTES = 1 << 17


class ReduceOperation:
    """A reduction: its expressions and the types that it supports.

    Parameters
    ----------
    reduce_expr : str
        The C expression that combines ``a`` and ``b``.
    kinds : str
        The kinds of data types that are supported.
    neutral : callable
        A function that returns the C expression of the neutral element for a data type.
    dtype : dtype, optional
        The data type of the result, if it is not that of the elements; then elements are compared with zero.
    """

    def __init__(self, reduce_expr: str, kinds: str, neutral, dtype=None):
        self.reduce_expr = reduce_expr
        self.kinds = kinds
        self.neutral = neutral
        self.dtype = None if dtype is None else np.dtype(dtype)


def smallest(dtype: np.dtype) -> str:
    """Return the C expression of the smallest value of a data type."""
    if dtype.kind == "f":
        infinity = "__longlong_as_double(0x7ff0000000000000ll)"
        return f"(-{infinity})" if dtype.itemsize == 8 else f"(float)(-{infinity})"
    return "false" if dtype.kind == "b" else literal(np.iinfo(dtype).min)


def largest(dtype: np.dtype) -> str:
    """Return the C expression of the largest value of a data type."""
    if dtype.kind == "f":
        return smallest(dtype).replace("-", "+", 1)
    return "true" if dtype.kind == "b" else literal(np.iinfo(dtype).max)


def literal(number: int) -> str:
    if number == -(2**63):
        return "(-9223372036854775807LL - 1)"
    return f"{number}ULL" if number > 2**63 - 1 else f"{number}LL"


_OPERATIONS = {
    "sum": ReduceOperation("out_type(a + b)", "biufc", lambda dtype: "0"),
    "prod": ReduceOperation("out_type(a * b)", "biufc", lambda dtype: "1"),
    # NaN is propagated, as in NumPy.
    "max": ReduceOperation("(a >= b || a != a) ? a : b", "biuf", smallest),
    "min": ReduceOperation("(a <= b || a != a) ? a : b", "biuf", largest),
    "any": ReduceOperation("a || b", "biufc", lambda dtype: "false", np.bool_),
    "all": ReduceOperation("a && b", "biufc", lambda dtype: "true", np.bool_),
}


def reduce_all(name: str, array: ArrayBase, dtype=None, stream=None, allocator=None, out=None):
    """Return a reduction of all elements, as a 0-d array.

    Raises
    ------
    TypeError
        If the reduction does not support the data type.
    ValueError
        If the array has no elements, for ``max`` and ``min``.
    """
    check_array(array)
    if stream is None and allocator is None and out is None:
        result = fast_reduction(name, array, dtype, scratch_of_thread)
        if result is not None:
            return result
    result_dtype = checked_result(name, array, dtype)
    if not is_packed(array):
        array = copy_of(array, "C", stream)
    result = array._new((), result_dtype, allocator=allocator) if out is None else out
    device = array._device
    key = ("reduce", name, array.dtype, result_dtype)
    reduction = device.plans.get(key)
    if reduction is None:
        reduction = device.plans[key] = make_reduction(name, array.dtype, result_dtype)
    packed = reduction.packs[0] > 1 and array._address % PACK_BYTES == 0 and array.size >= reduction.packs[0]
    run(reduction, device, array.size, (array,), result, stream, packed)
    if packed:
        # Structures do not take this path, so the scratch memory of the thread is large enough.
        device.plans["reduce packs", name, array.dtype, dtype] = ReductionPlan(
            reduction.kernel(device.arch, True),
            result_dtype,
            PACK_BYTES - 1,
            reduction.packs[0],
            reduction.block * reduction.packs[0],
            reduction.block_count(1 << 62, device, True),
        )
    return result


def dot(a: ArrayBase, b: ArrayBase, dtype=None, stream=None, allocator=None):
    """Return the sum of the products of all elements; see :func:`cuda.core.driver.gpuarray.dot`."""
    check_array(a)
    check_array(b)
    if a.size != b.size:
        raise ValueError(f"a and b must have the same size, not {a.size} and {b.size} elements")
    dtype = np.result_type(a.dtype, b.dtype) if dtype is None else checked_dtype(dtype)
    if a.shape == b.shape and is_packed(a) and a.strides == b.strides:
        pass
    else:
        a, b = (item if item._is_c else copy_of(item, "C", stream) for item in (a, b))
    result = a._new((), dtype, allocator=allocator)
    key = ("dot", a.dtype, b.dtype, dtype)
    reduction = a._device.plans.get(key)
    if reduction is None:
        text = f"{value_in(dtype, a.dtype, 'a')} * {value_in(dtype, b.dtype, 'b')}"
        reduction = a._device.plans[key] = make_map(text, {"a": a.dtype, "b": b.dtype}, dtype, "sum")
    packed = reduction.packs is not None and (a._address | b._address) % PACK_BYTES == 0
    run(reduction, a._device, a.size, (a, b), result, stream, packed)
    return result


def subset_reduce(name: str, subset: ArrayBase, a: ArrayBase, dtype=None, stream=None, allocator=None):
    """Return a reduction of the elements that an array of indices selects."""
    check_subset(subset, a)
    dtype = checked_result(name, subset if not subset.size else a, dtype)
    return subset_map(name, subset, {"a": a}, value_in(dtype, a.dtype, "a"), dtype, stream, allocator)


def subset_dot(subset: ArrayBase, a: ArrayBase, b: ArrayBase, dtype=None, stream=None, allocator=None):
    """Return the dot product of the elements that an array of indices selects."""
    check_subset(subset, a, b)
    dtype = np.result_type(a.dtype, b.dtype) if dtype is None else checked_dtype(dtype)
    text = f"{value_in(dtype, a.dtype, 'a')} * {value_in(dtype, b.dtype, 'b')}"
    return subset_map("sum", subset, {"a": a, "b": b}, text, dtype, stream, allocator)


def subset_map(name: str, subset, arrays, text: str, dtype, stream, allocator):
    arrays = {key: item if item._is_c else copy_of(item, "C", stream) for key, item in arrays.items()}
    subset = subset if subset._is_c else copy_of(subset, "C", stream)
    dtypes = {"subset": subset.dtype} | {key: item.dtype for key, item in arrays.items()}
    key = ("subset", name, text, tuple(dtypes.values()), dtype)
    reduction = subset._device.plans.get(key)
    if reduction is None:
        reduction = subset._device.plans[key] = make_map(text.replace("[i]", "[subset[i]]"), dtypes, dtype, name)
    result = subset._new((), dtype, allocator=allocator)
    run(reduction, subset._device, subset.size, (subset, *arrays.values()), result, stream)
    return result


def any_of(array: ArrayBase, stream=None, allocator=None):
    """Return whether any element is not zero."""
    return reduce_all("any", array, None, stream, allocator)


def all_of(array: ArrayBase, stream=None, allocator=None):
    """Return whether all elements are not zero."""
    return reduce_all("all", array, None, stream, allocator)


def reduce_axes(name: str, array: ArrayBase, axis, dtype, stream, keepdims: bool):
    """Return a reduction along one or several axes; None means all axes."""
    if axis is None:
        result = reduce_all(name, array, dtype, stream)
        return result.reshape((1,) * array.ndim) if keepdims else result
    axes = axis if isinstance(axis, tuple) else (axis,)
    gone = {checked_axis(item, array.ndim) for item in axes}
    if len(gone) != len(axes):
        raise ValueError(f"axis must name each axis once, not {axis}")
    result_dtype = checked_result(name, array, dtype, [array.shape[item] for item in gone])
    array._check_open()
    kept = [item for item in range(array.ndim) if item not in gone]
    out = array._new(tuple([array.shape[item] for item in kept]), result_dtype)
    if out.size:
        check_device(array._device)
        key = ("reduce axes", name, array.dtype, result_dtype)
        reduction = array._device.plans.get(key)
        if reduction is None:
            reduction = array._device.plans[key] = make_axis_reduction(name, array.dtype, result_dtype)
        layouts = [
            ([array.shape[item] for item in chosen], [array.strides[item] for item in chosen])
            for chosen in (kept, sorted(gone))
        ]
        inner = stream_for(stream, array, out)
        reduction.launch(array._device, inner, out._address, out.strides, array._address, *layouts)
    if keepdims:
        out = out.reshape(tuple([1 if item in gone else extent for item, extent in enumerate(array.shape)]))
    return out


def checked_result(name: str, array: ArrayBase, dtype, extents=None) -> np.dtype:
    """Return the data type of a result; TypeError or ValueError if the array does not support the reduction."""
    operation = _OPERATIONS[name]
    if array.dtype.kind not in operation.kinds:
        raise TypeError(f"{name} is not supported for elements of type {array.dtype}")
    if name in ("max", "min") and 0 in (extents if extents is not None else [array.size]):
        raise ValueError(f"an array without elements has no {name}")
    if operation.dtype is not None:
        return operation.dtype
    result = array.dtype if dtype is None else checked_dtype(dtype)
    if result.kind not in operation.kinds or (array.dtype.kind == "c" and result.kind != "c"):
        raise TypeError(f"{name} of elements of type {array.dtype} cannot have type {result}")
    return result


def check_array(array) -> None:
    if not isinstance(array, ArrayBase):
        raise TypeError(f"the operand must be a GPUArray, not {type(array).__name__}")


def check_subset(subset, *arrays) -> None:
    check_array(subset)
    for array in arrays:
        check_array(array)
    if subset.dtype.kind not in "iu":
        raise TypeError(f"subset must have integers, not elements of type {subset.dtype}")
    broadcast_shape(*(array.shape for array in arrays))


def run(reduction: Reduction, device, size: int, arrays, result: ArrayBase, stream, is_packed: bool = False) -> None:
    """Launch a reduction whose arguments are arrays, and store the value in a 0-d array."""
    for item in (*arrays, result):
        item._check_open()
    check_device(device, *(item._device for item in (*arrays, result)))
    inner = stream_for(stream, *arrays, result)
    arguments = [item._argument for item in arrays]

    def allocate(nbytes: int):
        return scratch_memory(device, nbytes, stream, arrays[0].allocator)

    memory = reduction.launch(device, inner, size, arguments, result._argument, allocate, is_packed)
    if inner is not None:
        keep_until_done(inner, "cuLaunchKernel", memory)


def scratch_memory(device, nbytes: int, stream, allocator=mem_alloc):
    """Return scratch memory for the results of blocks, with its counter set to zero, and its address.

    On the default stream each thread has its own scratch memory, which all its reductions use.
    """
    if stream is not None or nbytes > SCRATCH_BYTES:
        memory = allocator(nbytes)
        memset_d8_async(memory, 0, TICKET_BYTES, stream)
        return memory, as_pointer(memory)
    memory = _scratch.memory.get(device.ordinal)
    if memory is None or memory.is_closed:
        memory = mem_alloc(SCRATCH_BYTES)
        memset_d8_async(memory, 0, TICKET_BYTES)
        _scratch.memory[device.ordinal] = memory
    return memory, memory.handle


def scratch_of_thread(device) -> tuple[int, int]:
    """Return the address of this thread's scratch memory on the default stream, and the turn of the launch."""
    return scratch_memory(device, 0, None)[1], next_turn()


class _Scratch(threading.local):
    def __init__(self):
        self.memory = {}


_scratch = _Scratch()


def value_in(target: np.dtype, source: np.dtype, name: str) -> str:
    """Return the C expression that converts an element to the type of the computation."""
    if source.kind == "c" and target.kind != "c":
        raise TypeError(f"complex elements cannot be converted to {target}")
    if source.kind not in "biufc" or target.kind not in "biufc":
        raise TypeError(f"elements of type {source} cannot be converted to {target}")
    return f"({COMPUTE_TYPES[compute_dtype(target)]})({name}[i])"


def make_reduction(name: str, source: np.dtype, target: np.dtype) -> Reduction:
    operation = _OPERATIONS[name]
    compute = compute_dtype(target)
    out_type = COMPUTE_TYPES[compute]
    in_type = storage_name(source)
    width = PACK_BYTES // source.itemsize
    element, place = (reduced_value(operation, source, out_type, text) for text in ("x[i]", "x_p.items[k]"))
    return Reduction(
        f"array_{name}",
        out_type,
        compute.itemsize,
        f"out_type({operation.neutral(compute)})",
        operation.reduce_expr,
        element,
        [f"const {in_type}* x"],
        prelude(source, target),
        result_type=storage_name(target),
        packs=(width, {"x": in_type}, place),
    )


def reduced_value(operation: ReduceOperation, source: np.dtype, out_type: str, element: str) -> str:
    """Return the C expression of the value to reduce: the element, or whether it is not zero."""
    if operation.dtype is None:
        return f"({out_type})({element})"
    if source == np.float16:
        return f"(float)({element}) != 0"
    return f"{element} != ({storage_name(source)})0"


def make_map(text: str, dtypes: dict, target: np.dtype, name: str) -> Reduction:
    """Return a reduction of an expression of the elements ``[i]`` of several arrays."""
    operation = _OPERATIONS[name]
    compute = compute_dtype(target)
    types = {key: storage_name(dtype) for key, dtype in dtypes.items()}
    widest = max(dtype.itemsize for dtype in dtypes.values())
    width = PACK_BYTES // widest if PACK_BYTES % widest == 0 else 1
    packs = None
    if "subset" not in dtypes and width > 1:
        place = text
        for key in dtypes:
            place = place.replace(f"({key}[i])", f"({key}_p.items[k])")
        packs = (width, types, place)
    return Reduction(
        f"array_{name}_of_map",
        COMPUTE_TYPES[compute],
        compute.itemsize,
        f"out_type({operation.neutral(compute)})",
        operation.reduce_expr,
        text,
        [f"const {kind}* {key}" for key, kind in types.items()],
        prelude(target, *dtypes.values()),
        result_type=storage_name(target),
        packs=packs,
    )


def make_axis_reduction(name: str, source: np.dtype, target: np.dtype) -> AxisReduction:
    operation = _OPERATIONS[name]
    compute = compute_dtype(target)
    out_type = COMPUTE_TYPES[compute]
    in_type = storage_name(source)
    return AxisReduction(
        f"array_{name}_axes",
        out_type,
        compute.itemsize,
        f"out_type({operation.neutral(compute)})",
        operation.reduce_expr,
        reduced_value(operation, source, out_type, "x"),
        in_type,
        prelude(source, target),
        storage_name(target),
    )
