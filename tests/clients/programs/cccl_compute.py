# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: cuda.compute
"""Algorithms of CCCL on buffers and views of ours."""

import cuda.compute
import numpy as np

from cuda.core import Device

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
source.copy_from(values, stream=stream)
first, second = source.view(values.size, np.int32), target.view(values.size, np.int32)


def add(a, b):
    return a + b


start = np.array([0], dtype=np.int32)
cuda.compute.inclusive_scan(d_in=first, d_out=second, op=add, init_value=start, num_items=values.size, stream=stream)
found = np.empty_like(values)
target.copy_to(found, stream=stream)
stream.sync()
check(np.array_equal(found, np.cumsum(values)))
print(f"checks: {checks}")
