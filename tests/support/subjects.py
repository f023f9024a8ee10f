# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Makers of objects of all classes, for the soup and the fuzz: the samples, and what has no sample of its own.

A class whose machine is missing here is left out. A new class joins by its sample, or by a line here.
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
    ObjectCode,
    Program,
    ProgramOptions,
    StatisticsMemoryResource,
    TrackingMemoryResource,
    VirtualMemoryResource,
    checkpoint,
    graph,
    register_host_memory,
    system,
)
from cuda.core._layout import _StridedLayout
from cuda.core.utils import InMemoryProgramCache
from support.capabilities import capabilities
from support.samples import SAMPLES

# It touches no memory, which may be gone when it runs.
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


def makers() -> dict[str, Callable]:
    """Return the makers by name, those of samples that this machine can have first."""
    has = capabilities()
    return {name: sample.make for name, sample in SAMPLES.items() if not has.missing(sample.needs)} | EXTRA
