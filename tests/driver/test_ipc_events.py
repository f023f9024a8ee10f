# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Events used by several processes. test_ipc.py opens one in another process."""

import pytest

import cuda.core.driver as drv

pytestmark = [pytest.mark.usefixtures("context"), pytest.mark.requires(ipc=True)]

SHARED = drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING


def test_shared_event_is_recorded_again():
    event, stream = drv.Event(SHARED), drv.Stream()
    for _ in range(2):
        assert event.record(stream) is event
        stream.wait_for_event(event)
        assert event.synchronize() is event and event.query()
    assert len(event.ipc_handle()) == 64 and event.ipc_handle() == event.ipc_handle()


def test_shared_event_with_timing_is_rejected():
    with pytest.raises(drv.LogicError, match="INTERPROCESS requires DISABLE_TIMING"):
        drv.Event(drv.event_flags.INTERPROCESS)


def test_shared_event_ends_with_its_context(context):
    event = drv.Event(SHARED)
    context.detach()
    with pytest.raises(drv.LogicError, match="its context is detached"):
        event.query()
