# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory and events that another process opens."""

import numpy as np
import pytest

import cuda.core.driver as drv
from support.interpreter import run

pytestmark = [pytest.mark.usefixtures("context"), pytest.mark.requires(ipc=True)]


@pytest.mark.requires(software=False)
def test_another_process_reads_and_writes_memory():
    memory = drv.to_device(np.arange(8, dtype=np.int32))
    handle = drv.mem_get_ipc_handle(memory)
    assert isinstance(handle, bytearray) and len(handle) == 64
    code = (
        "import numpy as np, cuda.core.driver as drv, cuda.core.driver.autoinit\n"
        f"other = drv.IPCMemoryHandle(bytes({list(handle)}))\n"
        "print(drv.from_device(other, 8, np.int32).tolist())\n"
        "drv.memcpy_htod(int(other) + 4, np.array([77], np.int32))\n"
        "other.close()\n"
        "for use in (other.close, other.get_pointer):\n"
        "    try: use()\n"
        "    except drv.LogicError as error: print('closed' in str(error))\n"
    )
    assert run(code).splitlines() == [str(list(range(8))), "True", "True"]
    assert drv.from_device(memory, 8, np.int32)[1] == 77


@pytest.mark.parametrize("handle", [b"", bytes(63), bytearray(65)])
def test_handles_have_64_bytes(handle):
    with pytest.raises(drv.LogicError, match=f"a handle has 64 bytes, and this one {len(handle)}"):
        drv.IPCMemoryHandle(handle)
    with pytest.raises(drv.LogicError, match="a handle has 64 bytes"):
        drv.Event.from_ipc_handle(handle)


@pytest.mark.requires(software=False)
def test_handles_of_nothing_are_refused():
    with pytest.raises(drv.LogicError, match="cuIpcOpenMemHandle failed"):
        drv.IPCMemoryHandle(bytes(64))


def test_another_process_waits_for_an_event():
    flags = drv.event_flags.INTERPROCESS | drv.event_flags.DISABLE_TIMING
    event = drv.Event(flags)
    handle = event.ipc_handle()
    assert isinstance(handle, bytearray) and len(handle) == 64
    assert event.record().synchronize().query()
    code = (
        "import cuda.core.driver as drv, cuda.core.driver.autoinit\n"
        f"event = drv.Event.from_ipc_handle(bytes({list(handle)}))\n"
        "stream = drv.Stream(); stream.wait_for_event(event); stream.synchronize()\n"
        "print(event.synchronize().query())\n"
    )
    assert run(code) == "True\n"
    event.record(drv.Stream()).synchronize()


def test_events_of_other_kinds_are_not_opened():
    with pytest.raises(drv.LogicError, match="INTERPROCESS"):
        drv.Event().ipc_handle()
    with pytest.raises(drv.LogicError, match="cuEventCreate failed"):
        drv.Event(drv.event_flags.INTERPROCESS)
