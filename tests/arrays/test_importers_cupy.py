# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of CuPy: a stand-in with the same attributes, whose protocols must not be called."""

from support import interpreter

STAND_IN = """
import sys, types, gc
import numpy as np

class MemoryPointer:
    def __init__(self, ptr, device_id): self.ptr, self.device_id = ptr, device_id

class ndarray:
    def __init__(self, array, device_id=0):
        self.data = MemoryPointer(array.ctypes.data, device_id)
        self.array, self.shape, self.strides, self.dtype = array, array.shape, array.strides, array.dtype
    @property
    def __cuda_array_interface__(self): raise AssertionError("asked for the interface")
    def __dlpack__(self, **arguments): raise AssertionError("asked for DLPack")
    __dlpack_device__ = __dlpack__

class Stream:
    ptr = 0x1234

cupy = types.ModuleType("cupy")
cupy.ndarray = ndarray
devices = []
cupy.cuda = types.SimpleNamespace(get_current_stream=lambda device: devices.append(device) or Stream)
sys.modules["cupy"] = cupy
from cuda.core.utils import StridedMemoryView as View
"""


def run(code):
    """Run code after the stand-in, in a process where CuPy was never imported."""
    interpreter.run(STAND_IN + code)


def test_attributes_are_read():
    run("""
for dtype in ("f4", "c16", "?", "u1", "f2"):
    array = np.zeros((4, 6), dtype)[::2, ::-3]
    mine = ndarray(array, 1)
    for view in (View.from_any_interface(mine, -1), View.from_dlpack(mine, -1),
                 View.from_cuda_array_interface(mine, -1)):
        assert (view.ptr, view.shape, view.dtype) == (array.ctypes.data, array.shape, array.dtype)
        assert view.strides == tuple(s // array.itemsize for s in array.strides)
        assert (view.device_id, view.is_device_accessible, view.readonly) == (1, True, False)
        assert view.exporting_obj is mine
assert devices == []
""")


def test_arrays_of_a_subclass_are_arrays():
    run("""
class Mine(ndarray): pass
assert View.from_any_interface(Mine(np.zeros(3)), -1).shape == (3,)
""")


def test_memory_is_kept():
    run("""
import weakref
class Pointer(MemoryPointer): pass
mine = ndarray(np.zeros(3))
mine.data = Pointer(mine.data.ptr, 0)
seen = weakref.ref(mine.data)
view = View.from_any_interface(mine, -1)
mine.data = None
gc.collect()
assert seen() is not None
del view
gc.collect()
assert seen() is None
""")


def test_stream_is_required():
    run("""
try:
    View.from_any_interface(ndarray(np.zeros(3)))
except BufferError as error:
    assert "ambiguous" in str(error)
else:
    raise AssertionError
""")


def test_consumer_waits_for_the_current_stream():
    run("""
# The same stream has nothing to wait for.
assert View.from_any_interface(ndarray(np.zeros(3), 2), 0x1234).shape == (3,)
assert devices == [2]
""")


def test_types_that_dlpack_lacks_are_viewed():
    run("""
view = View.from_any_interface(ndarray(np.zeros(3, "M8[s]")), -1)
assert (view.dtype, view._layout.itemsize) == (np.dtype("M8[s]"), 8)
""")
