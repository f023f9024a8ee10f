# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Show the properties of this machine's devices, and verify some of them with a kernel."""

import sys

import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch

SOURCE = """
extern "C" __global__ void report(int* values)
{
    values[0] = __CUDA_ARCH__ / 10;
    values[1] = warpSize;
    values[2] = blockDim.x;
}
"""


def show(device) -> None:
    """Print the device properties that programs need most often."""
    properties = device.properties
    major, minor = device.compute_capability
    rows = {
        "name": device.name,
        "UUID": device.uuid,
        "PCI bus": device.pci_bus_id,
        "compute capability": f"{major}.{minor}",
        "multiprocessors": properties.multiprocessor_count,
        "maximum threads per block": properties.max_threads_per_block,
        "shared memory per block": f"{properties.max_shared_memory_per_block_optin // 1024} KiB",
        "L2 cache": f"{properties.l2_cache_size // 2**20} MiB",
        "memory bus": f"{properties.global_memory_bus_width} bits",
        "memory pools": "yes" if properties.memory_pools_supported else "no",
        "cooperative launch": "yes" if properties.cooperative_launch else "no",
    }
    print(f"device {device.device_id}")
    for name, value in rows.items():
        print(f"  {name:28}{value}")


def values_in_kernel(device):
    """Return the architecture, warp size and block size as read by a kernel on the device."""
    device.set_current()
    stream = device.create_stream()
    program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
    kernel = program.compile("cubin").get_kernel("report")
    values = device.allocate(12, stream=stream)
    host = LegacyPinnedMemoryResource().allocate(12)
    launch(stream, LaunchConfig(grid=1, block=device.properties.max_threads_per_block), kernel, values)
    values.copy_to(host, stream=stream)
    stream.sync()
    return np.from_dlpack(host).view(np.int32)


def main() -> int:
    devices = Device.get_all_devices()
    for device in devices:
        show(device)
        properties = device.properties
        expected = [int(device.arch), properties.warp_size, properties.max_threads_per_block]
        values = values_in_kernel(device)
        if not np.array_equal(values, expected):
            print(f"a kernel on device {device.device_id} reads {values}, not {expected}", file=sys.stderr)
            return 1
    print(f"{len(devices)} device(s): verified by a kernel on each")
    return 0


if __name__ == "__main__":
    sys.exit(main())
