# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory and semaphores of other interfaces: imported, mapped, signaled, and kept alive while they are in use.

The software device imports any file that can be mapped as memory, and one that begins with a counter as a semaphore. A
GPU imports only what its driver has exported, so these tests do not run there.
"""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from cuda.core import CUDAError, Device, ExternalMemory, ExternalSemaphore
from cuda.core.graph import GraphDefinition
from cuda.core.texture import MipmappedArrayOptions, ResourceDescriptor

pytestmark = pytest.mark.requires(software=True)


@pytest.fixture
def file():
    """A file of 16 KiB, as another interface would export it."""
    number = os.memfd_create("exported")
    os.truncate(number, 16384)
    yield number
    os.close(number)


@pytest.fixture
def memory(device, file):
    with ExternalMemory.from_fd(file, 16384) as memory:
        yield memory


@pytest.fixture
def semaphore(device, file):
    with ExternalSemaphore.from_fd(file) as semaphore:
        yield semaphore


def counter_of(file):
    return int.from_bytes(os.pread(file, 8, 0), "little")


def open_files():
    return set(os.listdir("/proc/self/fd"))


def test_mapped_memory_is_that_of_the_file(memory, stream, file):
    buffer = memory.map(4096, 64)
    buffer.fill(np.int32(7), stream=stream)
    stream.sync()
    assert np.frombuffer(os.pread(file, 64, 4096), np.int32).tolist() == [7] * 16
    os.pwrite(file, bytes([9] * 64), 4096)
    assert bytes(buffer.copy_to(np.empty(64, np.uint8), stream=stream)) == bytes([9] * 64)
    assert buffer.size == 64 and memory.size == 16384
    buffer.close()


def test_memory_outlives_its_object_and_the_descriptor(device, stream):
    number = os.memfd_create("exported")
    os.truncate(number, 4096)
    before = open_files()
    memory = ExternalMemory.from_fd(number, 4096, is_dedicated=True)
    buffer = memory.map()
    memory.close()
    buffer.fill(1, stream=stream)
    stream.sync()
    assert os.pread(number, 2, 4094) == b"\1\1"
    buffer.close()
    del buffer
    assert open_files() == before
    os.close(number)


def test_closed_memory_cannot_be_mapped(memory):
    assert memory.handle and "size=16384" in repr(memory)
    memory.close()
    with pytest.raises(RuntimeError, match="closed"):
        memory.map()
    assert memory.handle == 0


@pytest.mark.parametrize(("offset", "size"), [(-1, None), (16384, None), (0, 0), (0, 16385), (16000, 1000)])
def test_range_must_be_within_the_memory(memory, offset, size):
    with pytest.raises(ValueError, match="must be within the 16384 bytes"):
        memory.map(offset, size)


def test_huge_range_is_rejected(memory):
    for arguments in ((10**5000,), (0, 10**5000)):
        with pytest.raises(ValueError, match="must be within the 16384 bytes"):
            memory.map(*arguments)


def test_mapped_memory_is_not_allocated(memory):
    resource = memory.map().memory_resource
    with pytest.raises(TypeError, match=r"use ExternalMemory\.map"):
        resource.allocate(4)
    assert resource.device_id == 0 and resource.is_device_accessible


def import_page(file, **options):
    return ExternalMemory.from_fd(file, 4096, **options)


@pytest.mark.parametrize("make", [import_page, ExternalSemaphore.from_fd], ids=["memory", "semaphore"])
def test_wrong_descriptors_are_rejected(device, file, make):
    before = open_files()
    with pytest.raises(TypeError, match="fd must be an int"):
        make("3")
    with pytest.raises(ValueError, match="fd must be from 0"):
        make(-1)
    with pytest.raises(OSError):
        make(1000)
    with pytest.raises(ValueError, match="'opaque_win32' is not a valid kind"):
        make(file, kind="opaque_win32")
    os.truncate(file, 4)
    with pytest.raises(CUDAError, match="INVALID_VALUE"):
        make(file)
    assert open_files() == before


def test_wrong_sizes_and_flags_are_rejected(device, file):
    with pytest.raises(ValueError, match="size must be from 1"):
        ExternalMemory.from_fd(file, 0)
    with pytest.raises(TypeError, match="is_dedicated must be a bool"):
        ExternalMemory.from_fd(file, 4096, is_dedicated=1)
    with pytest.raises(CUDAError, match="cuImportExternalMemory"):
        ExternalMemory.from_fd(file, 1 << 40)


def test_objects_cannot_be_made_or_pickled(memory, semaphore):
    for cls in (ExternalMemory, ExternalSemaphore):
        with pytest.raises(RuntimeError, match=rf"use {cls.__name__}\.from_fd\(\)"):
            cls()
    for thing in (memory, semaphore):
        with pytest.raises(TypeError, match="pickle"):
            pickle.dumps(thing)


def test_stream_signals_a_timeline(semaphore, stream, file):
    stream.signal(semaphore, 41)
    stream.signal(semaphore, 2**63)
    stream.sync()
    assert counter_of(file) == 2**63 and semaphore.kind == "timeline_fd"


def test_stream_waits_for_a_timeline(semaphore, device, file):
    waiting, other = device.create_stream(), device.create_stream()
    waiting.wait(semaphore, 5)
    other.signal(semaphore, 4)
    other.sync()
    assert not waiting.is_done
    other.signal(semaphore, 5)
    waiting.sync()
    assert waiting.is_done


def test_binary_semaphore_is_reset_by_its_wait(device, stream, file):
    semaphore = ExternalSemaphore.from_fd(file, kind="opaque_fd")
    stream.signal(semaphore)
    stream.sync()
    assert counter_of(file) == 1
    stream.wait(semaphore)
    stream.sync()
    assert counter_of(file) == 0 and "kind='opaque_fd'" in repr(semaphore)


def test_another_process_signals(semaphore, stream, file):
    program = "import os, sys, time; time.sleep(0.1); os.pwrite(int(sys.argv[1]), (8).to_bytes(8, 'little'), 0)"
    stream.wait(semaphore, 8)
    child = subprocess.Popen([sys.executable, "-c", program, str(file)], pass_fds=[file])
    stream.sync()
    assert child.wait() == 0 and counter_of(file) == 8


def test_semaphores_are_checked(semaphore, stream):
    with pytest.raises(TypeError, match="semaphore must be an ExternalSemaphore, not int"):
        stream.signal(3, 1)
    with pytest.raises(ValueError, match="event_or_stream must be"):
        stream.wait(3, 1)
    for call in (stream.signal, stream.wait):
        with pytest.raises(ValueError, match="value must be from 0"):
            call(semaphore, -1)
        with pytest.raises(TypeError, match="value must be an int"):
            call(semaphore, "1")
    with pytest.raises(TypeError, match="semaphore must be"):
        GraphDefinition().signal(stream.record())
    semaphore.close()
    for call in (stream.signal, stream.wait, GraphDefinition().signal, GraphDefinition().wait):
        with pytest.raises(RuntimeError, match="closed"):
            call(semaphore, 1)


def test_nodes_signal_and_wait_for_a_closed_semaphore(device, stream, file):
    semaphore = ExternalSemaphore.from_fd(file)
    definition = GraphDefinition()
    definition.signal(semaphore, 3).wait(semaphore, 3).signal(semaphore, 6)
    graph = definition.instantiate()
    semaphore.close()
    graph.launch(stream)
    stream.sync()
    assert counter_of(file) == 6
    assert [node.type.name for node in definition.nodes()].count("CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL") == 2


def test_captures_keep_semaphores(device, stream, file):
    semaphore = ExternalSemaphore.from_fd(file)
    builder = device.create_graph_builder().begin_building()
    builder.stream.signal(semaphore, 9)
    builder.stream.wait(semaphore, 9)
    graph = builder.end_building().complete()
    semaphore.close()
    assert counter_of(file) == 0
    graph.launch(stream)
    stream.sync()
    assert counter_of(file) == 9


def image_options(**changes):
    return MipmappedArrayOptions(**{"shape": (16, 8), "format": "uint8", "num_channels": 4, "num_levels": 1, **changes})


def test_mapped_image_has_the_memory_of_the_file(memory, stream, file):
    image = memory.map_mipmapped_array(image_options(num_levels=2), 4096)
    assert (image.shape, image.num_levels, image.device) == ((16, 8), 2, Device(0))
    pixels = np.arange(512, dtype=np.uint8).reshape(8, 16, 4)
    image.get_level(0).copy_from(pixels, stream=stream)
    image.get_level(1).copy_from(np.full((4, 8, 4), 7, np.uint8), stream=stream)
    stream.sync()
    assert os.pread(file, 512, 4096) == pixels.tobytes()
    assert os.pread(file, 128, 4096 + 512) == b"\7" * 128
    os.pwrite(file, bytes(512), 4096)
    assert not image.get_level(0).copy_to(np.ones((8, 16, 4), np.uint8), stream=stream).any() or stream.sync()


def test_image_outlives_its_memory_object(memory, stream, file):
    before = open_files()
    image = memory.map_mipmapped_array(image_options(), 100, is_color_attachment=True)
    level = image.get_level(0)
    memory.close()
    image.close()
    level.copy_from(bytes([5] * 512), stream=stream)
    stream.sync()
    assert os.pread(file, 512, 100) == b"\5" * 512
    level.close()
    assert len(open_files()) < len(before)


def test_image_is_read_through_a_texture(memory, stream, file):
    os.pwrite(file, np.arange(128, dtype=np.float32).tobytes(), 0)
    image = memory.map_mipmapped_array({"shape": (16, 8), "format": "float32", "num_channels": 1, "num_levels": 1})
    texture = Device(0).create_texture_object(resource=ResourceDescriptor.from_mipmapped_array(image))
    assert texture.handle != 0
    texture.close()
    image.close()


def test_wrong_images_are_rejected(memory, file):
    with pytest.raises(TypeError, match="is_color_attachment must be a bool, not int"):
        memory.map_mipmapped_array(image_options(), is_color_attachment=1)
    with pytest.raises(TypeError, match="options"):
        memory.map_mipmapped_array(3)
    with pytest.raises(TypeError, match="offset must be an int, not str"):
        memory.map_mipmapped_array(image_options(), "0")
    for offset in (-1, 16384, 10**5000):
        with pytest.raises(ValueError, match="offset must be within the 16384 bytes of the memory"):
            memory.map_mipmapped_array(image_options(), offset)
    with pytest.raises(CUDAError, match="cuExternalMemoryGetMappedMipmappedArray"):
        memory.map_mipmapped_array(image_options(shape=(64, 65)))
    with pytest.raises(CUDAError, match="cuExternalMemoryGetMappedMipmappedArray"):
        memory.map_mipmapped_array(image_options(), 16384 - 511)
    memory.close()
    with pytest.raises(RuntimeError, match="closed"):
        memory.map_mipmapped_array(image_options())
