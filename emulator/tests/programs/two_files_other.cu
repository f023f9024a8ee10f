// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// The other file of two_files.cu.
#include "two_files.h"

static __global__ void set(int* x) { *x = base + 2; }

void launch_other(int* x)
{
    int own = 20;
    cudaMemcpyToSymbol(base, &own, sizeof own);
    set<<<1, 1>>>(x);
    add<<<1, 1>>>(x, 100);
}
