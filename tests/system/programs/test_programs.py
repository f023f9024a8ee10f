# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Programs such as monitors, schedulers and exporters, written as their authors would write them."""

import concurrent.futures
import csv
import io
import json
import os

import pytest

from cuda.core import Device, system
from cuda.core.system.typing import GpuP2PCapsIndex, GpuTopologyLevel
from support.interpreter import run

pytestmark = pytest.mark.requires(nvml=True)


def value_or_none(read):
    """Return the result of a function, or None if the device does not support it."""
    try:
        return read()
    except (system.NotSupportedError, system.NoPermissionError, system.NotReadyError, system.NoDataError):
        return None


def metrics(gpu) -> dict[str, float]:
    """The gauges of an exporter, without the ones that a device lacks."""
    memory = gpu.memory_info
    found = {
        "memory_used_bytes": memory.used,
        "memory_total_bytes": memory.total,
        "bar1_used_bytes": value_or_none(lambda: gpu.bar1_memory_info.used),
        "gpu_utilization_ratio": value_or_none(lambda: gpu.utilization.gpu / 100),
        "memory_utilization_ratio": value_or_none(lambda: gpu.utilization.memory / 100),
        "temperature_celsius": value_or_none(lambda: gpu.temperature.get_sensor()),
        "sm_clock_hertz": value_or_none(lambda: gpu.get_clock("sm").get_current_mhz() * 1_000_000),
        "pcie_replays": value_or_none(lambda: gpu.pci_info.replay_counter),
        "performance_state": value_or_none(lambda: gpu.performance_state),
        "processes": value_or_none(lambda: len(gpu.compute_running_processes)),
    }
    return {f'{name}{{uuid="{gpu.uuid}"}}': value for name, value in found.items() if value is not None}


def test_exporter_has_gauges_of_every_device(gpus):
    lines = [f"nvml_{name} {value}" for gpu in gpus for name, value in metrics(gpu).items()]
    total = [float(line.rpartition(" ")[2]) for line in lines if line.startswith("nvml_memory_total_bytes")]
    assert len(total) == system.get_num_devices() and all(total)
    assert all(0 <= float(line.rpartition(" ")[2]) <= 1 for line in lines if "_ratio" in line)


def test_scheduler_takes_the_device_with_most_free_memory(gpus):
    best = max((gpu for gpu in gpus if not gpu.mig.is_mig_device), key=lambda gpu: gpu.memory_info.free)
    try:
        device = best.to_cuda_device()
    except RuntimeError as error:  # hidden from CUDA, for example by CUDA_VISIBLE_DEVICES
        assert best.uuid in str(error) or "CUDA" in str(error)
    else:
        assert isinstance(device, Device) and device.to_system_device().uuid == best.uuid


def test_table_of_all_devices_is_written_as_csv(gpus):
    fields = ("index", "name", "uuid", "serial", "pci_bus_id", "brand", "cuda_compute_capability")
    file = io.StringIO()
    table = csv.DictWriter(file, fields)
    table.writeheader()
    for gpu in gpus:
        table.writerow({field: getattr(gpu, field, "[N/A]") for field in fields})
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert [row["index"] for row in rows] == [str(gpu.index) for gpu in gpus]
    assert all(row["uuid"].startswith(("GPU-", "MIG-")) and row["name"] for row in rows)


def test_matrix_of_the_topology_is_symmetric(gpus):
    short = {"internal": "X", "single": "PIX", "multiple": "PXB", "hostbridge": "PHB", "node": "NODE", "system": "SYS"}
    assert set(short) == set(GpuTopologyLevel)
    levels = [[value_or_none(lambda a=a, b=b: system.get_topology_common_ancestor(a, b)) for b in gpus] for a in gpus]
    matrix = [[level and short[level] for level in row] for row in levels]
    assert all(matrix[i][i] in ("X", None) for i in range(len(gpus)))  # virtual machines may hide the levels
    assert matrix == [list(row) for row in zip(*matrix, strict=True)]


def test_matrix_of_peers_has_every_capability(gpus):
    for kind in GpuP2PCapsIndex:
        if kind is not GpuP2PCapsIndex.UNKNOWN:
            cells = [
                value_or_none(lambda a=a, b=b, kind=kind: system.get_p2p_status(a, b, kind)) for a in gpus for b in gpus
            ]
            assert all(cell is None or str(cell) for cell in cells)


def test_process_finds_its_own_memory():
    program = """
import os
from cuda.core import Device
device = Device(); device.set_current()
gpu = device.to_system_device()
before = gpu.memory_info.used
stream = device.create_stream()
buffer = device.allocate(64 << 20, stream=stream); buffer.fill(1, stream=stream); stream.sync()
mine = [process for process in gpu.compute_running_processes if process.pid == os.getpid()]
print(gpu.memory_info.used > before or mine != [], all(process.used_gpu_memory >= 64 << 20 for process in mine))
"""
    assert run(program).split() == ["True", "True"]


def test_snapshot_of_everything_is_json(gpu):
    def plain(value):
        if isinstance(value, (str, int, float, bool, type(None))):
            return value
        if isinstance(value, (list, tuple)) or hasattr(value, "__len__"):
            return [plain(item) for item in value]
        names = [name for name in dir(type(value)) if isinstance(getattr(type(value), name), property)]
        return {name: plain(getattr(value, name, None)) for name in names if not name.startswith("_")}

    names = [name for name in dir(system.Device) if isinstance(getattr(system.Device, name), property)]
    found = {name: value_or_none(lambda name=name: getattr(gpu, name)) for name in names if name[0] != "_"}
    shown = {name: plain(value) for name, value in found.items() if name not in ("mig", "pci_info", "inforom")}
    assert json.loads(json.dumps(shown))["uuid"] == gpu.uuid
    assert {"free", "total", "used"} <= set(shown["memory_info"])


def test_many_threads_poll_one_device(gpu):
    def poll(_):
        memory = gpu.memory_info
        return memory.free + memory.used + memory.reserved == memory.total and system.Device(index=0).uuid == gpu.uuid

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(poll, range(200)))


def test_monitor_forks_its_exporter():
    program = """
import os
from cuda.core import system
gpus = list(system.Device.get_all_devices())
before = [(gpu.uuid, gpu.memory_info.total) for gpu in gpus]
pids = [os.fork() for _ in range(1)]
if pids[0] == 0:
    same = [(gpu.uuid, gpu.memory_info.total) for gpu in gpus] == before
    fresh = [gpu.uuid for gpu in system.Device.get_all_devices()] == [uuid for uuid, _ in before]
    os._exit(0 if same and fresh else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pids[0], 0)[1]), len(before))
"""
    status, count = run(program).split()
    assert status == "0" and int(count) >= 1


def test_watcher_ends_with_ctrl_c_and_watches_again():
    program = """
import os, signal, threading
from cuda.core import system
gpu = system.Device(index=0)
events = gpu.register_events([kind for kind in gpu.get_supported_event_types() if kind == "xid_critical_error"])
timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)); timer.start()
try:
    events.wait()  # without a timeout
except KeyboardInterrupt:
    timer.join()
    try:
        events.wait(timeout_ms=20)
    except system.TimeoutError:
        print("watched again")
"""
    assert run(program).strip() == "watched again"


def test_cpus_near_a_device_run_its_worker(gpu):
    allowed = os.sched_getaffinity(0)
    near = allowed & set(value_or_none(lambda: gpu.get_cpu_affinity("socket")) or ()) or allowed

    def bind():
        os.sched_setaffinity(0, near)
        return os.sched_getaffinity(0)

    with concurrent.futures.ThreadPoolExecutor(1) as pool:  # only its thread is bound
        assert pool.submit(bind).result() == near
    assert os.sched_getaffinity(0) == allowed


@pytest.mark.parametrize(
    "value", [None, "", "x" * 10_000, "\0", b"\xff", -1, 2**70, 1.5, float("nan"), [], {}, object()]
)
def test_hostile_values_are_rejected_by_name(gpu, value):
    calls = {
        "clock_type": lambda: gpu.get_clock(value),
        "scope": lambda: gpu.get_cpu_affinity(value),
        "level": lambda: gpu.get_topology_nearest_gpus(value),
        "index": lambda: system.get_p2p_status(gpu, gpu, value),
        "threshold_type": lambda: gpu.temperature.get_threshold(value),
        "inforom": lambda: gpu.inforom.get_version(value),
        "link": lambda: gpu.get_nvlink(value),
        "pid": lambda: system.get_process_name(value),
        "uuid": lambda: system.Device(uuid=value),
        "pci_bus_id": lambda: system.Device(pci_bus_id=value),
        "field_ids": lambda: gpu.get_field_values(value if value != [] else [object()]),
        "events": lambda: gpu.register_events(value if value != [] else [object()]),
        "timeout_ms": lambda: gpu.register_events([]).wait(value),
    }
    for name, call in calls.items():
        with pytest.raises((TypeError, ValueError, OverflowError, system.NvmlError)) as caught:
            call()
        assert str(caught.value), name
