# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# Tell what the devices of this machine are.
import pycuda
import pycuda.driver as drv

drv.init()

print("PyCUDA %s" % pycuda.VERSION_TEXT)
print("Detected %d CUDA Capable device(s)" % drv.Device.count())

for i in range(drv.Device.count()):
    gpu_device = drv.Device(i)
    print("Device {}: {}".format(i, gpu_device.name()))
    compute_capability = float("%d.%d" % gpu_device.compute_capability())
    print("\t Compute Capability: {}".format(compute_capability))
    print("\t Total Memory: {} megabytes".format(gpu_device.total_memory() // (1024**2)))

    # index by the names of the attributes
    device_attributes_tuples = gpu_device.get_attributes().items()
    device_attributes = {}
    for k, v in device_attributes_tuples:
        device_attributes[str(k)] = v

    num_mp = device_attributes["MULTIPROCESSOR_COUNT"]
    print("\t ({}) Multiprocessors".format(num_mp))
    device_attributes.pop("MULTIPROCESSOR_COUNT")
    for k in list(device_attributes.keys()):
        print("\t {}: {}".format(k, device_attributes[k]))
    assert device_attributes["WARP_SIZE"] == 32 and num_mp > 0
    assert gpu_device.max_threads_per_block == gpu_device.get_attribute(drv.device_attribute.MAX_THREADS_PER_BLOCK)

from pycuda.tools import DeviceData, OccupancyRecord

context = drv.Device(0).make_context()
try:
    devdata = DeviceData()
    for threads in range(32, 1025, 32):
        occupancy = OccupancyRecord(devdata, threads, shared_mem=1024, registers=32)
        print(threads, occupancy.tb_per_mp, occupancy.limited_by, occupancy.occupancy)
finally:
    context.pop()
