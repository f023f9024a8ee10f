# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Names from other libraries: the AttributeError names the replacement."""

import numpy as np
import pytest

import cuda.core
from cuda.core import Buffer, Device, Event, Stream
from cuda.core.utils import StridedMemoryView

NAMES = [
    (Device, "synchronize", "sync()"),
    (Device, "alloc", "allocate(size, stream=stream)"),
    (Stream, "synchronize", "sync()"),
    (Event, "synchronize", "sync()"),
    (Buffer, "copy_to_host", "copy_to(array, stream=stream)"),
    (Buffer, "copy_to_device", "copy_from(array, stream=stream)"),
    (StridedMemoryView, "copy_to_host", "to_host(stream=stream)"),
    (StridedMemoryView, "get", "to_host(stream=stream)"),
]


def instance_of(cls, device, stream):
    return {
        Device: lambda: device,
        Stream: lambda: stream,
        Event: stream.record,
        Buffer: lambda: device.allocate(8, stream=stream),
        StridedMemoryView: lambda: device.zeros(1, np.int8, stream=stream),
    }[cls]()


@pytest.mark.parametrize(("cls", "name", "instead"), NAMES)
def test_name_of_another_library_is_explained(device, stream, cls, name, instead):
    found = instance_of(cls, device, stream)
    with pytest.raises(AttributeError) as caught:
        getattr(found, name)
    assert str(caught.value) == f"'{cls.__name__}' object has no attribute '{name}'. Did you mean: {instead}?"
    assert (caught.value.name, caught.value.obj) == (name, found)
    assert not hasattr(found, name)
    assert not callable(getattr(cls, name))  # tools read all members of a class


@pytest.mark.parametrize(("cls", "name"), [(cls, name) for cls, name, _ in NAMES])
def test_names_of_other_libraries_are_not_listed(device, stream, cls, name):
    assert name not in dir(instance_of(cls, device, stream))


MODULE_NAMES = [
    ("RawKernel", "cuda.core.utils.kernel"),
    ("synchronize", "Device.sync"),
    ("to_device", "Device.to_device"),
]


@pytest.mark.parametrize(("name", "instead"), MODULE_NAMES)
def test_module_names_of_other_libraries_are_explained(name, instead):
    with pytest.raises(AttributeError, match=rf"has no attribute '{name}'. Did you mean: {instead}\?$"):
        getattr(cuda.core, name)
