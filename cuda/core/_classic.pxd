# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The C part of the seam of the classic interface (``_classic.py``): the declarations that its extensions use."""

# Launches. The argument block is an array of borrowed references to the arguments.
from cuda.core._launch_config cimport LaunchConfig  # with the driver's `_native`, which has the extents
from cuda.core._launcher cimport VectorCall, launch_kernel  # launches, or raises as cuda.core.launch() does
from cuda.core._module cimport Kernel

# Memory and streams. A pin keeps what it holds open until it goes out of scope.
from cuda.core._memory._buffer cimport Buffer  # with `_h_allocation`, for AllocationPin.hold()
from cuda.core._memory._memory_resource cimport MemoryResource
from cuda.core._native._cuda_core cimport AllocationPin, StreamPin
from cuda.core._stream cimport Stream, Stream_pin  # Stream_pin() raises if the stream is closed

# Driver calls, and their results.
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN  # raises a CUDAError unless the call succeeded

# CPython.
from cuda.core._utils._cpython cimport check_self_in_methods  # ends each module with extension types
from cuda.core._utils._cpython cimport read_short_int  # reads an int of one digit without a call
from cuda.core._utils._cpython cimport set_call_offset  # gives a class the vectorcall protocol
from cuda.core._utils._cpython cimport tuple_items  # the items of a tuple, as borrowed references
