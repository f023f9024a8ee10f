# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: warp
"""Arrays and kernels of Warp and of cuda.core: the same memory, the same stream, the same context."""

import numpy as np
import warp as wp

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView

checks = 0


def check(condition):
    global checks
    assert condition
    checks += 1


@wp.kernel
def add_one(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] + 1.0


wp.config.quiet = True
wp.init()
device = Device()
device.set_current()
numbers = np.arange(1024, dtype=np.float32)
source = 'extern "C" __global__ void twice(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }'
kernel = Program(source, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("twice")
config = LaunchConfig(grid=4, block=256)

# Arrays and a stream of Warp, used by cuda.core.
array = wp.array(numbers, dtype=float, device="cuda:0")
stream = device.create_stream(wp.get_stream("cuda:0"))
check(stream.device == device)
for view in (
    StridedMemoryView.from_any_interface(array, stream_ptr=int(stream.handle)),
    StridedMemoryView.from_dlpack(array, stream_ptr=int(stream.handle)),
):
    check(view.ptr == array.ptr and tuple(view.shape) == (1024,) and view.dtype == np.float32)
    check(view.is_device_accessible and view.device_id == 0)
try:
    StridedMemoryView.from_cuda_array_interface(array, stream_ptr=int(stream.handle))
except BufferError:  # Warp has version 2 of the interface, which does not name the stream
    check(array.__cuda_array_interface__["version"] == 2)
else:
    check(array.__cuda_array_interface__["version"] > 2)
wp.launch(add_one, dim=1024, inputs=[array], device="cuda:0")
launch(stream, config, kernel, array.ptr)
stream.sync()
check(np.array_equal(array.numpy(), 2 * (numbers + 1)))

# A buffer and a stream of cuda.core, used by Warp.
ours = device.create_stream()
buffer = device.allocate(numbers.nbytes, stream=ours)
theirs = wp.array(ptr=int(buffer.handle), dtype=float, shape=(1024,), device="cuda:0")
with wp.ScopedStream(wp.Stream("cuda:0", cuda_stream=int(ours.handle))):
    wp.copy(theirs, array)
    wp.launch(add_one, dim=1024, inputs=[theirs], device="cuda:0")
    launch(ours, config, kernel, buffer)
ours.sync()
check(np.array_equal(theirs.numpy(), 2 * (2 * (numbers + 1) + 1)))

# A graph that Warp captures on its stream, with a kernel of cuda.core.
with wp.ScopedCapture(device="cuda:0", force_module_load=True) as capture:
    wp.launch(add_one, dim=1024, inputs=[array], device="cuda:0")
    launch(stream, config, kernel, array.ptr)
before = array.numpy()
for _ in range(2):
    wp.capture_launch(capture.graph)
check(np.array_equal(array.numpy(), 2 * (2 * (before + 1) + 1)))

# A view of cuda.core in Warp.
back = wp.from_dlpack(StridedMemoryView.from_dlpack(theirs, stream_ptr=int(ours.handle)), dtype=wp.float32)
check(back.ptr == theirs.ptr and np.array_equal(back.numpy(), theirs.numpy()))
print(f"checks: {checks}")
