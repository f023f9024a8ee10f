# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# A tour of arrays: what notebooks of courses do with them.
import numpy as np
import pycuda.autoinit
import pycuda.cumath as cumath
import pycuda.gpuarray as gpuarray

a = np.random.RandomState(5).randn(1000).astype(np.float32)
b = np.random.RandomState(6).randn(1000).astype(np.float32)
ga, gb = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
assert np.isclose(gpuarray.sum(ga).get(), a.sum(), atol=1e-3)
assert gpuarray.max(ga).get() == a.max() and gpuarray.min(ga).get() == a.min()
assert np.isclose(gpuarray.dot(ga, gb).get(), a.dot(b), atol=1e-2)
assert np.allclose(gpuarray.if_positive(ga, ga, -ga).get(), np.abs(a))
assert np.allclose(gpuarray.maximum(ga, gb).get(), np.maximum(a, b))
assert np.allclose(gpuarray.minimum(ga, gb).get(), np.minimum(a, b))
assert np.allclose((2 * ga + gb / 3 - 1).get(), 2 * a + b / 3 - 1, atol=1e-6)
assert np.allclose((ga ** 2).get(), a ** 2) and np.allclose((1 / ga).get(), 1 / a)
assert np.allclose(abs(ga).get(), abs(a)) and np.allclose((-ga).get(), -a)
assert np.allclose(cumath.exp(ga).get(), np.exp(a), rtol=1e-5)
assert np.allclose(cumath.sqrt(abs(ga)).get(), np.sqrt(abs(a)))
assert np.allclose(ga[10:20].get(), a[10:20]) and np.allclose(ga[::3].get(), a[::3])
gc = ga.copy()
gc += gb
gc *= 2
gc -= 1
gc /= 4
assert np.allclose(gc.get(), ((a + b) * 2 - 1) / 4, atol=1e-6)
gc.fill(3)
assert (gc.get() == 3).all() and gc.shape == (1000,) and len(gc) == 1000 and gc.nbytes == 4000
mask = ga > 0
assert (mask.get() == (a > 0)).all()
m = gpuarray.to_gpu(a.reshape(10, 100))
assert m.shape == (10, 100) and m.strides == (400, 4) and m.T.shape == (100, 10)
assert np.allclose(m.reshape(100, 10).get(), a.reshape(100, 10)) and np.allclose(m.ravel().get(), a)
assert np.allclose(m[3].get(), a.reshape(10, 100)[3]) and np.allclose(m[2:5, 10:20].get(), a.reshape(10, 100)[2:5, 10:20])
r = gpuarray.arange(0, 100, 2, dtype=np.int32)
assert (r.get() == np.arange(0, 100, 2)).all()
z = gpuarray.zeros((3, 4), np.float64)
o = gpuarray.ones_like(z)
assert (z.get() == 0).all() and (o.get() == 1).all() and (z + o).dtype == np.float64
c = gpuarray.to_gpu((a + 1j * b).astype(np.complex64))
assert np.allclose(c.real.get(), a) and np.allclose(c.imag.get(), b) and np.allclose(c.conj().get(), a - 1j * b)
assert np.allclose((c * c).get(), (a + 1j * b) ** 2, atol=1e-4) and np.allclose(abs(c).get(), abs(a + 1j * b), atol=1e-5)
assert np.allclose(ga.mul_add(2, gb, 3).get(), 2 * a + 3 * b, atol=1e-5)
assert np.allclose(gpuarray.concatenate([ga, gb]).get(), np.concatenate([a, b]))
assert np.allclose(ga.reverse().get(), a[::-1]) and ga.astype(np.float64).get().dtype == np.float64
assert (ga.view(np.int32).get() == a.view(np.int32)).all()
print(gpuarray.sum(ga), repr(ga[:3]))
out = np.empty_like(a)
ga.get(out)
assert (out == a).all()
ga.set(b)
assert (ga.get() == b).all()
fr = gpuarray.to_gpu(np.asfortranarray(a.reshape(10, 100)))
assert fr.flags.f_contiguous and not fr.flags.c_contiguous and np.allclose(fr.get(), a.reshape(10, 100))
assert bool(gpuarray.all(mask).get()) == (a > 0).all() and bool(gpuarray.any(mask).get())
