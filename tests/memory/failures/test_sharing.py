# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Each driver call of sharing between processes fails in turn, in both processes."""

import contextlib
import pickle

import pytest

from cuda import emulator
from cuda.core import Buffer, Event, EventOptions, PinnedMemoryResource
from cuda.core.utils import StridedMemoryView
from support import shared_memory
from support.failures import CODES, MARKING, fail_each_call

pytestmark = [
    pytest.mark.requires(software=True),
    pytest.mark.requires(ipc=True),
    pytest.mark.usefixtures("spawned"),
]
each_code = pytest.mark.parametrize("code", CODES)

SIZE = 1 << 16


@each_code
def test_each_call_of_an_export_may_fail(stream, shareable, code):
    def program():
        with contextlib.ExitStack() as stack:
            pool = stack.enter_context(contextlib.closing(shared_memory.make_pool(shareable)))
            buffer = stack.enter_context(pool.allocate(SIZE, stream=stream))
            data = pickle.dumps(buffer.ipc_descriptor)
            with Buffer.from_ipc_descriptor(pool, pickle.loads(data), stream=stream) as returned:
                assert returned == buffer

    program()  # the device keeps what it opens at first use
    before = shared_memory.descriptors()
    failed = fail_each_call(program, code, overcome=MARKING)
    assert failed >= {"cuMemPoolExportToShareableHandle", "cuMemPoolExportPointer", "cuMemAllocFromPoolAsync"}
    assert shared_memory.descriptors() <= before


@each_code
def test_buffer_whose_memory_is_borrowed_closes_despite_failures(stream, pool, code):
    buffer = pool.allocate(SIZE, stream=stream)
    view = StridedMemoryView.from_buffer(buffer, (SIZE,), itemsize=1)
    with emulator.fail("cuMemPoolExportPointer,cuCtxGetCurrent", code) as plan:
        buffer.close()
    assert plan.last is not None
    assert buffer.is_closed
    with pytest.raises(RuntimeError, match="cannot be pickled: this Buffer is closed"):
        pickle.dumps(buffer)
    del view


@each_code
def test_each_call_of_an_import_may_fail(child, stream, shareable, pool, code):
    with pool.allocate(SIZE, stream=stream) as buffer:
        stream.sync()
        failed, are_descriptors_kept = child.call(
            shared_memory.fail_each_import, shareable, pool.allocation_handle, buffer.ipc_descriptor, code
        )
        assert failed >= {"cuMemPoolImportFromShareableHandle", "cuMemPoolImportPointer", "cuMemFreeAsync"}
        assert ("cuMemPoolSetAccess" in failed) == (shareable is PinnedMemoryResource)
        assert are_descriptors_kept
        assert shared_memory.contents(buffer) == b"\2" * SIZE


@each_code
def test_each_call_of_exported_events_may_fail(device, stream, code):
    def program():
        with stream.record(options=EventOptions(ipc_enabled=True)) as event:
            data = pickle.dumps(event.ipc_descriptor)
            with Event.from_ipc_descriptor(pickle.loads(data)) as returned:
                assert returned == event
                returned.sync()

    assert fail_each_call(program, code) >= {"cuEventCreate", "cuEventRecord", "cuIpcGetEventHandle"}


@each_code
def test_each_call_of_imported_events_may_fail(child, device, stream, code):
    with stream.record(options=EventOptions(ipc_enabled=True)) as event:
        failed = child.call(shared_memory.fail_each_event_call, event.ipc_descriptor, code)
    assert failed >= {"cuIpcOpenEventHandle", "cuStreamWaitEvent", "cuEventSynchronize", "cuEventDestroy_v2"}
