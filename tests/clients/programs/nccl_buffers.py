# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: nccl
"""NCCL by nccl4py: a communicator of one device that reduces and broadcasts buffers of ours."""

import numpy as np
from nccl import core as nccl

from cuda.core import Device

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
source.copy_from(values, stream=stream)
communicator.allreduce(source.view(1024, np.float32), target.view(1024, np.float32), nccl.SUM, stream=stream)
found = np.empty_like(values)
target.copy_to(found, stream=stream)
stream.sync()
check(np.array_equal(found, values))
communicator.destroy()
print(f"checks: {checks}")
