# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Objects that export memory by one protocol only, with contents that a test chooses, right or wrong."""

from __future__ import annotations

import ctypes


class CudaInterface:
    """Exports the memory of a NumPy array by ``__cuda_array_interface__``; ``entries`` replace parts of it."""

    def __init__(self, array, **entries):
        self.array = array
        self.__cuda_array_interface__ = {**array.__array_interface__, "version": 3, **entries}


class ArrayInterface:
    """Exports the memory of a NumPy array by ``__array_interface__``; ``entries`` replace parts of it."""

    def __init__(self, array, **entries):
        self.array = array
        self.__array_interface__ = {**array.__array_interface__, **entries}


class Tensor(ctypes.Structure):
    """``DLTensor``."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class DLPackExporter:
    """Exports any tensor. ``calls`` has the arguments of each export; ``released`` counts calls of the deleter."""

    def __init__(
        self, device=(1, 0), *, code=2, bits=32, lanes=1, shape=(2, 3), strides=None, offset=0, data=0x1000, told=None
    ):
        self.device = told or device
        self.calls = []
        self.released = 0
        self._deleter = _Deleter(self._release)
        self._extents = (ctypes.c_int64 * (2 * len(shape) + 1))(*shape, *(strides or ()))
        address = ctypes.addressof(self._extents)
        stride_address = address + 8 * len(shape) if strides is not None else None
        tensor = Tensor(data, *device, len(shape), code, bits, lanes, address, stride_address, offset)
        self._managed = _Managed(tensor, None, ctypes.cast(self._deleter, ctypes.c_void_p))

    def __dlpack__(self, **arguments):
        self.calls.append(arguments)
        return _new_capsule(ctypes.addressof(self._managed), b"dltensor", None)

    def __dlpack_device__(self):
        return self.device

    def _release(self, _):
        self.released += 1


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


class VersionedExporter(DLPackExporter):
    """A DLPack 1.x exporter, with flags."""

    def __init__(self, *args, flags=0, version=(1, 0), **description):
        super().__init__(*args, **description)
        deleter = ctypes.cast(self._deleter, ctypes.c_void_p)
        self._versioned = _Versioned(*version, None, deleter, flags, self._managed.tensor)

    def __dlpack__(self, **arguments):
        self.calls.append(arguments)
        return _new_capsule(ctypes.addressof(self._versioned), b"dltensor_versioned", None)


class OldExporter(DLPackExporter):
    """An exporter written before DLPack 1.0, which takes only ``stream``."""

    def __dlpack__(self, *, stream=None):
        return super().__dlpack__(stream=stream)


# Changes to a DLPackExporter's tensor of shape (2, 3), and part of the error message for each.
BAD_TENSORS = [
    ({"shape": None}, "2 axes must have a shape, not a null pointer"),
    ({"ndim": -1}, "from 0 to 64 axes, not -1"),
    ({"ndim": 2**31 - 1}, "from 0 to 64 axes, not 2147483647"),
    ({"extents": (-1, 3)}, "extents must not be negative: axis 0 has -1"),
    ({"extents": (2**62, 2**62)}, "larger than the address space"),
    ({"extents": (0, 2**62, 2**62)}, "larger than the address space"),
    ({"strides": (2**62, 1)}, "larger than the address space"),
    ({"strides": (-(2**63), 1)}, "larger than the address space"),
    ({"byte_offset": 2**64 - 1}, "address space, but is 18446744073709551615"),
]


def broken_tensor(changes) -> DLPackExporter:
    """Return an exporter of a tensor with one of these changes."""
    exporter = DLPackExporter(shape=changes.get("extents", (2, 3)), strides=changes.get("strides"))
    for name in changes.keys() - {"extents", "strides"}:
        setattr(exporter._managed.tensor, name, changes[name])
    return exporter
