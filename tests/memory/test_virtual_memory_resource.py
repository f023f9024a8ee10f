# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Virtual memory: on a device, and with a fake driver that fails at each call in turn."""

import gc
import threading
import types

import pytest
from cuda.bindings import driver as bindings

from cuda.core import Buffer, CUDAError, VirtualMemoryResource, VirtualMemoryResourceOptions
from cuda.core.typing import (
    VirtualMemoryAccessType,
    VirtualMemoryAllocationType,
    VirtualMemoryGranularityType,
    VirtualMemoryHandleType,
    VirtualMemoryLocationType,
)
from support.bindings import call_driver
from support.contract import cuda_utils
from support.memory import HostMemoryResource, read, write
from support.work import busy

GRANULARITY = 1 << 21
SUCCESS = bindings.CUresult.CUDA_SUCCESS


class VirtualDriver:
    """Replaces ``cuda.bindings.driver``; its dicts have what is reserved, created and mapped."""

    def __init__(self):
        self.reserved = {}
        self.memory = {}  # the count of handles and mappings that refer to each allocation
        self.mapped = {}
        self.access = {}
        self.calls = 0
        self.fail_at = None
        self.honors_hints = True
        self._next = 0x10_0000_0000

    def __getattr__(self, name):
        return getattr(bindings, name)

    @property
    def is_empty(self) -> bool:
        """Whether everything was freed, released and unmapped."""
        return not (self.reserved or self.memory or self.mapped)

    def _result(self, *values):
        self.calls += 1
        return (SUCCESS, *values)

    def _fails(self) -> bool:
        if self.calls + 1 == self.fail_at:
            self.calls += 1
            return True
        return False

    def _refuse(self, count):
        return (bindings.CUresult.CUDA_ERROR_OUT_OF_MEMORY, *[None] * count)

    def cuMemGetAllocationGranularity(self, properties, kind):
        return self._refuse(1) if self._fails() else self._result(GRANULARITY)

    def cuMemAddressReserve(self, size, align, hint, flags):
        if self._fails():
            return self._refuse(1)
        address = hint if hint and self.honors_hints else self._next
        self._next = max(self._next, address + size) + GRANULARITY * 64
        self.reserved[address] = size
        return self._result(bindings.CUdeviceptr(address))

    def cuMemAddressFree(self, address, size):
        assert self.reserved.pop(int(address)) == size
        return (SUCCESS,)

    def cuMemCreate(self, size, properties, flags):
        if self._fails():
            return self._refuse(1)
        handle = len(self.memory) + 1000 * (self.calls + 1)
        self.memory[handle] = 1
        return self._result(handle)

    def cuMemRetainAllocationHandle(self, address):
        if self._fails():
            return self._refuse(1)
        handle = self.mapped[int(address)][1]
        self.memory[handle] += 1
        return self._result(handle)

    def cuMemRelease(self, handle):
        self.memory[handle] -= 1
        if not self.memory[handle]:
            del self.memory[handle]
        return (SUCCESS,)

    def cuMemMap(self, address, size, offset, handle, flags):
        if self._fails():
            return self._refuse(0)
        self.mapped[int(address)] = (size, handle)
        self.memory[handle] += 1
        return self._result()

    def cuMemUnmap(self, address, size):
        length, handle = self.mapped.pop(int(address))
        assert length == size
        return self.cuMemRelease(handle)

    def cuMemSetAccess(self, address, size, descriptions, count):
        if self._fails():
            return self._refuse(0)
        assert self.mapped[int(address)][0] == size
        self.access[int(address)] = {item.location.id: int(item.flags) for item in descriptions}
        return self._result()


class DetachedResource(VirtualMemoryResource):
    """A resource on a :class:`VirtualDriver`: its frees wait for no stream, because there is none."""

    is_device_accessible = False

    def __init__(self, config=None, **properties):
        self._owner = Owner(properties)
        self._blocks = {}
        self._lock = threading.Lock()
        self.config = config or VirtualMemoryResourceOptions()
        self._check_support()

    def deallocate(self, ptr, size, *, stream=None):
        super().deallocate(ptr, size)


class Owner:
    """A fake of device 0 with chosen properties."""

    def __init__(self, properties):
        self.properties = types.SimpleNamespace(
            **{
                "virtual_memory_management_supported": True,
                "gpu_direct_rdma_with_cuda_vmm_supported": False,
                "host_numa_id": 0,
                **properties,
            }
        )

    def __int__(self):
        return 0


ENUMS = ("allocation_type", "location_type", "handle_type", "granularity", "self_access", "peer_access")


@pytest.fixture
def virtual(monkeypatch):
    """A fake driver that records reservations and mappings."""
    driver = VirtualDriver()
    monkeypatch.setattr(cuda_utils, "driver", driver, raising=False)
    return driver


# Options


def test_options_have_defaults():
    options = VirtualMemoryResourceOptions()
    assert (options.allocation_type, options.location_type, options.granularity) == ("pinned", "device", "recommended")
    assert (options.handle_type, options.self_access, options.peer_access) == ("posix_fd", "rw", "rw")
    assert (options.gpu_direct_rdma, options.addr_hint, options.addr_align, options.peers) == (False, 0, None, ())
    assert options == VirtualMemoryResourceOptions(addr_hint=None)


def test_driver_values_of_options_are_tables_of_the_class():
    from cuda.bindings import driver

    flags = VirtualMemoryResourceOptions._access_flags
    assert flags[VirtualMemoryAccessType.READ] == driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READ
    assert flags["rw"] == driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE and flags[None] == 0
    handles = VirtualMemoryResourceOptions()._handle_types
    assert handles["fabric"] == driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_FABRIC
    assert handles[None] == driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_NONE
    for name, enum in (
        ("_allocation_type", VirtualMemoryAllocationType),
        ("_granularity", VirtualMemoryGranularityType),
        ("_location_type", VirtualMemoryLocationType),
    ):
        assert set(getattr(VirtualMemoryResourceOptions, name)) == set(enum)
    flags.clear()
    assert VirtualMemoryResourceOptions._access_flags


def test_options_take_strings_in_any_case():
    options = VirtualMemoryResourceOptions(handle_type="Fabric", self_access="R", peer_access=None)
    assert options.handle_type is VirtualMemoryHandleType.FABRIC
    assert options.self_access is VirtualMemoryAccessType.READ
    assert options.peer_access is None


@pytest.mark.parametrize("name", ENUMS)
@pytest.mark.parametrize("value", ["nonsense", 3])
def test_options_reject_other_strings_immediately(name, value):
    with pytest.raises(ValueError, match="not a valid"):
        VirtualMemoryResourceOptions(**{name: value})


@pytest.mark.parametrize("name", ["allocation_type", "location_type", "granularity"])
def test_required_options_reject_none(name):
    with pytest.raises(ValueError, match="None"):
        VirtualMemoryResourceOptions(**{name: None})


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("addr_hint", -1, ValueError),
        ("addr_hint", "0", TypeError),
        ("addr_align", 3, ValueError),
        ("addr_align", True, TypeError),
        ("peers", [-1], ValueError),
        ("peers", ["1"], TypeError),
    ],
)
def test_options_check_numbers(name, value, error):
    with pytest.raises(error, match=name):
        VirtualMemoryResourceOptions(**{name: value})


@pytest.mark.parametrize("device_id", [None, "0", 1.5])
def test_other_devices_are_rejected(device, device_id):
    with pytest.raises(TypeError, match="device_id"):
        VirtualMemoryResource(device_id)


# With a fake driver


def test_device_without_support_is_rejected():
    with pytest.raises(RuntimeError, match="does not support virtual memory"):
        DetachedResource(virtual_memory_management_supported=False)
    with pytest.raises(RuntimeError, match="rdma"):
        DetachedResource(VirtualMemoryResourceOptions(gpu_direct_rdma=True))


def test_windows_handles_are_rejected_when_used(virtual):
    for kind in ("win32", "win32_kmt"):
        with pytest.raises(NotImplementedError, match=kind):
            DetachedResource(VirtualMemoryResourceOptions(handle_type=kind)).allocate(8)


def test_unknown_node_is_rejected(virtual):
    resource = DetachedResource(VirtualMemoryResourceOptions(location_type="host_numa"), host_numa_id=-1)
    with pytest.raises(RuntimeError, match="NUMA"):
        resource.allocate(8)
    assert virtual.is_empty


@pytest.mark.parametrize(
    ("size", "error"), [(-1, OverflowError), (1 << 63, OverflowError), (1.5, TypeError), (True, TypeError)]
)
def test_bad_sizes_are_rejected(virtual, size, error):
    with pytest.raises(error, match="size"):
        DetachedResource().allocate(size)
    assert virtual.calls == 0


def test_allocations_of_0_bytes_have_the_address_0(virtual):
    buffer = DetachedResource().allocate(0)
    assert (buffer.handle, buffer.size) == (0, 0)
    buffer.close()
    assert virtual.calls == 0


def test_closing_releases_everything(virtual):
    resource = DetachedResource()
    buffer = resource.allocate(3 * GRANULARITY - 1)
    assert (buffer.size, buffer.memory_resource) == (3 * GRANULARITY, resource)
    assert list(virtual.memory.values()) == [1]
    buffer.close()
    assert virtual.is_empty
    assert resource._blocks == {}


def test_access_is_granted_by_the_options(virtual):
    options = VirtualMemoryResourceOptions(peers=[1, 2], self_access="rw", peer_access="r")
    buffer = DetachedResource(options).allocate(1)
    assert virtual.access[buffer.handle] == {0: 3, 1: 1, 2: 1}
    silent = DetachedResource(VirtualMemoryResourceOptions(self_access=None)).allocate(1)
    assert silent.handle not in virtual.access


@pytest.mark.parametrize("call", range(1, 7))
def test_failed_allocation_releases_everything(virtual, call):
    resource = DetachedResource()
    virtual.fail_at = call
    try:
        resource.allocate(8).close()
    except MemoryError:
        assert virtual.calls == call
    else:
        assert call > virtual.calls
    assert virtual.is_empty
    assert resource._blocks == {}
    virtual.fail_at = None
    assert resource.allocate(8).size == GRANULARITY


@pytest.mark.parametrize("in_place", [True, False])
def test_growing_keeps_the_memory(virtual, in_place):
    virtual.honors_hints = in_place
    resource = DetachedResource()
    buffer = resource.allocate(1)
    address = buffer.handle
    memory = virtual.mapped[address][1]
    grown = resource.modify_allocation(buffer, GRANULARITY + 1)
    assert grown.size == 2 * GRANULARITY
    assert virtual.mapped[grown.handle][1] == memory
    assert grown.handle + GRANULARITY in virtual.access
    if in_place:
        assert grown is buffer
        assert grown.handle == address
    else:
        assert buffer.is_closed
        assert grown.handle != address
    again = resource.modify_allocation(grown, 4 * GRANULARITY)
    assert (again.size, len(virtual.memory)) == (4 * GRANULARITY, 3)
    again.close()
    assert virtual.is_empty


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("call", range(1, 12))
def test_failed_growth_leaves_the_buffer_unchanged(virtual, in_place, call):
    virtual.honors_hints = in_place
    resource = DetachedResource()
    buffer = resource.allocate(1)
    before = (dict(virtual.reserved), dict(virtual.memory), dict(virtual.mapped), buffer.handle)
    options = VirtualMemoryResourceOptions(handle_type=None)
    config, virtual.calls, virtual.fail_at = resource.config, 0, call
    try:
        buffer = resource.modify_allocation(buffer, 3 * GRANULARITY, options)
    except MemoryError:
        assert (virtual.reserved, virtual.memory, virtual.mapped, buffer.handle) == before
        assert (buffer.size, resource.config) == (GRANULARITY, config)
    else:
        assert call > virtual.calls
        assert (buffer.size, resource.config) == (3 * GRANULARITY, options)
    buffer.close()
    assert virtual.is_empty


def test_shrinking_only_changes_the_access(virtual):
    resource = DetachedResource()
    buffer = resource.allocate(2 * GRANULARITY)
    address = buffer.handle
    same = resource.modify_allocation(buffer, 1, {"self_access": "r", "peers": (1,)})
    assert same is buffer
    assert (buffer.handle, buffer.size, virtual.access[address]) == (address, 2 * GRANULARITY, {0: 1, 1: 3})
    assert resource.config.peers == (1,)


def test_wrapped_memory_is_released_as_one_piece(virtual):
    _, address = virtual.cuMemAddressReserve(GRANULARITY, 0, 0, 0)
    _, memory = virtual.cuMemCreate(GRANULARITY, None, 0)
    virtual.cuMemMap(address, GRANULARITY, 0, memory, 0)
    virtual.cuMemRelease(memory)
    Buffer.from_handle(address, GRANULARITY, mr=DetachedResource()).close()
    assert virtual.is_empty


def test_assigned_options_are_checked_when_they_are_used(virtual):
    resource = DetachedResource()
    resource.config.granularity = "small"
    with pytest.raises(ValueError, match="small"):
        resource.allocate(1)
    resource.config.granularity = "minimum"
    resource.config.addr_align = 3
    with pytest.raises(ValueError, match="addr_align"):
        resource.allocate(1)


def test_wrong_arguments_of_growth_are_rejected(virtual):
    resource = DetachedResource()
    buffer = resource.allocate(1)
    with pytest.raises(TypeError, match="buf"):
        resource.modify_allocation(3, 8)
    with pytest.raises(ValueError, match="this resource"):
        resource.modify_allocation(HostMemoryResource().allocate(8), 8)
    with pytest.raises(ValueError, match="must not be empty"):
        resource.modify_allocation(resource.allocate(0), 8)
    with pytest.raises(TypeError, match="new_size"):
        resource.modify_allocation(buffer, 1.5)
    with pytest.raises(TypeError, match="options"):
        resource.modify_allocation(buffer, 8, 3)
    with pytest.raises(AssertionError, match="host"):
        resource.modify_allocation(buffer, 8, {"location_type": "host"})
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        resource.modify_allocation(buffer, 8)
    assert virtual.is_empty


# On a device


@pytest.mark.requires(vmm=True)
def test_resource_has_the_properties_of_its_memory(device):
    resource = VirtualMemoryResource(device)
    assert (resource.device, resource.device_id) == (device, 0)
    assert (resource.is_device_accessible, resource.is_host_accessible) == (True, False)
    assert resource.config == VirtualMemoryResourceOptions()
    assert repr(device) in repr(resource)
    host = VirtualMemoryResource(0, {"location_type": "host"})
    assert (host.device, host.device_id, host.is_device_accessible, host.is_host_accessible) == (None, -1, False, True)


@pytest.mark.requires(vmm=True)
@pytest.mark.parametrize(
    "options", [{}, {"granularity": "minimum"}, {"handle_type": None}, {"addr_align": 1 << 22}, {"addr_hint": 1 << 40}]
)
def test_memory_is_written_and_read(device, stream, options):
    resource = VirtualMemoryResource(device, options)
    with resource.allocate(5000, stream=stream) as buffer:
        assert buffer.size >= 5000
        assert buffer.handle % (resource.config.addr_align or 1) == 0
        assert (buffer.device_id, buffer.is_device_accessible) == (0, True)
        buffer.fill(3, stream=stream)
        assert read(buffer, stream) == b"\3" * buffer.size
    assert buffer.is_closed


@pytest.mark.requires(vmm=True)
@pytest.mark.parametrize("block_the_way", [False, True])
def test_contents_stay_when_a_buffer_grows(device, stream, block_the_way):
    resource = VirtualMemoryResource(device)
    buffer = resource.allocate(1, stream=stream)
    size = buffer.size
    pattern = bytes(range(256)) * (size // 256)
    write(buffer, pattern, stream)
    # The next allocations are usually placed behind the buffer.
    others = [resource.allocate(1) for _ in range(8)] if block_the_way else []
    grown = resource.modify_allocation(buffer, 2 * size)
    assert grown.size == 2 * size
    assert grown is buffer or buffer.is_closed
    assert read(grown, stream)[:size] == pattern
    grown.fill(4, stream=stream)
    assert read(grown, stream) == b"\4" * (2 * size)
    for other in (*others, grown):
        other.close()


@pytest.mark.requires(vmm=True)
def test_memory_that_moved_is_unmapped_after_the_work_of_its_stream(device, stream):
    resource = VirtualMemoryResource(device)
    with resource.allocate(1, stream=stream) as buffer:
        end = buffer.handle + buffer.size
        taken = call_driver("cuMemAddressReserve", buffer.size, 0, end, 0)
        grown = resource.modify_allocation(buffer, 2 * buffer.size)
        call_driver("cuMemAddressFree", taken, grown.size // 2)
    with busy(stream) as release:
        grown.fill(1, stream=stream)
        timer = threading.Timer(0.02, release)
        timer.start()
        grown.close()
        assert stream.is_done
        timer.join()
    stream.sync()  # the work would fail if its memory was unmapped before it


@pytest.mark.requires(vmm=True)
def test_impossible_size_is_rejected_and_leaks_nothing(device, stream):
    resource = VirtualMemoryResource(device)
    with pytest.raises(CUDAError):
        resource.allocate(1 << 46)
    assert resource._blocks == {}
    with resource.allocate(1) as buffer:
        with pytest.raises(CUDAError):
            resource.modify_allocation(buffer, 1 << 46)
        buffer.fill(1, stream=stream)
        assert set(read(buffer, stream)) == {1}


@pytest.mark.requires(vmm=True)
def test_dropped_buffer_frees_its_memory(device):
    resource = VirtualMemoryResource(device)
    buffer = resource.allocate(1)
    assert len(resource._blocks) == 1
    del buffer
    gc.collect()
    assert resource._blocks == {}


@pytest.mark.requires(vmm=True)
def test_stream_of_wrong_type_is_rejected(device):
    with pytest.raises(TypeError, match="stream"):
        VirtualMemoryResource(device).allocate(8, stream=3)


@pytest.mark.requires(vmm=True, peer=True)
def test_peer_reads_the_memory(devices, stream):
    resource = VirtualMemoryResource(devices[0], {"peers": [devices[1]]})
    with resource.allocate(1, stream=stream) as buffer:
        buffer.fill(6, stream=stream)
        stream.sync()
        with devices[1]:
            assert set(read(buffer, devices[1].create_stream())) == {6}
