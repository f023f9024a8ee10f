# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The count of captures in progress, which tells the library when to relax the capture mode for its own calls.

Those calls are tested in tests/graph/capture/test_stream_capture.py.
"""

import pytest
from cuda.bindings import driver

from cuda.core import CUDAError, DeviceMemoryResource, DeviceMemoryResourceOptions, ObjectCode
from cuda.core.graph import GraphDefinition
from support.internals import capture_count


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize("end", ["end_building", "close", "drop"])
def test_captures_in_progress_are_counted(device, end):
    before = capture_count()
    builder = device.create_graph_builder().begin_building()
    body = builder.if_then(builder.create_condition(0)).begin_building()
    assert capture_count() == before + 2
    if end == "drop":
        del body, builder
    else:
        getattr(body, end)()
        getattr(builder, end)()
    assert capture_count() == before


@pytest.mark.parametrize("mode", ["GLOBAL", "THREAD_LOCAL", "RELAXED"])
def test_calls_that_relax_the_thread_mode_restore_it(device, stream, mode):
    wanted = getattr(driver.CUstreamCaptureMode, f"CU_STREAM_CAPTURE_MODE_{mode}")
    _, before = driver.cuThreadExchangeStreamCaptureMode(wanted)
    try:
        resource = DeviceMemoryResource(device, DeviceMemoryResourceOptions())
        assert resource.attributes.used_mem_current == 0
        resource.allocate(64, stream=stream).close()
        resource.close()
        definition = GraphDefinition()
        definition.empty()
        definition.instantiate().close()
        with pytest.raises(CUDAError):
            ObjectCode.from_ptx(b".version 1.0 nonsense").get_kernel("none")
    finally:
        _, after = driver.cuThreadExchangeStreamCaptureMode(before)
    assert after == wanted
