# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The resources of a device that can be partitioned: multiprocessors and work queues."""

import pickle
import subprocess
import sys
import weakref

import pytest

from cuda.core import (
    CUDAError,
    Device,
    DeviceResources,
    SMResource,
    SMResourceOptions,
    WorkqueueResource,
    WorkqueueResourceOptions,
)
from cuda.core.typing import WorkqueueSharingScopeType
from support.contexts import no_context
from support.green import green_context

pytestmark = pytest.mark.requires(green=True)
since_131 = pytest.mark.requires(cuda=(13, 1))


@pytest.fixture
def sm(device):
    return device.resources.sm


@pytest.mark.parametrize("cls", [DeviceResources, SMResource, WorkqueueResource])
def test_resources_cannot_be_constructed(cls):
    with pytest.raises(RuntimeError, match="cannot be constructed directly"):
        cls()
    with pytest.raises(RuntimeError, match="cannot be constructed directly"):
        cls(1, a=2)


def test_device_has_one_view_and_each_query_is_new(device):
    assert device.resources is device.resources
    assert isinstance(device.resources, DeviceResources)
    assert device.resources.sm is not device.resources.sm


def test_queries_need_no_context():
    with no_context():
        assert Device(0).resources.sm.sm_count == Device(0).properties.multiprocessor_count


def test_multiprocessors_are_described_as_by_the_properties(device, sm):
    assert sm.handle != 0
    assert sm.sm_count == device.properties.multiprocessor_count
    assert sm.min_partition_size > 0
    assert sm.coscheduled_alignment > 0
    assert type(sm.flags) is int
    assert not hasattr(sm, "__dict__")


def test_resources_compare_by_identity_and_cannot_be_pickled(device, sm):
    assert sm != device.resources.sm
    assert len({sm, device.resources.sm, sm}) == 2
    assert weakref.ref(sm)() is sm
    for thing in (sm, device.resources):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(thing)


def test_repr_tells_size_and_device(device, sm):
    assert repr(device.resources) == "<DeviceResources of device 0>"
    assert repr(sm) == f"<SMResource of {sm.sm_count} multiprocessors of device 0>"
    _, rest = sm.split(SMResourceOptions(count=8), dry_run=True)
    assert repr(rest).endswith(", dry run>")
    assert repr(green_context(device).resources) == "<DeviceResources of context device 0>"


# --- Splits ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [None, 8, (8,), [8, 8], range(8, 9), (0,), (16, 16, 16)])
def test_split_returns_disjoint_groups(sm, count):
    groups, rest = sm.split(SMResourceOptions(count=count))
    wanted = list(count) if isinstance(count, (tuple, list, range)) else [count]
    assert len(groups) == len(wanted)
    assert isinstance(groups, list)
    for group, least in zip(groups, wanted, strict=True):
        assert group.sm_count >= max(least or 0, group.min_partition_size)
        assert group.sm_count % (group.coscheduled_alignment or 1) == 0  # drivers older than CUDA 13.1 do not report it
    assert sum(group.sm_count for group in groups) + rest.sm_count <= sm.sm_count
    assert sm.sm_count == Device(0).properties.multiprocessor_count


def test_dict_is_taken_as_options(sm):
    groups, _ = sm.split({"count": 8})
    assert [group.sm_count for group in groups] == [8]


@pytest.mark.parametrize("options", [None, 8, [8], object()])
def test_options_of_another_type_are_rejected(sm, options):
    with pytest.raises(TypeError, match="SMResourceOptions"):
        sm.split(options)


def test_dry_run_returns_the_same_sizes(sm):
    options = SMResourceOptions(count=(16, 16), backfill=False)
    real, dry = sm.split(options), sm.split(options, dry_run=True)
    assert [group.sm_count for group in dry[0]] == [group.sm_count for group in real[0]]
    assert dry[1].sm_count == real[1].sm_count
    with pytest.raises(TypeError):
        sm.split(options, True)


@pytest.mark.parametrize(
    "fields, error, message",
    [
        ({"count": ()}, ValueError, "count must not be empty"),
        ({"count": -1}, ValueError, "count must be from 0"),
        ({"count": (8, -8)}, (ValueError, RuntimeError), None),
        ({"count": 1 << 32}, ValueError, "count must be from 0"),
        ({"count": 8.0}, TypeError, "not float"),
        ({"count": "8"}, TypeError, "not str"),
        ({"count": {8}}, TypeError, "not set"),
        ({"count": True}, TypeError, "not bool"),
        ({"count": 8, "backfill": [True]}, ValueError, "backfill must be one value"),
        ({"count": 8, "coscheduled_sm_count": [2]}, ValueError, "coscheduled_sm_count must be one value"),
        ({"count": (8, 8), "backfill": [True]}, ValueError, "2 items like count, not 1"),
        ({"count": (8, 8), "backfill": 1}, TypeError, "backfill must be a bool"),
        ({"preferred_coscheduled_sm_count": -2}, ValueError, "preferred_coscheduled_sm_count must be from 0"),
    ],
)
def test_split_rejects_bad_fields(sm, fields, error, message):
    options = SMResourceOptions(**fields)  # does not check its fields
    with pytest.raises(error, match=message):
        sm.split(options)


@pytest.mark.parametrize("count", [1 << 20, (1 << 20, 1 << 20)])
def test_driver_rejects_impossible_splits(sm, count):
    with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_(RESOURCE_CONFIGURATION|VALUE)"):
        sm.split(SMResourceOptions(count=count))


@since_131
def test_groups_can_have_different_sizes(sm):
    groups, rest = sm.split(SMResourceOptions(count=(16, 32), coscheduled_sm_count=8, backfill=(False, True)))
    assert [group.sm_count for group in groups] == [16, 32]
    assert rest.sm_count <= sm.sm_count - 48


OLD_DRIVER = """
from cuda.core import Device, SMResourceOptions, WorkqueueResource
sm = Device(0).resources.sm
groups, rest = sm.split(SMResourceOptions(count=(10, 10), backfill=True))
print([group.sm_count for group in groups], rest.sm_count, sm.min_partition_size)
print(len(sm.split(SMResourceOptions(count=(None, None)))[0]))
for fields in ({"count": (8, 16)}, {"count": 8, "coscheduled_sm_count": 8}, {"count": (8, -8)}):
    try:
        sm.split(SMResourceOptions(**fields))
    except (RuntimeError, ValueError) as error:
        print(type(error).__name__)
try:
    Device(0).resources.workqueue
except RuntimeError as error:
    print(error)
"""


def run_on_driver(version: str, program: str) -> list[str]:
    environment = {"CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_DRIVER_VERSION": version}
    command = ["env", *(f"{name}={value}" for name, value in environment.items()), sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.requires(software=True)
def test_drivers_before_131_make_equal_groups():
    lines = run_on_driver("13.0", OLD_DRIVER)
    assert lines[0] == "[16, 16] 100 8"
    assert lines[1:4] == ["2", "TooOldError", "TooOldError"]
    assert lines[4] in ("RuntimeError", "ValueError")
    assert lines[5] == "configuration of work queues needs a driver for CUDA 13.1 or newer; this one is for CUDA 13.0"


@pytest.mark.requires(software=True)
def test_drivers_before_124_cannot_partition():
    program = """
from cuda.core import Device
try:
    Device(0).resources.sm
except RuntimeError as error:
    print(error)
"""
    assert run_on_driver("12.2", program) == [
        "partitioning of multiprocessors needs a driver for CUDA 12.4 or newer; this one is for CUDA 12.2"
    ]


def test_empty_resource_cannot_be_split():
    with pytest.raises(RuntimeError, match="no multiprocessors"):
        SMResource.__new__(SMResource).split(SMResourceOptions())


# --- Work queues -----------------------------------------------------------------------------------


@since_131
def test_work_queues_are_configured_in_place(device):
    queues = device.resources.workqueue
    limit = queues.concurrency_limit
    assert queues.handle != 0
    assert queues.device == device
    assert queues.sharing_scope is WorkqueueSharingScopeType.DEVICE_CTX
    assert limit >= 1
    assert queues.configure(WorkqueueResourceOptions()) is None
    assert queues.concurrency_limit == limit
    queues.configure(WorkqueueResourceOptions(sharing_scope="green_ctx_balanced"))
    assert queues.sharing_scope is WorkqueueSharingScopeType.GREEN_CTX_BALANCED
    queues.configure({"concurrency_limit": limit + 5})
    assert queues.concurrency_limit == limit + 5
    assert repr(queues) == f"<WorkqueueResource of device 0, limit {limit + 5}>"
    assert device.resources.workqueue.concurrency_limit == limit
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(queues)


@since_131
@pytest.mark.parametrize("options", [None, 3, "device_ctx"])
def test_configurations_of_another_type_are_rejected(device, options):
    with pytest.raises(TypeError, match="WorkqueueResourceOptions"):
        device.resources.workqueue.configure(options)


@pytest.mark.parametrize(
    "fields, error",
    [
        ({"sharing_scope": "all"}, ValueError),
        ({"sharing_scope": 1}, ValueError),
        ({"concurrency_limit": 0}, ValueError),
        ({"concurrency_limit": -1}, ValueError),
        ({"concurrency_limit": 1 << 32}, ValueError),
        ({"concurrency_limit": "8"}, TypeError),
        ({"concurrency_limit": True}, TypeError),
        ({"concurrency_limit": int}, TypeError),
    ],
)
def test_wrong_configurations_are_rejected_at_construction(fields, error):
    (name,) = fields
    with pytest.raises(error, match="is not a valid WorkqueueSharingScopeType" if name == "sharing_scope" else name):
        WorkqueueResourceOptions(**fields)
