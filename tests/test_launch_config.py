# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""LaunchConfig: the values that it accepts and rejects, and its conversion to the driver's struct."""

import copy
import pickle
import weakref

import numpy as np
import pytest

from cuda.core import CUDAError, LaunchConfig, launch
from cuda.core.utils import cdiv
from support.contract import _to_native_launch_config
from support.kernels import compiled


@pytest.fixture
def config():
    return LaunchConfig(grid=(4, 5, 6), block=(7, 8, 9), shmem_size=1024)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (3, (3, 1, 1)),
        ((3,), (3, 1, 1)),
        ((3, 2), (3, 2, 1)),
        ((3, 2, 4), (3, 2, 4)),
        ([3, 2], (3, 2, 1)),
        (np.int64(3), (3, 1, 1)),
        ((np.uint8(3), 2), (3, 2, 1)),
        (2**32 - 1, (2**32 - 1, 1, 1)),
    ],
)
def test_sizes_become_triples(size, expected):
    config = LaunchConfig(grid=size, block=size)
    assert config.grid == expected
    assert config.block == expected
    assert all(type(item) is int for item in config.grid)


def test_other_fields_have_defaults():
    config = LaunchConfig(grid=1, block=1)
    assert config.cluster is None
    assert config.shmem_size == 0
    assert config.is_cooperative is False
    assert config.programmatic_stream_serialization is False


def test_fields_can_be_positional():
    config = LaunchConfig(2, None, 3, 4, False, True)
    assert (config.grid, config.cluster, config.block) == ((2, 1, 1), None, (3, 1, 1))
    assert (config.shmem_size, config.programmatic_stream_serialization) == (4, True)


@pytest.mark.parametrize("field", ["grid", "block", "cluster"])
@pytest.mark.parametrize(
    "size",
    [0, -1, 2**32, 2**70, -(2**70), True, 1.5, "3", (), (1, 1, 1, 1), (1, 0), (1, None), (1, True), np.arange(2)],
    ids=repr,
)
def test_bad_sizes_are_rejected(config, field, size):
    with pytest.raises(ValueError, match=field):
        LaunchConfig(**{"grid": 1, "block": 1, field: size})
    with pytest.raises(ValueError, match=field):
        setattr(config, field, size)


@pytest.mark.parametrize("given", [{}, {"grid": 1}, {"block": 1}])
def test_grid_and_block_are_required(given):
    missing = "block" if "grid" in given else "grid"
    with pytest.raises(ValueError, match=f"{missing}, the number of .*, is missing$"):
        LaunchConfig(**given)


def test_block_passed_as_the_cluster_is_explained():
    with pytest.raises(ValueError, match=r"pass block by name: LaunchConfig\(4, block=\.\.\.\)"):
        LaunchConfig(4, 64)


def test_unknown_fields_are_rejected():
    with pytest.raises(TypeError, match="shared"):
        LaunchConfig(grid=1, block=1, shared=2)


@pytest.mark.parametrize("size", [0, 1, np.int32(48), 2**32 - 1])
def test_shared_memory_is_a_size_of_32_bits(config, size):
    config.shmem_size = size
    assert config.shmem_size == size
    assert type(config.shmem_size) is int


def test_shared_memory_of_none_is_0(config):
    config.shmem_size = None
    assert config.shmem_size == 0


@pytest.mark.parametrize("size", [-1, 2**32, 2**80])
def test_shared_memory_out_of_range_is_rejected(size):
    with pytest.raises(ValueError, match="shmem_size"):
        LaunchConfig(grid=1, block=1, shmem_size=size)


@pytest.mark.parametrize("size", [1.5, "1", True, (1,)])
def test_shared_memory_of_another_type_is_rejected(config, size):
    with pytest.raises(TypeError, match="shmem_size"):
        config.shmem_size = size


def test_rejected_change_changes_nothing(config):
    before = repr(config)
    for field, value in [("grid", 0), ("block", (1, 0)), ("cluster", -1), ("shmem_size", -1)]:
        with pytest.raises(ValueError, match=field):
            setattr(config, field, value)
    assert repr(config) == before


def test_grid_times_cluster_must_fit_the_driver():
    with pytest.raises(ValueError, match="grid times cluster"):
        LaunchConfig(grid=2**31, cluster=2, block=1)


def test_configs_compare_by_value(config):
    same = LaunchConfig(grid=(4, 5, 6), block=(7, 8, 9), shmem_size=1024)
    assert config == same
    assert hash(config) == hash(same)
    same.grid = 4
    assert config != same
    assert config != (4, 5, 6)


@pytest.mark.parametrize(
    ("field", "value"),
    [("grid", 9), ("block", 9), ("shmem_size", 9), ("programmatic_stream_serialization", True)],
)
def test_every_field_counts_in_comparisons(config, field, value):
    other = LaunchConfig(grid=config.grid, block=config.block, shmem_size=config.shmem_size)
    assert other == config
    setattr(other, field, value)
    assert other != config


def test_repr_shows_all_fields_in_order(config):
    assert repr(config) == (
        "LaunchConfig(grid=(4, 5, 6), cluster=None, block=(7, 8, 9), shmem_size=1024, is_cooperative=False, "
        "programmatic_stream_serialization=False, cluster_scheduling_policy_preference=None, priority=0)"
    )


def test_configs_are_not_pickled(config):
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(config)
    with pytest.raises(TypeError, match="pickle"):
        copy.copy(config)


def test_configs_can_be_weakly_referenced(config):
    assert weakref.ref(config)() is config


def test_classes_can_derive():
    class Tiled(LaunchConfig):
        def __init__(self, tiles):
            super().__init__(grid=tiles, block=(16, 16))

    assert Tiled(3) == LaunchConfig(grid=3, block=(16, 16))


def test_native_config_has_the_sizes(config):
    native = _to_native_launch_config(config)
    assert (native.gridDimX, native.gridDimY, native.gridDimZ) == (4, 5, 6)
    assert (native.blockDimX, native.blockDimY, native.blockDimZ) == (7, 8, 9)
    assert native.sharedMemBytes == 1024
    assert native.numAttrs == 0
    assert int(native.hStream) == 0


def test_native_config_has_the_attribute_of_stream_serialization():
    from cuda.bindings import driver

    native = _to_native_launch_config(LaunchConfig(grid=1, block=1, programmatic_stream_serialization=True))
    assert native.numAttrs == 1
    kind = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    assert native.attrs[0].id == kind
    assert native.attrs[0].value.programmaticStreamSerializationAllowed == 1


def test_only_configs_become_native():
    with pytest.raises(TypeError, match="LaunchConfig"):
        _to_native_launch_config({"grid": 1, "block": 1})


@pytest.mark.requires(clusters=True, cooperative=True)
def test_native_config_with_a_cluster_counts_blocks():
    from cuda.bindings import driver

    native = _to_native_launch_config(LaunchConfig(grid=(2, 3), cluster=(4, 1), block=32, is_cooperative=True))
    assert (native.gridDimX, native.gridDimY, native.gridDimZ) == (8, 3, 1)
    kinds = [attribute.id for attribute in native.attrs]
    assert kinds == [
        driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
        driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    ]
    cluster = native.attrs[0].value.clusterDim
    assert (cluster.x, cluster.y, cluster.z) == (4, 1, 1)
    assert native.attrs[1].value.cooperative == 1


@pytest.mark.requires(clusters=True)
def test_clusters_can_be_set_and_removed(config):
    config.cluster = (2, 1)
    assert config.cluster == (2, 1, 1)
    assert _to_native_launch_config(config).gridDimX == 8
    config.grid = 3
    assert _to_native_launch_config(config).gridDimX == 6
    config.cluster = None
    assert config.cluster is None
    assert _to_native_launch_config(config).numAttrs == 0
    assert _to_native_launch_config(config).gridDimX == 3


@pytest.mark.requires(cooperative=True, device=True)
def test_cooperation_can_be_set_and_removed(config):
    config.is_cooperative = True
    assert config.is_cooperative is True
    assert _to_native_launch_config(config).numAttrs == 1
    config.is_cooperative = False
    assert _to_native_launch_config(config).numAttrs == 0


@pytest.mark.requires(device=True, clusters=False)
def test_clusters_need_support():
    with pytest.raises(CUDAError, match="CUDA_ERROR_NOT_SUPPORTED: cluster: device 0 does not support"):
        LaunchConfig(grid=1, cluster=2, block=1)


@pytest.mark.requires(device=True, cooperative=False)
def test_cooperation_needs_support():
    with pytest.raises(CUDAError, match="CUDA_ERROR_NOT_SUPPORTED: is_cooperative"):
        LaunchConfig(grid=1, block=1, is_cooperative=True)


# --- elements ---


@pytest.mark.parametrize(
    ("n", "block", "grid"),
    [(0, 256, 1), (1, 256, 1), (256, 256, 1), (257, 256, 2), (1000, 128, 8), (np.int64(7), np.int32(2), 4), (5, 1, 5)],
)
def test_there_is_a_thread_for_each_element(n, block, grid):
    config = LaunchConfig.for_elements(n, block)
    assert (config.grid, config.block) == ((grid, 1, 1), (int(block), 1, 1))


def test_blocks_for_elements_default_to_256_threads():
    config = LaunchConfig.for_elements(1000, shmem_size=16)
    assert config == LaunchConfig(grid=4, block=256, shmem_size=16)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((-1,), ValueError, "n must be at least 0, not -1"),
        ((1.5,), TypeError, "n must be an int, not float"),
        ((True,), TypeError, "n must be an int, not bool"),
        ((1, 0), ValueError, "block must be at least 1, not 0"),
        ((1, (2, 2)), TypeError, "block must be an int, not tuple"),
        ((2**40, 1), ValueError, "grid must be from 1"),
    ],
)
def test_bad_numbers_of_elements_are_rejected(arguments, error, text):
    with pytest.raises(error, match=text):
        LaunchConfig.for_elements(*arguments)


def test_grid_for_elements_is_not_given():
    with pytest.raises(TypeError, match="computes grid"):
        LaunchConfig.for_elements(5, grid=2)


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(0, 4, 0), (1, 4, 1), (4, 4, 1), (5, 4, 2), (10**30 + 1, 10, 10**29 + 1)]
)
def test_cdiv_rounds_up(a, b, expected):
    assert cdiv(a, b) == expected


def test_cdiv_by_zero_is_an_error():
    with pytest.raises(ZeroDivisionError):
        cdiv(1, 0)


# --- priority and cluster policy ---


kept = []  # in older bindings, attributes do not keep the memory of their configuration


def attributes_of(config):
    native = _to_native_launch_config(config)
    kept.append(native)
    return {attribute.id.name: attribute.value for attribute in native.attrs}


def test_priority_is_a_launch_attribute(device):
    config = LaunchConfig(grid=1, block=1, priority=-1)
    assert config.priority == -1
    assert attributes_of(config)["CU_LAUNCH_ATTRIBUTE_PRIORITY"].priority == -1
    for value in (None, 0):
        config.priority = value
        assert config.priority == 0
        assert attributes_of(config) == {}
    assert LaunchConfig(grid=1, block=1, priority=-1) != config


@pytest.mark.parametrize(
    ("value", "error"), [(1000, ValueError), (-(2**70), ValueError), (1.5, TypeError), (True, TypeError)]
)
def test_priority_out_of_range_is_rejected(device, config, value, error):
    with pytest.raises(error, match="priority must be"):
        LaunchConfig(grid=1, block=1, priority=value)
    with pytest.raises(error, match="priority must be"):
        config.priority = value
    assert config.priority == 0


@pytest.mark.parametrize("policy", ["default", "spread", "load_balancing"])
def test_cluster_policy_is_a_launch_attribute(device, stream, policy):
    config = LaunchConfig(grid=1, cluster=1, block=1, cluster_scheduling_policy_preference=policy, priority=-1)
    assert config.cluster_scheduling_policy_preference == policy
    value = attributes_of(config)["CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE"]
    assert policy.upper() in value.clusterSchedulingPolicyPreference.name
    launch(stream, config, compiled('extern "C" __global__ void f() {}').get_kernel("f"))
    stream.sync()
    config.cluster_scheduling_policy_preference = None
    assert config.cluster_scheduling_policy_preference is None
    assert len(attributes_of(config)) == 2


def test_unknown_cluster_policy_is_rejected(device):
    with pytest.raises(ValueError, match="'packed' is not a valid cluster_scheduling_policy_preference"):
        LaunchConfig(grid=1, block=1, cluster_scheduling_policy_preference="packed")


@pytest.mark.parametrize(("a", "b", "name"), [(1.5, 2, "a"), (1, [2], "b"), (int, 1, "a"), ("1", 1, "a")])
def test_cdiv_accepts_integers(a, b, name):
    with pytest.raises(TypeError, match=f"{name} must be an int"):
        cdiv(a, b)
