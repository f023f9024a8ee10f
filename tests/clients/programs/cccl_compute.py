# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: cuda.compute
"""Algorithms of CCCL on buffers and views of cuda.core."""

import cuda.compute
import numpy as np

from cuda.core import Device, LegacyPinnedMemoryResource

checks = 0


def check(condition):
    global checks
    assert condition
    checks += 1


device = Device()
device.set_current()
stream = device.create_stream()
values = np.random.default_rng(1).integers(0, 1000, 4096).astype(np.int32)
source, target = device.allocate(values.nbytes, stream=stream), device.allocate(values.nbytes, stream=stream)
pinned = LegacyPinnedMemoryResource().allocate(values.nbytes)
host = np.from_dlpack(pinned).view(values.dtype)
host[:] = values
source.copy_from(pinned, stream=stream)


class Array:
    """Memory of a buffer, in the protocol that CCCL reads."""

    def __init__(self, buffer):
        data = (int(buffer.handle), False)
        self.__cuda_array_interface__ = {
            "shape": values.shape, "strides": None, "typestr": values.dtype.str, "data": data, "version": 3,
        }  # fmt: skip  # CCCL reads the strides without checking that they exist


first, second = Array(source), Array(target)

# A predefined CCCL operation, because a Python operation would be compiled by a package that may not be installed.
start, plus = np.array([0], dtype=np.int32), cuda.compute.OpKind.PLUS
cuda.compute.inclusive_scan(d_in=first, d_out=second, op=plus, init_value=start, num_items=values.size, stream=stream)
stream.sync()
host[:] = -1
target.copy_to(pinned, stream=stream)
stream.sync()
check(np.array_equal(host, np.cumsum(values)))
print(f"checks: {checks}")
