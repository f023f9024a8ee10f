# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every driver call behind an everyday program of ``cuda.core`` fails in turn."""

import pytest

PROGRAM = """
import sys
import numpy as np
import cuda.emulator
from cuda.core import Device, LaunchConfig, ObjectCode, launch

def program():
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    try:
        kernel = ObjectCode.from_cubin({path!r}).get_kernel("scale")
        with device.allocate(4000, stream=stream) as buffer:
            launch(stream, LaunchConfig(grid=4, block=256), kernel, np.float32(2), buffer, np.uint64(1000))
            event = stream.record()
            event.sync()
            stream.sync()
        assert kernel.attributes.num_regs
    finally:
        stream.close()

print(*cuda.emulator.sweep(program, {code!r}))
"""


@pytest.mark.parametrize("code", ["CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_UNKNOWN"])
def test_no_failure_is_swallowed_and_nothing_is_left_over(child, image, tmp_path, code):
    path = tmp_path / "kernels.bin"
    path.write_bytes(image)
    failed = child(PROGRAM.format(path=str(path), code=code)).split()
    assert {"cuMemAllocFromPoolAsync", "cuLaunchKernelEx", "cuLibraryLoadFromFile", "cuMemFreeAsync"} <= set(failed)
