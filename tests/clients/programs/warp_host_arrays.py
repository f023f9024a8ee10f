# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: warp
"""Warp's arrays in host memory, viewed without copying."""

import numpy as np
import warp as wp

from cuda.core import Device
from cuda.core.utils import StridedMemoryView, args_viewable_as_strided_memory

checks = 0


def check(condition):
    global checks
    assert condition
    checks += 1


Device().set_current()
wp.config.quiet = True
wp.init()
for dtype in (wp.float32, wp.float64, wp.int32, wp.uint8, wp.float16, wp.vec3):
    numbers = np.arange(24).reshape(-1, 3) if dtype is wp.vec3 else np.arange(24)
    array = wp.array(numbers, dtype=dtype, device="cpu")
    view = StridedMemoryView.from_dlpack(array, stream_ptr=-1)
    check(view.ptr == array.ptr and tuple(view.shape) == array.numpy().shape and view.dtype == array.numpy().dtype)
    check(not view.is_device_accessible)
    check(np.array_equal(np.from_dlpack(view), array.numpy()))
part = wp.array(np.arange(30).reshape(5, 6), dtype=wp.float32, device="cpu")[1:4, ::2]
view = StridedMemoryView.from_dlpack(part, stream_ptr=-1)
check(tuple(view.shape) == (3, 3) and tuple(view.strides) == (6, 2))


@args_viewable_as_strided_memory((0,))
def shape_of(array):
    return array.view(-1).shape


check(shape_of(wp.zeros((4, 5), dtype=wp.float32, device="cpu")) == (4, 5))
print(f"checks: {checks}")
