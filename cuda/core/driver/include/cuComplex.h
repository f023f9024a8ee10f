// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Complex numbers as two-element structures, under the names used by cuBLAS and cuFFT.
#pragma once

typedef float2 cuFloatComplex;

__host__ __device__ static __inline__ cuFloatComplex make_cuFloatComplex(float re, float im) { return make_float2(re, im); }
__host__ __device__ static __inline__ float cuCrealf(cuFloatComplex z) { return z.x; }
__host__ __device__ static __inline__ float cuCimagf(cuFloatComplex z) { return z.y; }
__host__ __device__ static __inline__ cuFloatComplex cuConjf(cuFloatComplex z) { return make_cuFloatComplex(z.x, -z.y); }
__host__ __device__ static __inline__ cuFloatComplex cuCaddf(cuFloatComplex a, cuFloatComplex b) { return make_cuFloatComplex(a.x + b.x, a.y + b.y); }
__host__ __device__ static __inline__ cuFloatComplex cuCsubf(cuFloatComplex a, cuFloatComplex b) { return make_cuFloatComplex(a.x - b.x, a.y - b.y); }
__host__ __device__ static __inline__ cuFloatComplex cuCmulf(cuFloatComplex a, cuFloatComplex b)
{
    return make_cuFloatComplex(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
// Scaling both operands by the larger part of the divisor keeps squares from overflowing.
__host__ __device__ static __inline__ cuFloatComplex cuCdivf(cuFloatComplex a, cuFloatComplex b)
{
    float largest = fabsf(b.x) > fabsf(b.y) ? fabsf(b.x) : fabsf(b.y);
    float re = b.x / largest, im = b.y / largest;
    float square = (re * re + im * im) * largest;
    return make_cuFloatComplex((a.x * re + a.y * im) / square, (a.y * re - a.x * im) / square);
}
__host__ __device__ static __inline__ float cuCabsf(cuFloatComplex z) { return hypotf(z.x, z.y); }
__host__ __device__ static __inline__ cuFloatComplex cuCfmaf(cuFloatComplex a, cuFloatComplex b, cuFloatComplex c)
{
    return make_cuFloatComplex(a.x * b.x + c.x - a.y * b.y, a.y * b.x + c.y + a.x * b.y);
}

typedef double2 cuDoubleComplex;

__host__ __device__ static __inline__ cuDoubleComplex make_cuDoubleComplex(double re, double im) { return make_double2(re, im); }
__host__ __device__ static __inline__ double cuCreal(cuDoubleComplex z) { return z.x; }
__host__ __device__ static __inline__ double cuCimag(cuDoubleComplex z) { return z.y; }
__host__ __device__ static __inline__ cuDoubleComplex cuConj(cuDoubleComplex z) { return make_cuDoubleComplex(z.x, -z.y); }
__host__ __device__ static __inline__ cuDoubleComplex cuCadd(cuDoubleComplex a, cuDoubleComplex b) { return make_cuDoubleComplex(a.x + b.x, a.y + b.y); }
__host__ __device__ static __inline__ cuDoubleComplex cuCsub(cuDoubleComplex a, cuDoubleComplex b) { return make_cuDoubleComplex(a.x - b.x, a.y - b.y); }
__host__ __device__ static __inline__ cuDoubleComplex cuCmul(cuDoubleComplex a, cuDoubleComplex b)
{
    return make_cuDoubleComplex(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
// Scaling both operands by the larger part of the divisor keeps squares from overflowing.
__host__ __device__ static __inline__ cuDoubleComplex cuCdiv(cuDoubleComplex a, cuDoubleComplex b)
{
    double largest = fabs(b.x) > fabs(b.y) ? fabs(b.x) : fabs(b.y);
    double re = b.x / largest, im = b.y / largest;
    double square = (re * re + im * im) * largest;
    return make_cuDoubleComplex((a.x * re + a.y * im) / square, (a.y * re - a.x * im) / square);
}
__host__ __device__ static __inline__ double cuCabs(cuDoubleComplex z) { return hypot(z.x, z.y); }
__host__ __device__ static __inline__ cuDoubleComplex cuCfma(cuDoubleComplex a, cuDoubleComplex b, cuDoubleComplex c)
{
    return make_cuDoubleComplex(a.x * b.x + c.x - a.y * b.y, a.y * b.x + c.y + a.x * b.y);
}

typedef cuFloatComplex cuComplex;
__host__ __device__ static __inline__ cuComplex make_cuComplex(float re, float im) { return make_cuFloatComplex(re, im); }
__host__ __device__ static __inline__ cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z)
{
    return make_cuDoubleComplex(z.x, z.y);
}
__host__ __device__ static __inline__ cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z)
{
    return make_cuFloatComplex((float)z.x, (float)z.y);
}
