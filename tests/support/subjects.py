# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Makers of objects of all classes, for the soup and the fuzzer: the samples, and classes without a sample.

Classes that this machine does not support are left out. A new class is added by its sample, or by a line here.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable

import numpy as np

from cuda.core import (
    CachingMemoryResource,
    Device,
    DeviceMemoryResource,
    EventOptions,
    GraphMemoryResource,
    Host,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    LimitingMemoryResource,
    Linker,
    LoggingMemoryResource,
    MulticastObject,
    ObjectCode,
    Program,
    ProgramOptions,
    StatisticsMemoryResource,
    TrackingMemoryResource,
    VirtualMemoryResource,
    checkpoint,
    driver,
    graph,
    register_host_memory,
    system,
)
from cuda.core.driver import gpuarray
from cuda.core.utils import InMemoryProgramCache
from support.capabilities import capabilities
from support.contract import _StridedLayout
from support.green import green_context
from support.samples import SAMPLES

# The kernel accesses no memory, because its buffer may be freed when it runs.
SOURCE = 'extern "C" __global__ void sample(int* out, int count) { if (count == 123456789) *out = count; }'


@functools.cache
def image() -> bytes:
    """Return compiled code with the kernel ``sample``, from one compilation."""
    return Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{Device(0).arch}")).compile("cubin").code


def kernel():
    """Return a new kernel."""
    return ObjectCode.from_cubin(image()).get_kernel("sample")


def _builder():
    return Device(0).create_graph_builder()


def _graph():
    definition = graph.GraphDefinition()
    definition.empty()
    return definition.instantiate()


def _node(add):
    definition = graph.GraphDefinition()
    return add(definition, definition.create_condition(0))


EXTRA: dict[str, Callable] = {
    "ObjectCode": lambda: ObjectCode.from_cubin(image()),
    "Kernel": kernel,
    "BoundKernel": lambda: kernel().bind(LaunchConfig(grid=1, block=1), stream=Device(0).create_stream()),
    "CachingMemoryResource": lambda: CachingMemoryResource(DeviceMemoryResource(0)),
    "LimitingMemoryResource": lambda: LimitingMemoryResource(LegacyPinnedMemoryResource(), 1 << 20),
    "LoggingMemoryResource": lambda: LoggingMemoryResource(LegacyPinnedMemoryResource(), "cuda.core.soup"),
    "StatisticsMemoryResource": lambda: StatisticsMemoryResource(DeviceMemoryResource(0, {})),
    "TrackingMemoryResource": lambda: TrackingMemoryResource(LegacyPinnedMemoryResource()),
    "VirtualMemoryResource": lambda: VirtualMemoryResource(0),
    "GraphMemoryResource": lambda: GraphMemoryResource(0),
    "HostBuffer": lambda: LegacyPinnedMemoryResource().allocate(64),
    "StridedMemoryView": lambda: LegacyPinnedMemoryResource().allocate(64).view(),
    "TimedEvent": lambda: Device(0).create_stream().record(options=EventOptions(timing_enabled=True)),
    "HostMemory": lambda: register_host_memory(np.zeros(4096, np.uint8)),
    "GraphDefinition": graph.GraphDefinition,
    "Graph": _graph,
    "GraphBuilder": _builder,
    "BuildingGraphBuilder": lambda: _builder().begin_building(),
    "GraphCondition": lambda: graph.GraphDefinition().create_condition(0),
    "IfNode": lambda: _node(lambda made, condition: made.if_then(condition)),
    "IfElseNode": lambda: _node(lambda made, condition: made.if_else(condition)),
    "WhileNode": lambda: _node(lambda made, condition: made.while_loop(condition)),
    "SwitchNode": lambda: _node(lambda made, condition: made.switch(condition, 2)),
    "KernelNode": lambda: graph.GraphDefinition().launch(LaunchConfig(grid=1, block=1), kernel(), 0, 1),
    "FreeNode": lambda: (node := graph.GraphDefinition().allocate(64)).deallocate(node.dptr),
    "CapturedFunction": lambda: graph.capture(lambda stream: None),
    "Linker": lambda: Linker(ObjectCode.from_object(image())),
    "Host": Host,
    "InMemoryProgramCache": InMemoryProgramCache,
    "_StridedLayout": lambda: _StridedLayout((2, 3), None, 4),
    "Process": lambda: checkpoint.Process(os.getpid()),
    "SystemDevice": lambda: system.Device(index=0),
}


def _tensor_map():
    return LegacyPinnedMemoryResource().allocate(512).view((8, 16), dtype=np.float32).as_tensor_map((4, 16))


# Makers that need more than a device, with the capabilities of the machine that they need.
WITH_CAPABILITIES: dict[str, tuple[Callable, dict]] = {
    "GreenContext": (lambda: green_context(Device(0)), {"green": True}),
    "GreenStream": (lambda: green_context(Device(0)).create_stream(), {"green": True}),
    "RecapturingGraphBuilder": (
        lambda: _builder().recapture(_builder().begin_building().end_building()),
        {"cuda": (13, 3)},
    ),
    "RecapturedGraphBuilder": (
        lambda: _builder().recapture(_builder().begin_building().end_building()).end_building(),
        {"cuda": (13, 3)},
    ),
    "SMResource": (lambda: Device(0).resources.sm, {"green": True}),
    "DeviceResources": (lambda: Device(0).resources, {"green": True}),
    "TensorMapDescriptor": (_tensor_map, {"compute": (9, 0)}),
    "MulticastObject": (
        lambda: MulticastObject([0], 1),
        {"multicast": True, "software": True},
    ),
}


def classic():
    """Return the module of the classic interface, with a context on the stack of this thread."""
    if driver.Context.get_current() is None:
        driver.Device(0).retain_primary_context().push()
    return driver


def _classic_module():
    return classic().module_from_buffer(image())


# Objects of the classic interface. Its contexts are missing here, because each thread has its own stack.
CLASSIC: dict[str, Callable] = {
    "DeviceAllocation": lambda: classic().mem_alloc(64),
    "GPUArray": lambda: classic() and gpuarray.zeros(64, np.float32),
    "ClassicStream": lambda: classic().Stream(),
    "ClassicEvent": lambda: classic().Event(),
    "ClassicModule": _classic_module,
    "ClassicFunction": lambda: _classic_module().get_function("sample"),
    "ClassicArray": lambda: classic().matrix_to_array(np.zeros((4, 4), np.float32), "C"),
    "HostAllocation": lambda: classic().pagelocked_zeros(64, np.uint8).base,
}


def makers() -> dict[str, Callable]:
    """Return the makers that this machine supports, by name."""
    has = capabilities()
    made = {name: sample.make for name, sample in SAMPLES.items() if not has.missing(sample.needs)} | EXTRA
    return made | {name: make for name, (make, needs) in WITH_CAPABILITIES.items() if not has.missing(needs)}
