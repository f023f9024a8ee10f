# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Events used by several processes. test_ipc.py opens one in another process."""

import pytest

import cuda.core.driver as drv
from cuda.core.driver._errors import call
from cuda.core.driver._streams import SharedEvent, stream_of

pytestmark = [pytest.mark.usefixtures("context"), pytest.mark.requires(ipc=True)]


def test_shared_event_is_recorded_again_and_closed_once():
    event = SharedEvent.create(drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING)
    stream = stream_of(drv.Stream())
    for _ in range(2):
        event.record(stream)
        event.make_wait(stream)
        event.sync()
        assert event.is_done
    assert len(event.export()) == 64
    event.close()
    event.close()
    assert event.is_closed


def test_shared_event_that_is_closed_lives_until_call_is_over():
    event = SharedEvent.create(drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING)
    pin = event._pin()
    event.close()
    call("cuEventRecord", pin, stream_of(drv.Stream()))
    call("cuEventSynchronize", pin)
    for use in (event.sync, event._pin, event.export, lambda: event.handle):
        with pytest.raises(RuntimeError, match="this SharedEvent is closed"):
            use()


def test_shared_event_ends_with_its_context(context):
    event = drv.Event(drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING)
    context.detach()
    with pytest.raises(drv.LogicError, match="its context is detached"):
        event.query()
