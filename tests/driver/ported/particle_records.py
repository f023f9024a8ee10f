# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Records: a struct type registered for kernels made of expressions, fields at offsets, minimum and maximum at once.
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.tools import dtype_to_ctype, get_or_register_dtype

particle = np.dtype([("id", np.int32), ("charge", np.float32), ("energy", np.float64)])
declaration = "struct particle { int id; float charge; double energy; };\n"
get_or_register_dtype("particle", particle)
assert dtype_to_ctype(particle) == "particle"

host = np.zeros(1000, particle)
host["id"] = np.arange(1000)
host["charge"] = np.sin(host["id"])
host["energy"] = np.cos(host["id"]) * 3
particles = gpuarray.to_gpu(host)

move = ElementwiseKernel("particle *p, double e", "p[i].energy += e * p[i].charge", "move", preamble=declaration)
move(particles, 0.5)
expected = host["energy"] + 0.5 * host["charge"].astype(np.float64)
assert np.allclose(particles.get()["energy"], expected)

extent = np.dtype([("low", np.float64), ("high", np.float64)])
get_or_register_dtype("extent", extent)
preamble = declaration + """
struct extent
{
    double low, high;
    __device__ extent() {}
    __device__ extent(double low, double high) : low(low), high(high) {}
    __device__ extent(const extent &other) : low(other.low), high(other.high) {}
    __device__ extent(const volatile extent &other) : low(other.low), high(other.high) {}
    __device__ volatile extent &operator=(const extent &other) volatile
    {
        low = other.low;
        high = other.high;
        return *this;
    }
};
__device__ extent join(extent a, extent b) { return extent(fmin(a.low, b.low), fmax(a.high, b.high)); }
"""
span = ReductionKernel(extent, neutral="extent(1e300, -1e300)", reduce_expr="join(a, b)",
                       map_expr="extent(p[i].energy, p[i].energy)", arguments="particle *p", preamble=preamble)
found = span(particles).get()
assert np.isclose(found["low"], expected.min()) and np.isclose(found["high"], expected.max())

# One record is written by hand, behind the others: its fields lie at the offsets of the type.
record = particles.gpudata
drv.memcpy_htod(int(record) + 5 * particle.itemsize + particle.fields["charge"][1], np.float32(42))
assert particles.get()[5]["charge"] == 42 and particles.get()[6]["charge"] == host["charge"][6]

mod = SourceModule(declaration + """
__global__ void total(const particle *p, particle extra, int n, double *out)
{
    double sum = extra.energy;
    for (int i = 0; i < n; i++) sum += p[i].energy;
    out[0] = sum;
}
""")
extra = np.array((1, 2, 100), particle)
out = np.zeros(1)
mod.get_function("total")(particles, extra, np.int32(1000), drv.Out(out), block=(1, 1, 1))
assert np.isclose(out[0], expected.sum() + 100)
