# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Textures, surfaces and arrays closed or dropped while work may use them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import cuda.emulator
from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, LaunchConfig, launch
from cuda.core.texture import ResourceDescriptor
from support.images import array_of, texture_of
from support.internals import has_pending_destructions
from support.kernels import HostMemory, compiled
from support.work import busy, released_after_failure

pytestmark = [pytest.mark.requires(nvrtc=True), pytest.mark.usefixtures("nothing_waits")]

SOURCE = """
extern "C" __global__ void read(cudaTextureObject_t t, float* out) { *out = tex2D<float>(t, 1.5f, 1.5f); }
extern "C" __global__ void write(cudaSurfaceObject_t s, float value) { surf2Dwrite(value, s, 4, 1); }
"""
ONE = LaunchConfig(grid=1, block=1)


def kernel(name):
    return compiled(SOURCE).get_kernel(name)


def filled(device, stream, value, **options):
    return array_of(device, stream, np.full((4, 4), value, np.float32), **options)


def reuse_numbers(device, stream):
    """Make textures of another value, which reuse the handles and the memory of destroyed ones."""
    return [texture_of(device, filled(device, stream, -1.0)) for _ in range(4)]


@pytest.mark.parametrize("argument", ["object", "number"])
@pytest.mark.parametrize("end", ["close", "drop"])
def test_kernels_in_flight_read_a_closed_or_dropped_texture(device, stream, end, argument):
    out, other = HostMemory(4), device.create_stream()
    array = filled(device, stream, 7.0)
    texture = texture_of(device, array)
    launch(stream, ONE, kernel("read"), texture, out.buffer)  # loads the code, which would wait for a busy device
    stream.sync()
    with busy(stream) as release:
        launch(stream, ONE, kernel("read"), texture if argument == "object" else np.uint64(texture.handle), out.buffer)
        if end == "close":
            texture.close()
            array.close()
        del texture, array
        assert has_pending_destructions()
        others = reuse_numbers(device, other)
        release()
        device.sync()
    assert out.array(np.float32)[0] == 7.0
    assert not has_pending_destructions()
    assert len(others) == 4


def image_object_of(device, array, kind):
    if kind == "texture":
        return texture_of(device, array)
    return device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(array))


@pytest.mark.parametrize("kind", ["surface", "texture"])
def test_texture_or_surface_waits_for_the_work(device, stream, kind):
    array = filled(device, stream, 7.0, is_surface_load_store=True)
    made = image_object_of(device, array, kind)
    with busy(stream) as release:
        made.close()
        assert has_pending_destructions()
        release()


@pytest.mark.requires(software=True)  # the time of an allocation is that of the library
def test_resources_that_wait_do_not_slow_allocations_down(device, stream):
    other, memory = device.create_stream(), device.memory_resource

    def best_time():
        times = []
        for _ in range(10):
            start = time.perf_counter()
            for _ in range(50):
                memory.allocate(1024, stream=other).close()
            times.append(time.perf_counter() - start)
        return min(times)

    before = best_time()
    with busy(stream) as release:
        for _ in range(200):
            device.create_opaque_array({"shape": (4, 4), "format": "float32", "num_channels": 1}).close()
        assert has_pending_destructions()
        assert best_time() < 3 * before
        release()


def test_closed_streams_count_until_their_work_completes(device, stream):
    out, gone = HostMemory(4), device.create_stream()
    texture = texture_of(device, filled(device, stream, 7.0))
    launch(stream, ONE, kernel("read"), texture, out.buffer)
    stream.sync()
    with busy(gone) as release:
        launch(gone, ONE, kernel("read"), np.uint64(texture.handle), out.buffer)
        event = gone.record()
        gone.close()
        texture.close()
        assert has_pending_destructions()
        reuse_numbers(device, stream)
        release()
        event.sync()
    assert out.array(np.float32)[0] == 7.0


@pytest.mark.parametrize("default", [LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM])
def test_work_of_default_streams_counts(device, stream, default):
    out = HostMemory(4)
    texture = texture_of(device, filled(device, stream, 7.0))
    launch(stream, ONE, kernel("read"), texture, out.buffer)
    stream.sync()
    with busy(default) as release:
        launch(default, ONE, kernel("read"), texture, out.buffer)
        texture.close()
        assert has_pending_destructions()
        release()
        default.sync()
    assert out.array(np.float32)[0] == 7.0
    device.sync()
    assert not has_pending_destructions()


def test_copies_in_flight_keep_their_array(device, stream):
    values = np.arange(16, dtype=np.float32).reshape(4, 4)
    array = array_of(device, stream, values)
    out = HostMemory(64)
    with busy(stream) as release:
        array.copy_to(out.buffer, stream=stream)
        array.close()
        assert has_pending_destructions()
        release()
        stream.sync()
    assert np.array_equal(out.array(np.float32).reshape(4, 4), values)


def test_surfaces_and_mipmapped_arrays_wait_for_the_work(device, stream):
    mipmap = device.create_mipmapped_array(
        {"shape": (4, 4), "format": "float32", "num_channels": 1, "num_levels": 1, "is_surface_load_store": True}
    )
    array = mipmap.get_level(0)
    array.copy_from(np.zeros((4, 4), np.float32), stream=stream)
    surface = device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(array))
    launch(stream, ONE, kernel("write"), surface, np.float32(0))
    stream.sync()
    out = np.empty((4, 4), np.float32)
    with busy(stream) as release:
        launch(stream, ONE, kernel("write"), surface, np.float32(5))
        array.copy_to(pinned := HostMemory(64).buffer, stream=stream)
        surface.close()
        array.close()
        mipmap.close()
        assert has_pending_destructions()
        release()
        stream.sync()
    out[:] = np.asarray(pinned).view(np.float32).reshape(4, 4)
    assert out[1, 1] == 5 and out.sum() == 5
    device.sync()
    assert not has_pending_destructions()


@pytest.mark.requires(software=True)
def test_arrays_and_textures_are_destroyed_once_the_work_ends(device, stream):
    def images():
        return sum(line.startswith(("array", "texture")) for line in cuda.emulator.leaks())

    before = images()
    array = filled(device, stream, 1.0)
    texture = texture_of(device, array)
    with busy(stream) as release:
        texture.close()
        array.close()
        assert images() == before + 2
        release()
        device.sync()
    assert images() == before


def test_closed_textures_wait_for_earlier_work_only(device, stream):
    array = filled(device, stream, 1.0)
    with busy(stream) as release:
        texture_of(device, array).close()
        event = stream.record()
        with busy(stream):
            release()
            event.sync()
            assert not stream.is_done
            assert not has_pending_destructions()


def test_closing_during_a_capture_leaves_it_valid(device, stream):
    array = filled(device, stream, 1.0)
    texture = texture_of(device, array)
    builder = device.create_graph_builder().begin_building(mode="global")
    with busy(stream):
        texture.close()
        array.close()
    graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    device.sync()
    assert not has_pending_destructions()


def test_capturing_stream_is_queried_after_its_capture(device, stream):
    out = HostMemory(4)
    array = filled(device, stream, 7.0)
    texture = texture_of(device, array)
    builder = device.create_graph_builder().begin_building()
    launch(builder, ONE, kernel("read"), texture, out.buffer)
    texture.close()
    assert has_pending_destructions()
    builder.end_building()
    stream.sync()
    assert not has_pending_destructions()


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("levels", [None, 1])
def test_new_array_out_of_memory_waits_for_pending_releases(device, stream, levels):
    array, options = filled(device, stream, 1.0), {"shape": (4, 4), "format": "float32", "num_channels": 1}
    with busy(stream) as release:
        array.close()
        with released_after_failure(release, "cu*Array*Create"):
            if levels is None:
                made = device.create_opaque_array(options)
            else:
                made = device.create_mipmapped_array({**options, "num_levels": levels})
        assert not has_pending_destructions()
    assert made.handle
    with cuda.emulator.fail("cu*Array*Create"), pytest.raises(MemoryError):
        device.create_opaque_array(options)


def test_exit_with_closed_textures_does_not_warn():
    code = """
import numpy as np
from cuda.core import Device
from cuda.core.texture import ResourceDescriptor
device = Device(0)
device.set_current()
stream = device.create_stream()
array = device.create_opaque_array({"shape": (4, 4), "format": "float32", "num_channels": 1})
array.copy_from(np.zeros(16, np.float32), stream=stream)
texture = device.create_texture_object(resource=ResourceDescriptor.from_opaque_array(array))
texture.handle
texture.close()
array.close()
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr


def test_texture_closed_while_threads_launch_with_it(device, stream):
    """A launch keeps the texture as soon as it has read the handle, or raises that the texture is closed."""
    array, out = filled(device, stream, 5.0), HostMemory(4)
    textures, wrong, is_over = [texture_of(device, array)], [], threading.Event()
    launch(stream, ONE, kernel("read"), textures[0], out.buffer)
    stream.sync()

    def launch_on():
        device.set_current()
        own = device.create_stream()
        while not is_over.is_set():
            try:
                launch(own, ONE, kernel("read"), textures[0], out.buffer)
            except RuntimeError as error:
                if "closed" not in str(error):
                    wrong.append(error)
        own.sync()

    threads = [threading.Thread(target=launch_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        before, textures[0] = textures[0], texture_of(device, array)
        before.close()
    is_over.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert out.array(np.float32)[0] == 5.0


def test_threads_that_use_and_drop_textures(device, stream):
    """Each thread reads its own value from textures that it drops immediately."""
    device.create_stream().close()
    wrong = []

    def work(value):
        device.set_current()
        own = device.create_stream()
        for _ in range(40):
            out = HostMemory(4)
            launch(own, ONE, kernel("read"), texture_of(device, filled(device, own, value)), out.buffer)
            own.sync()
            if out.array(np.float32)[0] != value:
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
