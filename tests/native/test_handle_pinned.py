# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Objects passed to a bindings call stay open until it returns, even if another thread closes them."""

import pytest

from cuda.core._native._cuda_core import PinnedHandle
from cuda.core.driver._errors import call
from support import subjects

pytestmark = pytest.mark.requires(device=True)


@pytest.fixture
def objects(device):
    stream = device.create_stream()
    return [stream, stream.record(), subjects.kernel(), stream.context, subjects.makers()["OpaqueArray"]()]


def test_pinned_handle_is_valid_after_its_object_was_closed(device, objects):
    for item in objects:
        handle = int(item.handle)
        pin = item._pin()
        assert isinstance(pin, PinnedHandle) and int(pin.handle) == handle
        assert type(pin.handle).__name__.startswith("CU")
    stream, event = objects[:2]
    pins = stream._pin(), event._pin()
    stream.close()
    event.close()
    call("cuEventRecord", pins[1].handle, pins[0].handle)
    call("cuStreamSynchronize", pins[0].handle)


def test_closed_and_unsupported_objects_are_rejected(device, objects):
    stream, event, kernel, _, array = objects  # a context that is current cannot be closed
    for item in (stream, event, kernel, array):
        item.close()
        with pytest.raises(RuntimeError, match=f"this {type(item).__name__} is closed"):
            item._pin()
    with pytest.raises(RuntimeError, match="this Stream is closed"):
        call("cuStreamSynchronize", stream)
    with pytest.raises(TypeError, match="a GraphBuilder cannot be passed"):
        call("cuStreamSynchronize", device.create_graph_builder())
