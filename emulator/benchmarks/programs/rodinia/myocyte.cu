// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Differential equations of many cells, by an embedded Runge-Kutta method with steps of its own for each cell.
#include "../common/check.h"

#define EQUATIONS 4
#define CELLS 100
#define STAGES 6
#define TOLERANCE 1e-5

typedef double fp;

#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif

BOTH void master(fp time, const fp *y, const fp *params, fp *derivative)
{
    fp u = y[0], v = y[1], ca = y[2], buffer = y[3];
    fp stimulus = time < 1 ? params[0] : 0;
    derivative[0] = u - u * u * u / 3 - v + stimulus;
    derivative[1] = params[1] * (u + params[2] - 0.8 * v);
    derivative[2] = 0.3 * (u > 0 ? u : 0) - 0.5 * ca * (1 - buffer);
    derivative[3] = 0.2 * ca * (1 - buffer) - 0.1 * buffer;
}

/* One step of Fehlberg's method of orders 4 and 5; returns the estimate of the error. */
BOTH fp fehlberg_step(fp t, const fp *y, fp h, const fp *params, fp *next)
{
    const fp a[STAGES] = {0, 1.0 / 4, 3.0 / 8, 12.0 / 13, 1, 1.0 / 2};
    const fp b[STAGES][STAGES - 1] = {{0, 0, 0, 0, 0},
                                      {1.0 / 4, 0, 0, 0, 0},
                                      {3.0 / 32, 9.0 / 32, 0, 0, 0},
                                      {1932.0 / 2197, -7200.0 / 2197, 7296.0 / 2197, 0, 0},
                                      {439.0 / 216, -8, 3680.0 / 513, -845.0 / 4104, 0},
                                      {-8.0 / 27, 2, -3544.0 / 2565, 1859.0 / 4104, -11.0 / 40}};
    const fp c5[STAGES] = {16.0 / 135, 0, 6656.0 / 12825, 28561.0 / 56430, -9.0 / 50, 2.0 / 55};
    const fp c4[STAGES] = {25.0 / 216, 0, 1408.0 / 2565, 2197.0 / 4104, -1.0 / 5, 0};
    fp k[STAGES][EQUATIONS], at[EQUATIONS], error = 0;
    for (int s = 0; s < STAGES; s++) {
        for (int e = 0; e < EQUATIONS; e++) {
            at[e] = y[e];
            for (int p = 0; p < s; p++) at[e] += h * b[s][p] * k[p][e];
        }
        master(t + a[s] * h, at, params, k[s]);
    }
    for (int e = 0; e < EQUATIONS; e++) {
        fp y4 = y[e];
        next[e] = y[e];
        for (int s = 0; s < STAGES; s++) next[e] += h * c5[s] * k[s][e], y4 += h * c4[s] * k[s][e];
        error = fmax(error, fabs(next[e] - y4));
    }
    return error;
}

BOTH int integrate(fp *y, const fp *params, fp end)
{
    fp t = 0, h = 0.01, next[EQUATIONS];
    int steps = 0;
    while (t < end && steps < 10000) {
        if (t + h > end) h = end - t;
        fp error = fehlberg_step(t, y, h, params, next);
        if (error <= TOLERANCE) {
            t += h;
            for (int e = 0; e < EQUATIONS; e++) y[e] = next[e];
        }
        fp scale = 0.84 * pow(TOLERANCE / (error + 1e-12), 0.25);
        h *= scale < 0.125 ? 0.125 : scale > 4 ? 4 : scale;
        steps++;
    }
    return steps;
}

__global__ void solver_2(int workload, fp *y, const fp *params, int *steps)
{
    int tid = blockIdx.x * 32 + threadIdx.x;
    if (tid < workload) steps[tid] = integrate(y + tid * EQUATIONS, params + tid * 3, 5.0);
}

int main(int argc, char *argv[])
{
    static fp y[CELLS * EQUATIONS], params[CELLS * 3], found[CELLS * EQUATIONS];
    static int steps[CELLS];
    int *d_steps, most = 0;
    for (int i = 0; i < CELLS; i++) {
        params[3 * i] = 0.5 + 0.01 * i, params[3 * i + 1] = 0.08, params[3 * i + 2] = 0.7;
        y[EQUATIONS * i] = -1.2, y[EQUATIONS * i + 1] = -0.6;
    }
    fp *d_y = to_device(y, CELLS * EQUATIONS), *d_params = to_device(params, CELLS * 3);
    gpuErrchk(cudaMalloc((void **)&d_steps, sizeof(steps)));
    dim3 threads, blocks;
    threads.x = 32, threads.y = 1;
    blocks.x = CELLS / threads.x + (CELLS % threads.x == 0 ? 0 : 1), blocks.y = 1;
    solver_2<<<blocks, threads>>>(CELLS, d_y, d_params, d_steps);
    gpuErrchk(cudaThreadSynchronize());
    gpuErrchk(cudaMemcpy(found, d_y, sizeof(found), cudaMemcpyDeviceToHost));
    gpuErrchk(cudaMemcpy(steps, d_steps, sizeof(steps), cudaMemcpyDeviceToHost));
    for (int i = 0; i < CELLS; i++) {
        integrate(y + i * EQUATIONS, params + i * 3, 5.0);
        most = max(most, steps[i]);
    }
    printf("at most %d steps\n", most);
    return report("myocyte", count_mismatches(y, found, CELLS * EQUATIONS, 0.005) + (most >= 10000));
}
