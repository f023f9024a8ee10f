# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pools that processes share: their identity, and the registry in which they are found by it."""

import gc
import os
import pickle
import sys
import uuid

import pytest

from cuda.core._memory._ipc import IPCAllocationHandle
from cuda.core._memory._ipc import check_platform
from support.processes import open_descriptors
from support.shared_memory import import_pool, make_pool, place_of

pytestmark = pytest.mark.usefixtures("spawned")


def test_sharing_needs_linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(RuntimeError, match="Linux"):
        check_platform()


@pytest.mark.requires(ipc=True)
def test_shared_pool_has_an_identity(pool):
    assert (pool.is_ipc_enabled, pool.is_mapped, pool.is_handle_owned) == (True, False, True)
    assert isinstance(pool.uuid, uuid.UUID)
    assert pool.allocation_handle is pool.allocation_handle
    assert pool.allocation_handle.uuid == pool.uuid
    assert os.get_inheritable(int(pool.allocation_handle)) is False


@pytest.mark.requires(mempool=True)
def test_other_pools_have_no_identity(shareable):
    pool = shareable(*place_of(shareable))
    assert (pool.is_ipc_enabled, pool.is_mapped, pool.uuid) == (False, False, None)
    with pytest.raises(RuntimeError, match="not shared"):
        pool.allocation_handle  # noqa: B018
    with pytest.raises(RuntimeError, match="not shared"):
        pool.register(uuid.uuid4())
    with pytest.raises(RuntimeError, match="pickled"):
        pickle.dumps(pool)


@pytest.mark.requires(ipc=True)
def test_closed_pool_is_not_shared(pool):
    handle = pool.allocation_handle
    pool.close()
    assert (pool.is_ipc_enabled, pool.uuid, pool.is_handle_owned) == (False, None, False)
    assert not handle.is_closed
    with pytest.raises(RuntimeError, match="closed"):
        pool.allocation_handle  # noqa: B018


@pytest.mark.requires(ipc=True)
def test_import_by_descriptor_leaves_the_descriptor_to_the_caller(shareable, pool):
    imported = import_pool(shareable, int(pool.allocation_handle))
    assert (imported.is_mapped, imported.is_ipc_enabled, imported.uuid) == (True, True, None)
    assert (imported.is_handle_owned, imported.device_id) == (True, pool.device_id)
    assert int(imported.allocation_handle) != int(pool.allocation_handle)
    imported.close()
    del imported
    assert not pool.allocation_handle.is_closed
    assert os.fstat(int(pool.allocation_handle))


@pytest.mark.requires(ipc=True)
def test_imported_pool_cannot_allocate(stream, shareable, pool):
    imported = import_pool(shareable, int(pool.allocation_handle))
    with pytest.raises(TypeError, match="another process"):
        imported.allocate(8, stream=stream)
    assert pool.allocate(8, stream=stream).size == 8


@pytest.mark.requires(ipc=True)
def test_import_by_handle_is_registered(shareable, pool):
    imported = import_pool(shareable, pool.allocation_handle)
    assert imported is not pool
    assert imported.uuid == pool.uuid
    assert shareable.from_registry(pool.uuid) is imported
    assert import_pool(shareable, pool.allocation_handle) is imported
    assert pickle.loads(pickle.dumps(imported)) is imported


@pytest.mark.requires(ipc=True)
def test_registry_drops_pools_that_are_dropped_or_closed(shareable, pool):
    identity = pool.uuid
    imported = import_pool(shareable, pool.allocation_handle)
    del imported
    gc.collect()
    with pytest.raises(RuntimeError, match=str(identity)):
        shareable.from_registry(identity)
    imported = import_pool(shareable, pool.allocation_handle)
    imported.close()
    with pytest.raises(RuntimeError, match=str(identity)):
        shareable.from_registry(identity)
    assert import_pool(shareable, pool.allocation_handle) is not imported


@pytest.mark.requires(ipc=True)
def test_register_returns_the_pool_that_was_registered_first(shareable, pool):
    identity = uuid.uuid4()
    first = import_pool(shareable, int(pool.allocation_handle))
    second = import_pool(shareable, int(pool.allocation_handle))
    assert first.register(identity) is first
    assert second.register(identity) is first
    assert (first.uuid, second.uuid) == (identity, None)
    with pytest.raises(ValueError, match="must be the UUID of this pool"):
        first.register(uuid.uuid4())
    with pytest.raises(TypeError, match="UUID"):
        first.register("one")


@pytest.mark.requires(ipc=True)
def test_registered_resource_of_another_class_is_refused(shareable, pool):
    class Other(shareable):
        pass

    imported = import_pool(shareable, pool.allocation_handle)
    with pytest.raises(TypeError, match="not a Other"):
        import_pool(Other, imported.allocation_handle)
    with pytest.raises(TypeError, match="not a Other"):
        Other.from_registry(pool.uuid)


@pytest.mark.requires(ipc=True)
def test_exporter_unpickles_to_itself(pool):
    assert pickle.loads(pickle.dumps(pool)) is pool


@pytest.mark.requires(ipc=True)
def test_unknown_pool_is_not_unpickled(pool):
    data = pickle.dumps(pool)
    pool.close()
    with pytest.raises(RuntimeError, match="registered"):
        pickle.loads(data)


@pytest.mark.requires(ipc=True)
def test_imported_pool_without_identity_is_not_pickled(shareable, pool):
    imported = import_pool(shareable, int(pool.allocation_handle))
    with pytest.raises(RuntimeError, match="pickled"):
        pickle.dumps(imported)


@pytest.mark.parametrize("handle", [None, "3", 3.0, True])
@pytest.mark.requires(mempool=True)
def test_handles_of_wrong_type_are_refused(handle, shareable):
    with pytest.raises(TypeError, match="alloc_handle"):
        import_pool(shareable, handle)


@pytest.mark.requires(mempool=True)
def test_descriptors_that_are_not_open_are_refused(shareable):
    with pytest.raises(ValueError, match="alloc_handle"):
        import_pool(shareable, -1)
    with pytest.raises(OSError, match="Bad file descriptor"):
        import_pool(shareable, 1 << 20)
    handle = IPCAllocationHandle._init(os.open(os.devnull, os.O_RDONLY))
    handle.close()
    with pytest.raises(ValueError, match="closed"):
        import_pool(shareable, handle)


@pytest.mark.requires(ipc=True)
def test_pools_leak_no_descriptor(shareable):
    def make():
        pool = make_pool(shareable)
        return import_pool(shareable, pool.allocation_handle)

    make()
    gc.collect()
    before = open_descriptors()
    for _ in range(20):
        make()
    gc.collect()
    assert open_descriptors() == before
