# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Virtual memory: options, allocation, growth and release."""

import contextlib
import gc
import threading
import types

import pytest
from cuda.bindings import driver

from cuda.core import (
    LEGACY_DEFAULT_STREAM,
    Buffer,
    CUDAError,
    CUDAWarning,
    StreamOptions,
    VirtualMemoryBuffer,
    VirtualMemoryResource,
    VirtualMemoryResourceOptions,
)
from cuda.core.typing import (
    VirtualMemoryAccessType,
    VirtualMemoryAllocationType,
    VirtualMemoryGranularityType,
    VirtualMemoryHandleType,
    VirtualMemoryLocationType,
)
from support.contract import cuda_utils
from support.graphs import capture
from support.memory import HostMemoryResource, read, write
from support.threads import close_beside
from support.work import busy

GRANULARITY = 1 << 21


class DetachedResource(VirtualMemoryResource):
    """A resource of a fake device, for checks that precede driver calls."""

    is_device_accessible = False

    def __init__(self, config=None, **properties):
        self._owner = Owner(properties)
        self.config = config
        self._check_support()


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
def resource(device):
    return VirtualMemoryResource(device)


def free_memory() -> int:
    gc.collect()  # what earlier tests left
    return cuda_utils.call_driver("cuMemGetInfo")[0]


def access(ordinal: int, address: int) -> int:
    """Return the access flags of a device to an address."""
    location = driver.CUmemLocation()
    location.type, location.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, ordinal
    return int(cuda_utils.call_driver("cuMemGetAccess", location, address))


@contextlib.contextmanager
def blocked(buffer):
    """Reserve the addresses after a buffer, unless something else has them, so that it cannot grow in place."""
    size = buffer.size
    taken = cuda_utils.call_driver("cuMemAddressReserve", size, 0, buffer.handle + size, 0)
    yield
    cuda_utils.call_driver("cuMemAddressFree", taken, size)


@contextlib.contextmanager
def buffer_before_free_addresses(resource):
    """Allocate a buffer that can grow in place: other allocations of the process may be right after one."""
    buffers = [resource.allocate(1)]
    for _ in range(100):
        end, size = buffers[-1].handle + buffers[-1].size, buffers[-1].size
        free = cuda_utils.call_driver("cuMemAddressReserve", size, 0, end, 0)
        cuda_utils.call_driver("cuMemAddressFree", free, size)
        if int(free) == end:
            break
        buffers.append(resource.allocate(1))
    yield buffers[-1]
    for buffer in buffers:
        buffer.close()


# Options


def test_options_have_defaults():
    options = VirtualMemoryResourceOptions()
    assert (options.allocation_type, options.location_type, options.granularity) == ("pinned", "device", "recommended")
    assert (options.handle_type, options.self_access, options.peer_access) == ("posix_fd", "rw", "rw")
    assert (options.gpu_direct_rdma, options.addr_hint, options.addr_align, options.peers) == (False, 0, None, ())
    assert options == VirtualMemoryResourceOptions(addr_hint=None)


@pytest.mark.requires(bindings=(13, 0))
def test_driver_values_of_options_are_class_tables():
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


def test_options_accept_strings_in_any_case():
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
        ("numa_id", "0", TypeError),
        ("numa_id", -1, ValueError),
    ],
)
def test_options_check_numbers(name, value, error):
    with pytest.raises(error, match=name):
        VirtualMemoryResourceOptions(**{name: value})


@pytest.mark.parametrize("device_id", [None, "0", 1.5])
def test_other_devices_are_rejected(device, device_id):
    with pytest.raises(TypeError, match="device_id"):
        VirtualMemoryResource(device_id)


# Without a device


def test_device_without_support_is_rejected():
    with pytest.raises(RuntimeError, match="does not support virtual memory"):
        DetachedResource(virtual_memory_management_supported=False)
    with pytest.raises(RuntimeError, match="rdma"):
        DetachedResource(VirtualMemoryResourceOptions(gpu_direct_rdma=True))


def test_windows_handles_are_rejected_when_used():
    for kind in ("win32", "win32_kmt"):
        with pytest.raises(NotImplementedError, match=kind):
            DetachedResource(VirtualMemoryResourceOptions(handle_type=kind)).allocate(8)


def test_unknown_node_is_rejected():
    resource = DetachedResource(VirtualMemoryResourceOptions(location_type="host_numa"), host_numa_id=-1)
    with pytest.raises(RuntimeError, match="NUMA"):
        resource.allocate(8)


def test_locations_and_types_that_drivers_reject_are_rejected():
    with pytest.raises(ValueError, match="allocation_type must be 'pinned'; use ManagedMemoryResource"):
        VirtualMemoryResourceOptions(allocation_type=VirtualMemoryAllocationType.MANAGED)
    with pytest.raises(ValueError, match="must not be 'host_numa_current', .*use 'host_numa' with numa_id"):
        VirtualMemoryResourceOptions(location_type="HOST_NUMA_CURRENT")


def test_node_needs_its_location_type():
    with pytest.raises(ValueError, match="numa_id must be None unless"):
        VirtualMemoryResourceOptions(numa_id=0)
    resource = DetachedResource({"location_type": "host_numa", "numa_id": 3}, host_numa_id=-1)
    location = resource._location(resource.config)
    assert location.id == 3


def test_handle_type_says_whether_memory_is_shared():
    assert [DetachedResource({"handle_type": kind}).is_ipc_enabled for kind in ("posix_fd", "fabric", None)] == [
        True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("size", "error"), [(-1, OverflowError), (1 << 63, OverflowError), (1.5, TypeError), (True, TypeError)]
)
def test_bad_sizes_are_rejected(size, error):
    with pytest.raises(error, match="size"):
        DetachedResource().allocate(size)


def test_allocations_of_0_bytes_have_the_address_0():
    buffer = DetachedResource().allocate(0)
    assert (buffer.handle, buffer.size, type(buffer)) == (0, 0, VirtualMemoryBuffer)
    buffer.close()
    assert buffer.is_closed


def test_assigned_options_are_checked_when_they_are_used():
    resource = DetachedResource()
    resource.config.granularity = "small"
    with pytest.raises(ValueError, match="small"):
        resource.allocate(1)
    resource.config.granularity = "minimum"
    resource.config.addr_align = 3
    with pytest.raises(ValueError, match="addr_align"):
        resource.allocate(1)


def test_virtual_buffers_cannot_be_constructed():
    with pytest.raises(RuntimeError, match=r"VirtualMemoryResource\.allocate"):
        VirtualMemoryBuffer()


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
    # The next allocations are usually placed right after the buffer.
    others = [resource.allocate(1) for _ in range(8)] if block_the_way else []
    grown = resource.modify_allocation(buffer, 2 * size)
    assert grown.size == 2 * size
    assert (grown is buffer, buffer.is_closed, buffer.size) == (False, False, size)
    assert read(grown, stream)[:size] == pattern
    grown.fill(4, stream=stream)
    assert read(grown, stream) == b"\4" * (2 * size)
    assert read(buffer, stream) == b"\4" * size
    for other in (*others, buffer, grown):
        other.close()


@pytest.mark.requires(vmm=True)
def test_grown_buffer_keeps_its_address_if_the_next_is_free(resource):
    with buffer_before_free_addresses(resource) as buffer:
        address, size = buffer.handle, buffer.size
        with resource.modify_allocation(buffer, size + 1) as grown:
            assert (type(grown), grown.handle, grown.size) == (VirtualMemoryBuffer, address, 2 * size)
            assert (buffer.handle, buffer.size) == (address, size)


@pytest.mark.requires(vmm=True, software=True)  # counts free memory
@pytest.mark.parametrize("is_moved", [False, True])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_shared_memory_is_freed_with_its_last_buffer(resource, stream, is_moved, order):
    before = free_memory()
    buffers = [resource.allocate(1, stream=stream)]
    size = buffers[0].size
    for count in (2, 3):
        with blocked(buffers[-1]) if is_moved else contextlib.nullcontext():
            buffers.append(resource.modify_allocation(buffers[-1], count * size))
    assert free_memory() == before - 3 * size
    buffers[0].fill(7, stream=stream)
    for place in order[:2]:
        buffers[place].close()
    last = buffers[order[2]]
    assert set(read(last, stream)[:size]) == {7}
    last.fill(1, stream=stream)
    last.close()
    assert free_memory() == before


@pytest.mark.requires(vmm=True)
def test_grown_buffer_gets_another_address_if_the_next_is_used(resource, stream):
    buffer = resource.allocate(1, stream=stream)
    size = buffer.size
    with blocked(buffer):
        grown = resource.modify_allocation(buffer, 2 * size)
    assert (buffer.is_closed, grown.size, type(grown)) == (False, 2 * size, VirtualMemoryBuffer)
    assert grown.handle != buffer.handle
    buffer.close()
    assert grown._deallocation_stream == stream
    again = resource.modify_allocation(grown, 4 * size)
    again.fill(5, stream=stream)
    assert set(read(again, stream)) == {5}
    again.close()


class ClosesBuffer(VirtualMemoryResource):
    """A resource that closes a buffer when its options are read."""

    victim = None

    def _properties(self, config):
        if self.victim is not None:
            self.victim.close()
        return super()._properties(config)


@pytest.mark.requires(vmm=True, software=True)  # counts free memory
@pytest.mark.parametrize("is_moved", [False, True])
def test_buffer_closed_while_it_grows_passes_its_memory_on(device, stream, is_moved):
    resource = ClosesBuffer(device)
    before = free_memory()
    buffer = resource.allocate(1, stream=stream)
    write(buffer, bytes([9]) * buffer.size, stream)
    size = buffer.size
    with blocked(buffer) if is_moved else contextlib.nullcontext():
        resource.victim = buffer
        grown = resource.modify_allocation(buffer, 2 * size)
    assert buffer.is_closed
    assert set(read(grown, stream)[:size]) == {9}
    grown.close()
    assert free_memory() == before


@pytest.mark.requires(vmm=True, software=True)  # counts free memory
def test_threads_close_a_buffer_while_it_grows(device, resource):
    before = free_memory()

    def grow(buffer):
        device.set_current()
        for _ in range(10):
            resource.modify_allocation(buffer, 3 * GRANULARITY).close()

    for _ in range(20):
        for error in close_beside(resource.allocate(1), 2, grow):
            assert isinstance(error, RuntimeError) and "closed" in str(error)
    assert free_memory() == before


@pytest.mark.requires(vmm=True, peer=True)
def test_access_is_granted_by_the_options(devices):
    with VirtualMemoryResource(0, {"peers": [1], "peer_access": "r"}).allocate(1) as buffer:
        assert (access(0, buffer.handle), access(1, buffer.handle)) == (3, 1)
    with VirtualMemoryResource(0, {"self_access": None}).allocate(1) as silent:
        assert access(0, silent.handle) == 0


@pytest.mark.requires(vmm=True)
def test_covered_request_returns_the_buffer_itself(resource):
    with resource.allocate(2 * GRANULARITY) as buffer:
        before = (buffer.handle, buffer.size, access(0, buffer.handle))
        assert resource.modify_allocation(buffer, 1, {"self_access": "r"}) is buffer
        assert (buffer.handle, buffer.size, access(0, buffer.handle)) == before


@pytest.mark.requires(vmm=True)
def test_options_of_a_growth_hold_for_the_added_memory(resource):
    config = resource.config
    with resource.allocate(1) as buffer:
        with resource.modify_allocation(buffer, 2 * buffer.size, {"self_access": "r"}) as grown:
            assert (access(0, grown.handle), access(0, grown.handle + buffer.size)) == (3, 1)
    assert resource.config is config
    assert config.self_access == "rw"


@pytest.mark.requires(vmm=True, software=True)  # counts free memory
def test_wrapped_memory_is_released_as_one_piece(resource):
    before = free_memory()
    with resource.allocate(GRANULARITY) as buffer:  # to copy the properties from
        size = buffer.size
        address = cuda_utils.call_driver("cuMemAddressReserve", size, 0, 0, 0)
        memory = cuda_utils.call_driver("cuMemRetainAllocationHandle", buffer.handle)
        cuda_utils.call_driver("cuMemMap", address, size, 0, memory, 0)
        cuda_utils.call_driver("cuMemRelease", memory)
    assert free_memory() == before - size
    wrapped = Buffer.from_handle(address, size, mr=resource)
    with pytest.raises(ValueError, match="not wrapped memory"):
        resource.modify_allocation(wrapped, 2 * size)
    wrapped.close()
    assert free_memory() == before


@pytest.mark.requires(vmm=True)
def test_wrong_arguments_of_growth_are_rejected(resource):
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


@pytest.mark.requires(vmm=True)
def test_moved_memory_is_unmapped_after_the_work_of_its_stream(resource, stream):
    with resource.allocate(1, stream=stream) as buffer, blocked(buffer):
        grown = resource.modify_allocation(buffer, 2 * buffer.size)
    with busy(stream) as release:
        grown.fill(1, stream=stream)
        timer = threading.Timer(0.02, release)
        timer.start()
        grown.close()
        assert stream.is_done
        timer.join()


@pytest.mark.requires(vmm=True, software=True)  # counts free memory
def test_impossible_size_is_rejected_and_leaks_nothing(resource, stream):
    before = free_memory()
    with pytest.raises(CUDAError):
        resource.allocate(1 << 46)
    with resource.allocate(1) as buffer:
        with pytest.raises(CUDAError):
            resource.modify_allocation(buffer, 1 << 46)
        buffer.fill(1, stream=stream)
        assert set(read(buffer, stream)) == {1}
    assert free_memory() == before


@pytest.mark.requires(vmm=True, software=True)  # counts free memory
def test_allocating_and_closing_does_not_change_the_free_memory(resource, stream):
    before = free_memory()
    for _ in range(64):
        resource.allocate(1, stream=stream).close()
    assert free_memory() == before


@pytest.mark.requires(vmm=True, software=True)  # counts free memory
def test_dropped_buffer_frees_its_memory(resource):
    before = free_memory()
    buffer = resource.allocate(1)
    assert free_memory() == before - buffer.size
    del buffer
    gc.collect()
    assert free_memory() == before


@pytest.mark.requires(vmm=True, software=True)  # counts free memory
def test_deallocate_of_the_resource_takes_no_part(device):
    class Resource(VirtualMemoryResource):
        def deallocate(self, ptr, size, *, stream=None):
            raise AssertionError("not called")

    before = free_memory()
    Resource(device).allocate(1).close()
    assert free_memory() == before


@pytest.mark.requires(vmm=True)
def test_close_on_a_capturing_stream_raises_and_leaves_it_open(resource, device, stream):
    buffer = resource.allocate(1, stream=stream)
    with capture(stream) as graph:
        with pytest.raises(RuntimeError, match="must not be capturing"):
            buffer.close()
        assert not buffer.is_closed
    graph.destroy()
    other = device.create_stream()
    with capture(other) as graph:
        with pytest.raises(RuntimeError, match="must not be capturing"):
            buffer.close(other)
    graph.destroy()
    buffer.close()
    assert buffer.is_closed


@pytest.mark.requires(vmm=True, software=True)  # counts free memory
def test_default_stream_is_not_synchronized_during_a_capture(resource, device):
    buffer, before = resource.allocate(1, stream=LEGACY_DEFAULT_STREAM), free_memory()
    size, other = buffer.size, device.create_stream(options=StreamOptions(nonblocking=False))
    with capture(other) as graph, pytest.warns(CUDAWarning, match="cuStreamSynchronize"):
        buffer.close()
    assert graph.raw is not None
    graph.destroy()
    assert free_memory() == before + size


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
