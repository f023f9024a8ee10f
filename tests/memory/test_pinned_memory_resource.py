# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pools of page-locked memory."""

import pytest

from cuda.core import PinnedMemoryResource, PinnedMemoryResourceOptions
from support.memory import read

pinned = pytest.mark.requires(host_mempool=True)


def test_options_have_defaults_and_compare():
    assert PinnedMemoryResourceOptions() == PinnedMemoryResourceOptions(False, 0, None, None)


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"max_size": -1}, ValueError),
        ({"max_size": 1.5}, TypeError),
        ({"numa_id": -1}, ValueError),
        ({"numa_id": True}, TypeError),
        ({"numa_id": "0"}, TypeError),
        ({"release_threshold": -1}, ValueError),
        ({"release_threshold": "1"}, TypeError),
    ],
)
def test_options_are_checked(fields, error):
    with pytest.raises(error, match=next(iter(fields))):
        PinnedMemoryResourceOptions(**fields)


@pytest.mark.parametrize("options", [3, [], "numa"])
def test_options_of_wrong_type_are_rejected(options):
    with pytest.raises(TypeError, match="options"):
        PinnedMemoryResource(options)


@pytest.mark.requires(ipc=True, property="host_numa_memory_pools_supported")
def test_shared_memory_is_on_the_nearest_node(device, stream):
    mr = PinnedMemoryResource({"ipc_enabled": True})
    assert mr.numa_id == device.properties.host_numa_id
    assert mr.is_ipc_enabled
    with mr.allocate(64, stream=stream) as buffer:
        assert len(buffer.ipc_descriptor.__reduce__()) >= 2


@pinned
@pytest.mark.parametrize("options", [None, {}, {"numa_id": 0}], ids=["current", "own", "node"])
def test_host_and_device_share_the_memory(device, stream, options):
    mr = PinnedMemoryResource(options)
    node = -1 if not options else 0
    assert (mr.device_id, mr.numa_id, mr.is_handle_owned) == (-1, node, options is not None)
    assert (mr.is_device_accessible, mr.is_host_accessible, mr.is_managed) == (True, True, False)
    buffer, other = mr.allocate(4096, stream=stream), device.allocate(4096, stream=stream)
    assert (buffer.device_id, buffer.is_host_accessible, buffer.__dlpack_device__()) == (-1, True, (3, 0))
    buffer.fill(b"abcd", stream=stream)
    other.copy_from(buffer, stream=stream)
    assert read(other, stream) == bytes(memoryview(buffer)) == b"abcd" * 1024


@pinned
def test_without_options_the_current_pool_is_borrowed(device):
    mr = PinnedMemoryResource()
    assert mr.handle == PinnedMemoryResource().handle
    assert mr.attributes.release_threshold > 0
    mr.close()
    assert PinnedMemoryResource().attributes.release_threshold > 0


@pinned
@pytest.mark.parametrize(("threshold", "expected"), [(None, (1 << 64) - 1), (0, 0), (1 << 20, 1 << 20)])
def test_threshold_of_an_own_pool(device, threshold, expected):
    mr = PinnedMemoryResource(PinnedMemoryResourceOptions(release_threshold=threshold))
    assert mr.attributes.release_threshold == expected


@pinned
def test_pool_with_a_limit_runs_out_of_memory(device, stream):
    mr = PinnedMemoryResource({"max_size": 4 << 20})
    with pytest.raises(MemoryError):
        mr.allocate(1 << 30, stream=stream)
    assert mr.allocate(4096, stream=stream).size == 4096


@pinned
def test_repr_shows_the_location(device):
    mr = PinnedMemoryResource({})
    assert repr(mr) == "<PinnedMemoryResource of the host>"
    mr.close()
    assert repr(mr) == "<PinnedMemoryResource closed>"
