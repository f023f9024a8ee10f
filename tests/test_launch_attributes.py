# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The rare launch attributes: their values in configurations, at launches and in graph nodes."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from cuda.core import Device, LaunchConfig, launch
from cuda.core.graph import AccessPolicyWindow, GraphDefinition
from cuda.core.utils import kernel as source_kernel
from support.contract import _to_native_launch_config
from support.drivers import with_drivers
from support.kernels import compiled

KERNEL = 'extern "C" __global__ void f(int* x) { atomicAdd(x, 1); }'
VALUES = {
    "access_policy_window": AccessPolicyWindow(4096, 64),
    "mem_sync_domain": "remote",
    "mem_sync_domain_map": (0, 1),
    "nvlink_util_centric_scheduling": True,
    "portable_cluster_size_mode": "require_portable",
    "preferred_cluster": (2, 1, 1),
    "shared_memory_carveout": 50,
    "shared_memory_mode": "default",
}
# The values of CUlaunchAttributeID.
NUMBERS = {
    "access_policy_window": 1,
    "mem_sync_domain": 10,
    "mem_sync_domain_map": 9,
    "nvlink_util_centric_scheduling": 16,
    "portable_cluster_size_mode": 17,
    "preferred_cluster": 11,
    "shared_memory_carveout": 14,
    "shared_memory_mode": 18,
}
FIRST_DRIVERS = {"portable_cluster_size_mode": (13, 2), "shared_memory_mode": (13, 2)}


def with_driver(names):
    """The names as parameters of a test, with the driver that each needs."""
    return with_drivers({name: (name,) for name in names}, FIRST_DRIVERS)


FOR_LAUNCHES = with_driver(VALUES)
NAMES_FOR_BINDINGS = [
    pytest.param(name, marks=pytest.mark.requires(bindings=(13, 0) if NUMBERS[name] > 14 else (12, 9)))
    for name in VALUES
]
# A CUDA 13.0 driver rejects preferred clusters of nodes, although it captures launches with them.
FOR_NODES = with_driver(sorted(VALUES.keys() - {"shared_memory_carveout", "preferred_cluster"}))


@pytest.fixture
def kernel(device):
    return compiled(KERNEL).get_kernel("f")


def given(name):
    value = VALUES[name]
    return {"cluster": 2, name: value} if name == "preferred_cluster" else {name: value}


@pytest.mark.parametrize("name", VALUES)
def test_attributes_are_kept_and_removed(device, name):
    plain = LaunchConfig(grid=1, block=1)
    config = LaunchConfig(grid=1, block=1, **{name: VALUES[name]})
    assert getattr(config, name) == VALUES[name]
    assert f"{name}=" in repr(config) and f"{name}=" not in repr(plain)
    assert config != plain
    same = LaunchConfig(grid=1, block=1)
    setattr(same, name, VALUES[name])
    assert (same, hash(same)) == (config, hash(config))
    setattr(config, name, None)
    assert getattr(config, name) is None
    assert (config, hash(config), repr(config)) == (plain, hash(plain), repr(plain))
    assert len(_to_native_launch_config(config).attrs) == 0


@pytest.mark.parametrize("name", NAMES_FOR_BINDINGS)
def test_driver_gets_the_number_and_the_value(device, name):
    native = _to_native_launch_config(LaunchConfig(grid=1, block=1, **{name: VALUES[name]}))
    (attribute,) = native.attrs  # older bindings do not keep the memory of attributes
    assert int(attribute.id) == NUMBERS[name]
    value = attribute.value
    if name == "access_policy_window":
        assert (int(value.accessPolicyWindow.base_ptr), value.accessPolicyWindow.num_bytes) == (4096, 64)
        assert value.accessPolicyWindow.hitRatio == 1
    elif name == "mem_sync_domain_map":
        assert (value.memSyncDomainMap.default_, value.memSyncDomainMap.remote) == (0, 1)
    elif name == "mem_sync_domain":
        assert int(value.memSyncDomain) == 1
    elif name == "shared_memory_carveout":
        assert value.sharedMemCarveout == 50


@pytest.mark.parametrize("name", FOR_LAUNCHES)
def test_launches_have_attributes(device, stream, kernel, name):
    x = device.zeros(1, np.int32, stream=stream)
    config = LaunchConfig(grid=2, block=1, **given(name))
    blocks = config.grid[0] * (config.cluster or (1,))[0]
    launch(stream, config, kernel, x)
    assert x.to_host(stream=stream).tolist() == [blocks]


@pytest.mark.parametrize("name", FOR_NODES)
def test_graph_nodes_have_attributes(device, stream, kernel, name):
    x = device.zeros(1, np.int32, stream=stream)
    graph = GraphDefinition()
    config = LaunchConfig(grid=2, block=1, **given(name))
    blocks = config.grid[0] * (config.cluster or (1,))[0]
    node = graph.launch(config, kernel, x)
    if name == "access_policy_window":
        assert node.access_policy_window == VALUES[name]
    graph.instantiate().launch(stream)
    assert x.to_host(stream=stream).tolist() == [blocks]


def test_graph_nodes_have_the_launch_attributes(device, stream, kernel):
    x = device.zeros(1, np.int32, stream=stream)
    graph = GraphDefinition()
    fields = {"cluster": 2, "priority": -1, "cluster_scheduling_policy_preference": "spread"}
    node = graph.launch(LaunchConfig(grid=2, block=1, **fields), kernel, x)
    assert (node.grid, node.cluster, node.priority) == ((4, 1, 1), (2, 1, 1), -1)
    assert graph.launch(LaunchConfig(grid=1, block=1, is_cooperative=True), kernel, x).is_cooperative
    graph.instantiate().launch(stream)
    assert x.to_host(stream=stream).tolist() == [5]


def test_updates_set_attributes_of_graph_nodes(device, stream, kernel):
    x = device.zeros(1, np.int32, stream=stream)
    node = GraphDefinition().launch(LaunchConfig(grid=1, block=1), kernel, x)
    node.update(config=LaunchConfig(grid=2, block=1, cluster=2, priority=-1))
    assert (node.grid, node.cluster, node.priority) == ((4, 1, 1), (2, 1, 1), -1)
    node.update(config=LaunchConfig(grid=4, block=1), args=(x,))
    assert (node.grid, node.cluster, node.priority) == ((4, 1, 1), (2, 1, 1), -1)


def test_executable_nodes_keep_their_attributes(device, kernel):
    x = device.zeros(1, np.int32, stream=device.default_stream)
    graph = GraphDefinition()
    node = graph.launch(LaunchConfig(grid=1, block=1), kernel, x)
    executable = graph.instantiate()
    with pytest.raises(NotImplementedError, match="must not have launch attributes"):
        executable[node].update(config=LaunchConfig(grid=1, block=1, priority=-1), kernel=kernel, args=(x,))


@pytest.mark.parametrize("name", ["launch_completion_event", "programmatic_event"])
def test_events_of_launches_complete(device, stream, kernel, name):
    x = device.zeros(1, np.int32, stream=stream)
    event = device.create_event()
    config = LaunchConfig(grid=1, block=1, **{name: event})
    launch(stream, config, kernel, x)
    event.sync()
    assert event.is_done
    assert getattr(config, name) == ((event, False) if name == "programmatic_event" else event)


def test_programmatic_event_may_be_triggered_at_the_start(device, stream, kernel):
    event = device.create_event()
    config = LaunchConfig(grid=1, block=1, programmatic_event=(event, True))
    assert config.programmatic_event == (event, True)
    native = _to_native_launch_config(config)
    (attribute,) = native.attrs
    assert attribute.value.programmaticEvent.triggerAtBlockStart == 1
    assert int(attribute.value.programmaticEvent.event) == int(event.handle)


def test_configuration_keeps_its_event(device, stream, kernel):
    x = device.zeros(1, np.int32, stream=stream)
    event = device.create_event()
    config = LaunchConfig(grid=1, block=1, launch_completion_event=event)
    event.close()
    launch(stream, config, kernel, x)
    assert x.to_host(stream=stream).tolist() == [1]


@pytest.mark.parametrize("name", ["launch_completion_event", "programmatic_event", "shared_memory_carveout"])
def test_nodes_reject_attributes_of_launches(device, kernel, name):
    value = 50 if name == "shared_memory_carveout" else device.create_event()
    graph = GraphDefinition()
    with pytest.raises(NotImplementedError, match=f"config must not have {name}"):
        graph.launch(LaunchConfig(grid=1, block=1, **{name: value}), kernel, None)
    assert len(graph.nodes()) == 0


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("access_policy_window", 3, TypeError),
        ("device_updatable_node", 1, TypeError),
        ("launch_completion_event", 3, TypeError),
        ("programmatic_event", (3, True), TypeError),
        ("mem_sync_domain", "other", ValueError),
        ("mem_sync_domain_map", 3, TypeError),
        ("mem_sync_domain_map", (0,), TypeError),
        ("mem_sync_domain_map", (0, 256), ValueError),
        ("mem_sync_domain_map", (0, 1.5), TypeError),
        ("nvlink_util_centric_scheduling", "yes", TypeError),
        ("portable_cluster_size_mode", "any", ValueError),
        ("preferred_cluster", (0, 1, 1), ValueError),
        ("shared_memory_carveout", 101, ValueError),
        ("shared_memory_carveout", True, TypeError),
        ("shared_memory_mode", 3, ValueError),
    ],
)
def test_other_values_are_rejected(name, value, error):
    config = LaunchConfig(grid=1, block=1)
    with pytest.raises(error, match=name):
        setattr(config, name, value)
    with pytest.raises(error, match=name):
        LaunchConfig(grid=1, block=1, **{name: value})
    assert getattr(config, name) is None


@pytest.mark.parametrize("name", ["launch_completion_event", "programmatic_event"])
def test_events_with_timing_are_rejected(device, name):
    with pytest.raises(ValueError, match="without timing"):
        LaunchConfig(grid=1, block=1, **{name: device.create_event({"timing_enabled": True})})
    with pytest.raises(TypeError, match=r"programmatic_event\[1\] must be a bool"):
        LaunchConfig(grid=1, block=1, programmatic_event=(device.create_event(), 1))


@pytest.mark.requires(software=True)
def test_device_updatable_node_is_captured_only(device, stream, kernel):
    # The software device has none at all.
    with pytest.raises(Exception, match="NOT_SUPPORTED"):
        launch(stream, LaunchConfig(grid=1, block=1, device_updatable_node=True), kernel, None)


# --- grids from occupancy ---


def grid_of(device, stream, config, launch_with=launch):
    code = compiled('extern "C" __global__ void count(int* x) { if (!threadIdx.x && !threadIdx.y) atomicAdd(x, 1); }')
    kernel = code.get_kernel("count")
    x = device.zeros(1, np.int32, stream=stream)
    launch_with(stream, config, kernel, x)
    return int(x.to_host(stream=stream)[0]), kernel


@pytest.mark.parametrize(("block", "shared"), [(32, 0), (256, 0), ((16, 4), 0), (128, 32 * 1024), (64, 64 * 1024)])
def test_resident_grid_fills_the_device(device, stream, block, shared):
    config = LaunchConfig(grid="resident", block=block, shmem_size=shared)
    count, kernel = grid_of(device, stream, config)
    resident = kernel.occupancy.max_active_blocks_per_multiprocessor(int(np.prod(config.block)), shared)
    assert count == resident * device.properties.multiprocessor_count
    assert grid_of(device, stream, config)[0] == count


def test_resident_grid_follows_the_config(device, stream):
    config = LaunchConfig(grid="resident", block=1024)
    assert config.grid == "resident" and "grid='resident'" in repr(config)
    wide = grid_of(device, stream, config)[0]
    config.block = 32
    assert grid_of(device, stream, config)[0] > wide
    config.grid = 3
    assert config.grid == (3, 1, 1)
    assert grid_of(device, stream, config)[0] == 3
    config.grid = "resident"
    assert config == LaunchConfig(grid="resident", block=32) != LaunchConfig(grid=1, block=32)


def test_resident_grid_is_captured(device, stream):
    builder = device.create_graph_builder().begin_building()
    code = compiled('extern "C" __global__ void seen(int* x) { if (!threadIdx.x && !threadIdx.y) atomicAdd(x, 1); }')
    x = device.zeros(1, np.int32, stream=stream)
    stream.sync()
    launch(builder, LaunchConfig(grid="resident", block=64), code.get_kernel("seen"), x)
    builder.end_building().complete().launch(stream)
    assert x.to_host(stream=stream)[0] >= device.properties.multiprocessor_count


def test_cooperative_resident_grid_is_resident(device, stream):
    count, _ = grid_of(device, stream, LaunchConfig(grid="resident", block=256, is_cooperative=True))
    assert count >= device.properties.multiprocessor_count


def test_resident_grid_excludes_clusters_and_nodes(device, kernel):
    with pytest.raises(ValueError, match="with cluster"):
        LaunchConfig(grid="resident", block=1, cluster=2)
    config = LaunchConfig(grid="resident", block=1)
    with pytest.raises(ValueError, match="with cluster"):
        config.cluster = 2
    with pytest.raises(ValueError, match="with cluster"):
        LaunchConfig(grid=2, block=1, cluster=2).grid = "resident"
    with pytest.raises(NotImplementedError, match="grid='resident'"):
        GraphDefinition().launch(config, kernel, None)


def test_earlier_name_of_resident_grids_warns(device, stream):
    code = compiled('extern "C" __global__ void seen(int* x) { if (!threadIdx.x) atomicAdd(x, 1); }')
    seen, x = code.get_kernel("seen"), device.zeros(1, np.int32, stream=stream)
    from_source = source_kernel("__global__ void seen(int* x) { if (!threadIdx.x) atomicAdd(x, 1); }", "seen")
    config = LaunchConfig(grid=1, block=64)
    uses = (
        lambda: LaunchConfig(grid="auto", block=64),
        lambda: setattr(config, "grid", "auto"),
        lambda: seen["auto", 64, 0, stream](x),
        lambda: seen(x, grid="auto", block=64, stream=stream),
        lambda: from_source["auto", 64, 0, stream](x),
        lambda: from_source(x, grid="auto", block=64, stream=stream),
    )
    for use in uses:
        with pytest.warns(DeprecationWarning, match=r"grid='resident'.*kernel\[:n, block\]") as caught:
            use()
        assert [warning.filename for warning in caught] == [__file__]
    assert config == LaunchConfig(grid="resident", block=64) and config.grid == "resident"
    assert x.to_host(stream=stream)[0] == 4 * grid_of(device, stream, config)[0]


@pytest.mark.parametrize("grid", ["automatic", "", b"resident", "residents"])
def test_other_strings_are_not_grids(grid):
    with pytest.raises(ValueError, match="grid must be"):
        LaunchConfig(grid=grid, block=1)


def test_block_that_does_not_fit_is_reported(device, stream):
    with pytest.raises(Exception, match="block must have at most"):
        grid_of(Device(), stream, LaunchConfig(grid="resident", block=4096))


def test_nodes_with_several_attributes_block_no_threads(device, kernel):
    config = LaunchConfig(grid=1, block=1, priority=-1, mem_sync_domain="remote", is_cooperative=True)
    GraphDefinition().launch(config, kernel, 0)

    def work():
        device.set_current()
        GraphDefinition().launch(config, kernel, 0)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("name", ["portable_cluster_size_mode", "shared_memory_mode"])
def test_attributes_that_the_driver_is_too_old_for_are_named(name):
    program = f"""
from cuda.core import CUDAError, Device, LaunchConfig, Program, launch
from cuda.core.graph import GraphDefinition
device = Device()
device.set_current()
stream = device.create_stream()
kernel = Program({KERNEL!r}, "c++").compile("cubin").get_kernel("f")
x = device.allocate(4, stream=stream)
config = LaunchConfig(grid=2, block=1, {name}={VALUES[name]!r})
for call in (lambda: launch(stream, config, kernel, x), lambda: GraphDefinition().launch(config, kernel, x)):
    try:
        call()
    except CUDAError as error:
        print(error)
"""
    environment = {**os.environ, "CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_DRIVER_VERSION": "13.0"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=60)
    assert done.stdout.count(f"{name} needs a driver for CUDA 13.2, not 13.0") == 2, done.stdout + done.stderr
