# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Options of instantiating a graph (GraphCompleteOptions), and of writing it as text (GraphDebugPrintOptions)."""

from __future__ import annotations

from cuda.core._stream import Stream
from cuda.core._utils.options import Options, options_class, rows_of

__all__ = ["GraphCompleteOptions", "GraphDebugPrintOptions"]


@options_class
class GraphCompleteOptions(Options):
    """Options of :meth:`GraphDefinition.instantiate` and :meth:`GraphBuilder.complete`.

    Attributes
    ----------
    auto_free_on_launch : bool, optional
        Whether memory that the graph allocated and did not free is freed before the next launch. Default is False.
    upload_stream : :class:`~cuda.core.Stream` | :class:`GraphBuilder`, optional
        A stream on which the graph is uploaded to the device at once. If None, the first launch does that.
    device_launch : bool, optional
        Whether kernels can launch the graph. Default is False.
    use_node_priority : bool, optional
        Whether the priorities of the nodes count, instead of that of the stream. Default is False.
    """

    auto_free_on_launch: bool = False
    upload_stream: Stream | None = None
    device_launch: bool = False
    use_node_priority: bool = False


@options_class
class GraphDebugPrintOptions(Options):
    """The details in the text of a graph (``CUgraphDebugDot_flags``); every field is False by default.

    Attributes
    ----------
    verbose : bool, optional
        Everything below.
    runtime_types : bool, optional
        Names and types as the CUDA runtime has them.
    kernel_node_params, memcpy_node_params, memset_node_params, host_node_params, event_node_params : bool, optional
        The parameters of such nodes.
    ext_semas_signal_node_params, ext_semas_wait_node_params : bool, optional
        The parameters of nodes that signal, or wait for, external semaphores.
    kernel_node_attributes : bool, optional
        The attributes of kernel nodes.
    handles : bool, optional
        The handles of nodes, graphs and functions.
    mem_alloc_node_params, mem_free_node_params, batch_mem_op_node_params : bool, optional
        The parameters of such nodes.
    extra_topo_info : bool, optional
        The data of edges.
    conditional_node_params : bool, optional
        The parameters of conditional nodes.
    """

    # In the order of the driver's bits.
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
    """Return the driver's bits for the options of writing a graph."""
    if options is None:
        return 0
    if not isinstance(options, GraphDebugPrintOptions):
        raise TypeError(f"options must be GraphDebugPrintOptions or None, not {type(options).__name__}")
    return sum(1 << bit for bit, row in enumerate(rows_of(type(options))) if getattr(options, row.name))
