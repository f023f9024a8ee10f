# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies with hints."""

import numpy as np
import pytest
from cuda.bindings import driver

from cuda.core import Host
from cuda.core._memory._copy_options import CopyOptions
from cuda.core._stream import LEGACY_DEFAULT_STREAM, Stream
from cuda.core._utils.cuda_utils import handle_return
from cuda.core._utils.cuda_utils import driver_version
from support.memory import HostMemoryResource, read


@pytest.mark.parametrize("options", [{}, "any", 3])
def test_only_copy_options_are_options(options):
    mr = HostMemoryResource()
    for copy in (mr.allocate(8).copy_to, mr.allocate(8).copy_from):
        with pytest.raises(TypeError, match="options"):
            copy(mr.allocate(8), stream=LEGACY_DEFAULT_STREAM, options=options)


@pytest.mark.parametrize("stream", [LEGACY_DEFAULT_STREAM, Stream.from_handle(0)])
def test_options_are_refused_on_the_legacy_default_stream(stream):
    mr = HostMemoryResource()
    with pytest.raises(TypeError, match="legacy default stream"):
        mr.allocate(8).copy_to(mr.allocate(8), stream=stream, options=CopyOptions())


def test_a_hint_that_is_no_location_is_refused():
    mr = HostMemoryResource()
    with pytest.raises(TypeError, match="location"):
        mr.allocate(8).copy_to(
            mr.allocate(8), stream=LEGACY_DEFAULT_STREAM, options=CopyOptions(src_location_hint="host")
        )


def test_options_are_refused_on_a_capturing_stream(device, stream):
    buffer, other = (device.allocate(64, stream=stream) for _ in range(2))
    mode = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    handle_return(driver.cuStreamBeginCapture(stream.handle, mode))
    try:
        with pytest.raises(TypeError, match="capturing"):
            buffer.copy_to(other, stream=stream, options=CopyOptions())
    finally:
        handle_return(driver.cuGraphDestroy(handle_return(driver.cuStreamEndCapture(stream.handle))))


@pytest.mark.parametrize("order", ["stream", "any"])
def test_copies_with_hints_copy_the_bytes(device, stream, order):
    options = CopyOptions(order, Host(), device, "prefer_overlap_with_compute")
    source, target = np.arange(256, dtype=np.uint8), np.zeros(256, np.uint8)
    first, second = (device.allocate(256, stream=stream) for _ in range(2))
    first.copy_from(source, stream=stream, options=options)
    first.copy_to(second, stream=stream, options=CopyOptions(order))
    assert read(second, stream) == source.tobytes()
    second.copy_to(target, stream=stream, options=CopyOptions(order))
    stream.sync()
    assert np.array_equal(source, target)


def test_a_source_read_during_the_call_may_change_afterwards(device, stream):
    source = np.full(1 << 16, 1, np.uint8)
    target = device.allocate(1 << 16, stream=stream)
    options = CopyOptions("during_api_call")
    if driver_version() < (13, 2):
        with pytest.raises(RuntimeError, match=r"during_api_call.*13\.2"):
            target.copy_from(source, stream=stream, options=options)
    else:
        target.copy_from(source, stream=stream, options=options)
        source[:] = 2
        assert set(read(target, stream)) == {1}
