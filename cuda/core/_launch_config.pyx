# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Launch configurations: grid, cluster and block dimensions, shared memory and launch attributes."""

from __future__ import annotations

cimport cython
from libc.limits cimport UINT_MAX
from libc.string cimport memcpy, memset

from cpython.object cimport PyObject

from cuda.core._device cimport current_ordinal
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, init_driver

import importlib
import operator

from cuda.core._launch_attributes import ATTRIBUTES, pack
from cuda.core._utils import cuda_utils
from cuda.core._utils.cuda_utils import NotSupportedError
from cuda.core._utils.errors import warn_caller
from cuda.core._utils.options import unknown_field
from cuda.core._utils.signatures import ConstructorSignature
from cuda.core._utils.validators import find_str_enum, int_argument, shown

__all__ = ["LaunchConfig", "cdiv"]

FIELDS = (
    "grid",
    "cluster",
    "block",
    "shmem_size",
    "is_cooperative",
    "programmatic_stream_serialization",
    "cluster_scheduling_policy_preference",
    "priority",
    "access_policy_window",
    "programmatic_event",
    "launch_completion_event",
    "mem_sync_domain",
    "mem_sync_domain_map",
    "preferred_cluster",
    "shared_memory_carveout",
    "shared_memory_mode",
    "portable_cluster_size_mode",
    "nvlink_util_centric_scheduling",
    "device_updatable_node",
)


@cython.freelist(8)
cdef class LaunchConfig:
    """The configuration of a kernel launch: grid, cluster and block dimensions, shared memory and launch attributes.

    You can change all fields between launches, and each assignment checks its value as the constructor does. Dimensions
    are an int, or a tuple or list of one to three ints (x, y, z) of at least 1. Missing dimensions are 1.

    Parameters
    ----------
    grid : int | tuple[int, ...] | "resident"
        The number of blocks, or with ``cluster`` the number of clusters. With ``"resident"``, each launch has as many
        blocks as can be resident on the device at the same time (``cuOccupancyMaxActiveBlocksPerMultiprocessor``). That
        is for kernels that loop over their elements with the stride of the grid: a kernel with a thread for each
        element would process only some of them; see :meth:`for_elements`.
    cluster : int | tuple[int, ...], optional
        The number of blocks per cluster, which needs compute capability 9.0. Defaults to no clusters.
    block : int | tuple[int, ...]
        The number of threads per block.
    shmem_size : int, optional
        The size of dynamic shared memory per block, in bytes. Defaults to 0.
    is_cooperative : bool, optional
        Whether this is a cooperative launch, whose blocks are all resident at the same time and can synchronize
        grid-wide. Defaults to False.
    programmatic_stream_serialization : bool, optional
        Whether the kernel may start before the stream's preceding kernel has completed (programmatic dependent launch).
        Defaults to False.
    cluster_scheduling_policy_preference : str, optional
        How the blocks of clusters are distributed: ``"default"``, ``"spread"`` or ``"load_balancing"``. It has an
        effect only with ``cluster``, and needs compute capability 9.0. Defaults to the preference of the kernel.
    priority : int, optional
        The priority of the launch; lower numbers have precedence. Defaults to 0: the priority of the stream.
    access_policy_window : :class:`~cuda.core.graph.AccessPolicyWindow`, optional
        How the L2 cache treats accesses to a range of memory.
    programmatic_event : :class:`Event` | tuple[:class:`Event`, bool], optional
        An event that completes when all blocks have triggered it (``cudaTriggerProgrammaticLaunchCompletion`` in the
        kernel) or, with ``(event, True)``, have started. The event must not have timing.
    launch_completion_event : :class:`Event`, optional
        An event that completes when all blocks have started, as far as possible. It must not have timing.
    mem_sync_domain : str, optional
        The domain that fences of the kernel order: ``"default"`` or ``"remote"``.
    mem_sync_domain_map : tuple[int, int], optional
        The physical domains of ``"default"`` and ``"remote"``.
    preferred_cluster : tuple[int, int, int], optional
        The number of blocks per cluster to use where it fits: a multiple of ``cluster``, which it requires.
        Drivers for CUDA 13.0 capture it, but reject it in :meth:`GraphNode.launch <cuda.core.graph.GraphNode.launch>`.
    shared_memory_carveout : int, optional
        The part of the L1 cache that should be shared memory, in percent, or -1 for the default of the driver.
    shared_memory_mode : str, optional
        The sizes of dynamic shared memory that are allowed: ``"default"``, ``"require_portable"``,
        ``"allow_non_portable"``, ``"allow_oversized"`` or ``"prefer_oversized"``.
    portable_cluster_size_mode : str, optional
        The sizes of clusters that are allowed: ``"default"``, ``"require_portable"`` or ``"allow_non_portable"``.
    nvlink_util_centric_scheduling : bool, optional
        Whether the driver should place blocks for the best use of NVLink.
    device_updatable_node : bool, optional
        Whether kernels can update the graph node that a capture of the launch creates. Outside captures, such a launch
        is an error.

    Raises
    ------
    ValueError
        If ``grid`` or ``block`` is missing, or a dimension is not an int from 1 to 2**32 - 1, or ``shmem_size`` is
        negative or 2**32 or more, or the value of an attribute is unknown or out of range, or ``grid`` is
        ``"resident"`` and ``cluster`` is given, or ``priority`` is not 0 and outside the range of the
        current context (``cuCtxGetStreamPriorityRange``).
    TypeError
        If ``shmem_size`` or ``priority`` is not an int, or the value of an attribute has the wrong type.
    NotSupportedError
        If clusters, their policy or a cooperative launch are requested and the current device does not support them.
        Only these need a device.
    CUDAError
        If ``priority`` is not 0 and no context is current.

    Warns
    -----
    DeprecationWarning
        If ``grid`` is ``"auto"``, the earlier name of ``"resident"``.

    Examples
    --------
    >>> from cuda.core import LaunchConfig
    >>> config = LaunchConfig(grid=(8, 4), block=(16, 16), shmem_size=1024)
    >>> config.grid, config.block
    ((8, 4, 1), (16, 16, 1))
    """

    __signature__ = ConstructorSignature()

    def __init__(
        self,
        grid: int | tuple[int, ...] | None = None,
        cluster: int | tuple[int, ...] | None = None,
        block: int | tuple[int, ...] | None = None,
        shmem_size: int | None = None,
        is_cooperative: bool = False,
        programmatic_stream_serialization: bool = False,
        cluster_scheduling_policy_preference: str | None = None,
        priority: int | None = None,
        **attributes,
    ):
        """Check and set all fields."""
        self._rare = None
        if attributes:
            set_attributes(self, attributes)
        self._cluster_policy = -1
        if cluster_scheduling_policy_preference is not None:
            self._cluster_policy = read_policy(cluster_scheduling_policy_preference)
        self._priority = 0 if priority is None else read_priority(priority)
        LaunchConfig_init(
            self, grid, cluster, block, shmem_size, bool(is_cooperative), bool(programmatic_stream_serialization)
        )

    @classmethod
    def for_elements(cls, n: int, block: int = 256, **fields) -> LaunchConfig:
        """Return a configuration with at least one thread for each of ``n`` elements.

        The last block can have threads without an element, so the kernel must compare its index with ``n``.

        Parameters
        ----------
        n : int
            The number of elements. For 0 there is one block.
        block : int, optional
            The number of threads per block. Defaults to 256.
        **fields
            Other fields, as the constructor takes them, except ``grid``.

        Raises
        ------
        TypeError
            If ``n`` or ``block`` is not an int, or ``grid`` is given.
        ValueError
            If ``n`` is negative, ``block`` is less than 1, or there would be 2**32 blocks or more.

        Examples
        --------
        >>> from cuda.core import LaunchConfig
        >>> LaunchConfig.for_elements(1000, block=256).grid
        (4, 1, 1)
        """
        if "grid" in fields:
            raise TypeError("for_elements() computes grid; use LaunchConfig() to choose it")
        sizes = {}
        for name, value, least in (("n", n, 0), ("block", block, 1)):
            sizes[name] = int_argument(name, value, accepts_bool=False)
            if sizes[name] < least:
                raise ValueError(f"{name} must be at least {least}, not {shown(value)}")
        return cls(grid=max(cdiv(sizes["n"], sizes["block"]), 1), block=sizes["block"], **fields)

    def __eq__(self, other):
        if not isinstance(other, LaunchConfig):
            return NotImplemented
        return LaunchConfig_fields(self) == LaunchConfig_fields(<LaunchConfig>other)

    def __hash__(self):
        return hash(LaunchConfig_fields(self))

    def __repr__(self):
        return (
            "LaunchConfig(grid={!r}, cluster={}, block={}, shmem_size={}, is_cooperative={}, "
            "programmatic_stream_serialization={}, cluster_scheduling_policy_preference={!r}, priority={}"
        ).format(*LaunchConfig_fields(self)[:8]) + "".join([f", {name}={row[0]!r}" for name, row in rare(self)]) + ")"

    def __reduce__(self):
        raise TypeError("a LaunchConfig cannot be pickled; pickle its fields and construct a new one")

    @property
    def grid(self) -> tuple[int, int, int] | str:
        """The number of blocks in x, y and z, or with :attr:`cluster` the number of clusters, or ``"resident"``."""
        return "resident" if self._is_grid_resident else (self._grid[0], self._grid[1], self._grid[2])

    @grid.setter
    def grid(self, value):
        cdef unsigned int c_grid[3]
        cdef bint is_resident = read_grid(value, c_grid)
        if is_resident:
            check_no_cluster(self._cluster)
        check_product(c_grid, self._cluster)
        self._grid = c_grid
        self._is_grid_resident = is_resident
        LaunchConfig_update(self)

    @property
    def cluster(self) -> tuple[int, int, int] | None:
        """The number of blocks per cluster in x, y and z, or None without clusters."""
        return (self._cluster[0], self._cluster[1], self._cluster[2]) if self._cluster[0] else None

    @cluster.setter
    def cluster(self, value):
        cdef unsigned int c_cluster[3]
        c_cluster[:] = [0, 0, 0]
        if value is not None:
            read_sizes(value, "cluster", c_cluster)
            if self._is_grid_resident:
                check_no_cluster(c_cluster)
            check_product(self._grid, c_cluster)
            require_clusters()
        self._cluster = c_cluster
        LaunchConfig_update(self)

    @property
    def block(self) -> tuple[int, int, int]:
        """The number of threads per block in x, y and z."""
        return (self._native.blockDimX, self._native.blockDimY, self._native.blockDimZ)

    @block.setter
    def block(self, value):
        cdef unsigned int c_block[3]
        read_sizes(value, "block", c_block)
        self._native.blockDimX, self._native.blockDimY, self._native.blockDimZ = c_block[0], c_block[1], c_block[2]

    @property
    def shmem_size(self) -> int:
        """The size of dynamic shared memory per block, in bytes."""
        return self._native.sharedMemBytes

    @shmem_size.setter
    def shmem_size(self, value):
        self._native.sharedMemBytes = 0 if value is None else read_shmem_size(value)

    @property
    def is_cooperative(self) -> bool:
        """Whether this is a cooperative launch, whose blocks are all resident at the same time."""
        return self._is_cooperative

    @is_cooperative.setter
    def is_cooperative(self, value):
        cdef bint is_cooperative = bool(value)
        if is_cooperative:
            require_cooperation()
        self._is_cooperative = is_cooperative
        LaunchConfig_update(self)

    @property
    def programmatic_stream_serialization(self) -> bool:
        """Whether the kernel may start before the stream's preceding kernel has completed."""
        return self._is_serialization_programmatic

    @programmatic_stream_serialization.setter
    def programmatic_stream_serialization(self, value):
        self._is_serialization_programmatic = bool(value)
        LaunchConfig_update(self)

    @property
    def cluster_scheduling_policy_preference(self) -> str | None:
        """How the blocks of clusters are distributed, or None for the preference of the kernel."""
        return None if self._cluster_policy < 0 else _POLICIES[self._cluster_policy]

    @cluster_scheduling_policy_preference.setter
    def cluster_scheduling_policy_preference(self, value):
        self._cluster_policy = -1 if value is None else read_policy(value)
        LaunchConfig_update(self)

    @property
    def priority(self) -> int:
        """The priority of the launch, of which lower numbers have precedence, or 0 for that of the stream."""
        return self._priority

    @priority.setter
    def priority(self, value):
        self._priority = 0 if value is None else read_priority(value)
        LaunchConfig_update(self)

    @property
    def access_policy_window(self) -> AccessPolicyWindow | None:
        """How the L2 cache treats accesses to a range of memory, or None."""
        return rare_value(self, "access_policy_window")

    @access_policy_window.setter
    def access_policy_window(self, value):
        set_attributes(self, {"access_policy_window": value})
        LaunchConfig_update(self)

    @property
    def programmatic_event(self) -> tuple[Event, bool] | None:
        """The event that blocks trigger, and whether they do so when they start, or None."""
        return rare_value(self, "programmatic_event")

    @programmatic_event.setter
    def programmatic_event(self, value):
        set_attributes(self, {"programmatic_event": value})
        LaunchConfig_update(self)

    @property
    def launch_completion_event(self) -> Event | None:
        """The event that completes when all blocks have started, or None."""
        return rare_value(self, "launch_completion_event")

    @launch_completion_event.setter
    def launch_completion_event(self, value):
        set_attributes(self, {"launch_completion_event": value})
        LaunchConfig_update(self)

    @property
    def mem_sync_domain(self) -> str | None:
        """The domain that fences of the kernel order, or None for that of the stream."""
        return rare_value(self, "mem_sync_domain")

    @mem_sync_domain.setter
    def mem_sync_domain(self, value):
        set_attributes(self, {"mem_sync_domain": value})
        LaunchConfig_update(self)

    @property
    def mem_sync_domain_map(self) -> tuple[int, int] | None:
        """The physical domains of ``"default"`` and ``"remote"``, or None for those of the stream."""
        return rare_value(self, "mem_sync_domain_map")

    @mem_sync_domain_map.setter
    def mem_sync_domain_map(self, value):
        set_attributes(self, {"mem_sync_domain_map": value})
        LaunchConfig_update(self)

    @property
    def preferred_cluster(self) -> tuple[int, int, int] | None:
        """The number of blocks per cluster to use where it fits, or None."""
        return rare_value(self, "preferred_cluster")

    @preferred_cluster.setter
    def preferred_cluster(self, value):
        set_attributes(self, {"preferred_cluster": value})
        LaunchConfig_update(self)

    @property
    def shared_memory_carveout(self) -> int | None:
        """The part of the L1 cache for shared memory in percent, or None for the preference of the kernel."""
        return rare_value(self, "shared_memory_carveout")

    @shared_memory_carveout.setter
    def shared_memory_carveout(self, value):
        set_attributes(self, {"shared_memory_carveout": value})
        LaunchConfig_update(self)

    @property
    def shared_memory_mode(self) -> str | None:
        """The sizes of dynamic shared memory that are allowed, or None for the default."""
        return rare_value(self, "shared_memory_mode")

    @shared_memory_mode.setter
    def shared_memory_mode(self, value):
        set_attributes(self, {"shared_memory_mode": value})
        LaunchConfig_update(self)

    @property
    def portable_cluster_size_mode(self) -> str | None:
        """The sizes of clusters that are allowed, or None for the default."""
        return rare_value(self, "portable_cluster_size_mode")

    @portable_cluster_size_mode.setter
    def portable_cluster_size_mode(self, value):
        set_attributes(self, {"portable_cluster_size_mode": value})
        LaunchConfig_update(self)

    @property
    def nvlink_util_centric_scheduling(self) -> bool | None:
        """Whether blocks are placed for the best use of NVLink, or None for the default."""
        return rare_value(self, "nvlink_util_centric_scheduling")

    @nvlink_util_centric_scheduling.setter
    def nvlink_util_centric_scheduling(self, value):
        set_attributes(self, {"nvlink_util_centric_scheduling": value})
        LaunchConfig_update(self)

    @property
    def device_updatable_node(self) -> bool | None:
        """Whether kernels can update the captured node, or None."""
        return rare_value(self, "device_updatable_node")

    @device_updatable_node.setter
    def device_updatable_node(self, value):
        set_attributes(self, {"device_updatable_node": value})
        LaunchConfig_update(self)


def cdiv(a: int, b: int) -> int:
    """Return ``a / b``, rounded up to an int, such as the number of blocks of ``b`` threads for ``a`` elements.

    Raises
    ------
    TypeError
        If ``a`` or ``b`` is not an integer.
    ZeroDivisionError
        If ``b`` is 0.

    Examples
    --------
    >>> from cuda.core.utils import cdiv
    >>> cdiv(1000, 256)
    4
    """
    return -(-int_argument("a", a) // int_argument("b", b))


def _to_native_launch_config(config: LaunchConfig):
    """Return ``config`` as a ``driver.CUlaunchConfig`` of the bindings, on the NULL stream."""
    cdef LaunchConfig self = <LaunchConfig?>config
    driver = cuda_utils.driver
    native = driver.CUlaunchConfig()
    native.gridDimX, native.gridDimY, native.gridDimZ = (
        self._native.gridDimX, self._native.gridDimY, self._native.gridDimZ
    )
    native.blockDimX, native.blockDimY, native.blockDimZ = self.block
    native.sharedMemBytes = self._native.sharedMemBytes
    attributes = []
    for index in range(self._native.numAttrs):
        attribute = driver.CUlaunchAttribute()
        attribute.id = driver.CUlaunchAttributeID(<int>self._attributes[index].id)
        if self._attributes[index].id == cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z = self.cluster
        elif self._attributes[index].id == cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            attribute.value.cooperative = 1
        elif self._attributes[index].id == cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY:
            attribute.value.priority = self._priority
        elif self._attributes[index].id == CLUSTER_POLICY:
            attribute.value.clusterSchedulingPolicyPreference = driver.CUclusterSchedulingPolicy(self._cluster_policy)
        elif self._attributes[index].id == SERIALIZATION:
            attribute.value.programmaticStreamSerializationAllowed = 1
        else:
            value = (<char*>&self._attributes[index].value)[:sizeof(self._attributes[index].value)]
            importlib.import_module("ctypes").memmove(attribute.value.getPtr(), value, len(value))
        attributes.append(attribute)
    native.attrs = attributes
    native.numAttrs = len(attributes)
    return native


cdef int LaunchConfig_init(
    LaunchConfig self,
    object grid,
    object cluster,
    object block,
    object shmem_size,
    bint is_cooperative,
    bint is_serialization_programmatic,
) except -1:
    cdef unsigned int c_block[3]
    if grid is None:
        raise ValueError("grid, the number of blocks, is missing")
    self._is_grid_resident = read_grid(grid, self._grid)
    if block is None:
        remedy = f"; the second argument is cluster, so pass block by name: LaunchConfig({shown(grid)}, block=...)"
        raise ValueError(f"block, the number of threads per block, is missing{'' if cluster is None else remedy}")
    read_sizes(block, "block", c_block)
    self._native.blockDimX = c_block[0]
    self._native.blockDimY = c_block[1]
    self._native.blockDimZ = c_block[2]
    self._native.sharedMemBytes = 0 if shmem_size is None else read_shmem_size(shmem_size)
    self._cluster[0] = self._cluster[1] = self._cluster[2] = 0
    if cluster is not None:
        read_sizes(cluster, "cluster", self._cluster)
        if self._is_grid_resident:
            check_no_cluster(self._cluster)
        check_product(self._grid, self._cluster)
        require_clusters()
    if is_cooperative:
        require_cooperation()
    self._is_cooperative = is_cooperative
    self._is_serialization_programmatic = is_serialization_programmatic
    LaunchConfig_update(self)
    return 0


# Updates the grid and the attributes in the driver's struct from the fields.
cdef void LaunchConfig_update(LaunchConfig self) noexcept:
    cdef cydriver.CUlaunchAttribute* c_attribute = self._attributes
    cdef bint has_cluster = self._cluster[0] != 0
    if has_cluster or self._is_cooperative or self._is_serialization_programmatic or self._cluster_policy >= 0 or (
        self._priority != 0 or self._rare is not None
    ):
        # Unused bytes are zero, so that values can be compared.
        memset(self._attributes, 0, sizeof(self._attributes))
    self._native.gridDimX = self._grid[0] * (self._cluster[0] if has_cluster else 1)
    self._native.gridDimY = self._grid[1] * (self._cluster[1] if has_cluster else 1)
    self._native.gridDimZ = self._grid[2] * (self._cluster[2] if has_cluster else 1)
    if has_cluster:
        c_attribute.id = cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        c_attribute.value.clusterDim.x = self._cluster[0]
        c_attribute.value.clusterDim.y = self._cluster[1]
        c_attribute.value.clusterDim.z = self._cluster[2]
        c_attribute += 1
    if self._is_cooperative:
        c_attribute.id = cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        c_attribute.value.cooperative = 1
        c_attribute += 1
    if self._is_serialization_programmatic:
        c_attribute.id = cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
        c_attribute.value.programmaticStreamSerializationAllowed = 1
        c_attribute += 1
    if self._cluster_policy >= 0:
        c_attribute.id = CLUSTER_POLICY
        c_attribute.value.clusterSchedulingPolicyPreference = <cydriver.CUclusterSchedulingPolicy>self._cluster_policy
        c_attribute += 1
    if self._priority != 0:
        c_attribute.id = cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY
        c_attribute.value.priority = self._priority
        c_attribute += 1
    if self._rare is not None:
        for name, (_, content, _) in self._rare.items():
            c_attribute.id = <cydriver.CUlaunchAttributeID><int>ATTRIBUTES[name].id
            memcpy(&c_attribute.value, <const char*><bytes>content, len(<bytes>content))
            c_attribute += 1
    self._native.numAttrs = <unsigned int>(c_attribute - self._attributes)
    self._native.attrs = self._attributes


cdef tuple LaunchConfig_fields(LaunchConfig self):
    return (
        self.grid,
        self.cluster,
        self.block,
        self.shmem_size,
        self.is_cooperative,
        self.programmatic_stream_serialization,
        self.cluster_scheduling_policy_preference,
        self.priority,
        *[(name, content) for name, (_, content, _) in rare(self)],
    )


# --- Rare attributes --------------------------------------------------------------------------------------------------

# The attributes that are set: name -> (value, bytes for the driver, what must stay alive), in the order of FIELDS.
cdef list rare(LaunchConfig self):
    return [] if self._rare is None else [(name, self._rare[name]) for name in FIELDS if name in self._rare]


cdef object rare_value(LaunchConfig self, str name):
    found = None if self._rare is None else self._rare.get(name)
    return None if found is None else found[0]


# Checks all values before it sets any.
cdef int set_attributes(LaunchConfig self, dict values) except -1:
    unknown = {name: value for name, value in values.items() if name not in ATTRIBUTES}
    if unknown:
        raise TypeError(unknown_field("LaunchConfig", unknown, FIELDS))
    changed = {} if self._rare is None else dict(self._rare)
    for name, value in values.items():
        if value is None:
            changed.pop(name, None)
        else:
            changed[name] = pack(name, value)
    self._rare = changed or None
    return 0


cdef extern from "Python.h":
    bint PyLong_CheckExact(object) noexcept
    Py_ssize_t PyNumber_AsSsize_t(object, PyObject* overflow_error) except? -1


cdef int read_sizes(object value, str name, unsigned int* c_sizes) except -1:
    cdef Py_ssize_t count
    cdef Py_ssize_t index
    c_sizes[0] = c_sizes[1] = c_sizes[2] = 1
    if not isinstance(value, (tuple, list)):
        c_sizes[0] = read_size(value, name)
        return 0
    count = len(value)
    if not 1 <= count <= 3:
        raise ValueError(f"{name} must have one to three dimensions, not {count}")
    for index in range(count):
        c_sizes[index] = read_size(value[index], name)
    return 0


# Returns true for "resident", which is stored as one block.
cdef bint read_grid(object value, unsigned int* c_grid) except -1:
    if isinstance(value, str) and value in ("resident", "auto"):
        if value == "auto":
            warn_caller(
                "grid='auto' is now grid='resident': as many blocks as the device can run at once, for kernels that "
                "loop; for a thread for each element, use elements=n, kernel[:n, block] or "
                "LaunchConfig.for_elements(n)",
                DeprecationWarning,
            )
        c_grid[0] = c_grid[1] = c_grid[2] = 1
        return True
    read_sizes(value, "grid", c_grid)
    return False


cdef int check_no_cluster(const unsigned int* c_cluster) except -1:
    if c_cluster[0]:
        raise ValueError("grid must be given with cluster; 'resident' is for grids without clusters")
    return 0


cdef unsigned int read_size(object value, str name) except 0:
    cdef Py_ssize_t c_size
    if not PyLong_CheckExact(value):
        value = as_int(value, name)
    c_size = PyNumber_AsSsize_t(value, NULL)    # saturates on overflow
    if not 1 <= c_size <= UINT_MAX:
        raise ValueError(f"{name} must be from 1 to {UINT_MAX}, not {shown(value)}")
    return <unsigned int>c_size


cdef object as_int(object value, str name):
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise ValueError(f"{name} must be an int or a tuple of one to three ints, not {shown(value)}")


cdef unsigned int read_shmem_size(object value) except? 0xffffffff:
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"shmem_size must be an int or None, not {type(value).__name__}")
    size = operator.index(value)
    if not 0 <= size <= UINT_MAX:
        raise ValueError(f"shmem_size must be from 0 to {UINT_MAX}, not {shown(size)}")
    return size


cdef cydriver.CUlaunchAttributeID CLUSTER_POLICY = (
    cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE
)

cdef cydriver.CUlaunchAttributeID SERIALIZATION = (
    cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
)

# By their values as a CUclusterSchedulingPolicy.
cdef tuple _POLICIES = ("default", "spread", "load_balancing")


cdef int read_policy(object value) except -1:
    policy = _POLICIES.index(find_str_enum(value, _POLICIES, "cluster_scheduling_policy_preference"))
    require_clusters("cluster_scheduling_policy_preference")
    return policy


cdef int read_priority(object value) except? -1:
    cdef int c_least = 0
    cdef int c_greatest = 0
    priority = int_argument("priority", value, "an int or None", accepts_bool=False)
    if priority == 0:
        return 0
    HANDLE_RETURN(cydriver.cuCtxGetStreamPriorityRange(&c_least, &c_greatest), b"cuCtxGetStreamPriorityRange")
    if not c_greatest <= priority <= c_least:
        raise ValueError(
            f"priority must be from {c_greatest} (highest) to {c_least} (lowest), or 0 for that of the stream, not "
            f"{shown(priority)}"
        )
    return priority


# The driver's grid dimensions count blocks, even with clusters, and are 32 bits wide.
cdef int check_product(const unsigned int* c_grid, const unsigned int* c_cluster) except -1:
    for index in range(3):
        if <unsigned long long>c_grid[index] * c_cluster[index] > UINT_MAX:
            raise ValueError(f"grid times cluster must be at most {UINT_MAX}, not {c_grid[index]} * {c_cluster[index]}")
    return 0


cdef int require_clusters(str field="cluster") except -1:
    cdef int ordinal = initialized_ordinal()
    if not device_attribute(ordinal, cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH):
        raise not_supported(f"{field} must be None: device {ordinal} has no clusters (compute capability 9.0)")
    return 0


cdef int require_cooperation() except -1:
    cdef int ordinal = initialized_ordinal()
    if not device_attribute(ordinal, cydriver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH):
        raise not_supported(f"is_cooperative must be False: device {ordinal} does not support cooperative launches")
    return 0


cdef int initialized_ordinal() except -1:
    init_driver()
    return <int>current_ordinal()


cdef object not_supported(str message):
    code = <int>cydriver.CUresult.CUDA_ERROR_NOT_SUPPORTED
    return NotSupportedError(f"CUDA_ERROR_NOT_SUPPORTED: {message}", code=code, name="CUDA_ERROR_NOT_SUPPORTED")


cdef int device_attribute(int ordinal, cydriver.CUdevice_attribute c_attribute) except? -1:
    cdef int c_value = 0
    HANDLE_RETURN(cydriver.cuDeviceGetAttribute(&c_value, c_attribute, ordinal), b"cuDeviceGetAttribute")
    return c_value


check_self_in_methods(globals())
