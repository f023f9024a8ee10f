// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers as pairs of floats or doubles. Absolute values and quotients are scaled, so intermediate results
// neither overflow nor underflow.
#pragma once

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

__host__ __device__ static __inline__ cuFloatComplex make_cuFloatComplex(float real, float imaginary) { return make_float2(real, imaginary); }
__host__ __device__ static __inline__ float cuCrealf(cuFloatComplex a) { return a.x; }
__host__ __device__ static __inline__ float cuCimagf(cuFloatComplex a) { return a.y; }
__host__ __device__ static __inline__ cuFloatComplex cuConjf(cuFloatComplex a) { return make_cuFloatComplex(a.x, -a.y); }
__host__ __device__ static __inline__ cuFloatComplex cuCaddf(cuFloatComplex a, cuFloatComplex b) { return make_cuFloatComplex(a.x + b.x, a.y + b.y); }
__host__ __device__ static __inline__ cuFloatComplex cuCsubf(cuFloatComplex a, cuFloatComplex b) { return make_cuFloatComplex(a.x - b.x, a.y - b.y); }
__host__ __device__ static __inline__ cuFloatComplex cuCmulf(cuFloatComplex a, cuFloatComplex b)
{
    return make_cuFloatComplex(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__host__ __device__ static __inline__ cuFloatComplex cuCdivf(cuFloatComplex a, cuFloatComplex b)
{
    float scale = 1.0f / (fabsf(b.x) + fabsf(b.y));
    float ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;
    scale = 1.0f / (bx * bx + by * by);
    return make_cuFloatComplex((ax * bx + ay * by) * scale, (ay * bx - ax * by) * scale);
}
__host__ __device__ static __inline__ float cuCabsf(cuFloatComplex a) { return hypotf(a.x, a.y); }
__host__ __device__ static __inline__ cuFloatComplex cuCfmaf(cuFloatComplex a, cuFloatComplex b, cuFloatComplex c)
{
    return make_cuFloatComplex(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);
}

__host__ __device__ static __inline__ cuDoubleComplex make_cuDoubleComplex(double real, double imaginary) { return make_double2(real, imaginary); }
__host__ __device__ static __inline__ double cuCreal(cuDoubleComplex a) { return a.x; }
__host__ __device__ static __inline__ double cuCimag(cuDoubleComplex a) { return a.y; }
__host__ __device__ static __inline__ cuDoubleComplex cuConj(cuDoubleComplex a) { return make_cuDoubleComplex(a.x, -a.y); }
__host__ __device__ static __inline__ cuDoubleComplex cuCadd(cuDoubleComplex a, cuDoubleComplex b) { return make_cuDoubleComplex(a.x + b.x, a.y + b.y); }
__host__ __device__ static __inline__ cuDoubleComplex cuCsub(cuDoubleComplex a, cuDoubleComplex b) { return make_cuDoubleComplex(a.x - b.x, a.y - b.y); }
__host__ __device__ static __inline__ cuDoubleComplex cuCmul(cuDoubleComplex a, cuDoubleComplex b)
{
    return make_cuDoubleComplex(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
__host__ __device__ static __inline__ cuDoubleComplex cuCdiv(cuDoubleComplex a, cuDoubleComplex b)
{
    double scale = 1.0 / (fabs(b.x) + fabs(b.y));
    double ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;
    scale = 1.0 / (bx * bx + by * by);
    return make_cuDoubleComplex((ax * bx + ay * by) * scale, (ay * bx - ax * by) * scale);
}
__host__ __device__ static __inline__ double cuCabs(cuDoubleComplex a) { return hypot(a.x, a.y); }
__host__ __device__ static __inline__ cuDoubleComplex cuCfma(cuDoubleComplex a, cuDoubleComplex b, cuDoubleComplex c)
{
    return make_cuDoubleComplex(a.x * b.x + c.x - a.y * b.y, a.x * b.y + c.y + a.y * b.x);
}

__host__ __device__ static __inline__ cuComplex make_cuComplex(float real, float imaginary) { return make_float2(real, imaginary); }
__host__ __device__ static __inline__ cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return make_double2(a.x, a.y); }
__host__ __device__ static __inline__ cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a)
{
    return make_float2((float)a.x, (float)a.y);
}
