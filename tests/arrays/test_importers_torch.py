# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch: real ones, and a stand-in with no more attributes than are read."""

import numpy as np
import pytest

from cuda.core.utils import StridedMemoryView
from support import interpreter

from_any = StridedMemoryView.from_any_interface

# A module named torch, whose tensors have nothing but methods.
STAND_IN = """
import sys, types
import numpy as np

class Dtype:
    def __init__(self, name): self.name = name
    def __repr__(self): return "torch." + self.name

class Device:
    def __init__(self, type, index=None): self.type, self.index = type, index

class Tensor:
    def __init__(self, array, dtype="float32", device=Device("cpu")):
        self.array, self.dtype, self.device, self.shape = array, Dtype(dtype), device, array.shape
    def stride(self): return tuple(s // self.array.itemsize for s in self.array.strides)
    def data_ptr(self):
        if self.dtype.name == "sparse": raise RuntimeError("no storage")
        return self.array.ctypes.data
    def element_size(self): return self.array.itemsize

torch = types.ModuleType("torch")
torch.Tensor = Tensor
sys.modules["torch"] = torch
from cuda.core.utils import StridedMemoryView as View

def rejected(call, error=BufferError):
    try: call()
    except error as e: return str(e)
    raise AssertionError("accepted")
"""


def run(code):
    """Run code after the stand-in, in a process where PyTorch was never imported."""
    interpreter.run(STAND_IN + code)


def test_attributes_of_a_tensor_are_read():
    run("""
array = np.arange(12, dtype=np.float32).reshape(3, 4).T
tensor = Tensor(array)
for view in (View.from_any_interface(tensor, -1), View.from_dlpack(tensor, -1), View.from_array_interface(tensor),
             View.from_cuda_array_interface(tensor, -1)):
    assert (view.ptr, view.shape, view.strides) == (array.ctypes.data, (4, 3), (1, 4))
    assert (view.dtype, view.device_id, view.is_device_accessible) == (array.dtype, -1, False)
    assert view.exporting_obj is tensor
    assert np.array_equal(np.from_dlpack(view), array)
assert View.from_any_interface(Tensor(np.zeros(3, np.int64), "int64"), -1).dtype == np.int64
assert View.from_any_interface(Tensor(np.zeros(3, bool), "bool"), -1).dtype == bool
assert View.from_any_interface(Tensor(np.zeros(3, "c16"), "complex128"), -1).dtype == np.dtype("c16")
assert View.from_any_interface(Tensor(np.zeros(3, "i2"), "bfloat16"), -1)._layout.itemsize == 2
assert View.from_any_interface(Tensor(np.zeros(3, "i1"), "float8_e5m2"), -1)._layout.itemsize == 1
assert View.from_any_interface(np.zeros(3), -1).shape == (3,)
""")


def test_tensors_that_cannot_be_viewed_are_rejected():
    run("""
array = np.zeros(3, np.float32)
assert "ambiguous" in rejected(lambda: View.from_any_interface(Tensor(array)))
assert "device" in rejected(lambda: View.from_any_interface(Tensor(array, device=Device("xpu", 0)), -1))
assert "dense" in rejected(lambda: View.from_any_interface(Tensor(array, "sparse"), -1))
assert "no such type" in rejected(lambda: View.from_any_interface(Tensor(array, "quint8"), -1))
assert "stream_ptr" in rejected(lambda: View.from_any_interface(Tensor(array), "x"), TypeError)
""")


def test_tensors_with_an_exchange_table_are_read_through_it():
    run("""
torch.Tensor = View  # a class that has such a table
array = np.arange(24, dtype=np.int16).reshape(4, 6)[:, ::2]
tensor = View.from_dlpack(array, -1)
view = View.from_any_interface(tensor, -1)
assert (view.ptr, view.shape, view.strides, view.dtype) == (array.ctypes.data, (4, 3), (6, 2), np.dtype("i2"))
assert view.exporting_obj is tensor
assert np.array_equal(np.from_dlpack(view), array)
""")


def test_attributes_are_read_if_the_table_rejects():
    run("""
Tensor.__dlpack_c_exchange_api__ = View.__dlpack_c_exchange_api__  # rejects all but its own views
assert View.from_any_interface(Tensor(np.zeros(3, "f4")), -1).shape == (3,)
""")


@pytest.mark.requires(module="torch")
@pytest.mark.parametrize("name", ["float32", "float16", "int8", "uint8", "int64", "bool", "complex64"])
def test_tensors_on_the_host(name):
    import torch

    tensor = torch.zeros((4, 6), dtype=getattr(torch, name))[:, ::2]
    view = from_any(tensor, -1)
    assert (view.ptr, view.shape, view.strides) == (tensor.data_ptr(), (4, 3), (6, 2))
    assert (view.dtype.name, view.device_id, view.exporting_obj is tensor) == (name, -1, True)


@pytest.mark.requires(module="torch")
def test_tensors_that_reject_an_export_are_viewed():
    import torch

    tensor = torch.zeros(3, requires_grad=True)
    assert from_any(tensor, -1).ptr == tensor.data_ptr()
    assert from_any(torch.zeros(3, dtype=torch.complex64).conj(), -1).shape == (3,)


@pytest.mark.requires(module="torch")
def test_sparse_tensors_are_rejected():
    import torch

    with pytest.raises(BufferError, match="dense"):
        from_any(torch.zeros(3, 3).to_sparse(), -1)


@pytest.mark.requires(module="torch", software=False)
def test_tensors_on_the_device_are_ordered(device, stream):
    import torch

    tensor = torch.arange(12, dtype=torch.float32, device="cuda:0").reshape(3, 4).T
    producer = torch.cuda.Stream()
    for view in (StridedMemoryView.from_dlpack, StridedMemoryView.from_cuda_array_interface, from_any):
        torch.cuda.synchronize()
        stream.sync()
        with torch.cuda.stream(producer):
            torch.cuda._sleep(200_000_000)
            assert view(tensor, -1).shape == (4, 3)
            assert stream.is_done
            result = view(tensor, int(stream.handle))
            assert not stream.is_done
        with pytest.raises(BufferError, match="ambiguous"):
            view(tensor)
        assert (result.ptr, result.strides) == (tensor.data_ptr(), (1, 4))
        assert (result.device_id, result.is_device_accessible, result.dtype) == (0, True, np.dtype("f4"))
        stream.sync()
    assert torch.equal(torch.from_dlpack(result), tensor)


# --- other libraries with such a table ---


def test_exchange_table_reads_objects_of_other_classes():
    run("""
class Managed:
    '''A class of another library, whose table is ours and rejects it, so that its protocol is used instead.'''
    __dlpack_c_exchange_api__ = View.__dlpack_c_exchange_api__
    asked = 0
    def __init__(self, array): self.array = array
    def __dlpack__(self, **arguments):
        Managed.asked += 1
        return self.array.__dlpack__(**arguments)
    def __dlpack_device__(self): return (1, 0)

view = View.from_any_interface(Managed(np.arange(3)), -1)
assert (view.shape, Managed.asked) == ((3,), 1)
""")


def test_views_through_a_table_stay_read_only():
    array = np.zeros(4, np.float32)
    array.flags.writeable = False
    view = from_any(array, -1)

    class Derived(StridedMemoryView):
        pass

    again = Derived.from_any_interface(view, -1)
    assert again.readonly and again.ptr == view.ptr


def test_wrong_table_is_ignored():
    class Broken:
        __dlpack_c_exchange_api__ = 3

        def __dlpack__(self, **arguments):
            return np.zeros(3).__dlpack__(**arguments)

        def __dlpack_device__(self):
            return (1, 0)

    assert from_any(Broken(), -1).shape == (3,)
