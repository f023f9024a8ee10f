# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels that launch graphs, and graphs that they launch."""

from __future__ import annotations

import functools

import cuda.emulator
from cuda.core import Linker, LinkerOptions, ObjectCode, Program, ProgramOptions
from cuda.core.graph import GraphCompleteOptions, GraphDefinition
from support.code import runtime_library
from support.graph_work import ONE

SOURCE = r"""
extern "C" __device__ __cudart_builtin__ cudaError_t CUDARTAPI
cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream);

#define TAIL ((cudaStream_t)0x0100000000000000)
#define BESIDE ((cudaStream_t)0x0200000000000000)

extern "C" __global__ void append(int *out, int digit) { *out = *out * 10 + digit; }
extern "C" __global__ void start(cudaGraphExec_t graph, int *result) { *result = cudaGraphLaunch(graph, BESIDE); }
extern "C" __global__ void start_sibling(cudaGraphExec_t graph, int *result)
{ *result = cudaGraphLaunch(graph, (cudaStream_t)0x0300000000000000); }
extern "C" __global__ void follow(cudaGraphExec_t graph, int *result) { *result = cudaGraphLaunch(graph, TAIL); }
extern "C" __global__ void launch_as(cudaGraphExec_t graph, unsigned long long way, int *result)
{ *result = cudaGraphLaunch(graph, (cudaStream_t)way); }
extern "C" __global__ void again_until(int *number, int most, const cudaGraphExec_t *self)
{ if (++*number < most) cudaGraphLaunch(*self, TAIL); }
"""

FOR_KERNELS = GraphCompleteOptions(device_launch=True)


@functools.cache
def code_of(arch):
    """Return the kernels, linked with the device runtime, which the software device has built in."""
    code = Program(SOURCE, "c++", ProgramOptions(arch=arch, relocatable_device_code=True)).compile("cubin")
    inputs = [code] if cuda.emulator.is_active() else [code, ObjectCode.from_library(runtime_library())]
    return Linker(*inputs, options=LinkerOptions(arch=arch)).link("cubin")


def appending(own, memory, *digits):
    """Return the definition of a graph that appends digits to a number; ``own`` returns a kernel by its name."""
    definition = GraphDefinition()
    node = definition
    for digit in digits:
        node = node.launch(ONE, own("append"), memory.address, digit)
    return definition


def sent(definition, stream):
    graph = definition.instantiate(FOR_KERNELS)
    graph.upload(stream)
    return graph
