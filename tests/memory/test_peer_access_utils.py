# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Which devices can access the memory of a pool."""

import collections.abc

import pytest

from cuda.core import Device, DeviceMemoryResource
from cuda.core.typing import MemoryPoolAccessType
from support.contract import DMR_mempool_get_access, PeerAccessibleBySetProxy
from support.memory import read


@pytest.fixture
def pool(device):
    """A private pool, which no peer can access yet."""
    return DeviceMemoryResource(device, {})


@pytest.mark.requires(mempool=True)
def test_peers_are_a_live_set(pool):
    peers = pool.peer_accessible_by
    assert isinstance(peers, PeerAccessibleBySetProxy)
    assert isinstance(peers, collections.abc.MutableSet)
    assert (len(peers), list(peers), peers == set(), bool(peers)) == (0, [], True, False)
    assert repr(peers) == "PeerAccessibleBySetProxy(set())"
    with pytest.raises(TypeError, match="unhashable"):
        hash(peers)


@pytest.mark.requires(mempool=True)
def test_owner_is_ignored_and_never_contained(device, pool):
    peers = pool.peer_accessible_by
    peers.add(device)
    peers.update([0], [device])
    pool.peer_accessible_by = [device, 0]
    assert (len(peers), device in peers, 0 in peers) == (0, False, False)
    peers.discard(device)
    assert DMR_mempool_get_access(pool, device) == "rw"


@pytest.mark.requires(mempool=True)
@pytest.mark.parametrize("change", ["add", "update", "set", "symmetric_difference_update", "|="])
@pytest.mark.parametrize(("peer", "error"), [(-1, ValueError), (1000, ValueError), ("1", TypeError), (True, TypeError)])
def test_granting_access_to_wrong_devices_is_rejected(pool, change, peer, error):
    peers = pool.peer_accessible_by
    with pytest.raises(error, match="peer"):
        if change == "set":
            pool.peer_accessible_by = [peer]
        elif change == "|=":
            peers |= [peer]
        else:
            getattr(peers, change)(peer if change == "add" else [peer])
    assert len(peers) == 0


@pytest.mark.requires(mempool=True)
def test_revoking_access_from_wrong_devices_is_ignored(pool):
    peers = pool.peer_accessible_by
    for value in (-1, 1000, "1", None, 1.5):
        assert value not in peers
        peers.discard(value)
        peers.difference_update([value])
        peers.intersection_update([value])
        with pytest.raises(KeyError):
            peers.remove(value)
    peers.clear()
    with pytest.raises(KeyError):
        peers.pop()
    assert len(peers) == 0


@pytest.mark.requires(mempool=True)
def test_closed_pool_has_no_peers(pool):
    peers = pool.peer_accessible_by
    pool.close()
    for use in (lambda: pool.peer_accessible_by, lambda: len(peers), lambda: peers.add(0)):
        with pytest.raises(RuntimeError, match="closed"):
            use()
    with pytest.raises(RuntimeError, match="closed"):
        pool.peer_accessible_by = []
    with pytest.raises(RuntimeError, match="closed"):
        DMR_mempool_get_access(pool, 0)


@pytest.mark.requires(mempool=True)
def test_query_of_an_object_other_than_a_pool_is_rejected():
    with pytest.raises(TypeError, match="pool"):
        DMR_mempool_get_access(3, 0)


@pytest.mark.requires(mempool=True, peer=True)
def test_access_is_granted_and_revoked(devices, pool):
    peers, others = pool.peer_accessible_by, pool.peer_accessible_by
    peers.add(1)
    assert (set(peers), 1 in others, devices[1] in others, len(others)) == ({devices[1]}, True, True, 1)
    assert DMR_mempool_get_access(pool, 1) is MemoryPoolAccessType.READ_WRITE
    peers.add(devices[1])
    assert len(peers) == 1
    peers.discard(1)
    assert len(others) == 0
    assert DMR_mempool_get_access(pool, devices[1]) is MemoryPoolAccessType.NONE
    pool.peer_accessible_by = {1}
    peers.remove(devices[1])
    assert peers == set()


@pytest.mark.requires(mempool=True, peer=True)
def test_set_operations_change_the_access(devices, pool):
    one = devices[1]
    peers = pool.peer_accessible_by
    peers |= [one]
    assert peers == {one}
    assert (peers | {devices[0]}, peers & {one}, peers - {one}, peers ^ {one}) == ({*devices[:2]}, {one}, set(), set())
    assert type(peers & {one}) is set
    peers &= [1]
    assert peers == {one}
    peers ^= [1]
    assert peers == set()
    peers ^= [1]
    peers -= [1]
    assert peers == set()
    peers.update([1], [one])
    peers -= peers
    assert peers == set()
    pool.peer_accessible_by |= [1]
    assert pool.peer_accessible_by.pop() == one
    assert peers == set()


@pytest.mark.requires(mempool=True, peer=True)
def test_peer_reads_the_memory(devices, pool):
    stream = devices[0].create_stream()
    buffer = pool.allocate(4096, stream=stream)
    buffer.fill(5, stream=stream)
    stream.sync()
    pool.peer_accessible_by = [1]
    try:
        devices[1].set_current()
        stream = devices[1].create_stream()
        with DeviceMemoryResource(1, {}).allocate(4096, stream=stream) as copy:
            copy.copy_from(buffer, stream=stream)
            assert read(copy, stream) == b"\5" * 4096
            buffer.fill(6, stream=stream)
            stream.sync()
    finally:
        devices[0].set_current()
    assert read(buffer, devices[0].create_stream()) == b"\6" * 4096


@pytest.mark.requires(mempool=True, devices=2, peer=False)
def test_device_without_peer_capability_is_rejected(pool):
    with pytest.raises(ValueError, match="device 1 cannot access"):
        pool.peer_accessible_by.add(1)
    assert set(pool.peer_accessible_by) == set()


@pytest.mark.requires(mempool=True, peer=True)
def test_wrong_device_leaves_the_access_unchanged(devices, pool):
    pool.peer_accessible_by = [1]
    for wrong in ([1000], ["2"]):
        with pytest.raises((TypeError, ValueError)):
            pool.peer_accessible_by = wrong
        with pytest.raises((TypeError, ValueError)):
            pool.peer_accessible_by.symmetric_difference_update([1, *wrong])
    assert set(pool.peer_accessible_by) == {Device(1)}
