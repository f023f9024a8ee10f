# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Multicast objects: one address for the memory of a team of devices."""

import copy
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from cuda.core import (
    CUDAError,
    Device,
    LegacyPinnedMemoryResource,
    MulticastObject,
    Program,
    VirtualMemoryResource,
)
from cuda.core.utils import kernel
from support.threads import in_thread

pytestmark = pytest.mark.requires(devices=2, multicast=True)

SOURCE = """
__global__ void store(float* x) {
    float value = threadIdx.x + 1;
    asm volatile("multimem.st.relaxed.sys.global.f32 [%0], %1;" :: "l"(x + threadIdx.x), "f"(value) : "memory");
}
__global__ void add(float* x, float a) {
    asm volatile("multimem.red.relaxed.sys.global.add.f32 [%0], %1;" :: "l"(x + threadIdx.x % 2), "f"(a) : "memory");
}
__global__ void maximum(int* x, int a) {
    asm volatile("multimem.red.relaxed.sys.global.max.s32 [%0], %1;" :: "l"(x), "r"(a) : "memory");
}
__global__ void sum(const float* x, float* out) {
    float a, b, c, d;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(x) : "memory");
    out[0] = a; out[1] = b; out[2] = c; out[3] = d;
}
__global__ void ordinary(float* x) { *x = 1; }
"""


@pytest.fixture
def devices(device):
    """The team, each with its primary context; the first is current."""
    Device(1).set_current()
    device.set_current()
    return Device(0), Device(1)


class Team:
    """A mapped object and the memory of each device."""

    def __init__(self, devices):
        self.object = MulticastObject(devices, 1 << 16)
        self.buffers = [VirtualMemoryResource(device).allocate(self.object.size) for device in devices]
        for buffer in self.buffers:
            self.object.bind(buffer)
        self.map = self.object.map()
        self.stream = devices[0].create_stream()
        for device, buffer in zip(devices, self.buffers, strict=True):
            with device:
                stream = device.create_stream()
                buffer.fill(0, stream=stream)
                stream.sync()

    def run(self, name, *arguments, block=1, address=None):
        """Run a kernel on the first device with the address of the map."""
        address = self.map.handle if address is None else address
        kernel(SOURCE, name)(np.uintp(address), *arguments, grid=1, block=block, stream=self.stream)
        self.stream.sync()

    def first(self, count, dtype=np.float32):
        """Return the first elements that each device has."""
        found = []
        for index, buffer in enumerate(self.buffers):
            with Device(index) as device:
                stream = device.create_stream()
                out = np.empty(count, dtype)
                buffer[: out.nbytes].copy_to(out, stream=stream)
                stream.sync()
                found.append(out.tolist())
        return found

    def close(self):
        """Release everything."""
        for item in (self.map, self.object, *self.buffers):
            item.close()


@pytest.fixture
def team(devices):
    """A team of two devices."""
    team = Team(devices)
    yield team
    team.close()


def test_stores_reach_every_device(team):
    team.run("store", block=4)
    assert team.first(5) == [[1, 2, 3, 4, 0]] * 2


def test_reductions_reach_every_device(team):
    team.run("store", block=2)
    team.run("add", np.float32(0.5), block=64)
    assert team.first(2) == [[17, 18]] * 2
    team.run("maximum", 0x7F000000)
    assert team.first(1, np.int32) == [[0x7F000000]] * 2


def test_loads_reduce_over_the_devices(team, devices):
    for index, (device, buffer) in enumerate(zip(devices, team.buffers, strict=True)):
        with device:
            stream = device.create_stream()
            buffer.fill(np.float32(index + 1.5), stream=stream)
            stream.sync()
    out = devices[0].zeros(4, np.float32, pinned=True)
    team.run("sum", out)
    assert np.asarray(out).tolist() == [4, 4, 4, 4]


@pytest.mark.requires(software=True)
@pytest.mark.parametrize(
    "text",
    [
        "multimem.st.global.f16x2 [%0], %1;",
        "multimem.st.shared.f32 [%0], %1;",
        "multimem.red.global.f32 [%0], %1;",
        "multimem.red.global.min.f32 [%0], %1;",
        "multimem.red.global.exch.b32 [%0], %1;",
        "multimem.st.global.v3.f32 [%0], {%1, %1, %1};",
        "multimem.add.global.f32 [%0], %1;",
    ],
)
def test_other_instructions_are_rejected_by_the_compiler(device, text):
    source = f'__global__ void f(float* x) {{ asm volatile("{text}" :: "l"(x), "r"(1)); }}'
    with pytest.raises(CUDAError, match="multimem"):
        Program(source, "c++").compile("cubin")


def test_sizes_are_rounded_up(devices):
    with MulticastObject(devices, 1) as team:
        assert team.size > 1
        assert team.size % 65536 == 0
        assert team.devices == devices
        assert f"devices [0, 1], {team.size} bytes" in repr(team)
    assert team.is_closed
    assert repr(team).endswith("closed>")
    team.close()


def test_memory_is_bound_again_after_it_was_unbound(team):
    team.object.unbind(1)
    team.object.bind(team.buffers[1])
    team.run("store", block=2)
    assert team.first(2) == [[1, 2]] * 2


def test_bound_memory_outlives_its_buffer(devices):
    with MulticastObject(devices, 1) as team:
        for device in devices:
            with VirtualMemoryResource(device).allocate(team.size) as buffer:
                team.bind(buffer)
        with team.map() as everywhere:
            stream = devices[0].create_stream()
            out = devices[0].zeros(4, np.float32, pinned=True)
            kernel(SOURCE, "store")(np.uintp(everywhere.handle), grid=1, block=4, stream=stream)
            kernel(SOURCE, "sum")(np.uintp(everywhere.handle), out, grid=1, block=1, stream=stream)
            stream.sync()
            assert np.asarray(out).tolist() == [2, 4, 6, 8]


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_objects_are_not_copied(devices, duplicate):
    with MulticastObject(devices, 1) as team, pytest.raises(TypeError, match="cannot be pickled or copied"):
        duplicate(team)


def test_maps_outlive_the_object(team):
    team.object.close()
    team.run("store", block=2)
    assert team.first(2) == [[1, 2]] * 2


@pytest.mark.parametrize(
    ("devices", "size", "error", "text"),
    [
        ([], 1, ValueError, "at least one"),
        ([0, 0], 1, ValueError, "different"),
        ([0, 99], 1, ValueError, "99"),
        (0, 1, TypeError, "iterable of Device"),
        ("01", 1, TypeError, None),
        ([0, 1], 0, ValueError, "at least 1 byte"),
        ([0, 1], -1, OverflowError, "size"),
        ([0, 1], 1 << 63, OverflowError, "size"),
        ([0, 1], 1.5, TypeError, "size"),
        ([0, 1], None, TypeError, "size"),
    ],
)
def test_wrong_teams_are_rejected(device, devices, size, error, text):
    with pytest.raises(error, match=text):
        MulticastObject(devices, size)


def test_wrong_memory_is_rejected(team, devices):
    closed = VirtualMemoryResource(0).allocate(1)
    closed.close()
    pinned = LegacyPinnedMemoryResource().allocate(team.object.size)
    pool = devices[0].allocate(team.object.size, stream=team.stream)
    with pytest.raises(TypeError, match="buffer must be a Buffer"):
        team.object.bind(3)
    with pytest.raises(RuntimeError, match="closed"):
        team.object.bind(closed)
    for buffer in (pinned, pool, team.map, team.buffers[0]):  # the last is already bound
        with pytest.raises(CUDAError):
            team.object.bind(buffer)
    with VirtualMemoryResource(0).allocate(team.object.size) as buffer:
        for offset, error in ((1, CUDAError), (team.object.size, CUDAError), (-1, OverflowError), (0.5, TypeError)):
            with pytest.raises(error):
                team.object.bind(buffer, offset=offset)


def test_wrong_ranges_are_not_unbound(team):
    with pytest.raises(ValueError, match="at least one|belong to the team|99"):
        team.object.unbind(99)
    for offset, size in ((0, 1), (team.object.size, None), (0, team.object.size * 2), (0, 0)):
        with pytest.raises(CUDAError):
            team.object.unbind(0, offset=offset, size=size)
    with pytest.raises(TypeError, match="stream"):
        team.object.map(stream=3)
    with pytest.raises(OverflowError, match="size"):
        team.object.unbind(0, size=-1)
    with MulticastObject([0], 1) as single, pytest.raises(ValueError, match="belong to the team"):
        single.unbind(1)


def test_closed_objects_are_rejected(devices, team):
    other = MulticastObject(devices, 1)
    other.close()
    attempts = [lambda: other.bind(team.buffers[0]), lambda: other.unbind(0), other.map, other.__enter__]
    for attempt in attempts:
        with pytest.raises(RuntimeError, match="MulticastObject is closed"):
            attempt()


def test_threads_may_close_an_object_in_use(devices):
    team = MulticastObject(devices, 1)
    failures = []

    def use():
        try:
            devices[0].set_current()
            for _ in range(50):
                team.map().close()
        except RuntimeError as error:
            if "closed" not in str(error):
                failures.append(error)

    threads = [threading.Thread(target=use) for _ in range(3)]
    for thread in threads:
        thread.start()
    in_thread(team.close)
    for thread in threads:
        thread.join(60)
    assert not failures
    assert team.is_closed


@pytest.mark.requires(software=True)
def test_devices_without_multicast_are_rejected():
    program = "from cuda.core import *\ntry: MulticastObject([0], 1)\nexcept NotSupportedError as error: print(error)"
    variables = {**os.environ, "CUDA_EMULATOR_COMPUTE_CAPABILITY": "8.0"}
    result = subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True, timeout=60)
    assert result.stdout == "device 0 does not support multicast\n"


@pytest.mark.requires(software=True)
@pytest.mark.parametrize(
    ("name", "place", "text"),
    [("ordinary", 0, "ILLEGAL_ADDRESS"), ("store", 2, "MISALIGNED_ADDRESS"), ("store", 1 << 30, "ILLEGAL_ADDRESS")],
)
def test_wrong_accesses_fault(devices, name, place, text):
    team = Team(devices)
    with pytest.raises(CUDAError, match=text):
        team.run(name, address=team.map.handle + place)
    devices[0].reset()


@pytest.mark.requires(software=True, cuda=(12, 9))  # the text is in the driver's log
def test_stores_without_memory_of_each_device_fault(devices):
    team = Team(devices)
    team.object.unbind(1)
    with pytest.raises(CUDAError, match="needs a multicast address with memory on each device"):
        team.run("store")
    devices[0].reset()


# Each process adds its device to the object and binds its memory; the first one stores to both.
SHARED = """
import multiprocessing
import sys
from multiprocessing.reduction import recv_handle, send_handle

import numpy as np
from cuda.bindings import driver

from cuda.core import Device, VirtualMemoryResource, utils

FILE = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


def check(result):
    assert int(result[0]) == 0, result
    return result[1] if len(result) > 1 else None


def join(team, device):
    check(driver.cuMulticastAddDevice(team, int(device)))
    memory = VirtualMemoryResource(device).allocate(1 << 21)
    memory.fill(0, stream=device.default_stream)
    device.sync()
    check(driver.cuMulticastBindAddr(team, 0, int(memory.handle), memory.size, 0))
    return memory


def values(memory, device):
    host = np.empty(memory.size, np.uint8)
    memory.copy_to(host, stream=device.default_stream)
    device.sync()
    return host.view(np.float32)[:4].tolist()


def second(connection):
    with Device(1) as device:
        team = check(driver.cuMemImportFromShareableHandle(recv_handle(connection), FILE))
        memory = join(team, device)
        connection.send("bound")
        assert connection.recv() == "stored"
        connection.send(values(memory, device))
        check(driver.cuMulticastUnbind(team, 1, 0, memory.size))
        check(driver.cuMemRelease(team))


def first():
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=second, args=(theirs,))
    process.start()
    with Device(0) as device:
        properties = driver.CUmulticastObjectProp()
        properties.numDevices, properties.size, properties.handleTypes = 2, 1 << 21, int(FILE)
        team = check(driver.cuMulticastCreate(properties))
        send_handle(ours, int(check(driver.cuMemExportToShareableHandle(team, FILE, 0))), process.pid)
        memory = join(team, device)
        assert ours.recv() == "bound"
        address = check(driver.cuMemAddressReserve(memory.size, 0, 0, 0))
        check(driver.cuMemMap(address, memory.size, 0, team, 0))
        access = driver.CUmemAccessDesc()
        access.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        check(driver.cuMemSetAccess(address, memory.size, [access], 1))
        utils.kernel(sys.argv[1], "store")(int(address), grid=1, block=4)
        device.sync()
        ours.send("stored")
        print(values(memory, device), ours.recv())
        process.join()
        assert process.exitcode == 0


if __name__ == "__main__":
    first()
"""


def test_processes_with_a_device_each_share_an_object(tmp_path):
    path = tmp_path / "shared.py"
    path.write_text(SHARED)
    done = subprocess.run([sys.executable, path, SOURCE], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "[1.0, 2.0, 3.0, 4.0] [1.0, 2.0, 3.0, 4.0]\n"
