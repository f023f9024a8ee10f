# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# A kernel that includes what host programs include, and uses what these headers define.
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

src = r'''
#include <stdio.h>
#include <cstdio>
#include <math.h>
#include <cmath>
#include <stdint.h>
#include <cstdint>
#include <stdlib.h>
#include <cstdlib>
#include <string.h>
#include <cstring>
#include <stddef.h>
#include <limits.h>
#include <climits>
#include <float.h>
#include <cfloat>
#include <assert.h>
#include <inttypes.h>
#include <time.h>
#include <iostream>
#include <cuda.h>
#include <cuda_runtime.h>
#include <math_constants.h>
#include <vector_types.h>
struct pair { int a; double b; };
__global__ void f(double *out) {
  uint a = 3; ushort b = 4; ulong c = 5; u_int32_t d = 6; uint8_t e = 7; time_t t = 0;
  out[0] = a + b + c + d + e + t;
  out[1] = M_PI;
  out[2] = M_E + M_SQRT2;
  out[3] = INFINITY;
  out[4] = HUGE_VAL;
  out[5] = MAXFLOAT;
  out[6] = LONG_MAX;
  out[7] = INT_MAX;
  out[8] = FLT_MAX;
  out[9] = DBL_EPSILON;
  out[10] = UINT_MAX;
  out[11] = CUDART_PI;
  out[12] = std::sqrt(2.0);
  out[13] = NAN;
  out[14] = SIZE_MAX > 0;
  out[15] = RAND_MAX > 0 && HUGE_VALF > 0 && !std::isnan(1.0) && std::abs(-2) == 2 && offsetof(pair, b) == 8; assert(out != 0); }
'''
out = np.zeros(16)
SourceModule(src).get_function("f")(drv.Out(out), block=(1, 1, 1))
print(out)
assert out[0] == 25 and np.allclose(out[1:3], [np.pi, np.e + np.sqrt(2)]) and np.isinf(out[3:5]).all()
assert out[5] == out[8] == np.finfo(np.float32).max and out[6] == float(2**63 - 1) and out[7] == 2**31 - 1
assert out[9] == np.finfo(float).eps and out[10] == 2**32 - 1 and np.isclose(out[11], np.pi)
assert out[12] == np.sqrt(2) and np.isnan(out[13]) and (out[14:] == 1).all()
