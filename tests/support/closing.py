# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Objects closed in the middle of a call: by its own arguments, by their resource, or by another thread.

The functions run in child processes, because what goes wrong here ends the process.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time

import numpy as np
from cuda.bindings import driver

from cuda.core import (
    Buffer,
    CUDAError,
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    MemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core.utils import StridedMemoryView, prefetch_batch

SIZE = 64
PROPERTIES = ("is_host_accessible", "is_device_accessible", "is_managed", "device_id", "allocate")
DOCUMENTED = (RuntimeError, BufferError, ValueError, TypeError, CUDAError)


class ClosingResource(MemoryResource):
    """Page-locked memory, overwritten when it is freed.

    Reading the attribute named ``closing`` first closes the buffer ``victim``.
    """

    device_id = 0

    def __init__(self, closing=None):
        self.closing = closing
        self.victim = None
        self.freed = []
        self.blocks = []

    def __getattribute__(self, name):
        get = super().__getattribute__
        if name in PROPERTIES and name == get("closing") and get("victim") is not None:
            victim, self.victim = self.victim, None
            victim.close()
        return get(name)

    is_host_accessible = property(lambda self: True)
    is_device_accessible = property(lambda self: True)
    is_managed = property(lambda self: False)

    def allocate(self, size, *, stream=None):
        block = LegacyPinnedMemoryResource().allocate(size)
        self.blocks.append(block)  # so that an access after the free reads 0xDD, not another allocation
        return Buffer.from_handle(block.handle, size, mr=self)

    def deallocate(self, ptr, size, *, stream=None):
        ctypes.memset(int(ptr), 0xDD, size)
        self.freed.append(int(ptr))


class DeviceResource(MemoryResource):
    """Device memory that lists its frees."""

    is_device_accessible = True
    is_host_accessible = False
    device_id = 0

    def __init__(self):
        self.upstream = Device().memory_resource
        self.freed = []

    def allocate(self, size, *, stream):
        inner = self.upstream.allocate(size, stream=stream)
        self.inner = inner
        return Buffer.from_handle(inner.handle, size, mr=self, stream=stream)

    def deallocate(self, ptr, size, *, stream):
        self.freed.append(int(ptr))


USES = {
    "memoryview": lambda b, s: bytes(memoryview(b)),
    "asarray": lambda b, s: np.asarray(b).copy(),
    "dlpack": lambda b, s: b.__dlpack__(),
    "dlpack_device": lambda b, s: b.__dlpack_device__(),
    "copy_to": lambda b, s: b.copy_to(stream=s),
    "copy_to_array": lambda b, s: b.copy_to(np.zeros(SIZE, np.int8), stream=s),
    "copy_from_array": lambda b, s: b.copy_from(np.zeros(SIZE, np.int8), stream=s),
    "fill": lambda b, s: b.fill(1, stream=s),
    "view": lambda b, s: b.view(),
    "from_any_interface": lambda b, s: StridedMemoryView.from_any_interface(b, stream_ptr=-1),
    "slice": lambda b, s: b[3:7].is_managed,
    "is_managed": lambda b, s: b.is_managed,
    "is_device_accessible": lambda b, s: b.is_device_accessible,
    "is_host_accessible": lambda b, s: b.is_host_accessible,
    "device_id": lambda b, s: b.device_id,
    "prefetch": lambda b, s: prefetch_batch(s, [b], Device(0)),
    "set_stream": lambda b, s: b.set_deallocation_stream(Device().default_stream),
    "close_on_stream": lambda b, s: b.close(Device().default_stream),
}


def use_while_the_resource_closes(closing: str, use: str) -> str:
    """Use a buffer whose resource closes it when an attribute is read; return the type name of the result or error.

    Any RuntimeError counts, because closed objects raise their own class.
    """
    resource = ClosingResource(closing)
    buffer = resource.allocate(SIZE)
    stream = Device().create_stream()
    resource.victim = buffer
    try:
        outcome = USES[use](buffer, stream)
    except DOCUMENTED as error:
        outcome = RuntimeError() if isinstance(error, RuntimeError) else error
    stream.sync()
    return type(outcome).__name__


def export_while_an_argument_closes(argument: str) -> tuple[str, bool, bool]:
    """Export a buffer with an argument that closes it.

    Returns the type name of the result, whether the capsule kept the memory allocated, and whether its end freed it.
    """
    resource = ClosingResource()
    buffer = resource.allocate(SIZE)

    class DeviceTuple(tuple):
        __slots__ = ()

        def __ne__(self, other):
            buffer.close()
            return False

    class Truth:
        def __bool__(self):
            buffer.close()
            return False

    class Version(tuple):
        __slots__ = ()

        def __ge__(self, other):
            buffer.close()
            return True

    value = {"dl_device": DeviceTuple((3, 0)), "copy": Truth(), "max_version": Version((1, 0))}[argument]
    capsule = buffer.__dlpack__(**{argument: value})
    name = type(capsule).__name__
    is_kept = buffer.is_closed and resource.freed == []
    del capsule
    return name, is_kept, len(resource.freed) == 1


def allocate_closes_the_source() -> tuple[bytes, int]:
    """Copy a buffer to a new one whose allocation closes the source; return the copied bytes and the count of frees."""
    resource = ClosingResource("allocate")
    buffer = resource.allocate(SIZE)
    stream = Device().create_stream()
    buffer.fill(7, stream=stream)
    stream.sync()
    resource.victim = buffer
    copy = buffer.copy_to(stream=stream)
    stream.sync()
    return bytes(memoryview(copy)), len(resource.freed)


def make_kernel(name="store"):
    """Return a kernel that stores 42 at the first of two pointers, and its code."""
    source = 'extern "C" __global__ void store(int* out, void* unused) { *out = 42; }'
    code = Program(source, "c++", ProgramOptions(arch="sm_90")).compile("cubin")
    return code.get_kernel(name), code


def launch_with_an_argument_that_closes(bound: bool) -> tuple[int, list[bool], list[int]]:
    """Launch a kernel with an argument that closes the kernel, its code, the stream and the buffer.

    Returns what the kernel stored, whether each object is closed, and how many frees there were when the argument was
    converted and after the launch.
    """
    device = Device()
    kernel, code = make_kernel()
    stream = device.create_stream()
    resource = DeviceResource()
    buffer = resource.allocate(SIZE, stream=stream)
    things = [kernel, code, stream, buffer]
    frees = []

    class Pointer(driver.CUdeviceptr):
        def __int__(self):
            for thing in things:
                thing.close()
            frees.append(len(resource.freed))
            return 0

    if bound:
        call = kernel.bind(LaunchConfig(grid=1, block=1), stream=stream)
        call(buffer, Pointer(0))
    else:
        launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer, Pointer(0))
    frees.append(len(resource.freed))
    device.sync()
    other = device.create_stream()
    stored = np.zeros(SIZE // 4, np.int32)
    resource.inner.copy_to(stored, stream=other)
    other.sync()
    return int(stored[0]), [thing.is_closed for thing in things], frees


def closed_by_another_thread(work: str, seconds: float) -> dict[str, int]:
    """Repeat a call in two threads while another thread closes the objects that it uses; count the outcomes."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        return Race(work).run(seconds)
    finally:
        sys.setswitchinterval(before)


class Race:
    """Two threads use one set of objects, and the calling thread closes it and makes the next."""

    def __init__(self, work: str):
        self.work = WORKS[work]
        self.outcomes = {}
        self.is_over = False
        self.device = Device()
        _, self.code = make_kernel()
        self.kept = self.device.allocate(4096, stream=self.device.default_stream)
        self.device.sync()
        self.renew()

    def renew(self):
        stream = self.device.create_stream()
        code = ObjectCode.from_cubin(self.code.code)
        kernel = code.get_kernel("store")
        self.now = {
            "stream": stream,
            "other": self.device.create_stream(),
            "event": stream.record(),
            "buffer": self.device.allocate(SIZE, stream=stream),
            "host": ClosingResource().allocate(SIZE),
            "code": code,
            "kernel": kernel,
            "config": LaunchConfig(grid=1, block=1),
            "kept": self.kept,
        }

    def use(self):
        Device(0).set_current()
        while not self.is_over:
            try:
                self.work(**self.now)
                name = "done"
            except RuntimeError as error:
                name = str(error) if "closed" in str(error) else repr(error)
            except Exception as error:
                name = repr(error)
            self.outcomes[name] = self.outcomes.get(name, 0) + 1

    def run(self, seconds):
        threads = [threading.Thread(target=self.use) for _ in range(2)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            old = self.now
            self.renew()
            time.sleep(0)
            for name in ("code", "kernel", "stream", "other", "event", "buffer", "host"):
                try:
                    old[name].close()
                except BufferError:
                    pass  # a memoryview borrows it
        self.is_over = True
        for thread in threads:
            thread.join()
        self.device.sync()
        return self.outcomes


WORKS = {
    "launch": lambda stream, config, kernel, kept, **_: launch(stream, config, kernel, kept, None),
    "copy": lambda buffer, stream, **_: buffer.copy_to(stream=stream).close(),
    "fill": lambda buffer, stream, **_: buffer.fill(b"12345678", stream=stream),
    "memoryview": lambda host, **_: bytes(memoryview(host)),
    "asarray": lambda host, **_: np.asarray(host).copy(),
    "get_kernel": lambda code, **_: code.get_kernel("store"),
    "record": lambda stream, event, **_: stream.record(event),
    "wait": lambda stream, other, event, **_: (other.wait(stream), other.wait(event), event.is_done, event.sync()),
    "sync": lambda stream, **_: (stream.is_done, stream.sync(), stream.priority),
    "attributes": lambda kernel, **_: (kernel.attributes.num_regs, kernel.num_arguments),
}
