# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Array functions: elementwise operations, selection, joining, and linear combinations."""

from __future__ import annotations

import numbers

import numpy as np

from cuda.core._classic import list_argument
from cuda.core.driver._array_base import ArrayBase, check_array, check_on_device, overlap, stream_for
from cuda.core.driver._array_layout import broadcast_shape, broadcast_strides, checked_array_shape, checked_axis
from cuda.core.driver._array_transfer import convert_array, copy_of, word_dtype
from cuda.core.driver._kernels import COMPUTE_TYPES, Elementwise, Operand
from cuda.core.driver._storage import PlanFields, fast_binary, fast_unary

__all__ = [
    "BINARY",
    "BINARY_OF",
    "COMPARISONS",
    "LOGICAL",
    "Operation",
    "Plan",
    "UNARY",
    "UNARY_OF",
    "apply_operation",
    "binary",
    "in_place",
    "join_arrays",
    "launch_plan",
    "linear_combination",
    "operand_of",
    "put_elements",
    "select_nonzero",
    "select_positive",
    "stack_arrays",
    "take_elements",
    "take_put",
    "unary",
]


class Operation:
    """An elementwise function.

    Parameters
    ----------
    ufunc : numpy.ufunc
        The ufunc that defines the type rules.
    **bodies : str
        C expressions, keyed by the kinds of the computation type, such as ``iu="a % b"``. The keyword ``any`` covers
        all other kinds. Expressions can use ``T``, the C name of the computation type.
    """

    def __init__(self, ufunc: np.ufunc, **bodies: str):
        self.ufunc = ufunc
        self.name = ufunc.__name__
        self.bodies = {kind: body for kinds, body in bodies.items() if kinds != "any" for kind in kinds}
        self.default = bodies.get("any")

    def __repr__(self):
        return f"<operation {self.name}>"

    def expression(self, kind: str) -> str:
        """Return the C expression for a kind of type.

        Raises
        ------
        TypeError
            If the operation does not support this kind.
        """
        body = self.bodies.get(kind, self.default)
        if body is None:
            names = {"b": "bool", "i": "int", "u": "unsigned int", "f": "float", "c": "complex"}
            raise TypeError(f"{self.name} is not supported for elements of type {names.get(kind, kind)}")
        return body

    def resolve(self, *operands) -> tuple[np.dtype, ...]:
        """Return the computation type of each operand, followed by the result type.

        Parameters
        ----------
        *operands : dtype or type
            Dtypes, or ``int``, ``float`` or ``complex`` for Python numbers, whose types adapt to the other operands.

        Raises
        ------
        TypeError
            If the ufunc does not support these types.
        """
        return self.ufunc.resolve_dtypes((*operands, None))


_EXTREME = "(a {op} b || a != a) ? a : b"

BINARY = [
    Operation(np.add, b="a || b", any="a + b"),
    Operation(np.subtract, any="a - b"),
    Operation(np.multiply, b="a && b", any="a * b"),
    Operation(np.true_divide, fc="a / b"),
    Operation(np.floor_divide, iu="cuda_core::floor_quotient<T>(a, b)", f="cuda_core::real_quotient<T>(a, b)"),
    Operation(np.remainder, iu="cuda_core::floor_remainder<T>(a, b)", f="cuda_core::real_remainder<T>(a, b)"),
    Operation(np.fmod, iu="b == 0 || (T(-1) < 0 && b == T(-1)) ? T(0) : T(a % b)", f="fmod(a, b)"),
    Operation(np.power, iu="cuda_core::integer_power<T>(a, b)", fc="pow(a, b)"),
    Operation(np.maximum, b="a || b", iu="a > b ? a : b", f=_EXTREME.format(op=">=")),
    Operation(np.minimum, b="a && b", iu="a < b ? a : b", f=_EXTREME.format(op="<=")),
    Operation(np.fmax, b="a || b", iu="a > b ? a : b", f="fmax(a, b)"),
    Operation(np.fmin, b="a && b", iu="a < b ? a : b", f="fmin(a, b)"),
    Operation(np.arctan2, f="atan2(a, b)"),
    Operation(np.hypot, f="hypot(a, b)"),
    Operation(np.copysign, f="copysign(a, b)"),
    Operation(np.bitwise_and, biu="a & b"),
    Operation(np.bitwise_or, biu="a | b"),
    Operation(np.bitwise_xor, biu="a ^ b"),
    Operation(np.left_shift, iu="cuda_core::shifted_left<T>(a, b)"),
    Operation(np.right_shift, iu="cuda_core::shifted_right<T>(a, b)"),
]
COMPARISONS = [
    Operation(np.equal, any="a == b"),
    Operation(np.not_equal, any="a != b"),
    Operation(np.less, biuf="a < b"),
    Operation(np.less_equal, biuf="a <= b"),
    Operation(np.greater, biuf="a > b"),
    Operation(np.greater_equal, biuf="a >= b"),
]
LOGICAL = [
    Operation(np.logical_and, any="a != A() && b != B()"),
    Operation(np.logical_or, any="a != A() || b != B()"),
    Operation(np.logical_xor, any="(a != A()) != (b != B())"),
]
UNARY = [
    Operation(np.negative, any="-a"),
    Operation(np.positive, any="a"),
    Operation(np.absolute, bu="a", i="a < 0 ? T(-a) : a", f="fabs(a)", c="abs(a)"),
    Operation(np.fabs, f="fabs(a)"),
    Operation(np.conjugate, biuf="a", c="conj(a)"),
    Operation(np.square, any="a * a"),
    Operation(np.reciprocal, iu="a == 0 ? T(0) : T(1 / a)", f="1 / a", c="T(1) / a"),
    Operation(np.sign, b="a", u="a != 0", i="(a > 0) - (a < 0)", f="a != a ? a : T((a > 0) - (a < 0))"),
    Operation(np.sqrt, fc="sqrt(a)"),
    Operation(np.cbrt, f="cbrt(a)"),
    Operation(np.exp, fc="exp(a)"),
    Operation(np.exp2, f="exp2(a)"),
    Operation(np.expm1, f="expm1(a)"),
    Operation(np.log, fc="log(a)"),
    Operation(np.log2, f="log2(a)"),
    Operation(np.log10, fc="log10(a)"),
    Operation(np.log1p, f="log1p(a)"),
    Operation(np.sin, fc="sin(a)"),
    Operation(np.cos, fc="cos(a)"),
    Operation(np.tan, fc="tan(a)"),
    Operation(np.arcsin, f="asin(a)"),
    Operation(np.arccos, f="acos(a)"),
    Operation(np.arctan, f="atan(a)"),
    Operation(np.sinh, fc="sinh(a)"),
    Operation(np.cosh, fc="cosh(a)"),
    Operation(np.tanh, fc="tanh(a)"),
    Operation(np.arcsinh, f="asinh(a)"),
    Operation(np.arccosh, f="acosh(a)"),
    Operation(np.arctanh, f="atanh(a)"),
    Operation(np.floor, biu="a", f="floor(a)"),
    Operation(np.ceil, biu="a", f="ceil(a)"),
    Operation(np.trunc, biu="a", f="trunc(a)"),
    Operation(np.rint, f="rint(a)"),
    Operation(np.deg2rad, f="a * T(0.017453292519943295)"),
    Operation(np.rad2deg, f="a * T(57.29577951308232)"),
    Operation(np.invert, b="!a", iu="~a"),
    Operation(np.isnan, biu="false", f="a != a", c="a._M_re != a._M_re || a._M_im != a._M_im"),
    Operation(np.isfinite, biu="true", f="a - a == 0", c="a._M_re - a._M_re == 0 && a._M_im - a._M_im == 0"),
    Operation(
        np.isinf,
        biu="false",
        f="a == a && a - a != 0",
        c="(a._M_re == a._M_re && a._M_re - a._M_re != 0) || (a._M_im == a._M_im && a._M_im - a._M_im != 0)",
    ),
    Operation(np.signbit, f="signbit(a)"),
    Operation(np.logical_not, any="a == A()"),
]
BINARY_OF = {operation.ufunc: operation for operation in (*BINARY, *COMPARISONS, *LOGICAL)}
UNARY_OF = {operation.ufunc: operation for operation in UNARY}


_NUMBERS = (bool, int, float, complex, np.generic)
_PYTHON_NUMBERS = frozenset({int, float, complex})


class Plan(PlanFields):
    """The plan of an operation for one combination of operand types.

    Attributes
    ----------
    elementwise : Elementwise
        The kernels.
    dtype : numpy.dtype
        The data type of the result.
    scalars : tuple
        For each operand, None for an array, or the function that converts a number to the kernel argument.
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
        """Launch for contiguous arrays on the default stream. ``merged`` is the bitwise OR of their addresses."""
        kernel = self.elementwise.dense(self.arch) if merged & self.mask else self.packed
        kernel.launch(None, size, *arguments, size)


def binary(operation: Operation, a, b, out=None, stream=None):
    """Return the result of an operation on two arrays, or on an array and a number.

    Parameters
    ----------
    operation : Operation
        The operation.
    a, b : ArrayBase or number
        The operands, which are broadcast. At least one must be an array.
    out : ArrayBase, optional
        The array for the result. Defaults to a new array.
    stream : Stream, optional
        The stream to enqueue the kernel on. Defaults to the default stream.

    Returns
    -------
    ArrayBase
        The result, or NotImplemented if the type of an operand is not supported.
    """
    if out is None and stream is None:
        result = fast_binary(operation, a, b)
        if result is not None:
            return result
    return apply_operation(operation, (a, b), out, stream)


def unary(operation: Operation, a: ArrayBase, out=None, stream=None, dtype=None):
    """Return the result of an operation on an array. See :func:`binary`.

    Parameters
    ----------
    dtype : dtype, optional
        The data type of a new result. Defaults to NumPy's result type.
    """
    if out is None and stream is None:
        result = fast_unary(operation, a, dtype)
        if result is not None:
            return result
    return apply_operation(operation, (a,), out, stream, dtype)


def in_place(operation: Operation, a: ArrayBase, b):
    """Apply an operation to an array in place and keep its data type."""
    result = fast_binary(operation, a, b, True)
    if result is not None:
        return result
    shape = operand_shape(b)
    if shape is None:
        return NotImplemented
    if broadcast_shape(a.shape, shape) != a.shape:
        raise ValueError(f"an operand of shape {shape} cannot be broadcast to the array's shape {a.shape}")
    return apply_operation(operation, (a, b), a, None)


def apply_operation(operation: Operation, operands: tuple, out, stream, dtype=None):
    """Apply an operation to any supported operands. See :func:`binary` and :func:`unary`."""
    operands = tuple(map(operand_of, operands))
    if any(operand is NotImplemented for operand in operands):
        return NotImplemented
    if out is not None and not isinstance(out, ArrayBase):
        raise TypeError(f"out must be a GPUArray, not {type(out).__name__}")
    arrays = [operand for operand in operands if isinstance(operand, ArrayBase)]
    first = arrays[0]
    shape = first.shape if len(operands) == 1 else broadcast_shape(*(operand_shape(item) for item in operands))
    if out is not None and out.shape != shape:
        raise ValueError(f"out must have shape {shape}, not {out.shape}")
    plan = plan_of(operation, first._device, operands, out.dtype if out is not None else dtype)
    if plan.__class__ is not Plan:
        # A comparison with a number outside the range of the type has the same result for all elements.
        result = first._new_like(first.dtype) if out is None else out
        return result.fill(plan, stream)
    if out is None:
        like = next((item for item in arrays if item.shape == shape), None)
        out = first._new(shape, plan.dtype) if like is None else like._new_like(plan.dtype)
    # An operand that overlaps the result in any way other than element by element is copied first.
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
    check_on_device(device, *(item._device for item in arrays))
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
    """Return an operand as an array or a number, or NotImplemented if it is neither."""
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
    """Return the plan for operands of these types, or the value of every result element if it is constant."""
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
    """Return the result of comparing with a number outside an integer type's range, or None if it is in range."""
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
    # The result is computed in NumPy's type and stored in the output's type.
    output = Operand("r", result, natural if natural.kind != "b" or result.kind == "b" else result)
    if natural.kind == "c" and result.kind != "c":
        raise TypeError(f"{operation.name} has complex results, but the array has type {result}")
    expression = operation.expression(loop[0].kind)
    if len(loop) == 2 and {loop[0].kind, loop[1].kind} == {"i", "u"}:
        expression = f"cuda_core::order_of(a, b) {expression.split()[1]} 0"
    types = "".join(f"typedef {item.variable} {item.name.upper()}; " for item in inputs)
    body = f"{types}typedef A T; r = ({output.variable})({expression})"
    elementwise = Elementwise(f"array_{operation.name}", [output], inputs, body)
    scalars = tuple(
        [number_maker(converted) if is_scalar else None for converted, is_scalar in zip(loop, scalar, strict=True)]
    )
    return Plan(elementwise, result, scalars, arch)


def result_dtype(operation: Operation, kinds, scalar, loop, natural) -> np.dtype:
    """Return the data type of a new result. Comparisons return 0 and 1 in the type of their operands."""
    if operation not in COMPARISONS:
        return natural
    if any(scalar):
        return kinds[scalar.index(False)]
    return np.result_type(*loop)


def number_maker(dtype: np.dtype):
    """Return the function that converts a number to a kernel argument."""
    if dtype == np.float16:
        return half_argument
    return dtype.type


def half_argument(number) -> np.float32:
    return np.float32(np.float16(number))


def linear_combination(a, a_factor, b, b_factor, out=None, stream=None):
    """Return ``a_factor * a + b_factor * b``."""
    check_array("other", b)
    operands = {"p": checked_operand(a_factor, "selffac"), "a": a, "q": checked_operand(b_factor, "otherfac"), "b": b}
    dtype = np.result_type(*map(promoted, operands.values()))
    if dtype not in COMPUTE_TYPES:
        raise TypeError(f"mul_add is not supported for elements of type {dtype}")
    return compute("mul_add", operands, dict.fromkeys(operands, dtype), dtype, "r = p * a + q * b", out, stream)


def select_nonzero(criterion, then_, else_, out=None, stream=None):
    """Return elements of ``then_`` where ``criterion`` is not zero, else of ``else_``."""
    check_array("criterion", criterion)
    then_, else_ = checked_operand(then_, "then_"), checked_operand(else_, "else_")
    if isinstance(then_, ArrayBase) and then_.dtype.kind == "V":
        dtype = then_.dtype
        if not isinstance(else_, ArrayBase) or else_.dtype != dtype:
            raise TypeError(f"else_ must have elements of type {dtype}, like then_")
    else:
        dtype = np.result_type(promoted(then_), promoted(else_))
    operands = {"c": criterion, "t": then_, "e": else_}
    loops = {"c": criterion.dtype, "t": dtype, "e": dtype}
    return compute("where", operands, loops, dtype, f"r = {not_zero('c', criterion.dtype)} ? t : e", out, stream)


def select_positive(criterion, then_, else_, out=None, stream=None):
    """Return elements of ``then_`` where ``criterion`` is greater than zero, else of ``else_``."""
    check_array("criterion", criterion)
    if criterion.dtype.kind not in "biuf":
        raise TypeError(f"elements of type {criterion.dtype} are not ordered")
    then_, else_ = checked_operand(then_, "then_"), checked_operand(else_, "else_")
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
    """Run an elementwise kernel on arrays and numbers, which are broadcast. See :class:`Elementwise`.

    Parameters
    ----------
    operands : dict
        The arrays and numbers, keyed by variable name.
    loops : dict
        The computation type of each operand, keyed by variable name.
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
        makers = tuple([number_maker(item.compute) if item.is_scalar else None for item in inputs])
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


def take_elements(a: ArrayBase, indices: ArrayBase, out=None, stream=None, offset: int = 0):
    """Return the elements at the given indices of the flattened array, or zero for indices out of range."""
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
    run_elementwise(kernel, stream, indices.shape, (out, indices), arguments, a)
    return out


def put_elements(a: ArrayBase, indices: ArrayBase, values: ArrayBase, stream=None) -> None:
    """Store values at the given indices of the flattened array, and ignore indices out of range."""
    check_indices(indices)
    if values.dtype != a.dtype or values.shape != indices.shape:
        raise ValueError(
            f"values must have shape {indices.shape} and type {a.dtype}, not {values.shape} and {values.dtype}"
        )
    if not a._is_c:
        raise ValueError("put requires a C-contiguous array")
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
    run_elementwise(kernel, stream, indices.shape, (values, indices), arguments, a)


def take_put(a: ArrayBase, out: ArrayBase, source, dest, offset: int = 0, stream=None) -> None:
    """Copy the elements at the indices ``source`` of one array to the indices ``dest`` of another."""
    check_indices(source)
    check_indices(dest)
    if source.shape != dest.shape:
        raise ValueError(f"dest_indices and src_indices must have the same shape, not {dest.shape} and {source.shape}")
    put_elements(out, dest, take_elements(a, source, None, stream, offset), stream)


def join_arrays(arrays, axis: int = 0, allocator=None):
    """Return arrays joined along an axis."""
    arrays = checked_arrays(arrays)
    first = arrays[0]
    if not first.ndim:
        raise ValueError("0-d arrays cannot be concatenated")
    axis = checked_axis(axis, first.ndim)
    for number, item in enumerate(arrays):
        if item.shape[:axis] + item.shape[axis + 1 :] != first.shape[:axis] + first.shape[axis + 1 :]:
            raise ValueError(f"array {number} has shape {item.shape}, which does not match the first, {first.shape}")
    shape = list(first.shape)
    shape[axis] = sum(item.shape[axis] for item in arrays)
    result = first._new(tuple(shape), joint_dtype(arrays), allocator=allocator)
    start = 0
    for item in arrays:
        place = (slice(None),) * axis + (slice(start, start + item.shape[axis]),)
        convert_array(item, result[place])
        start += item.shape[axis]
    return result


def stack_arrays(arrays, axis: int = 0, allocator=None):
    """Return arrays of one shape joined along a new axis."""
    arrays = checked_arrays(arrays)
    shape = arrays[0].shape
    axis = checked_axis(axis, len(shape) + 1)
    for number, item in enumerate(arrays):
        if item.shape != shape:
            raise ValueError(f"all arrays must have the first array's shape {shape}; array {number} has {item.shape}")
    joined = shape[:axis] + (len(arrays),) + shape[axis:]
    result = arrays[0]._new(joined, joint_dtype(arrays), allocator=allocator)
    for number, item in enumerate(arrays):
        convert_array(item, result[(slice(None),) * axis + (number,)])
    return result


# Negative indices count from the end. Converted to unsigned, every index out of range is at least the size.
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


def run_elementwise(kernel: Elementwise, stream, shape, arrays, arguments, *others) -> None:
    for item in (*arrays, *others):
        item._check_open()
    device = arrays[0]._device
    check_on_device(device, *(item._device for item in (*arrays, *others)))
    inner = stream_for(stream, *arrays, *others)
    kernel.launch(device.arch, inner, shape, [(item._address, item.strides) for item in arrays], arguments)


def not_zero(name: str, dtype: np.dtype) -> str:
    if dtype.kind not in "biufc":
        raise TypeError(f"elements of type {dtype} have no truth value")
    return f"({name}._M_re != 0 || {name}._M_im != 0)" if dtype.kind == "c" else f"({name} != 0)"


def checked_operand(item, name: str):
    operand = operand_of(item)
    if operand is NotImplemented:
        raise TypeError(f"{name} must be a GPUArray or a number, not {type(item).__name__}")
    return operand


def promoted(item):
    """Return an operand for NumPy's type promotion: a dtype, or a Python number, whose type adapts."""
    kind = type_of(item)
    return item if isinstance(kind, type) else kind


def check_indices(indices) -> None:
    check_array("indices", indices)
    if indices.dtype.kind not in "iu":
        raise TypeError(f"indices must have integer elements, not {indices.dtype}")


def check_result(out, shape, dtype) -> None:
    check_array("out", out)
    if out.shape != checked_array_shape(shape) or out.dtype != dtype:
        raise ValueError(f"out must have shape {shape} and type {dtype}, not shape {out.shape} and type {out.dtype}")


def checked_arrays(arrays) -> list[ArrayBase]:
    arrays = list_argument("arrays", arrays, "a sequence of GPUArrays")
    if not arrays:
        raise ValueError("arrays must contain at least one array")
    for item in arrays:
        if not isinstance(item, ArrayBase):
            raise TypeError(f"arrays must contain GPUArrays, not {type(item).__name__}")
    return arrays


def joint_dtype(arrays) -> np.dtype:
    dtypes = {item.dtype for item in arrays}
    return arrays[0].dtype if len(dtypes) == 1 else np.result_type(*dtypes)
