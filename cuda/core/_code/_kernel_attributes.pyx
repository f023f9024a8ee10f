# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The attributes of a kernel, and its occupancy."""

from __future__ import annotations

from libc.limits cimport INT_MAX
from libc.stddef cimport size_t
from libc.stdint cimport intptr_t, uintptr_t

from cuda.core._handles._driver_object cimport bindings_object, refuse_pickle
from cuda.core._handles._handles cimport KernelHandle, address
from cuda.core._stream cimport Stream_accept
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, init_driver

import operator
from collections import namedtuple

from cuda.core._handles import _late
from cuda.core._utils.cuda_utils import call_driver
from cuda.core._utils.errors.values import restated, typed
from cuda.core._utils.importing.deferred import Deferred
from cuda.core._utils.validators import shown

__all__ = [
    "KernelAttributes",
    "KernelOccupancy",
    "MaxPotentialBlockSizeOccupancyResult",
]

_c_functions = Deferred("cuda.core._code._c_functions")

MaxPotentialBlockSizeOccupancyResult = namedtuple(
    "MaxPotentialBlockSizeOccupancyResult", ("min_grid_size", "max_block_size"), module="cuda.core._module"
)
MaxPotentialBlockSizeOccupancyResult.__doc__ = (
    "The block size with the best occupancy, in threads, and the fewest blocks that fill the device with it."
)


cdef class _Attribute:
    """One attribute of :class:`KernelAttributes`: constant, and then cached, or else settable."""

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
        try:
            return KernelAttributes_read(instance, self)
        except RuntimeError as error:
            raise restated(error) from None

    @property
    def __class__(self):
        """A property to ``isinstance()``, so that what completes names does not evaluate it."""
        return property

    @property
    def fget(self):
        """The function of a property."""
        return typed(lambda kernel_attributes: self.__get__(kernel_attributes, None), self.convert)

    def __set_name__(self, owner, name):
        self.name = name

    def __set__(self, instance, value):
        if self.is_constant:
            raise AttributeError(f"{self.name} is read-only: it was decided when the kernel was compiled")
        KernelAttributes_write(instance, self, value)


cdef class KernelAttributes:
    """The attributes of a kernel on a device (``cuKernelGetAttribute``, ``cuKernelSetAttribute``).

    :attr:`Kernel.attributes` gives those of the current device at each access,
    ``kernel.attributes[device]`` those of one device. Limits and preferences can be assigned: the
    dynamic shared memory, the carve-out, and all about clusters but :attr:`cluster_size_must_be_set`.
    The driver refuses, with a :class:`CUDAError`, what the device cannot do and what was decided when
    the kernel was compiled.

    Examples
    --------
    >>> kernel.attributes.max_dynamic_shared_size_bytes = 100_000
    >>> kernel.attributes[device].preferred_shared_memory_carveout = 50
    """

    def __init__(self, *args, **kwargs):
        raise RuntimeError("KernelAttributes cannot be constructed directly; use Kernel.attributes")

    def __getitem__(self, device) -> KernelAttributes:
        """Return the attributes on one device.

        Parameters
        ----------
        device : :class:`Device` | int
            The device, or its ordinal.

        Raises
        ------
        TypeError
            If ``device`` is neither.
        ValueError
            If ``device`` is negative.
        """
        cdef int device_id = device_ordinal(device)
        cdef KernelAttributes view = KernelAttributes.__new__(KernelAttributes)
        view._h_kernel = self._h_kernel
        view._device_id = device_id
        view._known = self._known
        return view

    def __repr__(self):
        where = "the current device" if self._device_id < 0 else f"device {self._device_id}"
        return f"<KernelAttributes of kernel {address(self._h_kernel):#x} on {where}>"

    def __reduce__(self):
        refuse_pickle(self)

    max_threads_per_block = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, "int: The most threads that a block can have."
    )
    shared_size_bytes = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, "int: Statically allocated shared memory per block, in bytes."
    )
    const_size_bytes = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, "int: User-allocated constant memory, in bytes."
    )
    local_size_bytes = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, "int: Local memory per thread, in bytes."
    )
    num_regs = _Attribute(cydriver.CU_FUNC_ATTRIBUTE_NUM_REGS, "int: Registers per thread.")
    ptx_version = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_PTX_VERSION, "int: The PTX version it was compiled for, 10 * major + minor."
    )
    binary_version = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_BINARY_VERSION, "int: The binary version it was compiled for, 10 * major + minor."
    )
    cache_mode_ca = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, "bool: Whether global loads are cached in L1.", bool
    )
    max_dynamic_shared_size_bytes = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        "int: The most dynamic shared memory that a launch may ask for, in bytes.", is_constant=False,
    )
    preferred_shared_memory_carveout = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
        "int: The part of L1 wanted as shared memory, in percent; -1 for the driver's choice.", is_constant=False,
    )
    cluster_size_must_be_set = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, "bool: Whether a launch has to give a cluster size.", bool
    )
    required_cluster_width = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
        "int: The cluster width it was compiled for, in blocks; 0 for none.", is_constant=False,
    )
    required_cluster_height = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
        "int: The cluster height it was compiled for, in blocks; 0 for none.", is_constant=False,
    )
    required_cluster_depth = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH,
        "int: The cluster depth it was compiled for, in blocks; 0 for none.", is_constant=False,
    )
    non_portable_cluster_size_allowed = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
        "bool: Whether clusters larger than every device offers are allowed.", bool, is_constant=False,
    )
    cluster_scheduling_policy_preference = _Attribute(
        cydriver.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
        "int: How the blocks of a cluster are scheduled (``CUclusterSchedulingPolicy``).", is_constant=False,
    )


cdef class KernelOccupancy:
    """The occupancy of a kernel: how many of its blocks or clusters are resident on the current device."""

    def __init__(self, *args, **kwargs):
        raise RuntimeError("KernelOccupancy cannot be constructed directly; use Kernel.occupancy")

    def __reduce__(self):
        refuse_pickle(self)

    def __repr__(self):
        return f"<KernelOccupancy of kernel {address(self._h_kernel):#x}>"

    def max_active_blocks_per_multiprocessor(self, block_size: int, dynamic_shared_memory_size: int) -> int:
        """Return how many blocks a multiprocessor holds (``cuOccupancyMaxActiveBlocksPerMultiprocessor``).

        Parameters
        ----------
        block_size : int
            Threads per block.
        dynamic_shared_memory_size : int
            Dynamic shared memory per block, in bytes.

        Raises
        ------
        TypeError
            If an argument is no integer.
        ValueError
            If an argument is negative, or more than the driver can take.
        CUDAError
            If the driver refuses, for example where no context is current.
        """
        cdef int c_blocks = 0
        cdef int c_block = count_of("block_size", block_size)
        cdef int c_size = count_of("dynamic_shared_memory_size", dynamic_shared_memory_size)
        HANDLE_RETURN(
            cydriver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &c_blocks, function_of(self._h_kernel), c_block, c_size
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
            Dynamic shared memory per block in bytes, or a function that gives it for a block size:
            ``size_t (*)(int)`` of ``cuda.bindings``, ``ctypes`` or ``cffi``, a C callback of Numba, or a Python
            function. An address goes into ``driver.CUoccupancyB2DSize(address)``, since ints are bytes.
        block_size_limit : int
            The largest block size to consider, in threads; 0 for what the device allows.

        Returns
        -------
        MaxPotentialBlockSizeOccupancyResult
            ``(min_grid_size, max_block_size)``.

        Raises
        ------
        TypeError
            If ``dynamic_shared_memory_needed`` or its result is neither an int nor a function, or
            ``block_size_limit`` is no integer.
        ValueError
            If a number is negative, or more than the driver can take, or the function a null pointer.
        Exception
            What a Python function raises.
        CUDAError
            If the driver refuses, for example where no context is current.
        """
        cdef int c_grid = 0
        cdef int c_block = 0
        cdef int c_size = 0
        cdef int c_limit = count_of("block_size_limit", block_size_limit)
        cdef cydriver.CUoccupancyB2DSize c_function = NULL
        cdef cydriver.CUfunction c_kernel
        needed = size_function(dynamic_shared_memory_needed)
        if needed is None:
            c_size = count_of("dynamic_shared_memory_needed", dynamic_shared_memory_needed)
        else:
            c_function = <cydriver.CUoccupancyB2DSize><uintptr_t>getattr(needed, "address", needed)
        c_kernel = function_of(self._h_kernel)
        # Without the interpreter lock, since the function may be one that takes it.
        with nogil:
            HANDLE_RETURN(
                cydriver.cuOccupancyMaxPotentialBlockSize(
                    &c_grid, &c_block, c_kernel, c_function, c_size, c_limit
                ),
                b"cuOccupancyMaxPotentialBlockSize",
            )
        if isinstance(needed, _c_functions.PythonFunction):
            needed.check()
        return MaxPotentialBlockSizeOccupancyResult(c_grid, c_block)

    def available_dynamic_shared_memory_per_block(self, num_blocks_per_multiprocessor: int, block_size: int) -> int:
        """Return the dynamic shared memory left per block (``cuOccupancyAvailableDynamicSMemPerBlock``).

        Parameters
        ----------
        num_blocks_per_multiprocessor : int
            Blocks that a multiprocessor is to hold.
        block_size : int
            Threads per block.

        Returns
        -------
        int
            Bytes per block.

        Raises
        ------
        TypeError
            If an argument is no integer.
        ValueError
            If an argument is negative, or more than the driver can take.
        CUDAError
            If the driver refuses, for example where no context is current.
        """
        cdef size_t c_size = 0
        cdef int c_blocks = count_of("num_blocks_per_multiprocessor", num_blocks_per_multiprocessor)
        cdef int c_block = count_of("block_size", block_size)
        HANDLE_RETURN(
            cydriver.cuOccupancyAvailableDynamicSMemPerBlock(
                &c_size, function_of(self._h_kernel), c_blocks, c_block
            ),
            b"cuOccupancyAvailableDynamicSMemPerBlock",
        )
        return c_size

    def max_potential_cluster_size(self, config: LaunchConfig, *, stream: Stream) -> int:
        """Return the largest cluster that can be launched (``cuOccupancyMaxPotentialClusterSize``).

        Parameters
        ----------
        config : :class:`LaunchConfig`
            The launch; its own cluster is ignored.
        stream : :class:`Stream`
            Where it is to be launched.

        Returns
        -------
        int
            Blocks per cluster.

        Raises
        ------
        TypeError
            If ``config`` or ``stream`` is of another type.
        CUDAError
            If the driver refuses.
        """
        return KernelOccupancy_of_clusters(self, "cuOccupancyMaxPotentialClusterSize", config, stream)

    def max_active_clusters(self, config: LaunchConfig, *, stream: Stream) -> int:
        """Return how many clusters the device holds (``cuOccupancyMaxActiveClusters``).

        Parameters
        ----------
        config : :class:`LaunchConfig`
            The launch, with its cluster.
        stream : :class:`Stream`
            Where it is to be launched.

        Raises
        ------
        TypeError
            If ``config`` or ``stream`` is of another type.
        CUDAError
            If the driver refuses.
        """
        return KernelOccupancy_of_clusters(self, "cuOccupancyMaxActiveClusters", config, stream)


cdef object KernelAttributes_create(const KernelHandle& h_kernel):
    cdef KernelAttributes self = KernelAttributes.__new__(KernelAttributes)
    self._h_kernel = h_kernel
    self._device_id = -1
    self._known = {}
    return self


cdef object KernelOccupancy_create(const KernelHandle& h_kernel):
    cdef KernelOccupancy self = KernelOccupancy.__new__(KernelOccupancy)
    self._h_kernel = h_kernel
    return self


cdef object KernelAttributes_read(KernelAttributes self, _Attribute row):
    cdef int c_value = 0
    cdef cydriver.CUdevice c_device = KernelAttributes_device(self)
    key = (c_device, row.code)
    value = self._known.get(key)
    if value is None:
        # This may load the kernel on that device first.
        with nogil:
            HANDLE_RETURN(
                cydriver.cuKernelGetAttribute(
                    &c_value, <cydriver.CUfunction_attribute>row.code, self._h_kernel.get(), c_device
                ),
                b"cuKernelGetAttribute",
            )
        value = row.convert(c_value)
        if row.is_constant:
            self._known[key] = value
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


# The device that this view is about.
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
    # The carve-out has -1 for the driver's choice.
    if row.code == cydriver.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if count_of(row.name, value, -1) > 100:
            raise ValueError(f"{row.name} must be a percentage, from 0 to 100, or -1, but is {shown(value)}")
        return operator.index(value)
    return count_of(row.name, value)


cdef object KernelOccupancy_of_clusters(KernelOccupancy self, str api, object config, object stream):
    stream = Stream_accept(stream)
    native = _late.native_launch_config(config)
    native.hStream = stream.handle
    function = bindings_object("CUfunction", <intptr_t>function_of(self._h_kernel))
    return call_driver(api, function, native)


cdef int check_kernel(const KernelHandle& h_kernel) except -1:
    if h_kernel.get() == NULL:
        raise RuntimeError("this Kernel is closed")
    return 0


# The driver takes a kernel of a library wherever it takes a function.
cdef cydriver.CUfunction function_of(const KernelHandle& h_kernel) except NULL:
    check_kernel(h_kernel)
    init_driver()
    return <cydriver.CUfunction><void*>h_kernel.get()


# The address of a C function, a function of Python to be called, or None for a number.
cdef object size_function(object needed):
    if hasattr(needed, "__index__") and type(needed).__name__ != "CUoccupancyB2DSize":
        return None
    c_function = _c_functions.function_address("dynamic_shared_memory_needed", needed)
    if c_function is not None:
        return c_function
    if not callable(needed):
        raise TypeError(f"dynamic_shared_memory_needed must be an int or a function, not {type(needed).__name__}")
    return _c_functions.PythonFunction(
        needed, lambda size: count_of("the result of dynamic_shared_memory_needed", size)
    )


cdef int count_of(str name, object value, int least=0) except? -1:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an int, not {type(value).__name__}") from None
    if not least <= number <= INT_MAX:
        raise ValueError(f"{name} must be from {least} to {INT_MAX}, but is {shown(number)}")
    return number


cdef int device_ordinal(object device) except -1:
    ordinal = getattr(device, "device_id", device)
    if isinstance(ordinal, bool) or not hasattr(ordinal, "__index__"):
        raise TypeError(f"device must be a Device or its ordinal, not {type(device).__name__}")
    return count_of("device", ordinal)
