# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Reading and writing the launch attributes of streams; a part of ``_stream.pyx``."""

from libc.string cimport memcpy, memset

from cuda.core._native._cuda_core cimport StreamPin
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN

from cuda.core._utils import slots


cdef object get_attribute(Stream self, str name):
    cdef StreamPin stream
    cdef cydriver.CUlaunchAttributeValue value
    cdef cydriver.CUlaunchAttributeID number
    cdef cydriver.CUresult err
    id_of, _, unpack = slots.get("stream attributes")
    number = <cydriver.CUlaunchAttributeID><int>id_of(name)
    memset(&value, 0, sizeof(value))
    Stream_pin(self, &stream)
    with nogil:
        err = cydriver.cuStreamGetAttribute(stream.get(), number, &value)
    # For a stream without this hint, a driver of CUDA 13.0 has no value.
    if err != cydriver.CUresult.CUDA_ERROR_INVALID_VALUE or name != "nvlink_util_centric_scheduling":
        HANDLE_RETURN(err, b"cuStreamGetAttribute")
    return unpack(name, (<char*>&value)[:sizeof(value)])


# None, where it is allowed, is the value of zeros.
cdef int set_attribute(Stream self, str name, object value) except -1:
    cdef StreamPin stream
    cdef cydriver.CUlaunchAttributeValue c_value
    cdef cydriver.CUlaunchAttributeID number
    id_of, pack, _ = slots.get("stream attributes")
    number = <cydriver.CUlaunchAttributeID><int>id_of(name)
    memset(&c_value, 0, sizeof(c_value))
    if value is not None or name != "access_policy_window":
        _, content, _ = pack(name, value)
        memcpy(&c_value, <char*><bytes>content, len(content))
    Stream_pin(self, &stream)
    with nogil:
        HANDLE_RETURN(cydriver.cuStreamSetAttribute(stream.get(), number, &c_value), b"cuStreamSetAttribute")
    return 0
