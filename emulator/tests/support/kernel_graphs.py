# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graphs of kernels, which kernels can launch."""

import ctypes

from support.compiled import Program

SOURCE = r"""
#define TAIL ((cudaStream_t)0x0100000000000000)
#define BESIDE ((cudaStream_t)0x0200000000000000)

extern "C" __global__ void append(int *out, int digit) { *out = *out * 10 + digit; }
extern "C" __global__ void start(cudaGraphExec_t graph, int *result) { *result = cudaGraphLaunch(graph, BESIDE); }
extern "C" __global__ void follow(cudaGraphExec_t graph, int *result) { *result = cudaGraphLaunch(graph, TAIL); }
extern "C" __global__ void launch_as(cudaGraphExec_t graph, unsigned long long way, int *result)
{ *result = cudaGraphLaunch(graph, (cudaStream_t)way); }
extern "C" __global__ void again_until(int *number, int most, const cudaGraphExec_t *self)
{ if (++*number < most) cudaGraphLaunch(*self, TAIL); }
"""


class KernelGraphs:
    """Creates graphs of the kernels in SOURCE, and runs them."""

    def __init__(self, driver):
        self.driver = driver
        self.library = driver.cuLibraryLoadData(Program(SOURCE, "-arch=sm_90").image, [], [], 0, [], [], 0)
        self.created = []

    def create(self, *rows, for_kernels=False, upload=False):
        """Return an executable graph of kernels in sequence; a row is a name, addresses, and ints as ctypes."""
        driver = self.driver
        graph, previous = driver.cuGraphCreate(0), []
        for name, *arguments in rows:
            node = driver.CUDA_KERNEL_NODE_PARAMS()
            node.kern = driver.cuLibraryGetKernel(self.library, name.encode())
            node.gridDimX = node.gridDimY = node.gridDimZ = node.blockDimX = node.blockDimY = node.blockDimZ = 1
            values = [argument if isinstance(argument, int) else argument.value for argument in arguments]
            types = [ctypes.c_void_p if isinstance(argument, int) else type(argument) for argument in arguments]
            node.kernelParams = (tuple(values), tuple(types))
            previous = [driver.cuGraphAddKernelNode(graph, previous, len(previous), node)]
        flags = driver.CUgraphInstantiate_flags.CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH if for_kernels else 0
        launchable = driver.cuGraphInstantiate(graph, int(flags))
        driver.cuGraphDestroy(graph)
        self.created.append(launchable)
        if upload:
            driver.cuGraphUpload(launchable, driver.CUstream(0))
            driver.cuCtxSynchronize()
        return launchable

    def run(self, graph):
        self.driver.cuGraphLaunch(graph, self.driver.CUstream(0))
        self.driver.cuCtxSynchronize()

    def close(self):
        for graph in self.created:
            self.driver.cuGraphExecDestroy(graph)
        self.driver.cuLibraryUnload(self.library)

    def read(self, address):
        """Return the int at an address."""
        value = bytearray(4)
        self.driver.cuMemcpyDtoH(value, address, 4)
        return int.from_bytes(value, "little")
