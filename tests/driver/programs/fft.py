# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fast Fourier transform of Stockham, one kernel per stage, on complex arrays."""

import numpy as np

import cuda.core.driver.autoinit
from cuda.core.driver import cumath, gpuarray
from cuda.core.driver.elementwise import ElementwiseKernel

# Each index of a stage combines two elements that are half the array apart.
stage = ElementwiseKernel(
    "const pycuda::complex<float> *in, pycuda::complex<float> *out, int half, int stride",
    """
    if (i < half) {
        int group = i / stride, place = i % stride;
        float angle = -3.14159265358979f * group * stride / half;
        pycuda::complex<float> a = in[i], b = in[i + half];
        pycuda::complex<float> w(cosf(angle), sinf(angle));
        out[2 * group * stride + place] = a + b;
        out[(2 * group + 1) * stride + place] = (a - b) * w;
    }
    """,
    "fft_stage",
)


def fft(signal):
    n = signal.size
    source, target = signal.copy(), gpuarray.empty_like(signal)
    stride = 1
    while stride < n:
        stage(source, target, n // 2, stride)
        source, target = target, source
        stride *= 2
    return source


n = 512
t = np.arange(n) / n
host = (np.sin(2 * np.pi * 5 * t) + 0.5 * np.cos(2 * np.pi * 40 * t) + 0.1j * t).astype(np.complex64)
signal = gpuarray.to_gpu(host)

spectrum = fft(signal)
assert np.allclose(spectrum.get(), np.fft.fft(host), atol=1e-2)

# The inverse: the conjugate of the transform of the conjugate.
again = fft(spectrum.conj()).conj() / n
assert np.allclose(again.get(), host, atol=1e-4)

power = cumath.sqrt(spectrum.real**2 + spectrum.imag**2)
assert int(np.argmax(power.get()[: n // 2])) == 5
print("FFT OK")
