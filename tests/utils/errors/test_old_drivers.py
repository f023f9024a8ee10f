# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Whatever an older driver lacks raises NotSupportedError, which is also what the official package raises."""

import pytest

from support.interpreter import run

PROGRAM = """
import pickle
from cuda.core import ContextOptions, Device, Host, LEGACY_DEFAULT_STREAM, ManagedBuffer, ManagedMemoryResource
from cuda.core import NotSupportedError, PinnedMemoryResource, Program, SMResourceOptions
from cuda.core.graph import GraphDefinition
from cuda.core.utils import CopyOptions, coredump
device = Device(0)
device.set_current()
stream = device.create_stream()
kernel = Program('extern "C" __global__ void f(int x) {{}}', "c++").compile("cubin").get_kernel("f")
buffer = device.allocate(8, stream=stream)
try:
    {call}
except NotSupportedError as error:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.name) == (type(error), str(error), "CUDA_ERROR_NOT_SUPPORTED")
    print([kind.__name__ for kind in ({kinds}) if not isinstance(error, kind)], error)
"""
CALLS = [
    # a call, the driver, the version that it needs, and what the official package raises
    ("kernel.num_arguments", "12.3", "12.4", "NotImplementedError"),
    ("kernel.signature", "12.3", "12.4", "NotImplementedError"),
    ("PinnedMemoryResource()", "12.9", "13.0", "RuntimeError"),
    ("ManagedMemoryResource()", "12.9", "13.0", "RuntimeError"),
    (
        "buffer.copy_to(bytearray(8), stream=stream, options=CopyOptions('during_api_call'))",
        "13.1",
        "13.2",
        "RuntimeError",
    ),
    (
        "device.create_context(ContextOptions(resources=[device.resources.sm])).create_stream()",
        "12.4",
        "12.5",
        "RuntimeError",
    ),
    ("device.resources.sm", "12.3", "12.4", "RuntimeError, AttributeError"),
    ("device.resources.workqueue", "13.0", "13.1", "RuntimeError, AttributeError"),
    ("device.resources.sm.split(SMResourceOptions(count=(16, 8)))", "13.0", "13.1", "RuntimeError"),
    ("device.resources.sm.split(SMResourceOptions(count=8, coscheduled_sm_count=8))", "13.0", "13.1", "RuntimeError"),
    ("GraphDefinition().create_condition()", "12.2", "12.3", "RuntimeError"),
    ("coredump()", "12.4", "12.5", "RuntimeError"),
]


@pytest.mark.requires(software=True, nvrtc=True)
@pytest.mark.parametrize(("call", "version", "needed", "kinds"), CALLS, ids=[row[0] for row in CALLS])
def test_older_driver_is_named_by_one_class(call, version, needed, kinds):
    variables = {"CUDA_EMULATOR_DRIVER_VERSION": version, "CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING": "1"}
    found = run(PROGRAM.format(call=call, kinds=f"{kinds},"), **variables)
    assert found.startswith("[] "), found
    assert f"needs a driver for CUDA {needed} or newer; this one is for CUDA {version}" in found
