# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Advice for an error of one call, which is more precise than the advice for its code."""

import pytest

import cuda.emulator
from cuda.core import OutOfMemoryError, VirtualMemoryResource
from cuda.core._utils.advice import ADVICE

OPTIONS = {"shape": (8, 4), "format": "uint8", "num_channels": 4}
USES = {
    "cuMemCreate": lambda device: VirtualMemoryResource(device).allocate(64, stream=device.default_stream),
    "cuArray3DCreate": lambda device: device.create_opaque_array(OPTIONS),
    "cuMipmappedArrayCreate": lambda device: device.create_mipmapped_array({**OPTIONS, "num_levels": 1}),
}


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("call", USES)
def test_memory_that_pools_keep_is_mentioned(device, call):
    with cuda.emulator.fail(call, "CUDA_ERROR_OUT_OF_MEMORY"), pytest.raises(OutOfMemoryError) as caught:
        USES[call](device)
    assert "release it with Device.memory_resource.trim()" in str(caught.value)
    assert ADVICE["CUDA_ERROR_OUT_OF_MEMORY"] not in str(caught.value)


def test_pool_allocation_has_the_common_advice(device):
    with pytest.raises(OutOfMemoryError) as caught:
        device.allocate(1 << 60, stream=device.default_stream)
    assert ADVICE["CUDA_ERROR_OUT_OF_MEMORY"] in str(caught.value)
