# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Notices of the driver, which a Python thread handles; a part of ``_completion.pyx``.

The driver calls back on its own threads, where Python must not run. So a callback only writes a record to a pipe, which
loses records rather than wait while nobody reads.
"""

from libc.stdint cimport intptr_t
from libc.string cimport memcpy
from posix.unistd cimport write

import struct

cdef enum:
    MOST_BYTES = 4096  # what the system writes to a pipe as a whole


class Notices:
    """A registered callback, whose records a thread passes to a function until :meth:`close`.

    Parameters
    ----------
    register : callable
        Registers the callback for a file descriptor, and returns a handle.
    unregister : callable
        Ends the registration of a handle.
    receive : callable
        Called on a thread of this library with each record.
    """

    def __init__(self, register, unregister, receive):
        self._unregister = unregister
        self._lock = RLock()
        reader, self._writer = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._writer, False)
        try:
            self._handle = register(self._writer)
        except BaseException:
            os.close(reader)
            os.close(self._writer)
            raise
        start_new_thread(pass_records, (reader, receive))

    def close(self) -> None:
        """End the registration. Records that were already written are still passed on."""
        with self._lock:
            handle, self._handle = self._handle, None
        if handle is None:
            return
        try:
            self._unregister(handle)
        finally:
            os.close(self._writer)


def pass_records(reader, receive) -> None:
    """Pass records to a function until the pipe is closed."""
    with open(reader, "rb") as pipe:
        while size := pipe.read(2):
            record = pipe.read(int.from_bytes(size, sys.byteorder))
            try:
                receive(record)
            except BaseException as error:
                show_unraisable(error, receive)


cdef void write_notice(
    intptr_t descriptor, const char* head, size_t head_size, const char* tail, size_t size
) noexcept nogil:
    cdef char[MOST_BYTES] record
    cdef unsigned short total
    if size > MOST_BYTES - 2 - head_size:
        size = MOST_BYTES - 2 - head_size
    total = <unsigned short>(head_size + size)
    memcpy(record, &total, 2)
    memcpy(record + 2, head, head_size)
    memcpy(record + 2 + head_size, tail, size)
    write(<int>descriptor, record, total + 2)


cdef void note_message(void* what, cydriver.CUlogLevel level, char* message, size_t length) noexcept nogil:
    cdef char head = <char>level
    write_notice(<intptr_t>what, &head, 1, message, length)


cdef void note_memory(
    cydriver.CUasyncNotificationInfo* info, void* what, cydriver.CUasyncCallbackHandle handle
) noexcept nogil:
    cdef unsigned long long size
    if info.type == cydriver.CUasyncNotificationType.CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET:
        size = info.info.overBudget.bytesOverBudget
        write_notice(<intptr_t>what, <char*>&size, sizeof(size), NULL, 0)


cdef void note_dump(void* what, int process, cydriver.CUdevice device) noexcept nogil:
    cdef int[2] numbers
    numbers[0], numbers[1] = <int>device, process
    write_notice(<intptr_t>what, <char*>numbers, sizeof(numbers), NULL, 0)


def register_dumps(int descriptor) -> int:
    """Let the driver write each complete core dump to a pipe (``cuCoredumpRegisterCompleteCallback``)."""
    cdef cydriver.CUcoredumpCallbackHandle handle = NULL
    with nogil:
        HANDLE_RETURN(
            cydriver.cuCoredumpRegisterCompleteCallback(&note_dump, <void*><intptr_t>descriptor, &handle),
            b"cuCoredumpRegisterCompleteCallback",
        )
    return <intptr_t>handle


def unregister_dumps(intptr_t handle) -> None:
    """End a registration of :func:`register_dumps` (``cuCoredumpDeregisterCompleteCallback``)."""
    with nogil:
        HANDLE_RETURN(
            cydriver.cuCoredumpDeregisterCompleteCallback(<cydriver.CUcoredumpCallbackHandle>handle),
            b"cuCoredumpDeregisterCompleteCallback",
        )


def register_messages(int descriptor) -> int:
    """Let the driver write its messages to a pipe (``cuLogsRegisterCallback``)."""
    cdef cydriver.CUlogsCallbackHandle handle = NULL
    with nogil:
        HANDLE_RETURN(
            cydriver.cuLogsRegisterCallback(&note_message, <void*><intptr_t>descriptor, &handle),
            b"cuLogsRegisterCallback",
        )
    return <intptr_t>handle


def unregister_messages(intptr_t handle) -> None:
    """End a registration of :func:`register_messages` (``cuLogsUnregisterCallback``)."""
    with nogil:
        HANDLE_RETURN(
            cydriver.cuLogsUnregisterCallback(<cydriver.CUlogsCallbackHandle>handle), b"cuLogsUnregisterCallback"
        )


def register_memory(int device_id, int descriptor) -> int:
    """Let the driver write how much memory it lacks to a pipe (``cuDeviceRegisterAsyncNotification``)."""
    cdef cydriver.CUasyncCallbackHandle handle = NULL
    with nogil:
        HANDLE_RETURN(
            cydriver.cuDeviceRegisterAsyncNotification(
                device_id, &note_memory, <void*><intptr_t>descriptor, &handle
            ),
            b"cuDeviceRegisterAsyncNotification",
        )
    return <intptr_t>handle


def unregister_memory(int device_id, intptr_t handle) -> None:
    """End a registration of :func:`register_memory` (``cuDeviceUnregisterAsyncNotification``)."""
    with nogil:
        HANDLE_RETURN(
            cydriver.cuDeviceUnregisterAsyncNotification(device_id, <cydriver.CUasyncCallbackHandle>handle),
            b"cuDeviceUnregisterAsyncNotification",
        )


class MemoryNotices:
    """The calls of a function when a device lacks memory, from :meth:`Device.on_memory_pressure`."""

    def __init__(self, device_id, function):
        self._device_id, self._function = device_id, function
        self._is_canceled = False
        asyncio = sys.modules.get("asyncio")
        try:
            self._loop = None if asyncio is None else asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None
        self._notices = Notices(
            lambda descriptor: register_memory(device_id, descriptor),
            lambda handle: unregister_memory(device_id, handle),
            self._receive,
        )

    def __repr__(self):
        return f"<MemoryNotices of device {self._device_id} to {self._function!r}>"

    def cancel(self) -> None:
        """Make no more calls. Canceling again has no effect."""
        self._is_canceled = True
        self._notices.close()

    def _receive(self, record):
        (size,) = struct.unpack("Q", record)
        if self._is_canceled or (self._loop is not None and self._loop.is_closed()):
            return
        if self._loop is None:
            self._function(size)
        else:
            self._loop.call_soon_threadsafe(self._function, size)
