# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Options of graphs and of their nodes."""

from __future__ import annotations

from dataclasses import fields

from cuda.core._launch_attributes import AccessPolicyWindow
from cuda.core._stream import Stream
from cuda.core._utils.options import Options, options

__all__ = ["AccessPolicyWindow", "GraphCompleteOptions", "GraphDebugPrintOptions"]


@options
class GraphCompleteOptions(Options):
    """Options of :meth:`GraphDefinition.instantiate` and :meth:`GraphBuilder.complete`.

    Attributes
    ----------
    auto_free_on_launch : bool, optional
        Whether a launch first frees memory that an earlier launch allocated and did not free
        (``CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH``). Default is False.
    upload_stream : :class:`~cuda.core.Stream` | :class:`GraphBuilder`, optional
        The stream that uploads the graph to the device after instantiation
        (``CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD``). If None, the first launch uploads it.
    device_launch : bool, optional
        Whether kernels can launch the graph (``CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH``). Default is False.
    use_node_priority : bool, optional
        Whether the nodes run with their own priorities instead of the stream's priority
        (``CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY``). Default is False.
    """

    auto_free_on_launch: bool = False
    upload_stream: Stream | None = None
    device_launch: bool = False
    use_node_priority: bool = False


@options
class GraphDebugPrintOptions(Options):
    """The details that :meth:`GraphDefinition.debug_dot_print` writes (``CUgraphDebugDot_flags``).

    Every field is False by default.

    Attributes
    ----------
    verbose : bool, optional
        Whether to write all details.
    runtime_types : bool, optional
        Whether to write parameters with the types of the CUDA runtime.
    kernel_node_params, memcpy_node_params, memset_node_params, host_node_params, event_node_params : bool, optional
        Whether to write the parameters of these nodes.
    ext_semas_signal_node_params, ext_semas_wait_node_params : bool, optional
        Whether to write the parameters of nodes that signal external semaphores, or wait for them.
    kernel_node_attributes : bool, optional
        Whether to write the attributes of kernel nodes.
    handles : bool, optional
        Whether to write the handles of nodes and kernels.
    mem_alloc_node_params, mem_free_node_params, batch_mem_op_node_params : bool, optional
        Whether to write the parameters of these nodes.
    extra_topo_info : bool, optional
        Whether to write the data of edges.
    conditional_node_params : bool, optional
        Whether to write the parameters of conditional nodes.
    """

    # In the order of the driver's bits: dot_flags() relies on it.
    verbose: bool = False
    runtime_types: bool = False
    kernel_node_params: bool = False
    memcpy_node_params: bool = False
    memset_node_params: bool = False
    host_node_params: bool = False
    event_node_params: bool = False
    ext_semas_signal_node_params: bool = False
    ext_semas_wait_node_params: bool = False
    kernel_node_attributes: bool = False
    handles: bool = False
    mem_alloc_node_params: bool = False
    mem_free_node_params: bool = False
    batch_mem_op_node_params: bool = False
    extra_topo_info: bool = False
    conditional_node_params: bool = False


def dot_flags(options: GraphDebugPrintOptions | None) -> int:
    """Return the ``CUgraphDebugDot_flags`` for options, or 0 for None."""
    if options is None:
        return 0
    if not isinstance(options, GraphDebugPrintOptions):
        raise TypeError(f"options must be GraphDebugPrintOptions or None, not {type(options).__name__}")
    return sum(1 << bit for bit, field in enumerate(fields(options)) if getattr(options, field.name))
