# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel attributes and occupancy queries."""

from __future__ import annotations

from libc.limits cimport INT_MAX
from libc.stddef cimport size_t
from libc.stdint cimport intptr_t, uintptr_t

from cuda.core._native._cuda_core cimport KernelHandle, address, bindings_object, refuse_pickle
from cuda.core._stream cimport Stream_accept
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport ALLOW_RETURN, HANDLE_RETURN, init_driver

from collections import namedtuple
import operator

from cuda.core._code._c_functions import PythonFunction, function_address
from cuda.core._launch_config import _to_native_launch_config
from cuda.core._utils.cuda_utils import TooOldError, UnavailableError, call_driver
from cuda.core._utils.validators import shown

__all__ = ["KernelAttributes", "KernelOccupancy", "MaxPotentialBlockSizeOccupancyResult"]

MaxPotentialBlockSizeOccupancyResult = namedtuple(
    "MaxPotentialBlockSizeOccupancyResult", ("min_grid_size", "max_block_size"), module="cuda.core._module"
)
MaxPotentialBlockSizeOccupancyResult.__doc__ = (
    "The smallest grid size, in blocks, that reaches the best occupancy, and the block size for it, in threads."
)


cdef class _Attribute:
    """A descriptor for a kernel attribute, which is constant and cached, or settable."""

    cdef:
        readonly int code
        readonly object convert
        readonly bint is_constant
        readonly str __doc__
        readonly str name

    def __init__(self, code, doc, convert=int, is_constant=True):
        self.code = code
        self.convert = convert
        self.is_constant = is_constant
        self.__doc__ = doc

    def __get__(self, instance, owner):
        if instance is None:
            return self
        return KernelAttributes_read(instance, self)

    def __set_name__(self, owner, name):
        self.name = name

    def __set__(self, instance, value):
        if self.is_constant:
            raise AttributeError(f"{self.name} is read-only: it was fixed when the kernel was compiled")
        KernelAttributes_write(instance, self, value)


cdef class KernelAttributes:
    """The attributes of a kernel on a device (``cuKernelGetAttribute``, ``cuKernelSetAttribute``).

    :attr:`Kernel.attributes` reads and sets attributes on the device that is current on each access, and
    ``kernel.attributes[device]`` on a given device. You can set :attr:`max_dynamic_shared_size_bytes`,
    :attr:`preferred_shared_memory_carveout`, and the cluster attributes except :attr:`cluster_size_must_be_set`.
    Setting a value that the device does not support, or that was fixed when the kernel was compiled, raises
    :class:`CUDAError`.

    Examples
    --------
    >>> from cuda.core import Device, Program
    >>> Device().set_current()
    >>> source = 'extern "C" __global__ void f() { __shared__ volatile int x[32]; x[threadIdx.x] = 1; }'
    >>> attributes = Program(source, "c++").compile("cubin").get_kernel("f").attributes
    >>> attributes.shared_size_bytes
    128
    """

    cdef:
        KernelHandle _h_kernel      # set once
        int _device_id              # -1 for the device that is current when an attribute is read
        dict _constants             # (device, attribute) -> value, shared by all views of the kernel

    def __init__(self, *args, **kwargs):
        raise RuntimeError("KernelAttributes cannot be constructed directly; use Kernel.attributes")

    def __getitem__(self, device) -> KernelAttributes:
        """Return the attributes on a given device.

        Parameters
        ----------
        device : :class:`Device` | int
            The device, or its ordinal.

        Returns
        -------
        :class:`KernelAttributes`
            The attributes on this device.

        Raises
        ------
        TypeError
            If ``device`` is neither a :class:`Device` nor an int.
        ValueError
            If ``device`` is negative.
        """
        cdef int device_id = device_ordinal(device)
        cdef KernelAttributes view = KernelAttributes.__new__(KernelAttributes)
        view._h_kernel = self._h_kernel
        view._device_id = device_id
        view._constants = self._constants
        return view

    def __repr__(self):
        where = "the current device" if self._device_id < 0 else f"device {self._device_id}"
        return f"<KernelAttributes of kernel {address(self._h_kernel):#x} on {where}>"

    def __reduce__(self):
        refuse_pickle(self)

    max_threads_per_block = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, "int: The largest number of threads per block."
    )
    shared_size_bytes = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, "int: The size of static shared memory per block, in bytes."
    )
    const_size_bytes = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, "int: The size of user-allocated constant memory, in bytes."
    )
    local_size_bytes = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, "int: The size of local memory per thread, in bytes."
    )
    num_regs = _Attribute(cydriver.CU_FUNC_ATTRIBUTE_NUM_REGS, "int: The number of registers per thread.")
    ptx_version = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_PTX_VERSION, "int: The virtual architecture of the PTX, 10 * major + minor."
    )
    binary_version = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_BINARY_VERSION, "int: The architecture of the machine code, 10 * major + minor."
    )
    cache_mode_ca = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA,
        "bool: Whether the kernel was compiled with caching of global loads in L1 (``-Xptxas --dlcm=ca``).", bool
    )
    max_dynamic_shared_size_bytes = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        "int: The largest size of dynamic shared memory that a launch can request, in bytes.", is_constant=False,
    )
    preferred_shared_memory_carveout = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
        "int: The preferred shared memory carve-out, in percent of the maximum; -1 lets the driver choose.",
        is_constant=False,
    )
    cluster_size_must_be_set = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, "bool: Whether a launch must specify a cluster size.", bool
    )
    required_cluster_width = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
        "int: The required cluster width, in blocks; 0 if none is required.", is_constant=False,
    )
    required_cluster_height = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        "int: The required cluster height, in blocks; 0 if none is required.", is_constant=False,
    )
    required_cluster_depth = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
        "int: The required cluster depth, in blocks; 0 if none is required.", is_constant=False,
    )
    non_portable_cluster_size_allowed = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
        "bool: Whether launches may use a cluster size above the portable limit of 8 blocks.", bool, is_constant=False,
    )
    cluster_scheduling_policy_preference = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        "int: The preferred scheduling policy for the blocks of a cluster, a ``CUclusterSchedulingPolicy``.",
        is_constant=False,
    )
    device_node_update_supported = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_DEVICE_NODE_UPDATE_SUPPORTED,
        "bool: Whether kernels can change graph nodes of this kernel.", bool
    )
    shared_memory_mode = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_SHARED_MEMORY_MODE,
        "int: Whether launches may use oversized shared memory, a ``CUsharedMemoryMode``.", is_constant=False,
    )


cdef object KernelAttributes_create(const KernelHandle& h_kernel):
    cdef KernelAttributes self = KernelAttributes.__new__(KernelAttributes)
    self._h_kernel = h_kernel
    self._device_id = -1
    self._constants = {}
    return self


cdef object KernelAttributes_read(KernelAttributes self, _Attribute row):
    cdef int c_value = 0
    cdef int c_code = row.code
    cdef bint is_known
    cdef cydriver.CUdevice c_device = KernelAttributes_device(self)
    key = (c_device, row.code)
    value = self._constants.get(key)
    if value is None:
        # The driver might first load the kernel on that device.
        with nogil:
            is_known = ALLOW_RETURN(
                cydriver.cuKernelGetAttribute(
                    &c_value, <cydriver.CUfunction_attribute>c_code, self._h_kernel.get(), c_device
                ),
                cydriver.CUresult.CUDA_ERROR_INVALID_VALUE,
                b"cuKernelGetAttribute",
            )
        if not is_known:
            raise TooOldError(f"the installed driver does not recognize the attribute {row.name} of kernels")
        value = row.convert(c_value)
        if row.is_constant:
            self._constants[key] = value
    return value


cdef int KernelAttributes_write(KernelAttributes self, _Attribute row, object value) except -1:
    cdef int c_value = attribute_value(row, value)
    cdef cydriver.CUdevice c_device = KernelAttributes_device(self)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuKernelSetAttribute(
                <cydriver.CUfunction_attribute>row.code, c_value, self._h_kernel.get(), c_device
            ),
            b"cuKernelSetAttribute",
        )
    return 0


# The device of this view, or the current device.
cdef cydriver.CUdevice KernelAttributes_device(KernelAttributes self) except? -1:
    cdef cydriver.CUdevice c_device = self._device_id
    check_kernel(self._h_kernel)
    init_driver()
    if c_device < 0:
        HANDLE_RETURN(cydriver.cuCtxGetDevice(&c_device), b"cuCtxGetDevice")
    return c_device


cdef int attribute_value(_Attribute row, object value) except? -1:
    if row.convert is bool:
        if not isinstance(value, bool) and value not in (0, 1):
            raise TypeError(f"{row.name} must be a bool, not {type(value).__name__}")
        return bool(value)
    # For the carve-out, -1 lets the driver choose.
    if row.code == cydriver.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if bounded_int(row.name, value, -1) > 100:
            raise ValueError(f"{row.name} must be from 0 to 100 percent, or -1, not {shown(value)}")
        return operator.index(value)
    return bounded_int(row.name, value)


cdef class KernelOccupancy:
    """Occupancy queries for a kernel: how many of its blocks or clusters can be resident on the current device.

    Examples
    --------
    >>> from cuda.core import Device, Program
    >>> Device().set_current()
    >>> kernel = Program('extern "C" __global__ void f() {}', "c++").compile("cubin").get_kernel("f")
    >>> kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0) >= 1
    True
    """

    cdef KernelHandle _h_kernel     # set once

    def __init__(self, *args, **kwargs):
        raise RuntimeError("KernelOccupancy cannot be constructed directly; use Kernel.occupancy")

    def __reduce__(self):
        refuse_pickle(self)

    def __repr__(self):
        return f"<KernelOccupancy of kernel {address(self._h_kernel):#x}>"

    def max_active_blocks_per_multiprocessor(self, block_size: int, dynamic_shared_memory_size: int) -> int:
        """Return how many blocks can be resident on an SM (``cuOccupancyMaxActiveBlocksPerMultiprocessor``).

        Parameters
        ----------
        block_size : int
            The number of threads per block.
        dynamic_shared_memory_size : int
            The size of dynamic shared memory per block, in bytes.

        Returns
        -------
        int
            The number of blocks per SM.

        Raises
        ------
        TypeError
            If an argument is not an integer.
        ValueError
            If an argument is negative or above 2**31 - 1.
        CUDAError
            If no context is current, or the driver rejects the query for another reason.
        """
        cdef int c_blocks = 0
        cdef int c_block = bounded_int("block_size", block_size)
        cdef int c_size = bounded_int("dynamic_shared_memory_size", dynamic_shared_memory_size)
        HANDLE_RETURN(
            cydriver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &c_blocks, c_function_of(self._h_kernel), c_block, c_size
            ),
            b"cuOccupancyMaxActiveBlocksPerMultiprocessor",
        )
        return c_blocks

    def max_potential_block_size(
        self, dynamic_shared_memory_needed: int | driver.CUoccupancyB2DSize | Callable, block_size_limit: int
    ) -> MaxPotentialBlockSizeOccupancyResult:
        """Return the block size with the best occupancy (``cuOccupancyMaxPotentialBlockSize``).

        Parameters
        ----------
        dynamic_shared_memory_needed : int | driver.CUoccupancyB2DSize | callable
            The size of dynamic shared memory per block, in bytes, or a function that returns it for a block size: a
            Python function, a C function ``size_t (*)(int)`` from ``cuda.bindings``, ``ctypes`` or ``cffi``, or a Numba
            C callback. Pass the address of a function as ``driver.CUoccupancyB2DSize(address)``, because an int is a
            size.
        block_size_limit : int
            The largest block size to consider, in threads, or 0 for the device's limit.

        Returns
        -------
        MaxPotentialBlockSizeOccupancyResult
            The named tuple ``(min_grid_size, max_block_size)``, in blocks and threads.

        Raises
        ------
        TypeError
            If ``dynamic_shared_memory_needed`` or its result is neither an int nor a function, or
            ``block_size_limit`` is not an integer.
        ValueError
            If a number is negative or above 2**31 - 1, or the function is a null pointer.
        Exception
            Any exception that a Python function raises.
        CUDAError
            If no context is current, or the driver rejects the query for another reason.
        """
        cdef int c_grid = 0
        cdef int c_block = 0
        cdef int c_size = 0
        cdef int c_limit = bounded_int("block_size_limit", block_size_limit)
        cdef cydriver.CUoccupancyB2DSize c_function = NULL
        cdef cydriver.CUfunction c_kernel
        needed = size_function(dynamic_shared_memory_needed)
        if needed is None:
            c_size = bounded_int("dynamic_shared_memory_needed", dynamic_shared_memory_needed)
        else:
            c_function = <cydriver.CUoccupancyB2DSize><uintptr_t>getattr(needed, "address", needed)
        c_kernel = c_function_of(self._h_kernel)
        # The function might acquire the GIL.
        with nogil:
            HANDLE_RETURN(
                cydriver.cuOccupancyMaxPotentialBlockSize(
                    &c_grid, &c_block, c_kernel, c_function, c_size, c_limit
                ),
                b"cuOccupancyMaxPotentialBlockSize",
            )
        if isinstance(needed, PythonFunction):
            needed.check()
        return MaxPotentialBlockSizeOccupancyResult(c_grid, c_block)

    def available_dynamic_shared_memory_per_block(self, num_blocks_per_multiprocessor: int, block_size: int) -> int:
        """Return the dynamic shared memory available per block (``cuOccupancyAvailableDynamicSMemPerBlock``).

        Parameters
        ----------
        num_blocks_per_multiprocessor : int
            The number of blocks that must be resident on an SM.
        block_size : int
            The number of threads per block.

        Returns
        -------
        int
            The size in bytes.

        Raises
        ------
        TypeError
            If an argument is not an integer.
        ValueError
            If an argument is negative or above 2**31 - 1.
        CUDAError
            If no context is current, or the driver rejects the query for another reason.
        """
        cdef size_t c_size = 0
        cdef int c_blocks = bounded_int("num_blocks_per_multiprocessor", num_blocks_per_multiprocessor)
        cdef int c_block = bounded_int("block_size", block_size)
        HANDLE_RETURN(
            cydriver.cuOccupancyAvailableDynamicSMemPerBlock(
                &c_size, c_function_of(self._h_kernel), c_blocks, c_block
            ),
            b"cuOccupancyAvailableDynamicSMemPerBlock",
        )
        return c_size

    def max_potential_cluster_size(self, config: LaunchConfig, *, stream: Stream) -> int:
        """Return the largest cluster size that can be launched (``cuOccupancyMaxPotentialClusterSize``).

        Parameters
        ----------
        config : :class:`LaunchConfig`
            The launch configuration. Its cluster size is ignored.
        stream : :class:`Stream`
            The stream of the launch.

        Returns
        -------
        int
            The number of blocks per cluster.

        Raises
        ------
        TypeError
            If ``config`` or ``stream`` has the wrong type.
        CUDAError
            If the driver rejects the query.
        """
        return KernelOccupancy_of_clusters(self, "cuOccupancyMaxPotentialClusterSize", config, stream)

    def max_active_clusters(self, config: LaunchConfig, *, stream: Stream) -> int:
        """Return how many clusters can be resident on the device (``cuOccupancyMaxActiveClusters``).

        Parameters
        ----------
        config : :class:`LaunchConfig`
            The launch configuration, with its cluster size.
        stream : :class:`Stream`
            The stream of the launch.

        Returns
        -------
        int
            The number of clusters.

        Raises
        ------
        TypeError
            If ``config`` or ``stream`` has the wrong type.
        CUDAError
            If the driver rejects the query.
        """
        return KernelOccupancy_of_clusters(self, "cuOccupancyMaxActiveClusters", config, stream)


cdef object KernelOccupancy_create(const KernelHandle& h_kernel):
    cdef KernelOccupancy self = KernelOccupancy.__new__(KernelOccupancy)
    self._h_kernel = h_kernel
    return self


cdef object KernelOccupancy_of_clusters(KernelOccupancy self, str api, object config, object stream):
    stream = Stream_accept(stream)
    native = _to_native_launch_config(config)
    native.hStream = stream.handle
    function = bindings_object("CUfunction", <intptr_t>c_function_of(self._h_kernel))
    return call_driver(api, function, native)


# The function that returns the size (the address of a C function, or a wrapped Python function), or None for a number.
cdef object size_function(object needed):
    if hasattr(type(needed), "__index__") and type(needed).__name__ != "CUoccupancyB2DSize":
        return None
    c_function = function_address("dynamic_shared_memory_needed", needed)
    if c_function is not None:
        return c_function
    if not callable(needed):
        raise TypeError(f"dynamic_shared_memory_needed must be an int or a callable, not {type(needed).__name__}")
    return PythonFunction(
        needed, lambda size: bounded_int("the result of dynamic_shared_memory_needed", size)
    )


cdef int check_kernel(const KernelHandle& h_kernel) except -1:
    if h_kernel.get() == NULL:
        raise UnavailableError("this Kernel is closed")
    return 0


# The kernel as a CUfunction: driver functions that expect one also accept a CUkernel.
cdef cydriver.CUfunction c_function_of(const KernelHandle& h_kernel) except NULL:
    check_kernel(h_kernel)
    init_driver()
    return <cydriver.CUfunction><void*>h_kernel.get()


cdef int bounded_int(str name, object value, int least=0) except? -1:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {type(value).__name__}") from None
    if not least <= number <= INT_MAX:
        raise ValueError(f"{name} must be from {least} to {INT_MAX}, not {shown(number)}")
    return number


cdef int device_ordinal(object device) except -1:
    ordinal = getattr(device, "device_id", device)
    if isinstance(ordinal, bool) or not hasattr(type(ordinal), "__index__"):
        raise TypeError(f"device must be a Device or an int, not {type(device).__name__}")
    return bounded_int("device", ordinal)


check_self_in_methods(globals())
