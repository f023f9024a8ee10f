# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The sieve of Eratosthenes, in mapped host memory, timed."""

import numpy

import cuda.core.driver as drv

import cuda.core.driver.autoinit  # isort: skip
from cuda.core.driver.compiler import SourceModule

LIMIT = 5000

mod = SourceModule("""
#include <cuda_runtime.h>
__global__ void strike(unsigned char *composite, int prime, int limit)
{
    int first = prime + threadIdx.x + blockIdx.x * blockDim.x, step = prime * blockDim.x * gridDim.x;
    for (int i = prime * first; i < limit; i += step)
        composite[i] = 1;
}
""")
strike = mod.get_function("strike")

composite = drv.pagelocked_zeros(LIMIT, numpy.uint8, mem_flags=drv.host_alloc_flags.DEVICEMAP)
composite[:2] = 1
pointer = numpy.intp(composite.base.get_device_pointer())
seconds = 0.0
prime = 2
while prime * prime < LIMIT:
    if not composite[prime]:
        seconds += strike(
            pointer, numpy.int32(prime), numpy.int32(LIMIT), block=(64, 1, 1), grid=(4, 1), time_kernel=True
        )
    prime += 1
primes = numpy.flatnonzero(composite == 0)
assert len(primes) == 669 and primes[-1] == 4999 and seconds > 0
print("prime sieve OK")
