# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NVML reports identity, memory, processes and utilization, but nothing that needs a board."""

import contextlib
import ctypes
import os
import threading

import pytest

import cuda.emulator


@pytest.fixture
def nvml(driver):
    from cuda.bindings import nvml

    nvml.init_v2()
    yield nvml
    nvml.shutdown()


@pytest.fixture
def first(nvml):
    """The handle of device 0."""
    return nvml.device_get_handle_by_index_v2(0)


@contextlib.contextmanager
def event_set(nvml):
    events = nvml.event_set_create()
    yield events
    nvml.event_set_free(events)


def handle_by_binary_uuid(value):
    """Call nvmlDeviceGetHandleByUUIDV directly, because the bindings pass one byte too few for binary UUIDs."""
    request = (1 << 24 | 52).to_bytes(4, "little") + (2).to_bytes(4, "little") + value.ljust(44, b"\0")
    handle = ctypes.c_size_t()
    library = ctypes.CDLL(cuda.emulator.library_path())
    assert library.nvmlDeviceGetHandleByUUIDV(request, ctypes.byref(handle)) == 0
    return handle.value


def supported_states(handle):
    """Call nvmlDeviceGetSupportedPerformanceStates, which the oldest bindings do not have."""
    states = (ctypes.c_int * 16)()
    library = ctypes.CDLL(cuda.emulator.library_path())
    query = library.nvmlDeviceGetSupportedPerformanceStates
    assert query(ctypes.c_void_p(handle), None, 64) != 0 and query(ctypes.c_void_p(handle), states, 3) != 0
    assert query(ctypes.c_void_p(handle), states, ctypes.sizeof(states)) == 0
    return list(states)


def test_bindings_use_only_software_device_functions(nvml):
    from cuda.bindings._internal import nvml as internal

    library = ctypes.CDLL(cuda.emulator.library_path())
    found = {name.removeprefix("__"): address for name, address in internal._inspect_function_pointers().items()}
    assert len(found) > 300
    assert found == {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in found}


def test_initializations_are_counted(child):
    out = child(
        "from cuda.bindings import nvml\n"
        "def query():\n"
        "    try: print(nvml.device_get_count_v2())\n"
        "    except nvml.UninitializedError: print('closed')\n"
        "query(); nvml.init_v2(); nvml.init_v2(); query(); nvml.shutdown(); query(); nvml.shutdown(); query()\n"
        "try: nvml.shutdown()\n"
        "except nvml.UninitializedError: print('ended')",
        DEVICES=3,
    )
    assert out.split() == ["closed", "3", "3", "closed", "ended"]


def test_versions_equal_the_drivers(child):
    out = child(
        "from cuda.bindings import driver, nvml; nvml.init_v2()\n"
        "print(nvml.system_get_driver_version(), nvml.system_get_nvml_version(), nvml.system_get_driver_branch())\n"
        "print(nvml.system_get_cuda_driver_version_v2(), nvml.system_get_cuda_driver_version())",
        DRIVER_VERSION="12.9",
    )
    assert out.split() == ["575.00.00", "12.575.00.00", "software", "12090", "12090"]


@pytest.mark.parametrize(("version", "branch"), [("12.2", "535"), ("12.5", "550"), ("13.0", "580"), ("13.5", "590")])
def test_driver_version_is_that_of_a_branch(child, version, branch):
    code = "from cuda.bindings import nvml; nvml.init_v2(); print(nvml.system_get_driver_version())"
    assert child(code, DRIVER_VERSION=version).strip() == f"{branch}.00.00"


def test_names_and_identifiers_equal_the_drivers(driver, nvml):
    for number in range(driver.cuDeviceGetCount()):
        handle = nvml.device_get_handle_by_index_v2(number)
        assert nvml.device_get_index(handle) == number
        assert nvml.device_get_name(handle) == driver.cuDeviceGetName(64, number).partition(b"\0")[0].decode()
        digits = bytes(driver.cuDeviceGetUuid(number).bytes).hex()
        uuid = nvml.device_get_uuid(handle)
        assert uuid.startswith("GPU-") and uuid[4:].replace("-", "") == digits
        pci = nvml.device_get_pci_info_v3(handle)
        bus_id = driver.cuDeviceGetPCIBusId(32, number).partition(b"\0")[0].decode()
        assert pci.bus_id == f"0000{bus_id}"
        assert f"{pci.domain:04X}:{pci.bus:02X}:{pci.device_:02X}.0" == bus_id
        assert nvml.device_get_cuda_compute_capability(handle) == driver.cuDeviceComputeCapability(number)
        finders = (nvml.device_get_handle_by_uuid, nvml.device_get_handle_by_pci_bus_id_v2)
        for finder, key in zip(finders, (uuid, pci.bus_id), strict=True):
            assert finder(key) == handle
        assert nvml.device_get_handle_by_uuidv(nvml.UUIDType.ASCII, uuid.encode()) == handle
        assert handle_by_binary_uuid(bytes.fromhex(digits)) == handle


def test_unknown_devices_and_processes_are_not_found(nvml):
    unknown = "00000000-0000-4000-8000-000000000000"
    for call, error in [
        (lambda: nvml.device_get_handle_by_index_v2(99), nvml.InvalidArgumentError),
        (lambda: nvml.device_get_handle_by_uuid(f"GPU-{unknown}"), nvml.NotFoundError),
        (lambda: nvml.device_get_handle_by_pci_bus_id_v2("0000:00:01.0"), nvml.NotFoundError),
        (lambda: nvml.device_get_handle_by_pci_bus_id_v2("nonsense"), nvml.InvalidArgumentError),
        (lambda: nvml.device_get_name(12345), nvml.InvalidArgumentError),
        (lambda: nvml.system_get_process_name(1), nvml.NotFoundError),
        (lambda: nvml.system_get_topology_gpu_set(100_000), nvml.InvalidArgumentError),
        (lambda: nvml.event_set_free(77), nvml.InvalidArgumentError),
        (lambda: nvml.system_event_set_free(77), nvml.InvalidArgumentError),
    ]:
        with pytest.raises(error):
            call()


@pytest.mark.parametrize(
    "compute, architecture",
    [("7.5", "TURING"), ("8.0", "AMPERE"), ("8.9", "ADA"), ("9.0", "HOPPER"), ("12.0", "BLACKWELL")],
)
def test_architecture_follows_the_compute_capability(child, compute, architecture):
    out = child(
        "from cuda.bindings import nvml; nvml.init_v2()\n"
        "print(nvml.DeviceArch(nvml.device_get_architecture(nvml.device_get_handle_by_index_v2(0))).name)",
        COMPUTE_CAPABILITY=compute,
    )
    assert out.split() == [architecture]


def test_used_memory_counts_allocations(driver, nvml, context, first):
    before = nvml.device_get_memory_info_v2(first)
    pointer = driver.cuMemAlloc(64 << 20)
    after = nvml.device_get_memory_info_v2(first)
    driver.cuMemFree(pointer)
    assert after.used - before.used == 64 << 20
    assert after.free + after.used + after.reserved == after.total == driver.cuDeviceTotalMem(0)
    assert nvml.device_get_memory_info_v2(first).used == before.used


def test_processes_are_those_with_a_context(child):
    out = child(
        "import os; from cuda.bindings import driver, nvml; nvml.init_v2()\n"
        "h = nvml.device_get_handle_by_index_v2(1)\n"
        "def print_processes():\n"
        "    found = nvml.device_get_compute_running_processes_v3(h)\n"
        "    print([(p.pid == os.getpid(), int(p.used_gpu_memory)) for p in found])\n"
        "    try: print(os.path.basename(nvml.system_get_process_name(os.getpid())).startswith('python'))\n"
        "    except nvml.NotFoundError: print('unknown')\n"
        "print_processes(); driver.cuInit(0); c = driver.cuDevicePrimaryCtxRetain(1)[1]; driver.cuCtxSetCurrent(c)\n"
        "driver.cuMemAlloc(1 << 20); print_processes()"
    )
    assert out.splitlines() == ["[]", "unknown", f"[(True, {1 << 20})]", "True"]


def test_utilization_is_the_share_of_time_with_kernels(driver, nvml, context, kernel, queue, first):
    second = nvml.device_get_handle_by_index_v2(1)
    idle = nvml.device_get_utilization_rates(second).gpu
    flag, out = driver.cuMemHostAlloc(4, 0), driver.cuMemAlloc(4)
    word = ctypes.c_int.from_address(flag)
    word.value = 0
    arguments = ((int(flag), int(out)), (ctypes.c_void_p, ctypes.c_void_p))
    driver.cuLaunchKernel(kernel("wait_for"), 1, 1, 1, 1, 1, 1, 0, queue, arguments, 0)
    try:
        busy = 0
        while busy < 20:  # percent; the test would hang if the rate did not rise
            busy = nvml.device_get_utilization_rates(first).gpu
    finally:
        word.value = 1
    driver.cuStreamSynchronize(queue)
    assert 20 <= busy <= 100 and nvml.device_get_utilization_rates(second).gpu == idle


def test_fault_of_a_kernel_is_an_event_for_each_set(child):
    out = child(
        "import ctypes\nfrom cuda.bindings import driver, nvml\nfrom cuda.emulator import activate\n"
        "from cuda.core import Device, Program, LaunchConfig, launch\n"
        "nvml.init_v2(); h = nvml.device_get_handle_by_index_v2(0); other = nvml.device_get_handle_by_index_v2(1)\n"
        "sets = [nvml.event_set_create() for _ in range(3)]\n"
        "for s, d in zip(sets, (h, h, other)): nvml.device_register_events(d, 8, s)\n"
        "d = Device(0); d.set_current(); q = d.create_stream()\n"
        "k = Program('extern \"C\" __global__ void f(int *p) { *p = 1; }', 'c++').compile('cubin').get_kernel('f')\n"
        "launch(q, LaunchConfig(grid=1, block=1), k, ctypes.c_void_p(64))\n"
        "for s in sets:\n"
        "    try: e = nvml.event_set_wait_v2(s, 5000 if s != sets[2] else 1)\n"
        "    except nvml.TimeoutError: print('none'); continue\n"
        "    print(e.device_ == h, int(e.event_type), int(e.event_data))\n"
        "late = nvml.event_set_create(); nvml.device_register_events(h, 8, late)\n"
        "for s in (sets[0], late):\n"
        "    try: nvml.event_set_wait_v2(s, 1)\n"
        "    except nvml.TimeoutError: print('once')"
    )
    assert out.splitlines()[:5] == ["True 8 31", "True 8 31", "none", "once", "once"]
    assert "illegal address" in out


def test_only_faults_are_supported_events(nvml, first):
    assert nvml.device_get_supported_event_types(first) == nvml.EventType.XID_CRITICAL_ERROR
    with event_set(nvml) as events:
        with pytest.raises(nvml.NotSupportedError):
            nvml.device_register_events(first, nvml.EventType.CLOCK | nvml.EventType.XID_CRITICAL_ERROR, events)
        with pytest.raises(nvml.TimeoutError):
            nvml.event_set_wait_v2(events, 1)


def test_waits_of_many_threads_time_out(nvml, first):
    ended = []

    def wait():
        with event_set(nvml) as events:
            nvml.device_register_events(first, nvml.EventType.XID_CRITICAL_ERROR, events)
            try:
                nvml.event_set_wait_v2(events, 20)
            except nvml.TimeoutError:
                ended.append(True)

    threads = [threading.Thread(target=wait) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ended) == 8


def test_waits_for_system_events_time_out(nvml):
    events = nvml.system_event_set_create()
    nvml.system_register_events(nvml.SystemEventType.GPU_DRIVER_BIND, events)
    with pytest.raises(nvml.TimeoutError):
        nvml.system_event_set_wait(events, 1, 4)
    with pytest.raises(nvml.NotSupportedError):
        nvml.system_register_events(1 << 20, events)
    nvml.system_event_set_free(events)


def test_devices_are_on_one_board_and_peers(nvml, first):
    second = nvml.device_get_handle_by_index_v2(1)
    assert nvml.device_get_topology_common_ancestor(first, second) == nvml.GpuTopologyLevel.TOPOLOGY_INTERNAL
    near = nvml.device_get_topology_nearest_gpus(first, nvml.GpuTopologyLevel.TOPOLOGY_INTERNAL)
    assert second in list(near) and first not in list(near)
    assert list(nvml.device_get_topology_nearest_gpus(first, nvml.GpuTopologyLevel.TOPOLOGY_NODE)) == []
    status = {index: nvml.device_get_p2p_status(first, second, index) for index in range(5)}
    supported = {nvml.GpuP2PCapsIndex.READ, nvml.GpuP2PCapsIndex.WRITE, nvml.GpuP2PCapsIndex.ATOMICS}
    assert {index for index, value in status.items() if value == nvml.GpuP2PStatus.P2P_STATUS_OK} == supported
    assert first in list(nvml.system_get_topology_gpu_set(0))


def test_all_processors_are_in_the_affinity_mask(nvml, first):
    online = os.cpu_count()
    mask = int(nvml.device_get_cpu_affinity_within_scope(first, 1, nvml.AffinityScope.NODE)[0])
    assert mask.bit_count() == min(online, 64)
    assert int(nvml.device_get_memory_affinity(first, 1, nvml.AffinityScope.SOCKET)[0]) & 1
    before = os.sched_getaffinity(0)
    try:
        nvml.device_set_cpu_affinity(first)
        assert os.sched_getaffinity(0) >= before
        nvml.device_clear_cpu_affinity(first)
        assert os.sched_getaffinity(0) >= before
    finally:
        os.sched_setaffinity(0, before)


def test_device_has_no_links_fans_or_displays(nvml, first):
    count = nvml.device_get_field_values(first, [nvml.FieldId.DEV_NVLINK_LINK_COUNT, nvml.FieldId.DEV_MEMORY_TEMP])
    assert [int(code) for code in count.nvml_return] == [0, nvml.Return.ERROR_NOT_SUPPORTED]
    assert int(count.value[0].ui_val) == 0
    assert nvml.device_get_num_fans(first) == 0
    assert not nvml.device_get_display_mode(first) and not nvml.device_get_display_active(first)


def test_device_is_always_ready_in_the_fastest_state(nvml, first):
    assert nvml.device_get_performance_state(first) == nvml.Pstates.PSTATE_0
    assert supported_states(first) == [0] + [int(nvml.Pstates.PSTATE_UNKNOWN)] * 15
    rates = nvml.device_get_dynamic_pstates_info(first).utilization
    assert [bool(rates[i].b_is_present) for i in range(4)] == [True, True, False, False]
    assert 0 <= rates[0].percentage <= 100
    assert nvml.device_get_persistence_mode(first) == nvml.EnableState.FEATURE_ENABLED


def test_devices_have_serial_and_minor_numbers(driver, nvml):
    handles = [nvml.device_get_handle_by_index_v2(number) for number in range(driver.cuDeviceGetCount())]
    assert [nvml.device_get_minor_number(handle) for handle in handles] == list(range(len(handles)))
    serials = {nvml.device_get_serial(handle) for handle in handles}
    assert len(serials) == len(handles) and {len(serial) for serial in serials} == {13}


def test_link_of_the_device_is_idle(nvml, first):
    for name in ("max_pcie_link_generation", "gpu_max_pcie_link_generation", "curr_pcie_link_generation"):
        assert getattr(nvml, f"device_get_{name}")(first) == 5
    assert nvml.device_get_max_pcie_link_width(first) == nvml.device_get_curr_pcie_link_width(first) == 16
    assert nvml.device_get_pcie_throughput(first, nvml.PcieUtilCounter.PCIE_UTIL_TX_BYTES) == 0
    with pytest.raises(nvml.InvalidArgumentError):
        nvml.device_get_pcie_throughput(first, 9)
    assert nvml.device_get_pcie_replay_counter(first) == 0
    assert not nvml.device_get_c2c_mode_info_v(first).is_c2c_enabled


def test_host_can_map_all_memory(nvml, first):
    bar1 = nvml.device_get_bar1_memory_info(first)
    assert bar1.bar1_total == bar1.bar1_free == nvml.device_get_memory_info_v2(first).total
    assert bar1.bar1_used == 0


@pytest.mark.parametrize("name", ["power_usage", "board_part_number", "mig_mode"])
def test_queries_of_a_board_are_not_supported(nvml, first, name):
    with pytest.raises(nvml.NotSupportedError):
        getattr(nvml, f"device_get_{name}")(first)


def test_forked_child_uses_no_memory(child):
    out = child(
        "import os, warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from cuda.bindings import driver, nvml; nvml.init_v2(); driver.cuInit(0)\n"
        "c = driver.cuDevicePrimaryCtxRetain(0)[1]; driver.cuCtxSetCurrent(c); driver.cuMemAlloc(1 << 20)\n"
        "h = nvml.device_get_handle_by_index_v2(0)\n"
        "pid = os.fork()\n"
        "if pid: os.waitpid(pid, 0)\n"
        "else: nvml.init_v2(); h = nvml.device_get_handle_by_index_v2(0)\n"
        "print(nvml.device_get_memory_info_v2(h).used, len(nvml.device_get_compute_running_processes_v3(h)),\n"
        "      nvml.device_get_utilization_rates(h).gpu, flush=True)\n"
        "if pid == 0: os._exit(0)"
    )
    assert out.splitlines() == ["0 0 0", f"{1 << 20} 1 0"]


def test_forked_child_must_initialize_nvml(child):
    out = child(
        "import os, warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from cuda.bindings import nvml; nvml.init_v2()\n"
        "pid = os.fork()\n"
        "if pid: os.waitpid(pid, 0)\n"
        "else:\n"
        "    try: nvml.device_get_count_v2()\n"
        "    except nvml.UninitializedError as error: print(error, flush=True)\n"
        "    os._exit(0)\n"
        "print(nvml.device_get_count_v2())"
    )
    assert out.splitlines() == ["Uninitialized", "2"]
