// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Headers that programs include out of habit, complex numbers, and types of the runtime API in kernels.

#include <cuComplex.h>
#include <cuda_runtime.h>
#include <device_functions.h>
#include <device_launch_parameters.h>
#include <driver_types.h>
#include <vector_types.h>

extern "C" {

__global__ void mandelbrot_complex(int* steps, int width, int limit)
{
    cuDoubleComplex c = make_cuDoubleComplex(-2.0 + 3.0 * threadIdx.x / width, -1.5 + 3.0 * blockIdx.x / width);
    cuDoubleComplex z = make_cuDoubleComplex(0, 0);
    int count = 0;
    while (count < limit && cuCreal(z) * cuCreal(z) + cuCimag(z) * cuCimag(z) <= 4) {
        z = cuCadd(cuCmul(z, z), c);
        ++count;
    }
    steps[blockIdx.x * width + threadIdx.x] = count;
}

__global__ void complex_words(const cuFloatComplex* a, const cuFloatComplex* b, cuFloatComplex* out, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    out[i] = cuCmulf(a[i], b[i]);
    out[n + i] = cuCdivf(a[i], b[i]);
    out[2 * n + i] = cuCsubf(cuConjf(a[i]), b[i]);
    out[3 * n + i] = cuCfmaf(a[i], b[i], make_cuComplex(cuCabsf(a[i]), 1));
    out[4 * n + i] = cuComplexDoubleToFloat(cuCdiv(cuComplexFloatToDouble(a[i]), cuComplexFloatToDouble(b[i])));
}

// The sum of a box in a pitched volume, as programs pass it from cudaMalloc3D().
__global__ void sum_of_box(cudaPitchedPtr volume, cudaPos begin, cudaExtent box, float* sum)
{
    const char* base = (const char*)volume.ptr;
    float total = 0;
    for (size_t z = begin.z; z < begin.z + box.depth; ++z)
        for (size_t y = begin.y; y < begin.y + box.height; ++y) {
            const float* row = (const float*)(base + (z * volume.ysize + y) * volume.pitch);
            for (size_t x = begin.x; x < begin.x + box.width; ++x)
                total += row[x];
        }
    *sum = total;
}

} // extern "C"
