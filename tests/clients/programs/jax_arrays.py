# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: jax
"""Arrays of JAX as sources of views and arguments of launches; results return to JAX by DLPack."""

import jax
import jax.numpy as jnp
import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView

checks = 0


def check(condition):
    global checks
    assert condition
    checks += 1


check(jax.devices()[0].platform == "gpu")
device = Device()
device.set_current()
stream = device.create_stream()
SOURCE = (
    'extern "C" __global__ void twice(const float* in, float* out, size_t n) {'
    " size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; if (i < n) out[i] = 2 * in[i]; }"
)
kernel = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin").get_kernel("twice")
values = jnp.arange(4096, dtype=jnp.float32).block_until_ready()
view = StridedMemoryView.from_dlpack(values, stream_ptr=int(stream.handle))
check(view.shape == values.shape and view.is_device_accessible)
buffer = device.allocate(values.nbytes, stream=stream)
launch(stream, LaunchConfig(grid=32, block=128), kernel, view.ptr, buffer, values.size)
stream.sync()
host = LegacyPinnedMemoryResource().allocate(values.nbytes)
buffer.copy_to(host, stream=stream)
stream.sync()
check(np.array_equal(np.from_dlpack(host).view(np.float32), 2 * np.asarray(values)))
bytes_of_ours = jax.dlpack.from_dlpack(buffer)
check(bytes_of_ours.shape == (values.nbytes,))
print(f"checks: {checks}")
