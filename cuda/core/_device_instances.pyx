# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The Device objects of each thread, one per ordinal, and the parsing of the arguments of ``Device()``."""

from __future__ import annotations

cimport cython
from cpython.long cimport PyLong_AsLongAndOverflow, PyLong_CheckExact
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport ALLOW_RETURN, HANDLE_RETURN, init_driver
from cuda.core._utils.version cimport c_driver_version

import importlib
import operator

from cuda.core._utils.validators import shown

__all__ = []

cdef extern from *:
    """
    #include <cstdint>
    // A borrowed reference to the devices of the calling thread, and the thread state that owns them.
    static thread_local struct { std::uint64_t owner; PyObject* devices; } this_thread;
    """
    struct ThisThread:
        uint64_t owner
        PyObject* devices
    ThisThread this_thread

cdef extern from "Python.h":
    ctypedef struct PyThreadState

    PyThreadState* PyThreadState_Get() noexcept
    PyObject* PyThreadState_GetDict() noexcept
    uint64_t PyThreadState_GetID(PyThreadState* state) noexcept


# Held by the dictionary of the thread state, so it lives as long as the thread.
@cython.final
@cython.no_gc_clear
cdef class ThreadDevices:
    cdef tuple devices

    def __dealloc__(self):
        if this_thread.devices == <PyObject*>self:
            this_thread.devices = NULL


# The ID of the thread state is compared, because a native thread gets a new thread state each time it
# enters Python (PyGILState_Ensure), and the old one, with its devices, is gone.
cdef tuple devices_of_thread(object make):
    if this_thread.devices != NULL and this_thread.owner == PyThreadState_GetID(PyThreadState_Get()):
        return (<ThreadDevices>this_thread.devices).devices
    return make_devices(make)


cdef tuple make_devices(object make):
    cdef ThreadDevices mine = ThreadDevices.__new__(ThreadDevices)
    cdef PyObject* state = NULL
    cdef int c_count = 0
    init_driver()
    with nogil:
        HANDLE_RETURN(cydriver.cuDeviceGetCount(&c_count), b"cuDeviceGetCount")
    if c_driver_version() // 1000 < cydriver.CUDA_VERSION // 1000:
        importlib.import_module("cuda.bindings.utils").warn_if_cuda_major_version_mismatch()
    mine.devices = tuple([make(ordinal) for ordinal in range(c_count)])
    state = PyThreadState_GetDict()
    if state == NULL:
        raise RuntimeError("this thread has no Python thread state, so it cannot have Device objects")
    (<dict>state)[ThreadDevices] = mine
    this_thread.owner = PyThreadState_GetID(PyThreadState_Get())
    this_thread.devices = <PyObject*>mine
    return mine.devices


cdef Py_ssize_t ordinal_of(object device_id, Py_ssize_t count) except -1:
    cdef Py_ssize_t ordinal
    cdef int is_too_large = 0
    if device_id is None:
        ordinal = current_ordinal()
    else:
        if not PyLong_CheckExact(device_id):
            device_id = check_index(device_id)
        ordinal = PyLong_AsLongAndOverflow(device_id, &is_too_large)
    if not 0 <= ordinal < count:
        raise ValueError(f"there is no device {shown(device_id)}; the machine has {count}, numbered from 0")
    return ordinal


cdef object check_index(object device_id):
    if isinstance(device_id, bool):
        raise ValueError(f"device_id must be an ordinal, not {device_id}")
    if not hasattr(type(device_id), "__index__"):
        raise TypeError(f"device_id must be an int, a Device or None, not {type(device_id).__name__}")
    return operator.index(device_id)


cdef inline Py_ssize_t current_ordinal() except -1:
    cdef cydriver.CUdevice c_device = 0
    if ALLOW_RETURN(
        cydriver.cuCtxGetDevice(&c_device), cydriver.CUresult.CUDA_ERROR_INVALID_CONTEXT, b"cuCtxGetDevice"
    ):
        return c_device
    return 0


cdef object device_argument(tuple args, dict kwargs):
    unknown = [name for name in kwargs if name != "device_id"]
    if unknown:
        raise TypeError(f"Device() got an unexpected keyword argument {shown(unknown[0])}; it takes one, device_id")
    if len(args) + len(kwargs) > 1:
        raise TypeError("Device() takes one argument at most, device_id")
    return kwargs["device_id"] if kwargs else args[0] if args else None
