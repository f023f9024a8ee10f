# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The seam of the classic interface: all that ``cuda.core.driver`` uses of this package besides public names.

A name that is not listed here or in ``_classic.pxd`` can change without a look at the classic interface.
"""

from cuda.core._arrays._views import interface_address
from cuda.core._compile._missing_headers import header_directory
from cuda.core._compile._nvrtc import nvrtc_version
from cuda.core._device_properties import DeviceProperties
from cuda.core._event import IPCEventDescriptor
from cuda.core._kernel_arg_handler import register_buffer_class
from cuda.core._memory._buffer import keep_until_idle
from cuda.core._memory._memory_pool import allocate_as
from cuda.core._memory._unpooled import (
    _SynchronousMemoryResource,
    allocate_host_with_flags,
    allocate_managed,
    allocate_pitched,
    open_shared_memory,
    wait_before_free,
)
from cuda.core._module import kernel_with_sizes_only
from cuda.core._native._cuda_core import DriverObject, capture_count
from cuda.core._utils.cuda_utils import call_driver, driver_version
from cuda.core._utils.libraries import checks_memory
from cuda.core._utils.locks import RLock
from cuda.core._utils.validators import dtype_argument, int_argument, list_argument, shown

__all__ = [
    # Allocations of kinds that no public resource has. Each function takes the resource that frees the memory.
    "_SynchronousMemoryResource",  # allocates and frees by cuMemAlloc and cuMemFree
    "allocate_host_with_flags",  # a Buffer from cuMemHostAlloc
    "allocate_managed",  # a Buffer from cuMemAllocManaged, in the current context
    "allocate_pitched",  # a Buffer from cuMemAllocPitch, and its pitch
    "open_shared_memory",  # a Buffer of another process, from cuIpcOpenMemHandle
    # The classic buffer classes.
    "allocate_as",  # makes a pool allocate buffers of a class
    "register_buffer_class",  # lets launches find the writer of a class without searching its bases
    "keep_until_idle",  # keeps memory until the work now pending on any stream has completed
    "wait_before_free",  # waits for all work of a device, unless that would invalidate a capture
    "checks_memory",  # whether the device checks accesses, so memory should not be kept
    "interface_address",  # the address in a CUDA Array Interface, or a BufferError
    # Kernels and captures.
    "kernel_with_sizes_only",  # the same kernel, which checks arguments by their sizes
    "capture_count",  # the number of captures in progress
    # Driver calls that no public method makes.
    "DriverObject",  # the base class of all resources
    "IPCEventDescriptor",  # for Event.from_ipc_descriptor()
    "call_driver",  # calls a function of cuda.bindings.driver by its name, or raises a CUDAError
    # Versions and the environment.
    "DeviceProperties",  # its rows have the code and the driver's name of each device attribute
    "driver_version",  # the CUDA version of the driver
    "header_directory",  # the directory of a toolkit library's headers, or None
    "nvrtc_version",  # the version of NVRTC
    # Checks and locks. Each check returns the argument as its type, or raises a TypeError that names it.
    "RLock",  # a reentrant lock that is free in a forked child
    "dtype_argument",
    "int_argument",
    "list_argument",
    "shown",  # the repr of a value for a message, which never raises
]

# Members that the classic interface uses or overrides although they are not public.
MEMBERS = {
    "Buffer._h_allocation": "the handle of the allocation, for AllocationPin.hold()",
    "Buffer._init": "wraps memory in a subclass, as from_handle() does in a Buffer",
    "CachingMemoryResource._waits": "whether memory is reused only once work on every stream has completed",
    "DriverObject._made_by": "the functions to call instead of the constructor, for its error",
    "DriverObject._pin": "keeps the resource open, and has its handle as the bindings take it",
    "IPCEventDescriptor._init": "a descriptor from the bytes of a CUipcEventHandle",
    "LaunchConfig._native": "the CUlaunchConfig, which has the extents of the grid and of the blocks",
    "MemoryResource._accessible_by": "what can access the memory: device, host or both",
    "MemoryResource._allocate": "allocate() without the conversion of its arguments",
    "Stream._init": "a stream with options in a context, or of an object with __cuda_stream__",
    "_SynchronousMemoryResource._buffer_class": "the class of the buffers",
    "_SynchronousMemoryResource._synchronizes": "whether the stream is synchronized before memory is freed",
}
