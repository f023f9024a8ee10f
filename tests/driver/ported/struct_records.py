# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Arrays of structures: dtypes matched to C, fields read back, vector types, sorting keys, reductions over fields.
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.tools import dtype_to_ctype, get_or_register_dtype

body = np.dtype([("pos", gpuarray.vec.float4), ("vel", np.float32, (3,)), ("id", np.int32), ("mass", np.float64),
                 ("pad", np.float64)])
body = get_or_register_dtype("body", body)
assert dtype_to_ctype(body) == "body" and dtype_to_ctype(gpuarray.vec.float4) == "float4"
decl = """
struct body { float4 pos; float vel[3]; int id; double mass, pad; };
"""
small = np.dtype([("key", np.uint32), ("weight", np.float32)])
get_or_register_dtype("record", small)

n = 777
mod = SourceModule(decl + """
__global__ void sizes(int *out) { out[0] = sizeof(body); out[1] = (int)((char *)&((body *)0)->mass - (char *)0); }
__global__ void drift(body *all, int n, float dt)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        body b = all[i];
        b.pos.x += dt * b.vel[0]; b.pos.y += dt * b.vel[1]; b.pos.z += dt * b.vel[2];
        b.id = -b.id;
        b.mass *= 2;
        all[i] = b;
    }
}
__global__ void one(body b, double *out) { out[0] = b.mass + b.pos.w + b.vel[2] + b.id; }
""")
sizes = np.zeros(2, np.int32)
mod.get_function("sizes")(cuda.Out(sizes), block=(1, 1, 1))
print("struct of %d bytes, dtype of %d" % (sizes[0], body.itemsize))
assert sizes[1] == body.fields["mass"][1] and sizes[0] == body.itemsize
rng = np.random.RandomState(0)
host = np.zeros(n, body)
for name in "xyzw":
    host["pos"][name] = rng.rand(n)
host["vel"] = rng.rand(n, 3)
host["id"] = np.arange(n)
host["mass"] = rng.rand(n)
dev = gpuarray.to_gpu(host)
assert dev.dtype == body and dev.nbytes == n * body.itemsize
mod.get_function("drift")(dev, np.int32(n), np.float32(0.5), block=(128, 1, 1), grid=(3, 1))
got = dev.get()
assert np.allclose(got["pos"]["x"], host["pos"]["x"] + 0.5 * host["vel"][:, 0])
assert np.allclose(got["pos"]["z"], host["pos"]["z"] + 0.5 * host["vel"][:, 2])
assert (got["pos"]["w"] == host["pos"]["w"]).all() and (got["id"] == -host["id"]).all()
assert (got["mass"] == 2 * host["mass"]).all()
part = dev[100:200].copy()
assert (part.get() == got[100:200]).all()
value = np.zeros(1, np.float64)
mod.get_function("one")(host[3], cuda.Out(value), block=(1, 1, 1))
assert np.isclose(value[0], host[3]["mass"] + host[3]["pos"]["w"] + host[3]["vel"][2] + 3)
total = ReductionKernel(np.float64, "0", "a+b", "b[i].mass", "body *b", preamble=decl)
assert np.isclose(total(dev).get(), got["mass"].sum())

pairs = np.zeros(n, small)
pairs["key"], pairs["weight"] = np.arange(n)[::-1], np.linspace(0, 1, n)
dev = gpuarray.to_gpu(pairs)
keys, weights = gpuarray.empty(n, np.uint32), gpuarray.empty(n, np.float32)
split = ElementwiseKernel("record *r, unsigned int *k, float *w", "k[i] = r[i].key; w[i] = r[i].weight", "split",
                          preamble="struct record { unsigned int key; float weight; };")
split(dev, keys, weights)
assert (keys.get() == pairs["key"]).all() and (weights.get() == pairs["weight"]).all()
vectors = gpuarray.zeros(10, gpuarray.vec.double2)
fill = ElementwiseKernel("double2 *v, double s", "v[i] = make_double2(s * i, -s * i)", "fill_vectors")
fill(vectors, 1.5)
assert (vectors.get()["x"] == 1.5 * np.arange(10)).all() and (vectors.get()["y"] == -1.5 * np.arange(10)).all()
one = gpuarray.vec.make_float3(1, 2, 3)
assert one["y"] == 2 and one.dtype == gpuarray.vec.float3
shift = ElementwiseKernel("float3 *v, float3 s", "v[i].x += s.x; v[i].y += s.y; v[i].z += s.z", "shift")
cloud = gpuarray.zeros(5, gpuarray.vec.float3)
shift(cloud, one)
assert (cloud.get()["z"] == 3).all()
strided = gpuarray.to_gpu(np.arange(24, dtype=np.float32).reshape(4, 6))
assert (strided[1:3, ::2].get() == np.arange(24, dtype=np.float32).reshape(4, 6)[1:3, ::2]).all()
other = dev.get(np.empty(n, small))
assert (other == pairs).all()
dev.set(np.zeros(n, small))
assert not dev.get()["key"].any()
for bad in (np.zeros(n, np.float32), np.zeros(n - 1, small)):
    try:
        dev.set(bad)
        raise SystemExit("another dtype or size")
    except (ValueError, TypeError) as error:
        print("refused:", error)
