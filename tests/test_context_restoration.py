# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls in another context restore the caller's current context, or raise if they cannot."""

import gc
import importlib
import time

import pytest

from cuda.core import (
    CUDAError,
    CUDAOutOfMemoryError,
    Device,
    GraphicsResource,
    LaunchConfig,
    ObjectCode,
    StreamOptions,
    launch,
)
from cuda.core.texture import OpaqueArrayOptions, ResourceDescriptor
from support.contexts import current_context
from support.drivers import with_drivers
from support.kernels import compiled
from support.memory import _SynchronousMemoryResource
from support.threads import in_thread
from support.work import settle

pytestmark = pytest.mark.requires(software=True, devices=2)

IMAGE = OpaqueArrayOptions(shape=(4, 4), format="float32", num_channels=1, is_surface_load_store=True)
SOURCE = 'extern "C" __global__ void nothing() {}'


def map_graphics(second):
    emulator = importlib.import_module("cuda.emulator")
    stream = second.create_stream()
    with second:
        resource = GraphicsResource.from_gl_buffer(emulator.GraphicsBuffer(64).name)

    def call():
        resource.map(stream=stream)
        resource.unmap()

    return call


def texture(second):
    array = second.create_opaque_array(IMAGE)
    resource = ResourceDescriptor.from_opaque_array(array)
    return lambda: second.create_texture_object(resource=resource)


def surface(second):
    array = second.create_opaque_array(IMAGE)
    resource = ResourceDescriptor.from_opaque_array(array)
    return lambda: second.create_surface_object(resource=resource)


def condition(second):
    builder = second.create_stream().create_graph_builder().begin_building()
    return lambda: builder.create_condition()


def conditional(second):
    builder = second.create_stream().create_graph_builder().begin_building()

    def call():
        made.append(builder.if_then(builder.create_condition()))

    made = []
    return call


def record(second):
    stream = second.create_stream()
    return lambda: stream.record()


def wait(second):
    stream = Device(0).create_stream()
    awaited = [second.create_stream() for _ in range(2)]  # a stream keeps its event
    remaining = iter(awaited)
    return lambda: stream.wait(next(remaining)) or awaited


def grid_auto(second):
    stream = second.create_stream()
    kernel = ObjectCode.from_cubin(compiled(SOURCE).code).get_kernel("nothing")
    blocks = [64, 32]  # the size of the grid is remembered
    return lambda: launch(stream, LaunchConfig(grid="resident", block=blocks.pop()), kernel)


# Each makes what its operation needs on the second device, and returns the operation and the call it makes there.
OPERATIONS = {
    "stream": (lambda second: second.create_stream, "cuStreamCreateWithPriority"),
    "stream with a priority": (
        lambda second: lambda: second.create_stream(options=StreamOptions(priority=-1)),
        "cuStreamCreateWithPriority",
    ),
    "priority": (
        lambda second: lambda: second.create_stream(options=StreamOptions(priority=-1)),
        "cuCtxGetStreamPriorityRange",
    ),
    "event": (lambda second: second.create_event, "cuEventCreate"),
    "record": (record, "cuEventCreate"),
    "wait": (wait, "cuEventCreate"),
    "sync": (lambda second: second.sync, "cuCtxRecordEvent"),
    "array": (lambda second: lambda: second.create_opaque_array(IMAGE), "cuArray3DCreate"),
    "texture": (texture, "cuTexObjectCreate"),
    "surface": (surface, "cuSurfObjectCreate"),
    "condition": (condition, "cuGraphConditionalHandleCreate"),
    "conditional": (conditional, "cuGraphConditionalHandleCreate"),
    "graphics": (map_graphics, "cuGraphicsMapResources"),
    "grid": (grid_auto, "cuOccupancyMaxActiveBlocksPerMultiprocessor"),
}
FIRST_DRIVERS = {"sync": (12, 5), "condition": (12, 3), "conditional": (12, 3)}
each_operation = pytest.mark.parametrize(("prepare", "call"), with_drivers(OPERATIONS, FIRST_DRIVERS))


def on_two_devices(check, *arguments):
    """Call a function on a new thread, with device 0 current and device 1 initialized."""

    def run():
        Device(1).set_current()
        Device(0).set_current()
        settle()  # what earlier tests have left could not be destroyed during a capture
        check(*arguments)
        settle()

    in_thread(run)


def handles() -> list[str]:
    """Return the resources of the software device."""
    gc.collect()
    settle()  # textures and arrays among the garbage wait for the operation
    settle()
    return sorted(importlib.import_module("cuda.emulator").leaks())


def assert_nothing_new(before: list[str]) -> None:
    """Check that all resources were there before, once those that wait for work are gone."""
    for _ in range(50):
        new = set(handles()) - set(before)
        if not new:
            return
        time.sleep(0.02)
    raise AssertionError(f"left over: {new}")


@each_operation
@pytest.mark.parametrize("when", ["after", "before"])
def test_failed_context_restoration_raises_and_creates_nothing(prepare, call, when):
    emulator = importlib.import_module("cuda.emulator")

    def check():
        operation = prepare(Device(1))
        first = current_context()
        operation()
        before = handles()
        with emulator.fail("cuCtxPopCurrent", "CUDA_ERROR_UNKNOWN", when=when, nth=1) as plan:
            with pytest.raises(CUDAError, match="cuCtxPopCurrent") as info:
                operation()
            assert plan.fired == 1
        current = first if when == "after" else int(Device(1).context.handle)
        assert current_context() == current
        assert f"{current:#x}" in "".join(info.value.__notes__)
        Device(0).set_current()
        del info
        assert_nothing_new(before)

    on_two_devices(check)


@each_operation
def test_call_error_has_the_failed_restoration_as_a_note(prepare, call):
    emulator = importlib.import_module("cuda.emulator")

    def check():
        operation = prepare(Device(1))
        operation()
        before = handles()
        with emulator.fail(call, "CUDA_ERROR_UNKNOWN"), emulator.fail("cuCtxPopCurrent", 999, when="after"):
            with pytest.raises(CUDAError, match=call) as info:
                operation()
        [note] = [text for text in info.value.__notes__ if "cuCtxPopCurrent" in text]
        assert f"The current context of this thread is now {current_context():#x}" in note
        del info
        assert_nothing_new(before)

    on_two_devices(check)


def test_failed_allocation_reports_the_memory_of_its_own_device():
    def check():
        with Device(1):
            keeping = _SynchronousMemoryResource(1).allocate(93 << 20)
        images = [OpaqueArrayOptions(shape=(1 << 16, 1 << 15), format="float32", num_channels=4) for _ in range(2)]
        free = [free_memory(Device(number)) for number in (0, 1)]
        assert free[0] != free[1]
        for allocate in (
            lambda: _SynchronousMemoryResource(1).allocate(1 << 60),
            lambda: [Device(1).create_opaque_array(image) for image in images * 1000],
        ):
            with pytest.raises(CUDAOutOfMemoryError) as info:
                allocate()
            assert (info.value.free, current_context()) == (free[1], int(Device(0).context.handle))
        keeping.close()

    def free_memory(device):
        with device, pytest.raises(CUDAOutOfMemoryError) as info:
            _SynchronousMemoryResource(int(device)).allocate(1 << 60)
        return info.value.free

    on_two_devices(check)


def test_block_that_fails_has_the_failed_restoration_as_a_note():
    emulator = importlib.import_module("cuda.emulator")

    def check():
        with emulator.fail("cuCtxPopCurrent", "CUDA_ERROR_UNKNOWN", when="after"):
            with pytest.raises(KeyError) as info, Device(1):
                raise KeyError("name")
            assert "cuCtxPopCurrent" in info.value.__notes__[0]
            with pytest.raises(CUDAError, match="cuCtxPopCurrent") as info, Device(1):
                pass
        assert f"{current_context():#x}" in info.value.__notes__[0]

    on_two_devices(check)
