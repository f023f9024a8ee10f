# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""DLPack capsules: their contents, how long they keep memory alive, and which requests are rejected."""

import ctypes
import gc
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

from cuda.core import Buffer, LegacyPinnedMemoryResource
from cuda.core.utils import StridedMemoryView
from support.contract import DLDeviceType, classify_dl_device, make_py_capsule
from support.memory import HostMemoryResource


@pytest.fixture
def mr():
    return HostMemoryResource()


def accessible(device=False, host=False, managed=False, device_id=5):
    return SimpleNamespace(
        is_device_accessible=device, is_host_accessible=host, is_managed=managed, device_id=device_id
    )


def test_device_types_match_the_specification():
    assert {kind.name: int(kind) for kind in DLDeviceType} == {
        "kDLCPU": 1,
        "kDLCUDA": 2,
        "kDLCUDAHost": 3,
        "kDLCUDAManaged": 13,
    }


@pytest.mark.parametrize(
    ("buffer", "device"),
    [
        (accessible(device=True), (2, 5)),
        (accessible(device=True, host=True, managed=True), (13, 0)),
        (accessible(device=True, host=True), (3, 0)),
        (accessible(host=True), (1, 0)),
    ],
)
def test_device_type_follows_from_who_can_access_the_memory(buffer, device):
    assert classify_dl_device(buffer) == device


def test_memory_inaccessible_to_device_and_host_is_rejected():
    with pytest.raises(BufferError):
        classify_dl_device(accessible())


@pytest.mark.parametrize(
    ("max_version", "name"),
    [
        (None, "dltensor"),
        ((0, 8), "dltensor"),
        ((1, 0), "dltensor_versioned"),
        ((2, 0), "dltensor_versioned"),
    ],
)
def test_version_determines_the_name_of_the_capsule(mr, max_version, name):
    assert f'"{name}"' in repr(mr.allocate(8).__dlpack__(max_version=max_version))


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"max_version": ()}, BufferError),
        ({"max_version": (1, 0, 0)}, BufferError),
        ({"max_version": 1}, TypeError),
        ({"max_version": [1, 0]}, TypeError),
        ({"dl_device": ()}, BufferError),
        ({"dl_device": (2, 0)}, BufferError),
        ({"copy": True}, BufferError),
    ],
)
def test_unsupported_requests_are_rejected(mr, arguments, error):
    with pytest.raises(error):
        mr.allocate(8).__dlpack__(**arguments)


def test_own_device_no_copy_and_any_stream_are_accepted(mr):
    assert "dltensor" in repr(mr.allocate(8).__dlpack__(dl_device=(1, 0), copy=False, stream=77))


@pytest.mark.parametrize("versioned", [False, True])
def test_numpy_shares_the_memory(mr, versioned):
    class Exporter:
        def __init__(self, buffer):
            self.buffer = buffer

        def __dlpack__(self, **arguments):
            return make_py_capsule(self.buffer, versioned)

        def __dlpack_device__(self):
            return self.buffer.__dlpack_device__()

    buffer = mr.allocate(16)
    memoryview(buffer)[:] = bytes(range(16))
    array = np.from_dlpack(Exporter(buffer))
    assert (array.dtype, array.shape, array.strides) == (np.int8, (16,), (1,))
    assert array.tolist() == list(range(16))
    assert array.ctypes.data == buffer.handle


def test_empty_buffer_is_exported(mr):
    assert np.from_dlpack(mr.allocate(0)).shape == (0,)


@pytest.mark.parametrize("max_version", [None, (1, 0)])
def test_unused_capsule_keeps_the_buffer(mr, max_version):
    buffer = mr.allocate(8)
    alive = weakref.ref(buffer)
    capsule = buffer.__dlpack__(max_version=max_version)
    del buffer
    gc.collect()
    assert alive() is not None
    del capsule
    gc.collect()
    assert alive() is None
    assert len(mr.freed) == 1


@pytest.mark.parametrize("is_closed", [False, True])
def test_consumer_keeps_the_memory(mr, is_closed):
    buffer = mr.allocate(8)
    memoryview(buffer)[:] = b"12345678"
    array = np.from_dlpack(buffer)
    if is_closed:
        buffer.close()
    del buffer
    gc.collect()
    assert mr.freed == []
    assert array.tobytes() == b"12345678"
    del array
    gc.collect()
    assert len(mr.freed) == 1


def test_owner_of_wrapped_memory_is_kept_by_the_consumer():
    class Block(ctypes.Array):
        _type_ = ctypes.c_char
        _length_ = 8

    block = Block(*b"12345678")
    alive = weakref.ref(block)
    buffer = Buffer.from_handle(ctypes.addressof(block), 8, owner=block)
    array = np.from_dlpack(buffer)
    buffer.close()
    del block
    gc.collect()
    assert alive() is not None
    assert array.tobytes() == b"12345678"
    del array
    gc.collect()
    assert alive() is None


def test_many_capsules_leave_no_reference(mr):
    buffer = mr.allocate(8)
    alive = weakref.ref(buffer)
    for _ in range(500):
        buffer.__dlpack__()
        np.from_dlpack(buffer)
    del buffer
    gc.collect()
    assert alive() is None
    assert len(mr.freed) == 1


@pytest.mark.requires(device=True)
@pytest.mark.parametrize("major", [0, 2, 2**32 - 1])
def test_capsules_of_another_major_version_stay_with_their_owner(device, major):
    class Exporter:
        def __dlpack__(self, **options):
            return capsule

        def __dlpack_device__(self):
            return buffer.__dlpack_device__()

    buffer = LegacyPinnedMemoryResource().allocate(64)
    capsule = buffer.__dlpack__(max_version=(1, 0))
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    address = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    version = ctypes.c_uint32.from_address(address(capsule, b"dltensor_versioned"))
    version.value = major
    with pytest.raises(BufferError, match=f"capsule must have version 1.x, not {major}.x"):
        StridedMemoryView.from_dlpack(Exporter(), stream_ptr=-1)
    version.value = 1
    assert StridedMemoryView.from_dlpack(Exporter(), stream_ptr=-1).shape == (64,)
