# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Contexts on a subset of a device's SMs: where their kernels run, how long they live, and what they reject."""

import gc

import numpy as np
import pytest

from cuda.core import (
    ContextOptions,
    CUDAError,
    Device,
    EventOptions,
    LaunchConfig,
    SMResource,
    SMResourceOptions,
    Stream,
    StreamOptions,
    WorkqueueResourceOptions,
    launch,
)
from support.contexts import current_context, no_context
from support.green import BLOCKS, green_context, kernel, multiprocessors, own_multiprocessors, split
from support.internals import registry_sizes
from support.threads import in_thread

pytestmark = pytest.mark.requires(green=True)


@pytest.fixture
def context(device):
    context = green_context(device)
    yield context
    device.set_current()
    context.close()


def test_kernels_run_on_their_own_multiprocessors(device):
    first, second = (device.create_context(ContextOptions(resources=[group])) for group in split(device, 16, 16))
    used = [own_multiprocessors(context.create_stream()) for context in (first, second)]
    assert used[0] & used[1] == set()
    assert all(0 < len(numbers) <= 16 for numbers in used)
    assert len(multiprocessors(device.create_stream())) > 16


def test_groups_may_be_joined_in_one_context(device):
    groups = split(device, 8, 8)
    context = device.create_context(ContextOptions(resources=groups))
    assert context.resources.sm.sm_count == 16
    assert 0 < len(own_multiprocessors(context.create_stream())) <= 16


def test_context_is_green_and_has_its_own_resources(device, context):
    assert context.is_green
    assert context != device.context
    assert int(context.handle) != current_context()
    assert context.resources.sm.sm_count == 8
    assert device.context.is_green is False
    assert device.context.resources.sm.sm_count == device.properties.multiprocessor_count


def test_streams_and_events_have_their_context(device, context):
    stream = context.create_stream()
    assert stream.is_nonblocking
    assert stream.priority == 0
    assert stream.context == context
    assert stream.context is not context
    assert stream.context.is_green
    assert stream.device == device
    assert stream.resources.sm.sm_count == 8
    event = stream.record(options=EventOptions(timing_enabled=True))
    assert event.context == context
    assert event.device == device
    assert device.create_stream().resources.sm.sm_count == device.properties.multiprocessor_count


def test_stream_wrapped_from_its_handle_finds_the_context(context):
    stream = context.create_stream()
    assert Stream.from_handle(int(stream.handle)).context == context


@pytest.mark.requires(mempool=True)
def test_streams_work_while_the_primary_context_is_current(device, context):
    stream = context.create_stream()
    source, target = (device.allocate(256, stream=stream) for _ in range(2))
    source.fill(7, stream=stream)
    source.copy_to(target, stream=stream)
    values = np.zeros(256, np.uint8)
    target.copy_to(values, stream=stream)
    stream.sync()
    assert set(values.tolist()) == {7}
    other = device.create_stream()
    other.wait(stream)
    other.sync()


def test_set_current_returns_the_replaced_object(device, context):
    primary = device.context
    previous = device.set_current(context)
    assert previous is primary
    assert device.context is context
    assert current_context() == int(context.handle)
    assert device.create_stream().context == context
    assert device.create_event().context == context
    assert len(own_multiprocessors(device.create_stream())) <= 8
    assert device.set_current(context) is context
    assert device.set_current(previous) is context
    assert device.context is primary


def test_default_stream_follows_the_current_context(device, context):
    device.set_current(context)
    assert len(own_multiprocessors(device.default_stream)) <= 8
    device.set_current()
    assert len(multiprocessors(device.default_stream)) > 8


def test_device_sync_waits_for_the_context(device, context):
    stream = context.create_stream()
    device.set_current(context)
    launch(stream, LaunchConfig(grid=BLOCKS, block=32), kernel(), device.allocate(4 * BLOCKS, stream=stream))
    device.sync()
    assert stream.is_done


def test_close_raises_while_the_context_is_current(device, context):
    device.set_current(context)
    with pytest.raises(RuntimeError, match="current on this thread"):
        context.close()
    assert not context.is_closed
    assert current_context() == int(context.handle)


def test_streams_outlive_their_closed_context(device):
    context = green_context(device)
    stream = context.create_stream()
    context.close()
    context.close()
    assert context.handle is None
    assert context.is_green is False
    assert repr(context) == "<Context handle=0x0 device=0>"
    for use in (lambda: context.resources, context.create_stream, lambda: device.set_current(context)):
        with pytest.raises(RuntimeError, match="closed"):
            use()
    assert stream.context.is_green
    assert len(own_multiprocessors(stream)) <= 8


def test_context_lives_as_long_as_its_streams_and_events(device):
    gc.collect()
    device.sync()  # releases objects that other tests closed while work was pending
    before = registry_sizes()["green"]
    context = green_context(device)
    stream = context.create_stream()
    event = stream.record()
    del context
    gc.collect()
    assert registry_sizes()["green"] == before + 1
    stream.close()
    assert event.context.is_green
    del stream, event
    gc.collect()
    device.sync()
    assert registry_sizes()["green"] == before


def test_many_contexts_are_created_one_after_the_other(device):
    for _ in range(50):
        context = green_context(device)
        assert context.create_stream().is_done
        context.close()


def test_current_context_closed_by_another_thread_is_replaced(device, context):
    other = green_context(device)
    device.set_current(context)
    in_thread(context.close)
    previous = device.set_current(other)
    assert previous is not context or previous.is_closed  # some drivers make another context current
    assert device.context is other
    device.set_current()
    other.close()


def test_another_thread_can_use_the_context(context):
    def work():
        stream = context.create_stream()
        Device(0).set_current(context)
        return len(own_multiprocessors(stream)), Device(0).context == context

    count, is_current = in_thread(work)
    assert count <= 8
    assert is_current


def test_creation_needs_no_current_context_and_sets_none(device):
    with no_context():
        context = Device(0).create_context({"resources": split(Device(0), 8)})
        assert current_context() == 0
        assert context.create_stream().context == context


# --- Rejected arguments -----------------------------------------------------------------------------


def test_resources_are_required(device):
    with pytest.raises(ValueError, match="options must be a ContextOptions"):
        device.create_context()
    with pytest.raises(ValueError, match="not be None"):
        device.create_context(ContextOptions(resources=None))
    with pytest.raises(ValueError, match="at least one"):
        device.create_context(ContextOptions(resources=[]))
    with pytest.raises(TypeError):
        ContextOptions()


@pytest.mark.parametrize("options", [object(), [1], 8])
def test_options_of_another_type_are_rejected(device, options):
    with pytest.raises(TypeError, match="ContextOptions"):
        device.create_context(options)


def test_resources_of_another_type_are_rejected(device):
    with pytest.raises(TypeError, match="SMResource or WorkqueueResource, not int"):
        device.create_context(ContextOptions(resources=[8]))
    with pytest.raises(TypeError, match="must be a sequence"):
        device.create_context(ContextOptions(resources=split(device, 8)[0]))


def test_resources_of_a_dry_run_are_rejected(device):
    groups, rest = device.resources.sm.split(SMResourceOptions(count=8), dry_run=True)
    for resource in (groups[0], rest):
        with pytest.raises(ValueError, match="dry run"):
            device.create_context(ContextOptions(resources=[resource]))


def test_empty_resources_are_rejected(device):
    with pytest.raises(ValueError, match="empty SMResource"):
        device.create_context(ContextOptions(resources=[SMResource.__new__(SMResource)]))


@pytest.mark.requires(devices=2)
def test_resources_of_another_device_are_rejected(devices):
    with pytest.raises(ValueError, match="must be of device 0, not of device 1"):
        devices[0].create_context(ContextOptions(resources=split(devices[1], 8)))


@pytest.mark.requires(software=True)  # NVIDIA's CUDA 13.0 driver accepts overlapping groups
def test_driver_rejects_resources_of_two_splits(device):
    with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION"):
        device.create_context(ContextOptions(resources=[*split(device, 8), *split(device, 8)]))


@pytest.mark.parametrize(
    "options, error, message",
    [
        (StreamOptions(nonblocking=False), ValueError, "nonblocking must be True"),
        ({"priority": 1000}, ValueError, "priority must be from"),
        (8, TypeError, "stream options"),
    ],
)
def test_bad_stream_options_are_rejected(context, options, error, message):
    with pytest.raises(error, match=message):
        context.create_stream(options)


def test_streams_have_the_priority_of_their_options(context):
    assert context.create_stream({"priority": -1}).priority == -1
    assert context.create_stream(options=StreamOptions(priority=0)).priority == 0


def test_only_green_contexts_create_streams(device):
    with pytest.raises(RuntimeError, match="only green contexts"):
        device.context.create_stream()


@pytest.mark.requires(cuda=(13, 1))
def test_context_can_be_created_from_work_queues_alone(device):
    queues = device.resources.workqueue
    queues.configure(WorkqueueResourceOptions(sharing_scope="green_ctx_balanced", concurrency_limit=2))
    context = device.create_context(ContextOptions(resources=(queues,)))
    assert context.resources.workqueue.sharing_scope == "green_ctx_balanced"
    assert context.resources.workqueue.concurrency_limit == 2
    assert context.create_stream().resources.sm.sm_count == device.properties.multiprocessor_count
