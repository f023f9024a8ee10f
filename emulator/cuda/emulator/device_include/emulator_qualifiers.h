// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// CUDA C++ keywords that are simple macros here. The last header of the prelude, so our own headers do not see these
// macros.
#pragma once

#if EMU_INLINES_KERNELS
#define __global__ __attribute__((always_inline)) // see emulator_records.h
#else
#define __global__ __attribute__((noinline))
#endif
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ __inline__ // also called through pointers, which always_inline does not allow
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __grid_constant__
#define __nv_pure__
#define __cudart_builtin__
#define CUDARTAPI
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __maxnreg__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
