# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""An exception of a signal handler at any bytecode of a creation or a close loses no resource."""

import pytest

from cuda.core import EventOptions, LaunchConfig, ObjectCode, StreamOptions, launch
from cuda.core.graph import GraphDefinition
from cuda.core.texture import ResourceDescriptor
from support.interrupts import interrupt_everywhere
from support.kernels import compiled

pytestmark = [pytest.mark.requires(software=True), pytest.mark.requires(device=True)]

SOURCE = 'extern "C" __global__ void nothing() {}'


def stream_program(device, stream):
    with device.create_stream(options=StreamOptions(priority=0)) as created:
        created.wait(stream)
    device.create_stream().close()


def event_program(device, stream):
    with device.create_event(EventOptions(timing_enabled=True)) as event:
        stream.record(event)
    stream.record().close()


def code_program(device, stream):
    with ObjectCode.from_cubin(compiled(SOURCE).code) as code:
        launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("nothing"))


def captured_program(device, stream):
    with device.create_graph_builder() as builder:
        builder.begin_building()
        builder.end_building()
        with builder.complete() as graph:
            graph.launch(stream)


def defined_program(device, stream):
    with GraphDefinition().instantiate() as graph:
        graph.launch(stream)


def array_program(device, stream):
    fields = {"shape": (8, 4), "format": "float32", "num_channels": 1, "is_surface_load_store": True}
    with device.create_opaque_array(fields) as array:
        resource = ResourceDescriptor.from_opaque_array(array)
        with device.create_texture_object(resource=resource), device.create_surface_object(resource=resource):
            pass


PROGRAMS = {
    "stream": stream_program,
    "event": event_program,
    "code": code_program,
    "captured graph": captured_program,
    "defined graph": defined_program,
    "array": array_program,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_interrupted_creations_and_closes_lose_nothing(device, stream, program):
    assert interrupt_everywhere(lambda: program(device, stream)) > 20
