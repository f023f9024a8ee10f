# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Migration of managed memory in batches."""

import numpy as np
import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, Buffer, Host, ManagedMemoryResource
from cuda.core.utils import discard_batch, discard_prefetch_batch, prefetch_batch
from support.memory import HostMemoryResource, ShortList

HOST = Host()
BATCHES = {
    "prefetch": lambda stream, buffers, locations=HOST: prefetch_batch(stream, buffers, locations),
    "discard": lambda stream, buffers: discard_batch(stream, buffers),
    "discard_prefetch": lambda stream, buffers, locations=HOST: discard_prefetch_batch(stream, buffers, locations),
}
every_batch = pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES)
moving_batch = pytest.mark.parametrize("batch", [BATCHES["prefetch"], BATCHES["discard_prefetch"]])


class ManagedHostMemory(HostMemoryResource):
    """Host memory whose ``is_managed`` is True."""

    is_managed = True


@pytest.fixture
def buffers():
    mr = ManagedHostMemory()
    return [mr.allocate(8), mr.allocate(8)]


@every_batch
@pytest.mark.parametrize("stream", [None, 1, object()])
def test_streams_of_wrong_type_are_rejected(buffers, batch, stream):
    with pytest.raises(TypeError, match="stream"):
        batch(stream, buffers)


@every_batch
def test_other_objects_than_sequences_of_buffers_are_rejected(buffers, batch):
    for wrong in (buffers[0], iter(buffers), set(buffers), None, [3], [buffers[0], b"x"]):
        with pytest.raises(TypeError, match="buffers"):
            batch(LEGACY_DEFAULT_STREAM, wrong)


@every_batch
def test_empty_batches_are_rejected(batch):
    with pytest.raises(ValueError, match="at least one"):
        batch(LEGACY_DEFAULT_STREAM, [])


@every_batch
def test_unmanaged_memory_is_rejected(buffers, batch, device):
    other = HostMemoryResource().allocate(8)
    with pytest.raises(ValueError, match="of managed memory"):
        batch(LEGACY_DEFAULT_STREAM, [buffers[0], other])


@every_batch
def test_closed_buffers_are_rejected(buffers, batch):
    buffers[1].close()
    with pytest.raises(RuntimeError, match="closed"):
        batch(LEGACY_DEFAULT_STREAM, buffers)


@moving_batch
@pytest.mark.parametrize(
    ("locations", "error"),
    [
        (None, ValueError),
        ([Host(), None], ValueError),
        ([Host()], ValueError),
        ([Host()] * 3, ValueError),
        (ShortList([Host()]), ValueError),
        (0, TypeError),
        ("host", TypeError),
        ([Host(), 0], TypeError),
    ],
)
def test_other_locations_are_rejected(buffers, batch, locations, error):
    with pytest.raises(error, match="location"):
        batch(LEGACY_DEFAULT_STREAM, buffers, locations)


@pytest.mark.requires(managed_mempool=True)
@pytest.mark.parametrize("count", [1, 3])
def test_contents_survive_migration(device, stream, count):
    mr = ManagedMemoryResource({})
    buffers = [mr.allocate(64 << 10, stream=stream) for _ in range(count)] + [mr.allocate(0, stream=stream)]
    for number, buffer in enumerate(buffers):
        buffer.fill(number + 1, stream=stream)
    prefetch_batch(stream, buffers, [device] * len(buffers))
    prefetch_batch(stream, buffers, Host())
    stream.sync()
    for number, buffer in enumerate(buffers[:-1]):
        assert set(bytes(memoryview(buffer))) == {number + 1}


@pytest.mark.requires(managed_mempool=True)
def test_discarded_memory_can_be_written_again(device, stream):
    mr = ManagedMemoryResource({})
    buffers = [mr.allocate(64 << 10, stream=stream) for _ in range(2)]
    discard_batch(stream, buffers)
    discard_prefetch_batch(stream, buffers, [device, device])
    for buffer in buffers:
        buffer.fill(9, stream=stream)
    prefetch_batch(stream, buffers, Host())
    stream.sync()
    assert all(np.all(np.asarray(buffer) == 9) for buffer in buffers)


@pytest.mark.requires(managed_mempool=True)
def test_empty_buffers_are_ignored(device, stream):
    empty = [ManagedMemoryResource({}).allocate(0, stream=stream)]
    for batch in BATCHES.values():
        assert batch(stream, empty) is None


@pytest.mark.requires(managed_mempool=True)
def test_plain_buffers_over_managed_memory_are_accepted(device, stream):
    owner = ManagedMemoryResource({}).allocate(4096, stream=stream)
    plain = Buffer.from_handle(owner.handle, owner.size, owner=owner)
    plain.fill(4, stream=stream)
    prefetch_batch(stream, (plain,), Host())
    stream.sync()
    assert set(bytes(memoryview(plain))) == {4}
