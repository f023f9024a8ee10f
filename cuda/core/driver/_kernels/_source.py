# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""CUDA C++ code that all generated kernels share: types, conversions, and functions of NumPy that C does not have."""

from __future__ import annotations

import numpy as np

__all__ = ["COMPLEX_HEADER", "COMPUTE_TYPES", "STORAGE_TYPES", "compute_dtype", "prelude", "storage_name"]


# This header comes with the package, in the folder `include`.
COMPLEX_HEADER = "#include <pycuda-complex.hpp>\n"


def storage_name(dtype: np.dtype) -> str:
    """Return the C type of elements in memory; for structures an array of words, which can only be copied."""
    name = STORAGE_TYPES.get(dtype)
    if name is not None:
        return name
    size = dtype.itemsize
    word = next(width for width in (8, 4, 2, 1) if size % width == 0)
    return f"cuda_core::record<{_WORDS[word]}, {size // word}>"


def compute_dtype(dtype: np.dtype) -> np.dtype:
    """Return the data type of computations: float32 for float16, else the type itself."""
    return _FLOAT32 if dtype == _FLOAT16 else dtype


def prelude(*dtypes: np.dtype) -> str:
    """Return the C++ definitions that a kernel with these data types needs."""
    text = _RECORDS
    if any(dtype == _FLOAT16 for dtype in dtypes):
        text += _HALF
    if any(dtype.kind == "c" for dtype in dtypes):
        text = COMPLEX_HEADER + text + _COMPLEX_CONVERSIONS
    return text


_FLOAT16, _FLOAT32 = np.dtype(np.float16), np.dtype(np.float32)
_WORDS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned int", 8: "unsigned long long"}
STORAGE_TYPES = {
    np.dtype(np.bool_): "bool",
    np.dtype(np.int8): "signed char",
    np.dtype(np.uint8): "unsigned char",
    np.dtype(np.int16): "short",
    np.dtype(np.uint16): "unsigned short",
    np.dtype(np.int32): "int",
    np.dtype(np.uint32): "unsigned int",
    np.dtype(np.int64): "long long",
    np.dtype(np.uint64): "unsigned long long",
    _FLOAT16: "cuda_core::half",
    _FLOAT32: "float",
    np.dtype(np.float64): "double",
    np.dtype(np.complex64): "pycuda::complex<float>",
    np.dtype(np.complex128): "pycuda::complex<double>",
}
COMPUTE_TYPES = {dtype: name for dtype, name in STORAGE_TYPES.items() if dtype != _FLOAT16} | {_FLOAT16: "float"}

_RECORDS = r"""
namespace cuda_core {
typedef unsigned long long size;
template <typename W, int N> struct record { W words[N]; };
// Elements that one vectorized access loads or stores.
template <typename T, int N> struct alignas(sizeof(T) * N) pack { T items[N]; };
template <bool C, typename A, typename B> struct choose { typedef A type; };
template <typename A, typename B> struct choose<false, A, B> { typedef B type; };

template <typename T> __device__ inline T integer_power(T base, T exponent)
{
    if (exponent < 0) return base == 1 ? T(1) : base == T(-1) ? ((exponent & 1) ? T(-1) : T(1)) : T(0);
    unsigned long long left = (unsigned long long)exponent, power = (unsigned long long)base, result = 1;
    for (; left; left >>= 1, power *= power)
        if (left & 1) result *= power;
    return T(result);
}
// Integer quotients round down, as in Python; division by zero gives zero, as in NumPy.
template <typename T> __device__ inline T floor_quotient(T a, T b)
{
    if (b == 0) return 0;
    if (b == T(-1) && T(-1) < 0) return T(0ull - (unsigned long long)a);
    const T quotient = T(a / b);
    return T(quotient - ((a % b != 0) && ((a < 0) != (b < 0))));
}
template <typename T> __device__ inline T floor_remainder(T a, T b)
{
    if (b == 0 || (b == T(-1) && T(-1) < 0)) return 0;
    const T rest = T(a % b);
    return rest != 0 && ((rest < 0) != (b < 0)) ? T(rest + b) : rest;
}
template <typename T> __device__ inline T real_remainder(T a, T b)
{
    T rest = fmod(a, b);
    if (b == 0) return rest;
    if (rest != 0) { if ((b < 0) != (rest < 0)) rest += b; }
    else rest = copysign(T(0), b);
    return rest;
}
template <typename T> __device__ inline T real_quotient(T a, T b)
{
    if (b == 0) return a / b;
    const T quotient = (a - real_remainder(a, b)) / b;
    if (quotient == 0) return copysign(T(0), a / b);
    const T whole = floor(quotient);
    return quotient - whole > T(0.5) ? whole + 1 : whole;
}
// Compares a signed and an unsigned number by value.
__device__ inline int order_of(long long a, unsigned long long b)
{ return a < 0 || (unsigned long long)a < b ? -1 : (unsigned long long)a > b; }
__device__ inline int order_of(unsigned long long a, long long b) { return -order_of(b, a); }
template <typename T> __device__ inline T shifted_left(T a, T b)
{ return b < 0 || (unsigned long long)b >= sizeof(T) * 8 ? T(0) : T((unsigned long long)a << b); }
template <typename T> __device__ inline T shifted_right(T a, T b)
{ return b < 0 || (unsigned long long)b >= sizeof(T) * 8 ? (a < 0 ? T(-1) : T(0)) : T(a >> b); }
}
"""

_HALF = r"""
namespace cuda_core {
// A half, converted by integer arithmetic: needs no header, and gives the same result on every device.
struct half
{
    unsigned short bits;
    half() = default;
    __device__ half(float value)
    {
        union { float number; unsigned int bits; } from;
        from.number = value;
        const unsigned int sign = (from.bits >> 16) & 0x8000u, size = from.bits & 0x7fffffffu;
        unsigned int result;
        if (size > 0x7f800000u) result = 0x7e00u;
        else if (size >= 0x477ff000u) result = 0x7c00u;  // 65520 and more round to infinity
        else if (size < 0x33000001u) result = 0;
        else if (size < 0x38800000u)
        {
            // Subnormal: the significand is shifted; the bits that are shifted out decide the rounding.
            const unsigned int shift = 126u - (size >> 23), whole = (size & 0x7fffffu) | 0x800000u;
            const unsigned int rest = whole & ((1u << shift) - 1), middle = 1u << (shift - 1);
            result = whole >> shift;
            result += rest > middle || (rest == middle && (result & 1));
        }
        else
        {
            const unsigned int moved = size - 0x38000000u;
            result = (moved + 0xfffu + ((moved >> 13) & 1)) >> 13;
        }
        bits = (unsigned short)(sign | result);
    }
    __device__ operator float() const
    {
        union { float number; unsigned int bits; } to;
        const unsigned int sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 31u, rest = bits & 0x3ffu;
        if (exponent == 31u) to.bits = sign | 0x7f800000u | (rest << 13);
        else if (exponent) to.bits = sign | ((exponent + 112u) << 23) | (rest << 13);
        else
        {
            to.number = float(rest) * 5.9604644775390625e-8f;
            to.bits |= sign;
        }
        return to.number;
    }
};
}
"""

_COMPLEX_CONVERSIONS = r"""
namespace cuda_core {
template <typename R> struct real_from
{
    template <typename T> static __device__ R of(const pycuda::complex<T>& z) { return (R)(z._M_re); }
};
template <> struct real_from<bool>
{
    template <typename T> static __device__ bool of(const pycuda::complex<T>& z)
    { return z._M_re != 0 || z._M_im != 0; }
};
template <typename R, typename T>
__device__ inline R real_of(const pycuda::complex<T>& z) { return real_from<R>::of(z); }
}
"""
