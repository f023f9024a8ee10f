# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls that an old driver lacks raise NotSupportedError with the version that brings them, and only when made."""

import pytest

from support.interpreter import run

# An expression, the function or feature of the driver, and the first version of CUDA that has it.
ROWS = [
    ("definition.id", "cuGraphGetId", "13.1"),
    ("node.local_id", "cuGraphNodeGetLocalId", "13.1"),
    ("node.tools_id", "cuGraphNodeGetToolsId", "13.1"),
    ("definition.instantiate().id", "cuGraphExecGetId", "13.1"),
    ("device.atomic_capabilities()", "cuDeviceGetHostAtomicCapabilities", "13.0"),
    ("device.atomic_capabilities(1)", "cuDeviceGetP2PAtomicCapabilities", "13.0"),
    ("device.fabric_cluster_uuid", "cuDeviceGetFabricClusterUuid", "13.4"),
    ("device.fabric_cliques", "cuDeviceGetCliqueCount", "13.4"),
    ("device.context.record(device.create_event())", "cuCtxRecordEvent", "12.5"),
    ("device.context.wait(device.create_event())", "cuCtxWaitEvent", "12.5"),
    ("MemoryOperation.reduce(device.zeros(1, 'i4', pinned=True), 1)", "an atomic reduction of memory", "13.1"),
]

PROGRAM = """
from cuda.core import *
from cuda.core.graph import GraphDefinition
device = Device()
device.set_current()
stream = device.create_stream()
definition = GraphDefinition()
node = definition.empty()
for expression in {expressions}:
    try:
        eval(expression)
    except NotSupportedError as error:
        print(error)
"""


@pytest.mark.requires(software=True)
def test_new_calls_name_the_driver_that_has_them():
    variables = {"CUDA_EMULATOR_DRIVER_VERSION": "12.2", "CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING": "1"}
    program = PROGRAM.format(expressions=[expression for expression, _, _ in ROWS])
    expected = [
        f"{call} needs a driver for CUDA {version} or newer; this one is for CUDA 12.2" for _, call, version in ROWS
    ]
    assert run(program, **variables).splitlines() == expected
