# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
import numpy as np
from pycuda import autoinit
from pycuda import compiler, driver

a = driver.managed_empty(shape=10, dtype=np.float32, mem_flags=driver.mem_attach_flags.GLOBAL)
a[:] = np.linspace(0, 9, len(a))

mod = compiler.SourceModule("""
__global__ void doublify(float *a)
{
    a[threadIdx.x] *= 2;
}
""")
doublify = mod.get_function("doublify")
doublify(a, grid=(1, 1), block=(len(a), 1, 1))
autoinit.context.synchronize()
assert (a == 2 * np.arange(10)).all()
mean = a.sum() / len(a)
print(mean)

# page-locked memory that the device sees
flags = driver.host_alloc_flags.DEVICEMAP
mapped = driver.pagelocked_zeros((4, 4), np.float32, mem_flags=flags)
mapped += 1
doublify(np.intp(mapped.base.get_device_pointer()), block=(16, 1, 1))
driver.Context.synchronize()
assert (mapped == 2).all()

try:
    compiler.SourceModule("__global__ void broken(float *a) { a[0] = undefined_name; }")
except driver.CompileError as error:
    print("as expected:", error.msg)
    assert "undefined_name" in error.stderr
else:
    raise AssertionError("a broken source compiled")
try:
    mod.get_function("missing")
except driver.LogicError as error:
    print("as expected:", error)
try:
    driver.mem_alloc(1 << 60)
except driver.MemoryError as error:
    print("as expected:", error)
