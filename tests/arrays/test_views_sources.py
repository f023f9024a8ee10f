# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""View sources: the library reads the protocol that the user names, or rejects the object."""

import numpy as np
import pytest

from cuda.core.utils import StridedMemoryView
from support.contract import _StridedMemoryViewProxy
from support.tensors import ArrayInterface, CudaInterface, DLPackExporter

VALUES = np.arange(6, dtype=np.float32).reshape(2, 3)


class Everything(CudaInterface):
    """An object with all protocols, which counts DLPack calls."""

    def __init__(self):
        super().__init__(VALUES)
        self.__array_interface__ = VALUES.__array_interface__
        self.exporter, self.asked = DLPackExporter(data=VALUES.ctypes.data), 0

    def __dlpack__(self, **arguments):
        self.asked += 1
        return self.exporter.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize(
    ("make", "is_dlpack", "is_on_device"),
    [
        (lambda array: StridedMemoryView.from_any_interface(array, -1), True, False),
        (lambda array: StridedMemoryView.from_dlpack(array, -1), True, False),
        (lambda array: StridedMemoryView.from_cuda_array_interface(array, -1), False, True),
        (lambda array: StridedMemoryView.from_array_interface(array), False, False),
    ],
    ids=["any", "dlpack", "cuda", "array"],
)
@pytest.mark.requires(device=True)
def test_named_protocol_is_read(device, make, is_dlpack, is_on_device):
    array = Everything()
    view = make(array)
    assert (view.ptr, view.shape) == (VALUES.ctypes.data, (2, 3))
    assert (array.asked > 0, view.is_device_accessible) == (is_dlpack, is_on_device)


@pytest.mark.parametrize("make", [StridedMemoryView.from_any_interface, _StridedMemoryViewProxy])
def test_objects_without_a_protocol_are_rejected_by_name(make):
    with pytest.raises(BufferError, match="dict has neither DLPack nor __cuda_array_interface__"):
        make({})


@pytest.mark.parametrize(
    "make",
    [StridedMemoryView.from_dlpack, StridedMemoryView.from_cuda_array_interface],
)
def test_missing_named_protocol_is_an_attribute_error(make):
    with pytest.raises(AttributeError):
        make(ArrayInterface(VALUES), -1)


@pytest.mark.requires(device=True)
def test_buffers_need_a_type_or_an_item_size_that_agree(device, stream):
    buffer = device.allocate(64, stream=stream)
    make = StridedMemoryView.from_buffer
    with pytest.raises(TypeError, match="buffer must be a Buffer, not bytes"):
        make(b"bytes", (4,), itemsize=4)
    with pytest.raises(ValueError, match="either itemsize or dtype"):
        make(buffer, (4,))
    with pytest.raises(TypeError, match="dtype must be a numpy.dtype"):
        make(buffer, (4,), dtype=np.float32)
    with pytest.raises(ValueError, match="itemsize=8 contradicts"):
        make(buffer, (4,), itemsize=8, dtype=np.dtype(np.float32))
    view = make(buffer, (4, 2), (1, 4), itemsize=8, is_readonly=True)
    assert (view.shape, view.strides, view.dtype, view.readonly) == ((4, 2), (1, 4), None, True)
