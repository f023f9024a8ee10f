# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arrays of Numba, JAX and Warp: stand-ins with their protocols, and the libraries themselves if installed."""

import pytest

from support import interpreter

# Classes with the names and behavior of the libraries; `looked_up` lists the attributes that are read.
STAND_INS = """
import sys, types
import numpy as np
from cuda.core.utils import StridedMemoryView as View

looked_up = []

class Noting:
    def __getattribute__(self, name):
        if not name.startswith("_own"):
            looked_up.append(name)
        return super().__getattribute__(name)

def module(name, **members):
    parts = name.split(".")
    for depth in range(1, len(parts) + 1):
        sys.modules.setdefault(".".join(parts[:depth]), types.ModuleType(".".join(parts[:depth])))
    vars(sys.modules[name]).update(members)

# Numba: shape and strides in bytes, None where they are in C order; the stream that the array is bound to.
class DeviceNDArrayBase(Noting):
    def __init__(self, array, stream=0):
        self._own, self._own_stream = array, stream
    @property
    def __cuda_array_interface__(self):
        own = self._own
        return {"shape": own.shape, "strides": None if own.flags.c_contiguous else own.strides,
                "data": (own.ctypes.data, False), "typestr": own.dtype.str,
                "stream": int(self._own_stream) if self._own_stream != 0 else None, "version": 3}

class DeviceNDArray(DeviceNDArrayBase): pass

# Host memory mapped for a device. These are also NumPy arrays.
class MappedNDArray(DeviceNDArrayBase, np.ndarray): pass

module("numba.cuda.cudadrv.devicearray", DeviceNDArrayBase=DeviceNDArrayBase, DeviceNDArray=DeviceNDArray,
       MappedNDArray=MappedNDArray)

# JAX: arrays are read-only, which only DLPack 1.0 can express; arrays on the host have no CUDA interface.
class ArrayImpl(Noting):
    def __init__(self, array):
        self._own = array
        self._own.flags.writeable = False
        self._own_asked = []
    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        self._own_asked.append((stream, max_version))
        return self._own.__dlpack__(max_version=max_version)
    def __dlpack_device__(self):
        return (1, 0)
    @property
    def __cuda_array_interface__(self):
        raise AttributeError("not on a device")

module("jaxlib._jax", ArrayImpl=ArrayImpl)

# Warp: DLPack as it was before 1.0.
class array(Noting):
    def __init__(self, values): self._own = values
    def __dlpack__(self, stream=None): return self._own.__dlpack__()
    def __dlpack_device__(self): return (1, 0)
    @property
    def __cuda_array_interface__(self): raise RuntimeError("not on a device")

module("warp", array=array)

def looks(make, *arguments):
    make(*arguments)    # the class is known from now on
    looked_up.clear()
    view = make(*arguments)
    return view, list(looked_up)
"""


def run(code, prefix=STAND_INS):
    """Run code in a process where none of the libraries was imported."""
    interpreter.run(prefix + code)


def test_only_the_protocol_of_the_class_is_read():
    run("""
values = np.arange(12, dtype=np.float32).reshape(3, 4)
view, looked = looks(View.from_any_interface, DeviceNDArray(values[:, ::2]), -1)
assert (view.ptr, view.shape, view.strides) == (values.ctypes.data, (3, 2), (4, 2))
assert (view.is_device_accessible, view.dtype) == (True, np.float32)
assert looked == ["__cuda_array_interface__"], looked
view, looked = looks(View.from_any_interface, ArrayImpl(values.copy()), -1)
assert (view.shape, view.readonly) == ((3, 4), True)
assert set(looked) <= {"__dlpack__", "__dlpack_device__"}, looked
view, looked = looks(View.from_any_interface, array(values), -1)
assert (view.ptr, view.shape, view.readonly) == (values.ctypes.data, (3, 4), False)
assert set(looked) <= {"__dlpack__", "__dlpack_device__"}, looked
""")


def test_subclasses_are_read_like_their_bases():
    run("""
for base in (DeviceNDArray, ArrayImpl, array):
    cls = type("Mine", (base,), {})
    assert View.from_any_interface(cls(np.zeros(3, np.int32)), -1).shape == (3,)
""")


def test_only_the_named_protocol_is_read():
    run("""
def error_of(make, *arguments):
    try:
        make(*arguments)
    except Exception as error:
        return type(error)
values = np.zeros(3, np.float32)
for known in (False, True):    # before and after the class is known
    assert error_of(View.from_dlpack, DeviceNDArray(values), -1) is AttributeError
    assert error_of(View.from_cuda_array_interface, ArrayImpl(values.copy()), -1) is AttributeError
    assert error_of(View.from_cuda_array_interface, array(values), -1) is RuntimeError
    assert View.from_cuda_array_interface(DeviceNDArray(values), -1).shape == (3,)
    assert View.from_dlpack(ArrayImpl(values.copy()), -1).shape == (3,)
    for one in (DeviceNDArray(values), ArrayImpl(values.copy()), array(values)):
        View.from_any_interface(one, -1)
""")


def test_mapped_arrays_are_viewed_as_host_arrays():
    """They are also NumPy arrays, whose DLPack comes first."""
    run("""
mapped = np.arange(4.0).view(MappedNDArray)
view = View.from_any_interface(mapped, -1)
assert (view.shape, view.device_id) == ((4,), -1), view
""")


@pytest.mark.requires(device=True)
def test_copies_and_launches_accept_arrays_of_these_libraries():
    run("""
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
device = Device()
device.set_current()
stream = device.create_stream()
buffer, pinned = device.allocate(16, stream=stream), LegacyPinnedMemoryResource().allocate(16)
shared = np.asarray(pinned).view(np.float32)
for one in (ArrayImpl(np.arange(4, dtype=np.float32)), array(np.arange(4, dtype=np.float32))):
    buffer.copy_from(one, stream=stream)
    back = np.zeros(4, np.float32)
    buffer.copy_to(back, stream=stream)
    stream.sync()
    assert back.tolist() == [0, 1, 2, 3]
shared[:] = 2
code = Program('extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }', "c++").compile("cubin")
launch(stream, LaunchConfig(grid=1, block=4), code.get_kernel("twice"), DeviceNDArray(shared))
stream.sync()
assert shared.tolist() == [4] * 4
""")


def test_jax_gets_no_stream_when_no_ordering_is_wanted():
    """JAX would take -1, DLPack's value for no ordering, for the address of a stream, and fail."""
    run("""
class OnDevice(ArrayImpl):
    def __dlpack_device__(self): return (2, 0)
    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        raise RuntimeError(f"asked with the stream {stream}")

OnDevice.__module__ = "jaxlib._jax"
try:
    View.from_any_interface(OnDevice(np.zeros(2)), -1)
except RuntimeError as error:
    assert str(error) == "asked with the stream None", error
else:
    raise AssertionError("the array was not asked")
""")


def test_array_with_a_stream_needs_a_stream_that_waits():
    """Numba's interface names the stream that the array is bound to, and the consumer must wait for it."""
    run("""
try:
    View.from_any_interface(DeviceNDArray(np.zeros(2), 0x1234), None)
except BufferError as error:
    assert "stream" in str(error), error
else:
    raise AssertionError("a view without a stream was made")
""")


REAL = {
    "jax": """
import os
os.environ["JAX_PLATFORMS"] = "cpu"  # its CUDA back end uses the runtime
import jax.numpy as jnp, numpy as np
from cuda.core.utils import StridedMemoryView as View
for dtype in ("float32", "int8", "complex64", "bool", "bfloat16"):
    view = View.from_any_interface(jnp.arange(6).reshape(2, 3).astype(dtype), -1)
    assert view.shape == (2, 3)
""",
    "warp": """
import warp, numpy as np
from cuda.core.utils import StridedMemoryView as View
values = np.arange(6, dtype=np.float32).reshape(2, 3)
assert View.from_any_interface(warp.array(values, device="cpu"), -1).shape == (2, 3)
assert View.from_any_interface(warp.zeros(4, dtype=warp.vec3, device="cpu"), -1).shape == (4, 3)
""",
    "numba": """
from numba.cuda.cudadrv.devicearray import DeviceNDArray
assert isinstance(DeviceNDArray.__cuda_array_interface__, property)
""",
}


@pytest.mark.parametrize("module", [pytest.param(name, marks=pytest.mark.requires(module=name)) for name in REAL])
def test_arrays_of_the_installed_library_are_viewed(module):
    run(REAL[module], prefix="")
