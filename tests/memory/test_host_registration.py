# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Registration of host memory."""

import array
import ctypes
import gc
import mmap
import os
import subprocess
import sys
import threading
import warnings
import weakref

import numpy as np
import pytest

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    Buffer,
    CUDAError,
    CUDAWarning,
    LaunchConfig,
    launch,
    register_host_memory,
)
from cuda.core.utils import StridedMemoryView, copy_batch
from support.kernels import compiled
from support.memory import read, write
from support.processes import exempt_older_objects
from support.work import busy, settle

PAGE = mmap.PAGESIZE


def pages(count=1, dtype=np.uint8):
    """Return an array of whole pages that are not shared with other memory."""
    return np.frombuffer(mmap.mmap(-1, count * PAGE), dtype)


def frozen(array):
    array.flags.writeable = False
    return array


def is_registered(array) -> bool:
    """Return whether the driver knows the memory."""
    return Buffer.from_handle(array.ctypes.data, 1).is_device_accessible


# Rejected arguments, which need no device


@pytest.mark.parametrize("other", [3, None, "text", [1, 2], object()], ids=lambda o: type(o).__name__)
def test_objects_without_memory_are_rejected(other):
    with pytest.raises(TypeError, match="array must be host memory with the buffer protocol"):
        register_host_memory(other)


def test_released_memory_is_rejected():
    view = memoryview(bytearray(8))
    view.release()
    with pytest.raises(TypeError, match="array must be host memory: "):
        register_host_memory(view)


@pytest.mark.parametrize("part", [np.s_[::2], np.s_[:, 1:], np.s_[::-1]], ids=["steps", "columns", "backwards"])
def test_arrays_with_gaps_are_rejected(part):
    with pytest.raises(ValueError, match="contiguous"):
        register_host_memory(np.zeros((8, 8))[part])


@pytest.mark.parametrize("empty", [np.zeros(0), np.zeros((3, 0)), b"", bytearray()], ids=repr)
def test_arrays_without_elements_are_rejected(empty):
    with pytest.raises(ValueError, match="must not be empty"):
        register_host_memory(empty)


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.array([None, 1], dtype=object),
        lambda: np.zeros(2, np.dtype([("a", "i4"), ("b", "O")])),
        lambda: memoryview(np.array([None])),
        lambda: (ctypes.py_object * 4)(),
    ],
    ids=["objects", "records", "memoryview", "ctypes"],
)
def test_arrays_of_objects_are_rejected(make):
    with pytest.raises(TypeError, match="not references to Python objects"):
        register_host_memory(make())


@pytest.mark.parametrize("option", ["portable", "mapped", "read_only", "io_memory"])
def test_non_bool_options_are_rejected(option):
    with pytest.raises(TypeError, match=f"{option} must be a bool, not int"):
        register_host_memory(np.zeros(8), **{option: 1})


# Registered memory


def test_buffer_is_the_memory_of_the_array(device):
    values = pages(2, np.float32)
    with register_host_memory(values) as buffer:
        assert type(buffer) is Buffer
        assert (buffer.handle, buffer.size, buffer.owner) == (values.ctypes.data, 2 * PAGE, values)
        assert (buffer.is_device_accessible, buffer.is_host_accessible, buffer.is_managed) == (True, True, False)
        assert buffer.__dlpack_device__() == (3, 0)
        assert is_registered(values)
        memoryview(buffer)[:4] = np.float32(7).tobytes()
        assert values[0] == 7
        assert StridedMemoryView.from_any_interface(buffer, -1).is_device_accessible
        view = buffer.view((2, -1), np.float32)
        assert (view.is_device_accessible, view.shape) == (True, (2, PAGE // 4))
        del view
    assert buffer.is_closed
    assert buffer.owner is None
    assert not is_registered(values)


@pytest.mark.parametrize(
    "make",
    [
        lambda: bytearray(PAGE),
        lambda: array.array("d", [0.0] * 512),
        lambda: (ctypes.c_int * 1024)(),
        lambda: mmap.mmap(-1, PAGE),
        lambda: memoryview(bytearray(PAGE)),
        lambda: np.zeros((32, 32), order="F").T,
        lambda: np.zeros(8, "M8[s]"),
        lambda: np.zeros((), "f8"),
        lambda: np.zeros((8, 8), "f4", order="F"),
    ],
    ids=["bytearray", "array", "ctypes", "mmap", "memoryview", "transposed", "dates", "scalar", "fortran"],
)
def test_objects_with_the_buffer_protocol_are_registered(device, stream, make):
    memory = make()
    size = memoryview(memory).nbytes if not isinstance(memory, np.ndarray) else memory.nbytes
    source = device.allocate(size, stream=stream)
    source.fill(5, stream=stream)
    with register_host_memory(memory) as buffer:
        assert buffer.size == size
        source.copy_to(buffer, stream=stream)
        stream.sync()
        assert bytes(buffer) == b"\5" * size


def test_registered_memory_cannot_allocate_or_be_shared(device, stream):
    with register_host_memory(pages()) as buffer:
        with pytest.raises(RuntimeError, match="cannot allocate"):
            buffer.copy_to(stream=stream)
        with pytest.raises(RuntimeError, match="belongs to no device"):
            buffer.device_id.bit_length()
        with pytest.raises(RuntimeError, match="not shared between processes"):
            buffer.__reduce__()


def test_unmapped_memory_can_be_copied(device, stream):
    values = pages()
    with register_host_memory(values, mapped=False, portable=False) as buffer:
        assert (buffer.is_device_accessible, buffer.is_host_accessible) == (False, True)
        target = device.allocate(PAGE, stream=stream)
        values[:] = 3
        target.copy_from(buffer, stream=stream)
        assert set(read(target, stream)) == {3}


def test_kernels_write_to_the_array(device, stream):
    kernel = compiled('extern "C" __global__ void count(int* a) { a[threadIdx.x] += threadIdx.x; }').get_kernel("count")
    values = pages(1, np.int32)
    values[:] = 100
    with register_host_memory(values) as buffer:
        launch(stream, LaunchConfig(grid=1, block=8), kernel, buffer)
        launch(stream, LaunchConfig(grid=1, block=4), kernel, buffer[32:])
        stream.sync()
    assert values[:13].tolist() == [100, 101, 102, 103, 104, 105, 106, 107, 100, 101, 102, 103, 100]


def test_copies_of_the_array_do_not_wait(device, stream):
    values, results = pages(16), pages(16)
    values[:] = np.arange(16 * PAGE) % 251
    memory = device.allocate(values.nbytes, stream=stream)
    stream.sync()
    with register_host_memory(values) as source, register_host_memory(results) as target:
        with busy(stream):
            memory.copy_from(values, stream=stream)
            memory.copy_to(results, stream=stream)
            memory.copy_from(source, stream=stream)
            memory.copy_to(target, stream=stream)
            memory[:PAGE].copy_to(target[PAGE : 2 * PAGE], stream=stream)
            assert not stream.is_done
            assert results.sum() == 0
        stream.sync()
        assert np.array_equal(results[:PAGE], values[:PAGE])
        assert np.array_equal(results[PAGE : 2 * PAGE], values[:PAGE])
        assert np.array_equal(results[2 * PAGE :], values[2 * PAGE :])


def test_closing_waits_for_the_work_that_uses_the_array(device, stream):
    values = pages(64)
    memory = device.allocate(values.nbytes, stream=stream)
    with register_host_memory(values) as buffer:
        for number in range(20):
            memory.fill(number, stream=stream)
            memory.copy_to(buffer, stream=stream)
    assert set(values) == {19}


@pytest.mark.parametrize("default", [False, True], ids=["stream", "default stream"])
def test_closing_with_a_stream_waits_for_that_one(device, stream, default):
    other = LEGACY_DEFAULT_STREAM if default else device.create_stream()
    values = pages(64)
    buffer = register_host_memory(values)
    memory = device.allocate(values.nbytes, stream=other)
    for number in range(20):
        memory.fill(number, stream=other)
        memory.copy_to(buffer, stream=other)
    buffer.set_deallocation_stream(stream)
    buffer.close(other)
    assert set(values) == {19}
    assert not is_registered(values)
    memory.close()


# Read-only memory


def test_buffer_of_a_read_only_array_is_rejected_as_destination(device, stream):
    values = frozen(pages())
    source = device.allocate(PAGE, stream=stream)
    with register_host_memory(values) as buffer:
        for whole in (buffer, buffer[:]):
            for write_to in (
                lambda b: source.copy_to(b, stream=stream),
                lambda b: b.copy_from(source, stream=stream),
                lambda b: b.fill(0, stream=stream),
                lambda b: copy_batch(stream, [source], [b]),
            ):
                with pytest.raises(TypeError, match="must be writable"):
                    write_to(whole)
            assert memoryview(whole).readonly
            assert not np.asarray(whole).flags.writeable
            assert not np.from_dlpack(whole).flags.writeable
            assert whole.view().readonly
            assert StridedMemoryView.from_buffer(whole, (1,), itemsize=1).readonly
            assert StridedMemoryView.from_dlpack(whole, -1).readonly
        source.copy_from(buffer, stream=stream)
        assert read(source, stream) == values.tobytes()


@pytest.mark.requires(device=True, property="read_only_host_register_supported")
def test_memory_is_registered_for_reading(device, stream):
    values = pages()
    values[:] = 6
    target = device.allocate(PAGE, stream=stream)
    with register_host_memory(values, read_only=True) as buffer:
        with pytest.raises(TypeError, match="must be writable"):
            buffer.fill(0, stream=stream)
        target.copy_from(buffer, stream=stream)
        assert set(read(target, stream)) == {6}


@pytest.mark.requires(software=True)
def test_host_memory_is_rejected_as_io_memory(device):
    values = pages()
    with pytest.raises(CUDAError, match="CUDA_ERROR_NOT_SUPPORTED"):
        register_host_memory(values, io_memory=True)
    register_host_memory(values).close()


# Lifetime


def test_memory_cannot_be_registered_twice(device):
    values = pages(4)
    with register_host_memory(values):
        for part in (values, values[:PAGE], values[PAGE:]):
            with pytest.raises(CUDAError, match="cuMemHostRegister"):
                register_host_memory(part)
        assert is_registered(values)
    with register_host_memory(values[PAGE:]), register_host_memory(values[:PAGE]):
        assert is_registered(values)
    assert not is_registered(values)


def test_buffer_keeps_the_array_alive_until_it_is_closed(device, stream):
    class Array(np.ndarray):
        pass

    values = pages().view(Array)
    values[:] = 4
    alive = weakref.ref(values)
    buffer = register_host_memory(values)
    del values
    gc.collect()
    assert alive() is buffer.owner
    assert bytes(buffer[:3]) == b"\4\4\4"
    buffer.close()
    gc.collect()
    assert alive() is None


def test_memory_of_the_array_cannot_move_while_it_is_registered(device):
    data = bytearray(PAGE)
    buffer = register_host_memory(data)
    with pytest.raises(BufferError):
        data.extend(b"more")
    buffer.close()
    data.extend(b"more")
    assert len(data) == PAGE + 4


def test_dropping_the_buffer_ends_the_registration(device):
    values = pages()
    buffer = register_host_memory(values)
    part = buffer[8:]
    del buffer
    gc.collect()
    assert is_registered(values)
    del part
    gc.collect()
    assert not is_registered(values)


def test_dlpack_consumer_keeps_the_registration(device):
    values = pages()
    buffer = register_host_memory(values)
    exported = np.from_dlpack(buffer)
    buffer.close()
    assert is_registered(values)
    exported[:] = 1
    del exported
    gc.collect()
    assert not is_registered(values)
    assert set(values) == {1}


def test_any_thread_may_end_the_registration(device):
    values = pages()
    buffers = [register_host_memory(values)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        thread = threading.Thread(target=lambda: buffers.pop().close())
        thread.start()
        thread.join()
    assert not is_registered(values)


def test_registration_without_a_context_fails(device):
    results = []

    def attempt():
        try:
            results.append(register_host_memory(pages()))
        except CUDAError as error:
            results.append(str(error))

    thread = threading.Thread(target=attempt)
    thread.start()
    thread.join()
    assert "cuMemHostRegister" in results[0]


def test_registrations_leak_no_references(device):
    data = bytearray(PAGE)
    before = sys.getrefcount(data)
    for _ in range(100):
        register_host_memory(data).close()
    assert sys.getrefcount(data) == before


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("call", ["cuMemHostRegister", "cuMemHostGetDevicePointer"])
def test_failed_registration_leaks_nothing(device, call):
    import cuda.emulator

    values = pages()
    with cuda.emulator.fail(call), pytest.raises(CUDAError, match=call):
        register_host_memory(values)
    settle()
    assert not is_registered(values)
    register_host_memory(values).close()


@pytest.mark.requires(software=True)
def test_failures_of_driver_calls_leak_no_references(device):
    import cuda.emulator

    data = bytearray(PAGE)
    before = sys.getrefcount(data)

    exempt_older_objects()
    failed = cuda.emulator.sweep(lambda: register_host_memory(data).close())
    names = {call.removesuffix("_v2") for call in failed}
    assert {"cuMemHostRegister", "cuMemHostGetDevicePointer", "cuMemHostUnregister"} <= names
    assert sys.getrefcount(data) == before + 1  # kept once, after cuMemHostUnregister seemed to fail


def test_exit_with_registered_memory_is_silent(device):
    program = """
from cuda.core import Device, register_host_memory
Device().set_current()
kept = [register_host_memory(bytearray(4096))]
kept += [kept, kept[0][1:], kept[0].__dlpack__()]
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_forked_child_unregisters_nothing(device):
    values = pages()
    buffer = register_host_memory(values)
    pid = os.fork()
    if pid == 0:
        buffer.close()
        os._exit(0 if buffer.is_closed else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert is_registered(values)
    buffer.close()
    assert not is_registered(values)


@pytest.mark.requires(software=True)
def test_array_that_stays_registered_is_kept(device):
    import cuda.emulator

    values = pages()
    data = bytearray(PAGE)
    buffer = register_host_memory(data)
    with cuda.emulator.fail("cuMemHostUnregister"), pytest.warns(CUDAWarning, match="cuMemHostUnregister"):
        buffer.close()
    with pytest.raises(BufferError):
        data.extend(b"more")
    assert not is_registered(values)


def test_slices_of_registered_memory_are_copied(device, stream):
    values = pages()
    memory = device.allocate(PAGE, stream=stream)
    write(memory, bytes(range(256)) * (PAGE // 256), stream)
    with register_host_memory(values) as buffer:
        buffer[256:512].copy_from(memory[1:257], stream=stream)
    assert values[256:512].tobytes() == bytes([*range(1, 256), 0])
    assert not values[:256].any()
