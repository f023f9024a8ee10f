# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The four helpers that check a driver result. ``api`` names the call, and a rule test compares it with the call."""

from cuda.core._utils cimport cydriver


# The call must succeed.
cdef inline int HANDLE_RETURN(cydriver.CUresult err, const char* api=NULL) except? -1 nogil:
    if err == cydriver.CUresult.CUDA_SUCCESS:
        return 0
    return raise_driver_error(err, api)


# One error code is an expected answer. Returns 1 for success, 0 for `expected`.
cdef inline int ALLOW_RETURN(cydriver.CUresult err, cydriver.CUresult expected, const char* api=NULL) except? -1 nogil:
    if err == cydriver.CUresult.CUDA_SUCCESS:
        return 1
    if err == expected:
        return 0
    return raise_driver_error(err, api)


# The call was made in another context, which was left with the result `left`. If both failed, the error of the call is
# raised, with a note. Take ownership of what the call has created before this check, so that it is destroyed.
cdef inline int LEAVE_RETURN(cydriver.CUresult err, const char* api, cydriver.CUresult left) except -1 nogil:
    if err == cydriver.CUresult.CUDA_SUCCESS and left == cydriver.CUresult.CUDA_SUCCESS:
        return 0
    return raise_left_error(err, api, left)


# For destructors: a failure issues a CUDAWarning and is never raised. The message contains the handle of the resource,
# because Python shows equal warnings only once.
cdef inline void WARN_RETURN(cydriver.CUresult err, const char* api=NULL, const void* handle=NULL) noexcept nogil:
    if err != cydriver.CUresult.CUDA_SUCCESS:
        warn_of_release(err, api, handle)


cdef int raise_driver_error(cydriver.CUresult err, const char* api) except -1 nogil
cdef int raise_left_error(cydriver.CUresult err, const char* api, cydriver.CUresult left) except -1 nogil
# For an `except` clause after which the error is raised again. Does nothing if the context could be left.
cdef int note_left_context(object error, cydriver.CUresult left) except -1
# `what` describes the resource, if known. While the driver shuts down, nothing is reported.
cdef void warn_driver_error(cydriver.CUresult err, const char* api, const char* what) noexcept nogil
cdef void warn_of_release(cydriver.CUresult err, const char* api, const void* handle) noexcept nogil

# Passes an exception that cannot be raised to sys.unraisablehook. `where` is the object whose code raised it.
cdef void show_unraisable(object error, object where) noexcept
# Calls a Python function on a driver thread, with the GIL held. Exceptions are shown. A child process that the function
# forks exits with the function, because it has no driver to return to.
cdef void call_on_driver_thread(object function, object where) noexcept

# Loads and initializes the driver once. Raises RuntimeError if there is none; the message names what to install.
cdef int init_driver() except -1

cpdef object check_or_create_options(type cls, object options, str options_description=*, bint keep_none=*)

# The CUDA version that the driver supports, such as 13000 for 13.0. Initializes the driver.
cdef int c_driver_version() except -1

# Raises TooOldError if the driver is older than a version, such as 12040 for CUDA 12.4. `what` is the feature that
# needs it, and `advice` may say what to use instead.
cpdef int require_driver(int version, str what, str advice=*) except -1
