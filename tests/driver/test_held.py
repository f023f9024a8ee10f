# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Objects passed to a driver call stay open until it returns, even if another thread closes them."""

import pytest

from cuda.core.driver._errors import call
from cuda.core.driver._held import Held, hold
from support import subjects

pytestmark = pytest.mark.requires(device=True)


@pytest.fixture
def objects(device):
    stream = device.create_stream()
    return [stream, stream.record(), subjects.kernel(), stream.context, subjects.makers()["OpaqueArray"]()]


def test_held_handle_is_valid_after_its_object_was_closed(device, objects):
    for item in objects:
        handle = int(item.handle)
        held = hold(item)
        assert isinstance(held, Held) and int(held.handle) == handle
        assert type(held.handle).__name__.startswith("CU")
    stream, event = objects[:2]
    held = hold(stream), hold(event)
    stream.close()
    event.close()
    call("cuEventRecord", held[1], held[0])
    call("cuStreamSynchronize", held[0])


def test_closed_and_unknown_objects_are_rejected(device):
    stream = device.create_stream()
    stream.close()
    with pytest.raises(RuntimeError, match="this Stream is closed"):
        hold(stream)
    with pytest.raises(RuntimeError, match="this Stream is closed"):
        call("cuStreamSynchronize", stream)
    with pytest.raises(TypeError, match="is needed, not int"):
        hold(3)
