# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tensors in device memory, with what Triton reads of those of PyTorch, for programs without PyTorch."""

import ctypes

import numpy as np

import cuda.emulator

cuda.emulator.activate()
_driver = ctypes.CDLL(cuda.emulator.library_path())
BFLOAT16 = "bfloat16"


def _call(name, *arguments):
    code = getattr(_driver, name)(*arguments)
    if code:
        raise RuntimeError(f"{name}: {code}")


_context = ctypes.c_void_p()
_call("cuInit", 0)
_call("cuDevicePrimaryCtxRetain", ctypes.byref(_context), 0)
_call("cuCtxSetCurrent", _context)


class DType:
    """A type of elements, whose name Triton knows."""

    def __init__(self, name):
        self.name = name
        self.numpy = np.dtype("uint16" if name == BFLOAT16 else name)
        self.itemsize = self.numpy.itemsize
        self.is_floating_point = name == BFLOAT16 or self.numpy.kind == "f"

    def __str__(self):
        return f"tensors.{self.name}"

    def __hash__(self):
        return hash(self.name)

    def __eq__(self, other):
        return str(self) == str(other)


class Tensor:
    """A contiguous array in device memory; its bytes count as unwritten until a kernel or ``fill`` writes them."""

    def __init__(self, shape, dtype="float32"):
        self.shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
        self.dtype = dtype if isinstance(dtype, DType) else DType(dtype)
        self.nbytes = self.dtype.itemsize * int(np.prod(self.shape))
        self._pointer = ctypes.c_uint64()
        _call("cuMemAlloc_v2", ctypes.byref(self._pointer), ctypes.c_size_t(max(self.nbytes, 1)))

    def __del__(self):
        _driver.cuMemFree_v2(self._pointer)

    def data_ptr(self):
        return self._pointer.value

    def stride(self, axis=None):
        strides = tuple(int(np.prod(self.shape[i + 1 :])) for i in range(len(self.shape)))
        return strides if axis is None else strides[axis]

    def element_size(self):
        return self.dtype.itemsize

    def fill(self, array):
        """Copy an array of the same size into the tensor, and return the tensor."""
        array = np.ascontiguousarray(array)
        assert array.nbytes == self.nbytes
        _call("cuMemcpyHtoD_v2", self._pointer, ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(self.nbytes))
        return self

    def numpy(self):
        """Return a copy as a NumPy array; numbers of bfloat16 as float32."""
        array = np.empty(self.shape, self.dtype.numpy)
        _call("cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), self._pointer, ctypes.c_size_t(self.nbytes))
        if self.dtype.name == BFLOAT16:
            return (array.astype(np.uint32) << 16).view(np.float32)
        return array


def tensor(array, dtype=None):
    """Return a tensor with the values of an array, as numbers of a type."""
    array = np.asarray(array)
    if dtype == BFLOAT16:
        bits = array.astype(np.float32).view(np.uint32)
        return Tensor(array.shape, dtype).fill(((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16))
    array = array.astype(dtype or array.dtype)
    return Tensor(array.shape, array.dtype.name).fill(array)


def empty(shape, dtype="float32"):
    return Tensor(shape, dtype)


def zeros(shape, dtype="float32"):
    return tensor(np.zeros(shape, DType(dtype).numpy))
