# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A program for type checkers, which is never run: they must know the types of lazily imported names."""

from typing import assert_type

import numpy as np

import cuda.core
from cuda.core import (
    Buffer,
    Device,
    Event,
    EventOptions,
    Kernel,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ObjectCode,
    Program,
    ProgramOptions,
    Stream,
    launch,
)
from cuda.core.graph import CapturedFunction, ExecutableMemsetNode, GraphDefinition, capture
from cuda.core.typing import SourceCodeType
from cuda.core.utils import FileStreamProgramCache, StridedMemoryView


def main(source: str) -> int:
    device = Device()
    device.set_current()
    stream = assert_type(device.create_stream(), Stream)
    program = Program(source, SourceCodeType.CXX, ProgramOptions(arch=f"sm_{device.arch}"))
    code = assert_type(program.compile("cubin", cache=FileStreamProgramCache("cache")), ObjectCode)
    Program(source, "c++").close()
    kernel = assert_type(code.get_kernel("f"), Kernel)
    buffer = assert_type(LegacyPinnedMemoryResource().allocate(128), Buffer)
    with device.allocate(1024, stream=stream) as other:
        other.copy_from(buffer, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=32), kernel, buffer, np.uint64(3))
    array = assert_type(device.to_device(np.arange(3), stream=stream), StridedMemoryView)
    part = assert_type(array[1:], StridedMemoryView)
    part.fill(0, stream=stream)
    kernel(part, grid="resident", block=32, stream=stream)
    kernel(part, elements=128, stream=stream)
    event = assert_type(stream.record(options=EventOptions(timing_enabled=True)), Event)
    event.sync()
    assert_type(cuda.core.PER_THREAD_DEFAULT_STREAM, Stream)
    assert_type(cuda.core.__version__, str)
    assert_type(Device.get_all_devices(), tuple[Device, ...])
    StridedMemoryView.from_any_interface(np.zeros(4), stream_ptr=-1)
    assert_type(event - event, float)
    device.create_stream(options={"priority": 0}).close()
    nodes(device, kernel, buffer)
    return assert_type(buffer.size, int)


def nodes(device: Device, kernel: Kernel, buffer: Buffer) -> None:
    definition = GraphDefinition()
    config = LaunchConfig(grid=1, block=1)
    launched = definition.launch(config, kernel, buffer)
    graph = definition.instantiate()
    graph[launched].update(config=config, kernel=kernel, args=(buffer,))
    assert_type(graph[definition.memset(buffer, 0, 4)], ExecutableMemsetNode)
    assert_type(capture(lambda stream: None), CapturedFunction)


def wrong(device: Device) -> None:
    Device(0, 1)  # type: ignore[call-arg]
    device.nothing()  # type: ignore[attr-defined]
    print(cuda.core.Nothing)  # type: ignore[attr-defined]
    Program("", "cuda")  # type: ignore[arg-type]
