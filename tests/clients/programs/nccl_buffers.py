# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: nccl
"""NCCL by nccl4py: a communicator of one device that reduces and broadcasts buffers of cuda.core."""

import numpy as np
from nccl import core as nccl

from cuda.core import Device, LegacyPinnedMemoryResource
from cuda.core.utils import StridedMemoryView

checks = 0


def check(condition):
    global checks
    assert condition
    checks += 1


device = Device()
device.set_current()
stream = device.create_stream()
check(nccl.get_version() is not None)
communicator = nccl.Communicator.init(1, 0, nccl.get_unique_id())
check(communicator.nranks == 1)
values = np.arange(1024, dtype=np.float32)
source, target = (device.allocate(values.nbytes, stream=stream) for _ in range(2))
pinned = LegacyPinnedMemoryResource().allocate(values.nbytes)
host = np.from_dlpack(pinned).view(values.dtype)
host[:] = values
source.copy_from(pinned, stream=stream)
views = [StridedMemoryView.from_buffer(buffer, values.shape, dtype=values.dtype) for buffer in (source, target)]
communicator.allreduce(*views, nccl.SUM, stream=stream)
stream.sync()
host[:] = -1
target.copy_to(pinned, stream=stream)
stream.sync()
check(np.array_equal(host, values))
communicator.destroy()
print(f"checks: {checks}")
