# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Table of elementwise operations: the NumPy ufunc, whose type rules apply, and the C expressions."""

from __future__ import annotations

import numpy as np

__all__ = ["BINARY", "BINARY_OF", "COMPARISONS", "LOGICAL", "UNARY", "UNARY_OF", "Operation"]


class Operation:
    """An elementwise function.

    Parameters
    ----------
    ufunc : numpy.ufunc
        The ufunc, whose type rules apply.
    **bodies : str
        C expressions by the kinds of the type of the computation, such as ``iu="a % b"``; ``any`` is for all other
        kinds. They may use ``T``, the C name of that type.
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
        """Return the types to which the operands are converted, and the type of the result.

        Parameters
        ----------
        *operands : dtype or type
            Dtypes; or ``int``, ``float`` or ``complex`` for Python numbers, whose types adapt to the others.

        Raises
        ------
        TypeError
            If the ufunc does not support these types.
        """
        return self.ufunc.resolve_dtypes((*operands, None))


_ORDERED = "iu"
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
