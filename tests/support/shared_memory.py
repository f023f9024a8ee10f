# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions for child processes that use memory and events of other processes."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import socket
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.reduction import ForkingPickler

from cuda.core import Buffer, Device, DeviceMemoryResource, Event
from support.contract import IPCBufferDescriptor
from support.failures import MARKING, fail_each_call
from support.memory import read
from support.processes import open_descriptors
from support.threads import in_thread
from support.work import busy

# Objects that a child keeps from one call to the next.
kept = {}


def make_pool(cls, **options):
    """Return a resource with a pool that other processes may open."""
    return cls(*place_of(cls), {"ipc_enabled": True, **options})


def import_pool(cls, handle):
    """Return a resource over the pool of an allocation handle, or of a file descriptor."""
    return cls.from_allocation_handle(*place_of(cls), handle)


def place_of(cls) -> tuple:
    """Return the constructor's arguments for the location of the memory."""
    return (0,) if issubclass(cls, DeviceMemoryResource) else ()


def contents(buffer) -> bytes:
    """Return the bytes of a buffer."""
    return read(buffer, Device(0).create_stream())


def put(buffer, value) -> None:
    """Fill a buffer, and wait for it."""
    Device(0).set_current()
    stream = Device(0).create_stream()
    buffer.fill(value, stream=stream)
    stream.sync()


def read_and_answer(buffer, value) -> tuple[bytes, bool, int]:
    """Return the bytes of a buffer, whether it is mapped, and its size; fill it with another value."""
    before = contents(buffer)
    put(buffer, value)
    return before, buffer.is_mapped, buffer.size


def echo(*values):
    """Return the sent objects."""
    return values[0] if len(values) == 1 else values


def close_and_return(value):
    """Close the argument and return it: it is pickled after that."""
    value.close()
    return value


def pass_on(source, target) -> None:
    """Move objects from one queue to another until None comes, and close each one right after it was put."""
    Device(0).set_current()
    while (value := source.get()) is not None:
        target.put(value)
        if hasattr(value, "close"):
            value.close()


def fill_and_return(buffer, value):
    """Return a filled buffer."""
    put(buffer, value)
    return buffer


def keep(name, value) -> None:
    """Keep the sent objects."""
    kept[name] = value


def kept_contents(name, size) -> bytes:
    """Return the first bytes of a buffer that was kept."""
    return contents(kept[name])[:size]


def close_kept(*names) -> None:
    """Close the kept objects, in this order."""
    for name in names:
        kept.pop(name).close()
    gc.collect()


def export(cls, size, value):
    """Return a new shared buffer of a new pool of this process; both are kept."""
    pool = make_pool(cls)
    stream = Device(0).create_stream()
    buffer = pool.allocate(size, stream=stream)
    stream.sync()
    put(buffer, value)
    kept["pool"], kept["buffer"] = pool, buffer
    return buffer


def share_all() -> tuple:
    """Return an allocation handle, and the descriptors of a buffer and of an event, which are kept."""
    buffer = export(DeviceMemoryResource, 4096, 7)
    kept["event"] = Device(0).create_stream().record(options={"ipc_enabled": True})
    return kept["pool"].allocation_handle, buffer.ipc_descriptor, kept["event"].ipc_descriptor


def export_messages(cls) -> tuple[bytes, bytes, IPCBufferDescriptor]:
    """Return a new shared buffer as pickled by ``multiprocessing`` and by ``pickle``, and its descriptor."""
    buffer = export(cls, 4096, 7)
    return bytes(ForkingPickler.dumps(buffer)), pickle.dumps(buffer), buffer.ipc_descriptor


def import_twice(pool, descriptor) -> tuple[bool, bytes]:
    """Open a buffer twice, and close one: return whether both were the same memory, and the bytes of the other."""
    stream = Device(0).create_stream()
    first = Buffer.from_ipc_descriptor(pool, descriptor, stream=stream)
    second = Buffer.from_ipc_descriptor(pool, pickle.loads(pickle.dumps(descriptor)), stream=stream)
    is_same = first == second and first.handle == second.handle
    first.close()
    stream.sync()
    held = read(second, stream)
    second.close()
    stream.sync()
    # Also after the mapping has ended.
    with Buffer.from_ipc_descriptor(pool, descriptor, stream=stream) as third:
        return is_same and read(third, stream) == held, held


def use_new_pool(buffer) -> tuple[bytes, bytes]:
    """Read a buffer, close it and its pool, and return its bytes and the bytes of memory from a new pool."""
    held, imported = contents(buffer), buffer.memory_resource
    buffer.close()
    Device(0).sync()
    imported.close()
    stream = Device(0).create_stream()
    with contextlib.closing(make_pool(type(imported))) as pool, pool.allocate(8, stream=stream) as own:
        own.fill(3, stream=stream)
        return held, read(own, stream)


def import_by_socket(cls, path, size) -> bytes:
    """Receive a pool's file descriptor and a buffer's descriptor by a socket; return the bytes of the buffer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        data, descriptors, _, _ = socket.recv_fds(connection, 4096, 1)
    pool = import_pool(cls, descriptors[0])
    os.close(descriptors[0])
    stream = Device(0).create_stream()
    with Buffer.from_ipc_descriptor(pool, pickle.loads(data), stream=stream) as buffer:
        assert buffer.size == size
        return read(buffer, stream)


def load(data) -> tuple[bytes, bool]:
    """Return the bytes of a pickled buffer, and whether its resource was found in the registry."""
    buffer = pickle.loads(data)
    pool = buffer.memory_resource
    return contents(buffer), type(pool).from_registry(pool.uuid) is pool


def send_kept(connection, name) -> None:
    """Send a kept object through a connection."""
    connection.send(kept[name])


def import_in_threads(pool, descriptor) -> set[bytes]:
    """Open and close a buffer on several threads, and return all that was read."""

    def work(_):
        Device(0).set_current()
        stream = Device(0).create_stream()
        with Buffer.from_ipc_descriptor(pool, descriptor, stream=stream) as buffer:
            return read(buffer, stream)

    with ThreadPoolExecutor(4) as executor:
        return set(executor.map(work, range(40)))


def load_without_context(data, pool) -> bytes:
    """Return the bytes of a buffer unpickled on a thread without a context."""
    type(pool).from_registry(pool.uuid)

    def work():
        buffer = pickle.loads(data)
        Device(0).set_current()
        return contents(buffer)

    return in_thread(work)


def receive_contents(connection) -> bytes:
    """Return the bytes of a buffer that another process sends."""
    return contents(connection.recv())


def descriptors() -> int:
    """Return how many file descriptors are open."""
    gc.collect()
    return open_descriptors()


def event_state(event) -> tuple:
    """Return the properties of an imported event: device, context, flags, and whether it can be recorded."""
    try:
        Device(0).create_stream().record(event)
    except TypeError:
        is_recordable = False
    else:
        is_recordable = True
    flags = (event.is_ipc_enabled, event.is_timing_enabled, event.is_blocking_sync)
    return event.device, event.context, *flags, is_recordable


def is_done(event) -> bool:
    """Return whether the work before an event is done."""
    return event.is_done


def record_after_work():
    """Return an event of a stream that stays busy until the process ends."""
    stream = Device(0).create_stream()
    work = kept["work"] = busy(stream)
    work.__enter__()
    return stream.record(options={"ipc_enabled": True})


def read_after(event, buffer) -> bytes:
    """Return the bytes of a buffer after the work before an event."""
    stream = Device(0).create_stream()
    stream.wait(event)
    return read(buffer, stream)


def fail_each_import(cls, handle, descriptor, code) -> tuple[set[str], bool]:
    """Fail each driver call of importing a pool and a buffer; return those calls, and whether no descriptor leaked."""
    stream = Device(0).create_stream()

    def program():
        # An int as handle makes a new pool, instead of returning the registered one.
        pool = import_pool(cls, int(handle))
        with contextlib.closing(pool), Buffer.from_ipc_descriptor(pool, descriptor, stream=stream) as buffer:
            buffer.fill(2, stream=stream)
            stream.sync()

    before = descriptors()
    # The import also works if the allocation's range cannot be queried.
    return fail_each_call(program, code, overcome=["cuMemGetAddressRange*", *MARKING]), descriptors() <= before


def fail_each_event_call(descriptor, code) -> set[str]:
    """Fail each driver call of opening and using an event; return those calls."""
    stream = Device(0).create_stream()

    def program():
        with Event.from_ipc_descriptor(descriptor) as event:
            stream.wait(event)
            event.sync()
            assert event.is_done

    return fail_each_call(program, code)


def open_event(descriptor) -> bool:
    """Open an event by its descriptor, wait for it, and return whether it is done then."""
    event = Event.from_ipc_descriptor(descriptor)
    event.sync()
    return event.is_done
