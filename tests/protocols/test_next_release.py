# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Statements about the next release of the official package that no other test makes."""

import gc
import importlib
import pickle
import subprocess
import sys
import threading
import warnings
import weakref

import numpy as np
import pytest

from cuda.core import (
    Buffer,
    ContextOptions,
    CUDAError,
    CUDAOutOfMemoryError,
    CUDAWarning,
    Device,
    DeviceMemoryResource,
    Host,
    LaunchConfig,
    LaunchError,
    LegacyPinnedMemoryResource,
    LinkerOptions,
    ManagedBuffer,
    ManagedMemoryResource,
    NotSupportedError,
    NVRTCError,
    OutOfMemoryError,
    Program,
    SMResourceOptions,
    StatisticsMemoryResource,
    Stream,
    VirtualMemoryBuffer,
    VirtualMemoryResource,
)
from cuda.core.graph import GraphBuilder, GraphDefinition
from cuda.core.texture import MipmappedArrayOptions, OpaqueArrayOptions, ResourceDescriptor
from support.contract import IPCBufferDescriptor, IPCEventDescriptor
from support.drivers import with_drivers
from support.memory import _SynchronousMemoryResource
from support.threads import in_thread
from support.work import busy, settle


def free_garbage():
    """Free what earlier tests dropped."""
    gc.collect()
    settle()


# --- names ---


def test_warning_is_a_runtime_warning_and_shown_by_default():
    assert issubclass(CUDAWarning, RuntimeWarning)
    program = "import warnings; from cuda.core import CUDAWarning; warnings.warn('seen', CUDAWarning)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "CUDAWarning: seen" in result.stderr


def test_error_classes_are_public_and_derived():
    assert issubclass(NVRTCError, CUDAError)
    assert CUDAOutOfMemoryError is OutOfMemoryError
    assert issubclass(CUDAOutOfMemoryError, CUDAError) and issubclass(CUDAOutOfMemoryError, MemoryError)


def test_exceptions_print_the_name_that_programs_import():
    for cls in (CUDAError, CUDAOutOfMemoryError, CUDAWarning, LaunchError, NotSupportedError, NVRTCError):
        assert f"{cls.__module__}.{cls.__qualname__}" in (f"cuda.core.{cls.__name__}", "cuda.core.OutOfMemoryError")


def test_failed_allocation_raises_the_memory_error(device):
    with pytest.raises(CUDAOutOfMemoryError):
        LegacyPinnedMemoryResource().allocate(1 << 60)


@pytest.mark.requires(cuda=(13, 0))
def test_last_prefetch_location_cannot_be_assigned(device, stream):
    buffer = ManagedMemoryResource().allocate(4096, stream=stream)
    buffer.prefetch(Host(), stream=stream)
    stream.sync()
    assert isinstance(buffer.last_prefetch_location, Host)
    with pytest.raises(AttributeError):
        buffer.last_prefetch_location = Host()


@pytest.mark.requires(managed_mempool=True)
def test_last_prefetch_location_of_mixed_pages_is_none(device, stream):
    size = 4 << 20
    buffer = ManagedMemoryResource().allocate(size, stream=stream)
    halves = [ManagedBuffer.from_handle(int(buffer.handle) + at, size // 2, owner=buffer) for at in (0, size // 2)]
    halves[0].prefetch(device, stream=stream)
    stream.sync()
    assert (halves[0].last_prefetch_location, buffer.last_prefetch_location) == (device, None)
    halves[1].prefetch(Host(), stream=stream)
    stream.sync()
    assert (halves[1].last_prefetch_location, buffer.last_prefetch_location) == (Host(), None)
    halves[1].prefetch(device, stream=stream)
    stream.sync()
    assert buffer.last_prefetch_location == device


@pytest.mark.requires(vmm=True)
def test_virtual_memory_buffers_have_a_class_without_constructor(device):
    resource = VirtualMemoryResource(device)
    assert resource.is_ipc_enabled is True
    with resource.allocate(1) as buffer:
        assert type(buffer) is VirtualMemoryBuffer
        assert buffer.size > 1
    with pytest.raises(RuntimeError, match="cannot be constructed directly"):
        VirtualMemoryBuffer()


def test_fields_of_a_launch_config_have_their_order(device):
    config = LaunchConfig(2, None, 3, 4, False, True, None, None)
    assert (config.priority, config.cluster_scheduling_policy_preference) == (0, None)
    assert config.programmatic_stream_serialization


def test_incremental_links_are_off_by_default():
    assert not LinkerOptions().incremental


# --- warnings and notes ---


IMAGE = OpaqueArrayOptions(shape=(4, 4), format="float32", num_channels=1, is_surface_load_store=True)
MIPMAP = MipmappedArrayOptions(shape=(4, 4), format="float32", num_channels=1, num_levels=2)


def image(device):
    return ResourceDescriptor.from_opaque_array(device.create_opaque_array(IMAGE))


def green_context(device):
    sm = SMResourceOptions(count=(8,))
    return device.create_context(ContextOptions(resources=device.resources.sm.split(sm)[0]))


RELEASES = {
    "cuStreamDestroy": lambda device: device.create_stream(),
    "cuEventDestroy": lambda device: device.create_event(),
    "cuMemPoolDestroy": lambda device: DeviceMemoryResource(device, {}),
    "cuGraphDestroy": lambda device: GraphDefinition(),
    "cuGraphExecDestroy": lambda device: GraphDefinition().instantiate(),
    "cuArrayDestroy": lambda device: device.create_opaque_array(IMAGE),
    "cuMipmappedArrayDestroy": lambda device: device.create_mipmapped_array(MIPMAP),
    "cuTexObjectDestroy": lambda device: device.create_texture_object(resource=image(device)),
    "cuSurfObjectDestroy": lambda device: device.create_surface_object(resource=image(device)),
    "cuGreenCtxDestroy": green_context,
}
RELEASE_ROWS = with_drivers({row[0]: row for row in RELEASES.items()}, {"cuGreenCtxDestroy": (12, 4)})


@pytest.mark.requires(software=True, nvrtc=True)
@pytest.mark.parametrize(("call", "make"), RELEASE_ROWS)
def test_failed_releases_warn_except_while_the_driver_shuts_down(device, make, call, capfd):
    emulator = importlib.import_module("cuda.emulator")
    for code, count in (("CUDA_ERROR_DEINITIALIZED", 0), ("CUDA_ERROR_UNKNOWN", 1)):
        free_garbage()
        thing = make(device)
        with warnings.catch_warnings(record=True) as caught, emulator.fail(f"{call}*", code, when="after") as plan:
            warnings.simplefilter("always")
            del thing
            free_garbage()  # small arrays are destroyed in batches
        assert plan.fired == 1
        found = [str(item.message) for item in caught if item.category is CUDAWarning]
        assert len(found) == count and all(call in text and "CUDA_ERROR_UNKNOWN" in text for text in found)
    assert capfd.readouterr().err == ""


@pytest.mark.requires(software=True)
@pytest.mark.parametrize(
    "make",
    [lambda device: device.create_stream(), lambda device: device.create_event(), lambda device: GraphDefinition()],
    ids=["stream", "event", "graph"],
)
def test_warnings_about_two_resources_are_not_merged(device, make):
    emulator = importlib.import_module("cuda.emulator")
    free_garbage()
    things = [make(device) for _ in range(2)]
    names = [f"{int(thing.handle):#x}" for thing in things]
    with warnings.catch_warnings(record=True) as caught, emulator.fail("cu*Destroy*", "CUDA_ERROR_UNKNOWN"):
        warnings.simplefilter("default")
        del things
        gc.collect()
    texts = sorted(str(item.message) for item in caught if item.category is CUDAWarning)
    assert [name in text for name, text in zip(sorted(names), texts, strict=True)] == [True, True]


OWN_RESOURCES = {
    "pinned": (lambda device: LegacyPinnedMemoryResource(), "cuMemFreeHost"),
    "synchronous": (lambda device: _SynchronousMemoryResource(device.device_id), "cuMemFree_v2"),
    "virtual": (lambda device: VirtualMemoryResource(device), "cuMemUnmap"),
}


@pytest.mark.requires(software=True, vmm=True)
@pytest.mark.parametrize(("make", "call"), OWN_RESOURCES.values(), ids=OWN_RESOURCES)
def test_failed_frees_of_library_resources_warn(device, make, call, unraisable):
    emulator = importlib.import_module("cuda.emulator")
    resource = make(device)
    free_garbage()
    for code, count in (("CUDA_ERROR_DEINITIALIZED", 0), ("CUDA_ERROR_UNKNOWN", 1)):
        buffer = resource.allocate(4096)
        address = f"{int(buffer.handle):#x}"
        with warnings.catch_warnings(record=True) as caught, emulator.fail(call, code, when="after") as plan:
            warnings.simplefilter("always")
            del buffer
            gc.collect()
        assert plan.fired == 1
        found = [str(item.message) for item in caught if item.category is CUDAWarning]
        assert len(found) == count and all(address in text and call.split("_")[0] in text for text in found)
    assert unraisable == []


# Memory that was not allocated as a Buffer, but is freed by a resource.
WRAPPED = {
    "pool": (lambda device: DeviceMemoryResource(device, {}), "cuMemFreeAsync"),
    "adaptor of a pool": (lambda device: StatisticsMemoryResource(DeviceMemoryResource(device, {})), "cuMemFreeAsync"),
    "adaptor": (lambda device: StatisticsMemoryResource(LegacyPinnedMemoryResource()), "cuMemFreeHost"),
}


@pytest.mark.requires(software=True)
@pytest.mark.parametrize(("make", "call"), WRAPPED.values(), ids=WRAPPED)
@pytest.mark.parametrize("is_wrapped", [False, True])
def test_failed_frees_of_pools_and_adaptors_warn(device, stream, make, call, is_wrapped, unraisable):
    emulator = importlib.import_module("cuda.emulator")
    resource = make(device)
    owner = resource.allocate(4096, stream=stream)
    buffer = Buffer.from_handle(int(owner.handle), 4096, mr=resource) if is_wrapped else owner
    address = f"{int(buffer.handle):#x}"
    free_garbage()
    with warnings.catch_warnings(record=True) as caught, emulator.fail(call, "CUDA_ERROR_UNKNOWN") as plan:
        warnings.simplefilter("always")
        buffer.close()
    assert plan.fired == 1
    [text] = [str(item.message) for item in caught if item.category is CUDAWarning]
    assert address in text and call in text
    assert unraisable == []


@pytest.mark.requires(software=True)
def test_errors_of_a_deallocate_in_python_are_unraisable(device, unraisable):
    class Freeing(LegacyPinnedMemoryResource):
        def deallocate(self, ptr, size, *, stream=None):
            super().deallocate(ptr, size, stream=stream)

    emulator = importlib.import_module("cuda.emulator")
    buffer = Freeing().allocate(64)
    free_garbage()
    with emulator.fail("cuMemFreeHost", "CUDA_ERROR_UNKNOWN", when="after"):
        buffer.close()
    assert [report.kind for report in unraisable] == [CUDAError]


@pytest.mark.requires(software=True)
def test_warnings_that_a_filter_turns_into_errors_are_unraisable(device, monkeypatch):
    emulator = importlib.import_module("cuda.emulator")
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: found.append(info.exc_type))
    event = device.create_event()
    with warnings.catch_warnings(), emulator.fail("cuEventDestroy*", "CUDA_ERROR_UNKNOWN", when="after"):
        warnings.simplefilter("error", CUDAWarning)
        event.close()
    assert found == [CUDAWarning]


def test_import_does_not_load_the_driver():
    program = "import cuda.core; print('libcuda' in open('/proc/self/maps').read())"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert result.stdout == "False\n", result.stderr


# --- virtual memory ---


@pytest.mark.requires(vmm=True, software=True)
def test_host_memory_records_no_stream_and_needs_no_context(device):
    buffer = VirtualMemoryResource(device, {"location_type": "host", "handle_type": None}).allocate(1)
    assert buffer._deallocation_stream is None
    in_thread(buffer.close)
    assert buffer.is_closed


@pytest.mark.requires(vmm=True)
def test_stream_given_to_close_replaces_the_recorded_one(device, stream):
    recorded = device.create_stream()
    buffer = VirtualMemoryResource(device).allocate(1, stream=recorded)
    assert buffer._deallocation_stream == recorded
    with busy(stream) as release:
        buffer.fill(1, stream=stream)
        timer = threading.Timer(0.02, release)
        timer.start()
        buffer.close(stream)
        assert stream.is_done
        timer.join()


@pytest.mark.requires(vmm=True)
def test_growth_options_pass_the_checks_of_the_constructor(device):
    resource = VirtualMemoryResource(device)
    with resource.allocate(1) as buffer, resource.modify_allocation(buffer, 2 * buffer.size) as grown:
        with pytest.raises(ValueError, match="allocation_type"):
            resource.modify_allocation(grown, 3 * buffer.size, {"allocation_type": "managed"})
        assert not grown.is_closed


# --- devices and contexts ---


@pytest.mark.requires(devices=2)
def test_resources_of_another_device_leave_the_current_one():
    def create():
        first, second = Device(0), Device(1)
        second.set_current()
        first.set_current()
        made = [second.create_stream(), second.create_event()]
        return [item.device.device_id for item in made], Device().device_id

    assert in_thread(create) == ([1, 1], 0)


@pytest.mark.requires(devices=2)
@pytest.mark.parametrize("current", [0, 1])
def test_streams_of_two_devices_wait_for_each_other(current):
    def wait():
        for ordinal in (0, 1):
            Device(ordinal).set_current()
        streams = [Device(ordinal).create_stream() for ordinal in (0, 1)]
        Device(current).set_current()
        streams[0].wait(streams[1])
        streams[1].wait(streams[0])
        for stream in streams:
            stream.sync()
        return Device().device_id

    assert in_thread(wait) == current


@pytest.mark.requires(software=True)
def test_failed_switch_leaves_the_previous_context(device):
    emulator = importlib.import_module("cuda.emulator")
    context = device.context
    with emulator.fail("cuCtxSetCurrent", "CUDA_ERROR_UNKNOWN"), pytest.raises(CUDAError, match="cuCtxSetCurrent"):
        device.set_current(context)
    assert Device().device_id == device.device_id
    device.create_stream().close()


@pytest.mark.requires(devices=2)
def test_any_device_makes_a_context_of_another_device_current(device):
    def switch():
        first, second = Device(0), Device(1)
        second.set_current()
        first.set_current()
        other, own = second.context, first.context
        previous = first.set_current(other)
        assert (previous == own, Device().device_id) == (True, 1)
        second.set_current(previous)
        assert Device().device_id == 0

    def without_a_current_context(context):
        assert Device(0).set_current(context) is None
        return Device().device_id

    in_thread(switch)
    device.set_current()
    context = device.context
    assert in_thread(lambda: without_a_current_context(context)) == 0


@pytest.mark.requires(software=True, devices=2)
def test_failed_call_keeps_the_context_and_creates_nothing():
    emulator = importlib.import_module("cuda.emulator")

    def create():
        first, second = Device(0), Device(1)
        second.set_current()
        first.set_current()
        for call in ("cuStreamCreate*", "cuEventCreate"):
            with emulator.fail(call, "CUDA_ERROR_UNKNOWN"), pytest.raises(CUDAError, match="UNKNOWN"):
                second.create_stream() if "Stream" in call else second.create_event()
            assert Device().device_id == 0

    in_thread(create)


@pytest.mark.requires(software=True, devices=2)
def test_failed_query_of_a_stream_leaves_the_current_context():
    emulator = importlib.import_module("cuda.emulator")

    def query():
        Device(1).set_current()
        stream = Device(1).create_stream()
        foreign = Stream.from_handle(int(stream.handle))
        Device(0).set_current()
        with emulator.fail("cuCtxGetDevice", "CUDA_ERROR_UNKNOWN") as plan:
            with pytest.raises(CUDAError, match="cuCtxGetDevice"):
                foreign.device.__class__  # noqa: B018
        return plan.fired, Device().device_id, foreign.device.device_id, Device().device_id

    assert in_thread(query) == (1, 0, 1, 0)


@pytest.mark.requires(devices=2, peer=True)
def test_later_pool_has_no_access_of_peers(device):
    for _ in range(4):  # the driver may give a new pool the handle of a destroyed one
        pool = DeviceMemoryResource(device, {})
        assert set(pool.peer_accessible_by) == set()
        pool.peer_accessible_by = [1]
        pool.close()


@pytest.mark.requires(devices=2)
def test_nodes_updated_from_another_context_keep_their_memory():
    def update():
        Device(1).set_current()
        Device(0).set_current()
        first, second, third = (LegacyPinnedMemoryResource().allocate(64) for _ in range(3))
        definition = GraphDefinition()
        fill = definition.memset(first, 1, 64)
        copy = fill.memcpy(second, first, 64)
        graph = definition.instantiate()
        Device(1).set_current()
        graph[fill].update(dst=third, value=2, width=64)
        graph[copy].update(dst=second, src=third, size=64)
        assert Device().device_id == 1
        kept = weakref.ref(third)
        del third
        gc.collect()
        Device(0).set_current()
        stream = Device(0).create_stream()
        graph.launch(stream)
        stream.sync()
        return kept, set(np.asarray(second).tolist())

    kept, values = in_thread(update)
    gc.collect()
    assert values == {2} and kept() is None


def test_pinned_memory_backs_textures(device):
    buffer = LegacyPinnedMemoryResource().allocate(4096)
    linear = ResourceDescriptor.from_linear(buffer, format="float32", num_channels=1)
    pitched = ResourceDescriptor.from_pitch2d(
        buffer, format="uint8", num_channels=1, width=32, height=8, pitch_bytes=512
    )
    assert (linear.source, pitched.source) == (buffer, buffer)
    for descriptor in (linear, pitched):
        with device.create_texture_object(resource=descriptor) as texture:
            assert int(texture.handle) != 0


def test_pinned_memory_belongs_to_no_device(device):
    resource = LegacyPinnedMemoryResource()
    assert resource.device_id == -1
    with resource.allocate(64) as buffer:
        assert buffer.device_id == -1


# --- captures ---


@pytest.mark.parametrize("mode", ["global", "thread_local"])
def test_memory_resource_is_made_inside_a_capture(device, mode):
    builder = device.create_graph_builder().begin_building(mode=mode)
    assert DeviceMemoryResource(device).device_id == device.device_id
    assert device.memory_resource is not None
    builder.end_building().complete()
    assert not builder.is_building


def test_fork_cannot_end_the_capture_and_leaves_it_valid(device):
    builder = device.create_graph_builder().begin_building()
    first, second = builder.split(2)
    with pytest.raises(RuntimeError, match="fork"):
        second.end_building()
    GraphBuilder.join(first, second).end_building().complete()
    assert not builder.is_building


@pytest.mark.requires(software=True)
def test_join_that_fails_closes_the_rest_and_ends_unjoined(device):
    emulator = importlib.import_module("cuda.emulator")
    builder = device.create_graph_builder().begin_building()
    forks = builder.split(3)
    LegacyPinnedMemoryResource().allocate(4).fill(0, stream=forks[1])
    with emulator.fail("cuStreamWaitEvent", "CUDA_ERROR_UNKNOWN"), pytest.raises(CUDAError, match="cuStreamWaitEvent"):
        GraphBuilder.join(*forks)
    for fork in forks[1:]:
        with pytest.raises(RuntimeError, match="closed"):
            assert fork.is_building
    with pytest.raises(CUDAError, match="UNJOINED"):
        builder.end_building()
    del forks, builder
    gc.collect()


@pytest.mark.requires(software=True)
def test_failed_instantiation_raises_the_driver_error(device):
    emulator = importlib.import_module("cuda.emulator")
    definition = GraphDefinition()
    definition.empty()
    with (
        emulator.fail("cuGraphInstantiate*", "CUDA_ERROR_OUT_OF_MEMORY"),
        pytest.raises(CUDAError, match="CUDA_ERROR_OUT_OF_MEMORY"),
    ):
        definition.instantiate()


def embed_in_graph():
    definition = GraphDefinition()
    return lambda: definition.embed(one_node()), lambda: len(definition.nodes())


def embed_in_capture():
    builder = Device().create_graph_builder().begin_building()
    child = Device().create_graph_builder().begin_building()
    child.end_building()
    return lambda: builder.embed(child), lambda: len(builder.end_building().graph_definition.nodes())


def call_back_in_capture():
    builder = Device().create_graph_builder().begin_building()
    return lambda: builder.callback(lambda: None), lambda: len(builder.end_building().graph_definition.nodes())


def branch_in_capture():
    builder = Device().create_graph_builder().begin_building()
    condition = builder.create_condition()
    return lambda: builder.if_then(condition), lambda: len(builder.end_building().graph_definition.nodes())


def one_node():
    definition = GraphDefinition()
    definition.empty()
    return definition


ADDED_NODES = {
    "graph": (embed_in_graph, "cuGraphChildGraphNodeGetGraph"),
    "capture": (embed_in_capture, "cuGraphChildGraphNodeGetGraph"),
    "update": (embed_in_capture, "cuStreamUpdateCaptureDependencies*"),
    "callback": (call_back_in_capture, "cuStreamUpdateCaptureDependencies*"),
    "branch": (branch_in_capture, "cuStreamUpdateCaptureDependencies*"),
}
ADDED_NODE_ROWS = with_drivers(ADDED_NODES, {"branch": (12, 3)})


@pytest.mark.requires(software=True)
@pytest.mark.parametrize(("prepare", "call"), ADDED_NODE_ROWS)
def test_node_that_a_later_step_fails_for_is_removed(device, prepare, call):
    emulator = importlib.import_module("cuda.emulator")
    add, count = prepare()
    with emulator.fail(call, "CUDA_ERROR_UNKNOWN"), pytest.raises(CUDAError, match=call.rstrip("*")) as info:
        add()
    assert not getattr(info.value, "__notes__", ())
    assert count() == 0


@pytest.mark.requires(software=True)
@pytest.mark.parametrize(("prepare", "call"), ADDED_NODE_ROWS)
def test_unremovable_node_is_a_note_of_the_first_error(device, prepare, call):
    emulator = importlib.import_module("cuda.emulator")
    add, count = prepare()
    with emulator.fail(f"{call},cuGraphDestroyNode", "CUDA_ERROR_UNKNOWN"):
        with pytest.raises(CUDAError, match=call.rstrip("*")) as info:
            add()
    [note] = info.value.__notes__
    assert "remains in the graph" in note and "cuGraphDestroyNode" in note
    assert count() == 1


@pytest.mark.requires(nvrtc=True)
def test_program_in_a_reference_cycle_silently_removes_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = []
    monkeypatch.setattr(sys, "unraisablehook", lambda info: found.append(info.exc_type))
    program = Program("__global__ void f() {}", "c++", {"debug": True})
    cycle = [program]
    cycle.append(cycle)
    del program, cycle
    gc.collect()
    Program.__new__(Program)
    assert found == [] and list(tmp_path.iterdir()) == []


# --- pickles ---


@pytest.mark.parametrize(
    "descriptor",
    [IPCBufferDescriptor._init(b"12345678" * 8, 100), IPCEventDescriptor._init(b"12345678" * 8, True)],
    ids=repr,
)
def test_descriptors_are_pickled_by_a_function(descriptor):
    # cloudpickle cannot pickle the class method of an extension class that their pickles used before.
    function, arguments = descriptor.__reduce__()
    assert pickle.loads(pickle.dumps(function)) is function
    again = function(*arguments)
    assert pickle.dumps(again) == pickle.dumps(pickle.loads(pickle.dumps(descriptor)))


@pytest.mark.requires(module="cloudpickle")
def test_descriptors_are_pickled_by_cloudpickle():
    cloudpickle = importlib.import_module("cloudpickle")
    for descriptor in (IPCBufferDescriptor._init(b"payload", 7), IPCEventDescriptor._init(b"payload", False)):
        assert type(cloudpickle.loads(cloudpickle.dumps(descriptor))) is type(descriptor)


def test_pickles_of_earlier_releases_are_read():
    old = pickle.dumps((IPCBufferDescriptor._init, (b"payload", 7)))
    function, arguments = pickle.loads(old)
    assert function(*arguments).size == 7
