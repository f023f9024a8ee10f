# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
from time import time

import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
from pycuda.elementwise import ElementwiseKernel

mandel_ker = ElementwiseKernel(
    "pycuda::complex<float> *lattice, float *mandelbrot_graph, int max_iters, float upper_bound",
    """
    mandelbrot_graph[i] = 1;
    pycuda::complex<float> c = lattice[i];
    pycuda::complex<float> z(0,0);
    for (int j = 0; j < max_iters; j++)
    {
       z = z*z + c;
       if(abs(z) > upper_bound)
       {
           mandelbrot_graph[i] = 0;
           break;
       }
    }
    """,
    "mandel_ker",
)


def gpu_mandelbrot(width, height, real_low, real_high, imag_low, imag_high, max_iters, upper_bound):
    real_vals = np.linspace(real_low, real_high, width)
    imag_vals = np.linspace(imag_high, imag_low, height) * 1j
    mandelbrot_lattice = (real_vals[None, :] + imag_vals[:, None]).astype(np.complex64)
    mandelbrot_lattice_gpu = gpuarray.to_gpu(mandelbrot_lattice)
    mandelbrot_graph_gpu = gpuarray.empty(shape=mandelbrot_lattice.shape, dtype=np.float32)
    mandel_ker(mandelbrot_lattice_gpu, mandelbrot_graph_gpu, np.int32(max_iters), np.float32(upper_bound))
    return mandelbrot_graph_gpu.get()


if __name__ == "__main__":
    t1 = time()
    mandel = gpu_mandelbrot(64, 64, -2, 2, -2, 2, 64, 2)
    t2 = time()
    print("It took {} seconds to calculate the Mandelbrot graph.".format(t2 - t1))
    assert mandel[32, 32] == 1 and mandel[0, 0] == 0 and 0 < mandel.mean() < 0.5
