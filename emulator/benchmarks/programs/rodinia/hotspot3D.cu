// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Temperatures of a stack of layers; a thread walks through the layers.
#include "../common/check.h"

#define WG_SIZE_X 64
#define WG_SIZE_Y 4
#define NX 72
#define NY 44
#define NZ 8
#define ITERATIONS 6
#define AMB_TEMP 80.0f

__global__ void hotspotOpt1(float *p, float *tIn, float *tOut, float sdc, float ce, float cw, float cn, float cs,
                            float ct, float cb, float cc)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    int j = blockDim.y * blockIdx.y + threadIdx.y;
    if (i >= NX || j >= NY) return;
    int c = i + j * NX, xy = NX * NY;
    int W = (i == 0) ? c : c - 1, E = (i == NX - 1) ? c : c + 1;
    int N = (j == 0) ? c : c - NX, S = (j == NY - 1) ? c : c + NX;
    float temp1, temp2, temp3;
    temp1 = temp2 = tIn[c];
    temp3 = tIn[c + xy];
    for (int k = 0; k < NZ; ++k) {
        tOut[c] = cc * temp2 + cw * tIn[W] + ce * tIn[E] + cs * tIn[S] + cn * tIn[N] + cb * temp1 + ct * temp3 +
                  sdc * p[c] + ct * AMB_TEMP;
        c += xy, W += xy, E += xy, N += xy, S += xy;
        temp1 = temp2;
        temp2 = temp3;
        if (k < NZ - 2) temp3 = tIn[c + xy];
    }
}

void computeTempCPU(float *pIn, float *tIn, float *tOut, float sdc, float ce, float cw, float cn, float cs, float ct,
                    float cb, float cc)
{
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++) {
                int c = x + y * NX + z * NX * NY;
                int w = (x == 0) ? c : c - 1, e = (x == NX - 1) ? c : c + 1;
                int n = (y == 0) ? c : c - NX, s = (y == NY - 1) ? c : c + NX;
                int b = (z == 0) ? c : c - NX * NY, t = (z == NZ - 1) ? c : c + NX * NY;
                tOut[c] = tIn[c] * cc + tIn[n] * cn + tIn[s] * cs + tIn[e] * ce + tIn[w] * cw + tIn[t] * ct +
                          tIn[b] * cb + sdc * pIn[c] + ct * AMB_TEMP;
            }
}

int main()
{
    const int size = NX * NY * NZ;
    float *power = (float *)calloc(size, sizeof(float)), *temp = (float *)calloc(size, sizeof(float));
    float *other = (float *)calloc(size, sizeof(float)), *found = (float *)calloc(size, sizeof(float));
    fill(power, size, 1), fill(temp, size, 2);
    float ce = 0.03f, cw = 0.03f, cn = 0.04f, cs = 0.04f, ct = 0.06f, cb = 0.06f, cc = 1 - (2 * ce + 2 * cn + 3 * ct);
    float sdc = 0.1f;
    float *tIn_d = to_device(temp, size), *tOut_d, *p_d = to_device(power, size);
    gpuErrchk(cudaMalloc((void **)&tOut_d, sizeof(float) * size));
    gpuErrchk(cudaFuncSetCacheConfig(hotspotOpt1, cudaFuncCachePreferL1));
    dim3 block_dim(WG_SIZE_X, WG_SIZE_Y, 1);
    dim3 grid_dim(DIVIDE_UP(NX, WG_SIZE_X), DIVIDE_UP(NY, WG_SIZE_Y), 1);
    for (int i = 0; i < ITERATIONS; ++i) {
        hotspotOpt1<<<grid_dim, block_dim>>>(p_d, tIn_d, tOut_d, sdc, ce, cw, cn, cs, ct, cb, cc);
        float *t = tIn_d;
        tIn_d = tOut_d;
        tOut_d = t;
        computeTempCPU(power, temp, other, sdc, ce, cw, cn, cs, ct, cb, cc);
        t = temp, temp = other, other = t;
    }
    gpuErrchk(cudaDeviceSynchronize());
    gpuErrchk(cudaMemcpy(found, tIn_d, sizeof(float) * size, cudaMemcpyDeviceToHost));
    return report("hotspot3D", count_mismatches(temp, found, size, 0.001f));
}
