# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Random numbers for an Ising model, and statistics of the generators.
import numpy
import pycuda.autoinit
import pycuda.curandom as curandom
import pycuda.gpuarray as gpuarray
from pycuda import cumath
from pycuda.compiler import SourceModule

mod = SourceModule("""
__global__ void flip(signed char *spin, const float *chance, int n, float beta, int colour)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
    if (x >= n || y >= n || (x + y) % 2 != colour) return;
    int sum = spin[y * n + (x + 1) % n] + spin[y * n + (x + n - 1) % n] + spin[(y + 1) % n * n + x]
            + spin[(y + n - 1) % n * n + x];
    float gain = -2.0f * spin[y * n + x] * sum;
    if (gain > 0 || chance[y * n + x] < expf(beta * gain)) spin[y * n + x] = -spin[y * n + x];
}
""")
flip = mod.get_function("flip")
n = 32
for beta, low, high in ((1.0, 0.9, 1.0), (0.1, 0.0, 0.4)):
    generator = curandom.XORWOWRandomNumberGenerator(curandom.seed_getter_unique)
    spin, chance = gpuarray.to_gpu(numpy.ones((n, n), numpy.int8)), gpuarray.empty((n, n), numpy.float32)
    for step in range(60):
        for colour in (0, 1):
            generator.fill_uniform(chance)
            flip(spin, chance, numpy.int32(n), numpy.float32(beta), numpy.int32(colour), block=(16, 16, 1), grid=(2, 2))
    m = abs(spin.get().astype(float).mean())
    print("beta %g: magnetization %g" % (beta, m))
    assert low <= m <= high

values = gpuarray.zeros(10240, dtype=numpy.float32)
for kind in (curandom.XORWOWRandomNumberGenerator, curandom.MRG32k3aRandomNumberGenerator):
    gen = kind(curandom.seed_getter_uniform)
    u = gen.gen_uniform(100000, numpy.float32)
    z = gen.gen_normal((300, 200), numpy.float64)
    assert abs(u.get().mean() - 0.5) < 0.01 and abs(u.get().var() - 1 / 12.0) < 0.01
    zh = z.get()
    assert zh.shape == (300, 200) and abs(zh.mean()) < 0.03 and abs(zh.std() - 1) < 0.03
    assert abs((zh**4).mean() - 3) < 0.3
    again = gen.gen_uniform(100000, numpy.float32)
    assert (again.get() != u.get()).mean() > 0.99
    counts = numpy.histogram(u.get(), 50, (0, 1))[0]
    chi2 = ((counts - 2000.0) ** 2 / 2000).sum()
    assert chi2 < 100, chi2
    bits = gen.gen_uniform(1000, numpy.uint32).get()
    assert len(set(bits)) > 990
    gen.fill_normal(values)
    logs = gen.gen_log_normal(50000, numpy.float32, 0.0, 0.25).get()
    assert abs(numpy.log(logs).std() - 0.25) < 0.01
numpy.random.seed(4)
first = curandom.rand((10, 10), numpy.float32).get()
numpy.random.seed(4)
assert (curandom.rand((10, 10), numpy.float32).get() == first).all()
n = 200000
x, y = curandom.rand(n, numpy.float64), curandom.rand(n, numpy.float64)
inside = gpuarray.sum((x * x + y * y <= 1).astype(numpy.int32)).get()
print("pi is about", 4.0 * inside / n)
assert abs(4.0 * inside / n - numpy.pi) < 0.02
box_muller = cumath.sqrt(-2 * cumath.log(x)) * cumath.cos(2 * numpy.pi * y)
assert abs(box_muller.get().std() - 1) < 0.02
