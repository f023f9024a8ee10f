// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <cuda_runtime.h>

#define gpuErrchk(call) gpu_assert((call), __FILE__, __LINE__)
#define DIVIDE_UP(a, b) (((a) + (b) - 1) / (b))

static inline void gpu_assert(cudaError_t code, const char *file, int line)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(code));
        exit(EXIT_FAILURE);
    }
}

static inline double wall_clock(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return now.tv_sec + 1e-6 * now.tv_usec;
}

/* Random numbers that are the same on every machine. */
static inline unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static inline void fill(float *x, int n, unsigned seed)
{
    for (int i = 0; i < n; i++) x[i] = (next_random(&seed) % 1000) / 1000.0f;
}

/* Copies to new memory of the device. */
template <typename T>
static T *to_device(const T *host, size_t count)
{
    T *device;
    gpuErrchk(cudaMalloc((void **)&device, count * sizeof(T)));
    gpuErrchk(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    return device;
}

template <typename T>
static int count_mismatches(const T *expected, const T *found, int n, T tolerance)
{
    int mismatches = 0;
    for (int i = 0; i < n; i++) {
        T difference = fabs(expected[i] - found[i]);
        if (!(difference <= tolerance * (fabs(expected[i]) + T(0.01)))) mismatches++;
    }
    return mismatches;
}

/* Returns the status of the program. */
static inline int report(const char *name, int mismatches)
{
    if (mismatches == 0) printf("%s: PASS\n", name);
    else printf("%s: FAIL, %d mismatches\n", name, mismatches);
    return mismatches != 0;
}

#endif
