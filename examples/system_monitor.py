# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Monitor this machine's devices through NVML while one of them is busy, and verify the memory in use.

    python system_monitor.py [SECONDS]

Prints one line per device every 0.2 seconds, for one second by default.
"""

import os
import sys
import threading
import time

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch, system

SOURCE = """
extern "C" __global__ void work(float* x, int rounds)
{
    float value = x[threadIdx.x];
    for (int i = 0; i < rounds; ++i)
        value = value * 0.999f + 1.0f;
    x[threadIdx.x] = value;
}
"""
BYTES = 64 << 20


def optional(read):
    """Return the value that a function reads, or None if the device does not support it."""
    try:
        return read()
    except system.NotSupportedError:
        return None


def sample(gpu) -> dict:
    """Return the current state of a device as strings by name."""
    memory = gpu.memory_info
    rates = optional(lambda: gpu.utilization)
    return {
        "memory": f"{memory.used / 2**20:7.0f} of {memory.total / 2**20:.0f} MiB",
        "busy": None if rates is None else f"{rates.gpu:3} %",
        "temperature": optional(lambda: f"{gpu.temperature.get_sensor()} °C"),
        "clock": optional(lambda: f"{gpu.get_clock('sm').get_current_mhz()} MHz"),
        "processes": optional(lambda: len(gpu.compute_running_processes)),
    }


def show(gpu) -> None:
    rows = ", ".join(f"{name} {value}" for name, value in sample(gpu).items() if value is not None)
    print(f"{gpu.index}: {rows}")


def keep_busy(device, stop) -> None:
    """Allocate memory and run kernels until ``stop`` is set."""
    device.set_current()
    stream = device.create_stream()
    program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    kernel = program.compile("cubin").get_kernel("work")
    buffer = device.allocate(BYTES, stream=stream)
    buffer.fill(0, stream=stream)
    while not stop.is_set():
        launch(stream, LaunchConfig(grid=1, block=32), kernel, buffer, 20_000)
        stream.sync()
    buffer.close(stream)
    stream.sync()


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    version = ".".join(map(str, system.get_kernel_mode_driver_version()))
    print(f"driver {version}, {system.get_num_devices()} device(s)")
    gpus = list(system.Device.get_all_devices())
    device = Device(0)
    watched = device.to_system_device()
    before = watched.memory_info.used

    stop = threading.Event()
    worker = threading.Thread(target=keep_busy, args=(device, stop))
    worker.start()
    seen = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end or (seen < BYTES and worker.is_alive()):
        time.sleep(0.2)
        for gpu in gpus:
            show(gpu)
        seen = max(seen, watched.memory_info.used - before)
    stop.set()
    worker.join()

    if watched.uuid_without_prefix != device.uuid or seen < BYTES:
        print(f"NVML reported {seen} more bytes in use, not {BYTES}", file=sys.stderr)
        return 1
    print(f"verified: NVML reports {seen / 2**20:.0f} MiB of device {watched.index} for process {os.getpid()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
