# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Batches through page-locked and device pools: what a pool holds is counted at each step.
import gc

import numpy
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.gpuarray as gpuarray
from pycuda.elementwise import ElementwiseKernel
from pycuda.tools import DeviceMemoryPool, PageLockedMemoryPool

device_pool = DeviceMemoryPool()
host_pool = PageLockedMemoryPool()
axpbyz = ElementwiseKernel("float a, float *x, float b, float *y, float *z", "z[i] = a*x[i] + b*y[i]", "axpbyz")

n_streams, n_batches, size = 3, 12, 4000
streams = [cuda.Stream() for _ in range(n_streams)]
inflight = [None] * n_streams
checks = 0
rng = numpy.random.RandomState(5)


def finish(slot):
    global checks
    if inflight[slot] is None:
        return
    a, b, hx, hy, hz, dx, dy, dz, event = inflight[slot]
    event.synchronize()
    assert event.query()
    numpy.testing.assert_allclose(hz, a * hx + b * hy, rtol=1e-5, atol=1e-6)
    inflight[slot] = None
    checks += 1


for batch in range(n_batches):
    slot = batch % n_streams
    finish(slot)
    n = size + 16 * batch
    hx = host_pool.allocate((n,), numpy.float32)
    hy = host_pool.allocate(n, numpy.float32)
    hz = host_pool.allocate((n, 1), numpy.float32, order="F").reshape(n)
    assert type(hx) is numpy.ndarray and hx.flags.c_contiguous
    hx[:] = rng.rand(n)
    hy[:] = rng.rand(n)
    hz.fill(0)
    dx = gpuarray.GPUArray((n,), numpy.float32, allocator=device_pool.allocate)
    dy = gpuarray.empty(n, numpy.float32, device_pool.allocate)
    dz = gpuarray.empty_like(dx)
    stream = streams[slot]
    dx.set_async(hx, stream)
    cuda.memcpy_htod_async(dy.gpudata, hy, stream)
    axpbyz(2.5, dx, -0.5, dy, dz, stream=stream)
    dz.get_async(stream, hz)
    event = cuda.Event(cuda.event_flags.BLOCKING_SYNC)
    event.record(stream)
    inflight[slot] = (2.5, -0.5, hx, hy, hz, dx, dy, dz, event)
for slot in range(n_streams):
    finish(slot)
assert checks == n_batches
del hx, hy, hz, dx, dy, dz
gc.collect()
print("device pool: active %d, held %d" % (device_pool.active_blocks, device_pool.held_blocks))
print("host pool: active %d, held %d" % (host_pool.active_blocks, host_pool.held_blocks))
assert device_pool.active_blocks == 0 and device_pool.held_blocks > 0
assert host_pool.active_blocks == 0 and host_pool.held_blocks > 0
assert device_pool.managed_bytes >= device_pool.active_bytes == 0
block = device_pool.allocate(1000)
assert device_pool.alloc_size(device_pool.bin_number(1000)) >= 1000 and device_pool.active_blocks == 1
cuda.memset_d32(block, 7, 250)
back = numpy.empty(250, numpy.int32)
cuda.memcpy_dtoh(back, block)
assert (back == 7).all()
block.free()
try:
    block.free()
    raise SystemExit("freed twice")
except cuda.LogicError:
    pass
for pool in (device_pool, host_pool):
    pool.free_held()
    assert pool.held_blocks == 0
    pool.stop_holding()
kept = device_pool.allocate(64)
kept.free()
assert device_pool.held_blocks == 0
locked = cuda.pagelocked_empty((16, 16), numpy.float64, mem_flags=cuda.host_alloc_flags.DEVICEMAP)
locked[...] = 3
pointer = numpy.intp(locked.base.get_device_pointer())
view = gpuarray.GPUArray(locked.shape, locked.dtype, gpudata=int(pointer))
assert gpuarray.sum(view).get() == 3 * 256
aligned = cuda.aligned_zeros((1024,), numpy.float32)
registered = cuda.register_host_memory(aligned)
cuda.memcpy_htod_async(gpuarray.empty(1024, numpy.float32).gpudata, registered, streams[0])
streams[0].synchronize()
registered.base.unregister()
try:
    host_pool.allocate(-5, numpy.float32)
    raise SystemExit("negative size")
except (ValueError, cuda.LogicError, OverflowError, TypeError) as error:
    print("refused:", error)
