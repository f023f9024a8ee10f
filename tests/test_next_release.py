# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Statements about the next release of the official package that no other test makes."""

import gc
import importlib
import pickle
import subprocess
import sys

import pytest

from cuda.core import (
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
    ManagedMemoryResource,
    NotSupportedError,
    NVRTCError,
    OutOfMemoryError,
    VirtualMemoryBuffer,
    VirtualMemoryResource,
)
from cuda.core.graph import GraphBuilder
from support.contract import IPCBufferDescriptor, IPCEventDescriptor
from support.threads import in_thread

# --- names ---


def test_the_warning_is_a_runtime_warning_and_shown_by_default():
    assert issubclass(CUDAWarning, RuntimeWarning)
    program = "import warnings; from cuda.core import CUDAWarning; warnings.warn('seen', CUDAWarning)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "CUDAWarning: seen" in result.stderr


def test_error_classes_are_public_and_derived():
    assert issubclass(NVRTCError, CUDAError)
    assert CUDAOutOfMemoryError is OutOfMemoryError
    assert issubclass(CUDAOutOfMemoryError, CUDAError) and issubclass(CUDAOutOfMemoryError, MemoryError)


def test_exceptions_print_the_name_under_which_programs_import_them():
    for cls in (CUDAError, CUDAOutOfMemoryError, CUDAWarning, LaunchError, NotSupportedError, NVRTCError):
        assert f"{cls.__module__}.{cls.__qualname__}" in (f"cuda.core.{cls.__name__}", "cuda.core.OutOfMemoryError")


def test_a_failed_allocation_raises_the_memory_error(device):
    with pytest.raises(CUDAOutOfMemoryError):
        LegacyPinnedMemoryResource().allocate(1 << 60)


@pytest.mark.requires(cuda=(13, 0))
def test_the_last_prefetch_location_cannot_be_assigned(device, stream):
    buffer = ManagedMemoryResource().allocate(4096, stream=stream)
    assert buffer.last_prefetch_location is None
    buffer.prefetch(Host(), stream=stream)
    stream.sync()
    assert isinstance(buffer.last_prefetch_location, Host)
    with pytest.raises(AttributeError):
        buffer.last_prefetch_location = Host()


@pytest.mark.requires(vmm=True)
def test_virtual_memory_is_a_buffer_of_its_own_class_without_a_constructor(device):
    resource = VirtualMemoryResource(device)
    assert resource.is_ipc_enabled is True
    with resource.allocate(1) as buffer:
        assert type(buffer) is VirtualMemoryBuffer
        assert buffer.size > 1
    with pytest.raises(RuntimeError, match="cannot be constructed directly"):
        VirtualMemoryBuffer()


def test_the_fields_of_a_launch_config_have_their_order(device):
    config = LaunchConfig(2, None, 3, 4, False, True, None, None)
    assert (config.priority, config.cluster_scheduling_policy_preference) == (0, None)
    assert config.programmatic_stream_serialization


def test_incremental_links_are_off_by_default():
    assert not LinkerOptions().incremental


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
def test_a_failed_switch_leaves_the_previous_context(device):
    emulator = importlib.import_module("cuda.emulator")
    context = device.context
    with emulator.fail("cuCtxSetCurrent", "CUDA_ERROR_UNKNOWN"), pytest.raises(CUDAError, match="cuCtxSetCurrent"):
        device.set_current(context)
    assert Device().device_id == device.device_id
    device.create_stream().close()


def test_pinned_memory_belongs_to_no_device(device):
    resource = LegacyPinnedMemoryResource()
    assert resource.device_id == -1
    with resource.allocate(64) as buffer:
        assert buffer.device_id == -1


# --- captures ---


@pytest.mark.parametrize("mode", ["global", "thread_local"])
def test_a_memory_resource_is_made_inside_a_capture(device, mode):
    builder = device.create_graph_builder().begin_building(mode=mode)
    assert DeviceMemoryResource(device).device_id == device.device_id
    assert device.memory_resource is not None
    builder.end_building().complete()
    assert not builder.is_building


def test_a_fork_cannot_end_the_capture_and_leaves_it_valid(device):
    builder = device.create_graph_builder().begin_building()
    first, second = builder.split(2)
    with pytest.raises(RuntimeError, match="fork"):
        second.end_building()
    GraphBuilder.join(first, second).end_building().complete()
    assert not builder.is_building


@pytest.mark.requires(software=True)
def test_a_join_that_fails_closes_the_rest_and_ends_unjoined(device):
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
