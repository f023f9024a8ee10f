# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel nodes (KernelNode)."""

from __future__ import annotations

from libc.limits cimport INT_MAX, INT_MIN
from libc.stdint cimport uintptr_t
from libc.string cimport memset

from cuda.core._module cimport Kernel_create
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core.graph._graph_node cimport (
    GraphNode,
    GraphNode_change,
    GraphNode_check,
    GraphNode_values,
    register_node_class,
)
from cuda.core.graph._parameters._kernel_values cimport (
    KernelValues,
    KernelValues_create,
    KernelValues_read,
    KernelValues_with_config,
)
from cuda.core.graph._parameters._node_values cimport NodeValues
from cuda.core.graph._state._graph_state cimport GraphLock, NodeRecord_set_values, lock_graphs

import operator

from cuda.core._launch_config import LaunchConfig
from cuda.core._utils.enums import ACCESS_PROPERTY
from cuda.core._utils.validators import list_argument, shown
from cuda.core.graph._access_policy import AccessPolicyWindow

__all__ = ["KernelNode"]


cdef class KernelNode(GraphNode):
    """A kernel node."""

    def update(self, *, config: LaunchConfig | None = None, kernel: Kernel | None = None, args=None) -> None:
        """Change the kernel launch of the node (``cuGraphKernelNodeSetParams``). Existing executables do not change.

        Parameters
        ----------
        config : :class:`~cuda.core.LaunchConfig`, optional
            The new configuration. If None, it stays.
        kernel : :class:`~cuda.core.Kernel`, optional
            The new kernel, which needs ``args``. If None, it stays.
        args : iterable, optional
            All kernel arguments, ``()`` for none. If None, they stay.

        Raises
        ------
        ValueError
            If ``kernel`` is given without ``args``.
        TypeError, NotImplementedError
            As in :meth:`GraphNode.launch`.
        RuntimeError
            If the node is destroyed.
        """
        GraphNode_check(self)
        if kernel is not None and args is None:
            raise ValueError("a new kernel needs args; use () for none")
        if config is None and args is None:
            return
        cdef KernelValues values = GraphNode_values(self)
        if args is not None:
            args = tuple(list_argument("args", args, "an iterable of arguments, () for none"))
            GraphNode_change(
                self,
                KernelValues_create(
                    self.config if config is None else config, self.kernel if kernel is None else kernel, args
                ),
            )
        else:
            KernelValues_reconfigure(self, values, config)

    @property
    def grid(self) -> tuple[int, int, int]:
        """The number of blocks in each dimension of the grid."""
        cdef KernelValues values = GraphNode_values(self)
        return (values.params.gridDimX, values.params.gridDimY, values.params.gridDimZ)

    @property
    def block(self) -> tuple[int, int, int]:
        """The number of threads in each dimension of a block."""
        cdef KernelValues values = GraphNode_values(self)
        return (values.params.blockDimX, values.params.blockDimY, values.params.blockDimZ)

    @property
    def shmem_size(self) -> int:
        """The dynamic shared memory per block, in bytes."""
        return (<KernelValues>GraphNode_values(self)).params.sharedMemBytes

    @property
    def kernel(self) -> Kernel:
        """The kernel: a new but equal object with each access."""
        cdef KernelValues values = GraphNode_values(self)
        return Kernel_create(values.h_kernel, values.kernel._name if values.kernel is not None else "")

    @property
    def config(self) -> LaunchConfig:
        """The grid, the blocks and the dynamic shared memory."""
        return LaunchConfig(grid=self.grid, block=self.block, shmem_size=self.shmem_size)

    @property
    def cluster(self) -> tuple[int, int, int] | None:
        """The number of blocks in each dimension of a cluster, if a captured launch had clusters; else None."""
        cdef cydriver.CUlaunchAttributeValue value = read_attribute(
            self, cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        )
        if value.clusterDim.x == 0:
            return None
        return (value.clusterDim.x, value.clusterDim.y, value.clusterDim.z)

    @property
    def is_cooperative(self) -> bool:
        """Whether the launch is cooperative: all blocks are resident at once, so that the grid can synchronize."""
        cdef cydriver.CUlaunchAttributeValue value = read_attribute(
            self, cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        )
        return value.cooperative != 0

    @property
    def priority(self) -> int:
        """The priority, a number as for streams. It has an effect in graphs instantiated with ``use_node_priority``.

        Captured nodes have the priority of their stream. Assigning changes the node
        (``cuGraphKernelNodeSetAttribute``) and executables instantiated later; the driver clamps the value to the range
        of the device.

        Raises
        ------
        TypeError
            If the assigned value is not an int.
        OverflowError
            If it does not fit 32 bits.
        """
        cdef cydriver.CUlaunchAttributeValue value = read_attribute(
            self, cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY
        )
        return value.priority

    @priority.setter
    def priority(self, value: int):
        cdef cydriver.CUlaunchAttributeValue c_value
        try:
            number = operator.index(value)
        except TypeError:
            raise TypeError(f"priority must be an int, not {type(value).__name__}") from None
        if not INT_MIN <= number <= INT_MAX:
            raise OverflowError(f"priority must fit 32 bits, not be {shown(number)}")
        memset(&c_value, 0, sizeof(c_value))
        c_value.priority = number
        write_attribute(self, cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_PRIORITY, &c_value)

    @property
    def access_policy_window(self) -> AccessPolicyWindow | None:
        """The L2 access policy window of the launch; None if it has none.

        Assigning changes the node (``cuGraphKernelNodeSetAttribute``) and executables instantiated later.

        Raises
        ------
        TypeError
            If the assigned value is neither an :class:`AccessPolicyWindow` nor None.
        CUDAError
            If the driver refuses, for example more bytes than ``max_access_policy_window_size`` of the device.
        """
        cdef cydriver.CUlaunchAttributeValue value = read_attribute(
            self, cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW
        )
        if value.accessPolicyWindow.num_bytes == 0:
            return None
        return AccessPolicyWindow(
            <uintptr_t>value.accessPolicyWindow.base_ptr,
            value.accessPolicyWindow.num_bytes,
            value.accessPolicyWindow.hitRatio,
            ACCESS_PROPERTY.from_driver(<int>value.accessPolicyWindow.hitProp),
            ACCESS_PROPERTY.from_driver(<int>value.accessPolicyWindow.missProp),
        )

    @access_policy_window.setter
    def access_policy_window(self, window: AccessPolicyWindow | None):
        cdef cydriver.CUlaunchAttributeValue c_value
        if window is not None and not isinstance(window, AccessPolicyWindow):
            raise TypeError(f"access_policy_window must be an AccessPolicyWindow or None, not {type(window).__name__}")
        memset(&c_value, 0, sizeof(c_value))
        if window is not None:
            c_value.accessPolicyWindow.base_ptr = <void*><uintptr_t>window.base_ptr
            c_value.accessPolicyWindow.num_bytes = window.num_bytes
            c_value.accessPolicyWindow.hitRatio = window.hit_ratio
            c_value.accessPolicyWindow.hitProp = <cydriver.CUaccessProperty><int>ACCESS_PROPERTY.to_driver(window.hit)
            c_value.accessPolicyWindow.missProp = <cydriver.CUaccessProperty><int>ACCESS_PROPERTY.to_driver(window.miss)
        write_attribute(self, cydriver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &c_value)

    def _details(self):
        return f" kernel={int(self.kernel.handle):#x}"

    cdef NodeValues _read(self):
        return KernelValues_read(self._record.c_node)


cdef cydriver.CUlaunchAttributeValue read_attribute(KernelNode self, cydriver.CUlaunchAttributeID c_id) except *:
    cdef cydriver.CUlaunchAttributeValue value
    cdef GraphLock lock
    lock_graphs(lock)
    GraphNode_check(self)
    memset(&value, 0, sizeof(value))
    with nogil:
        HANDLE_RETURN(
            cydriver.cuGraphKernelNodeGetAttribute(self._record.c_node, c_id, &value), b"cuGraphKernelNodeGetAttribute"
        )
    return value


cdef int write_attribute(
    KernelNode self, cydriver.CUlaunchAttributeID c_id, const cydriver.CUlaunchAttributeValue* c_value
) except -1:
    cdef GraphLock lock
    lock_graphs(lock)
    GraphNode_check(self)
    with nogil:
        HANDLE_RETURN(
            cydriver.cuGraphKernelNodeSetAttribute(self._record.c_node, c_id, c_value),
            b"cuGraphKernelNodeSetAttribute",
        )
    return 0


# Changes the launch configuration only; the node keeps its arguments, and the references that they need.
cdef int KernelValues_reconfigure(KernelNode self, KernelValues old, object config) except -1:
    cdef KernelValues values
    cdef GraphLock lock
    lock_graphs(lock)
    GraphNode_check(self)
    values = KernelValues_with_config(self._record.c_node, old, config)
    values.change(self._record.c_node)
    NodeRecord_set_values(self._record, values)
    return 0


register_node_class(<int>cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL, lambda record: KernelNode)
make_hasattr_safe(KernelNode)
