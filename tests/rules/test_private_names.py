# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What programs rely on beside the names in the tables of ``support/interface``."""

import importlib
import subprocess
import sys

import pytest

from support import interface

# Classes that are pickled by name: pickles made by other releases contain these names.
PICKLED = [
    "_device.Device",
    "_event.IPCEventDescriptor",
    "_memory._ipc.IPCAllocationHandle",
    "_memory._ipc.IPCBufferDescriptor",
    "_module.ObjectCode",
    "_host.Host",
    "_memory._copy_enums.MemcpyOverlapMode",
    "_memory._copy_enums.MemcpySrcAccessOrder",
    "_tensor_map.TensorMapDataType",
    "_tensor_map.TensorMapDescriptorOptions",
    "_tensor_map.TensorMapSwizzle",
]


@pytest.mark.parametrize("path", PICKLED)
def test_pickled_class_keeps_its_module_and_name(path):
    cls = interface.find(f"cuda.core.{path}")
    assert f"{cls.__module__}.{cls.__qualname__}" == f"cuda.core.{path}"


def test_front_modules_are_attributes_of_the_package():
    homes = [entry.name.split(".") for entry in interface.entries() if entry.module == "cuda.core"]
    names = {home[0] for home in homes if len(home) == 2 and home[0].startswith("_")}
    assert {"_device", "_memory", "_module"} <= names
    program = f"import cuda.core\nprint(*[name for name in {sorted(names)} if not hasattr(cuda.core, name)])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (result.stdout.strip(), result.returncode) == ("", 0)


def test_device_pointer_type_is_one_object():
    typing = importlib.import_module("cuda.core.typing")
    buffer = importlib.import_module("cuda.core._memory._buffer")
    assert buffer.DevicePointerType is typing.DevicePointerType
    assert not hasattr(buffer, "DevicePointer")
