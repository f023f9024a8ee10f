# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: nvmath, cupy
"""Products and transforms of nvmath-python, which takes streams and memory from cuda.core."""

import cupy as cp
import nvmath

checks = 0


def check(condition):
    global checks
    assert condition
    checks += 1


a, b = cp.random.rand(64, 96).astype(cp.float32), cp.random.rand(96, 32).astype(cp.float32)
check(bool(cp.allclose(nvmath.linalg.advanced.matmul(a, b), a @ b, rtol=1e-3)))
stream = cp.cuda.Stream(non_blocking=True)
with stream:
    check(bool(cp.allclose(nvmath.linalg.advanced.matmul(a, b, stream=stream), a @ b, rtol=1e-3)))
signal = cp.random.rand(8, 128).astype(cp.complex64)
check(bool(cp.allclose(nvmath.fft.fft(signal), cp.fft.fftn(signal, axes=(0, 1)), atol=1e-1)))
check(nvmath.fft.ifft(nvmath.fft.fft(signal)).shape == signal.shape)
print(f"checks: {checks}")
