# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graph builders, which capture the work of a stream into a graph."""

cimport cython
from libc.stdint cimport intptr_t, uintptr_t

from cuda.core._context cimport Context_enter, Context_leave
from cuda.core._native._cuda_core cimport (
    ContextHandle,
    StreamField,
    StreamPin,
    address,
    refuse_closed,
)
from cuda.core._stream cimport Stream, StreamSource, Stream_context, Stream_pin
from cuda.core._utils cimport cydriver
from cuda.core._utils.cuda_utils cimport LEAVE_RETURN, note_left_context, require_driver

from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import UnavailableError, require_call
from cuda.core._utils.validators import int_argument, shown


cdef enum Role:
    PRIMARY
    FORK            # must be joined
    BODY            # of a conditional node


cdef class GraphBuilder(StreamSource):
    """Captures the work of a stream into a graph, instead of running it.

    Builders come from :meth:`Device.create_graph_builder` and :meth:`Stream.create_graph_builder`; a builder is
    accepted wherever a stream is. Used as a context manager, a builder is closed when the ``with`` block exits. Closing
    a builder, or dropping its last reference, ends its capture.

    Your program must keep everything alive that captured work uses (memory, kernels, events). The graph keeps
    callbacks, the host memory that copies read or write, whose contents count at the time of the launch, the targets of
    memory operations, and :class:`~cuda.core.texture.OpaqueArray` objects that are copied.

    Examples
    --------
    >>> from cuda.core import Device
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> x = device.allocate(64, stream=stream)
    >>> builder = device.create_graph_builder().begin_building()
    >>> x.fill(1, stream=builder)  # recorded, not executed
    >>> graph = builder.end_building().complete()
    >>> for _ in range(3):
    ...     graph.launch(stream)
    >>> stream.sync()
    """

    cdef:
        StreamField _h_stream      # empty when closed
        Stream _stream
        Role _role
        StreamCapture _capture      # None before it begins; shared with forks
        StreamCapture _outer        # for a body: the capture with the conditional node
        GraphTree _tree             # for a body: its graph, even before it captures
        GraphRecord _graph

    _made_by = "Device.create_graph_builder() or Stream.create_graph_builder()"

    def __init__(self, *args, **kwargs):
        """Raise NotImplementedError: use create_graph_builder() of a device or a stream."""
        raise NotImplementedError(f"GraphBuilder cannot be constructed directly; use {self._made_by}")

    def __repr__(self):
        return f"<{type(self).__name__} stream={address(self._h_stream):#x} {state_of(self)}>"

    def __del__(self):
        self._release()

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return ``(0, address)`` of the capturing stream, the protocol for exchanging streams between libraries."""
        return self._stream_to_use().__cuda_stream__()

    @cython.critical_section
    def begin_building(self, mode: str | None = "relaxed") -> GraphBuilder:
        """Begin the capture (``cuStreamBeginCapture``, ``cuStreamBeginCaptureToGraph``).

        Parameters
        ----------
        mode : str, optional
            Which threads may not make potentially unsafe calls, such as ``cuMemAlloc``, during the capture: all of
            them (``"global"``), this one (``"thread_local"``), or none (``"relaxed"``, the default). Except in relaxed
            mode the capture must end on the thread that began it.

        Returns
        -------
        :class:`GraphBuilder`
            This builder.

        Raises
        ------
        TypeError
            If ``mode`` is not a str.
        ValueError
            If ``mode`` is None or another str.
        RuntimeError
            If the builder is capturing, has ended its capture, or is closed.
        CUDAError
            If the stream cannot capture (the legacy default stream), or is already capturing.
        """
        cdef cydriver.CUstreamCaptureMode c_mode = capture_mode(mode)
        cdef StreamPin stream
        GraphBuilder_pin(self, &stream)
        check_not_begun(self)
        self._capture = StreamCapture_begin(stream.handle(), c_mode, self._tree, self._graph)
        if self._outer is not None:
            self._outer.bodies.append(self._capture)
        return self

    @cython.critical_section
    def recapture(self, graph: GraphDefinition | GraphBuilder, mode: str = "relaxed") -> GraphBuilder:
        """Begin a capture that changes the parameters of an existing graph (``cuStreamBeginRecaptureToGraph``).

        The captured work must add the same nodes in the same order, with the same edges, as it did when the graph was
        captured. Allocations and frees must be the same, too. All other parameters may differ: the nodes take them over
        and stay the same objects, so nodes of executables can be changed by them. After :meth:`end_building`,
        :attr:`changes` has the changed nodes, and :meth:`Graph.update` takes the builder.

        Until the capture ends, nothing else can use the graph. If it fails, the graph is unusable: it and its nodes
        raise RuntimeError. Executables are not affected. A recapture cannot embed graphs or add conditional nodes.

        Parameters
        ----------
        graph : :class:`GraphDefinition` | :class:`GraphBuilder`
            The graph to change, or a builder that has ended its capture of it.
        mode : str, optional
            The capture mode; see :meth:`begin_building`. Defaults to ``"relaxed"``.

        Returns
        -------
        :class:`GraphBuilder`
            This builder.

        Raises
        ------
        TypeError
            If ``graph`` is neither a definition nor a builder, or ``mode`` is not a str.
        ValueError
            If ``graph`` is a child graph, a body of a conditional node, or a builder that has not ended its capture; or
            ``mode`` is unknown.
        RuntimeError
            If this builder has begun a capture, is closed or belongs to a conditional node; or ``graph`` is destroyed
            or being recaptured.
        NotSupportedError
            If the driver is older than CUDA 13.3.
        CUDAError
            If the stream cannot capture. The graph is then unusable.

        Examples
        --------
        >>> from cuda.core import Device
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> x = device.allocate(64, stream=stream)
        >>> first = device.create_graph_builder().begin_building()
        >>> x.fill(1, stream=first)
        >>> executable = first.end_building().complete()
        >>> second = device.create_graph_builder().recapture(first)
        >>> x.fill(2, stream=second)
        >>> list(second.end_building().changes.values())  # one changed node, which executables can take over
        [True]
        >>> executable.update(second)
        """
        cdef cydriver.CUstreamCaptureMode c_mode = capture_mode(mode)
        cdef StreamPin stream
        require_call("cuStreamBeginRecaptureToGraph", "the recapture of a graph")
        GraphBuilder_pin(self, &stream)
        check_not_begun(self)
        if self._role != PRIMARY:
            raise RuntimeError("the builder of a conditional node cannot recapture a graph; create another builder")
        tree = whole_graph(graph)
        if is_capturing(stream.handle()):
            raise RuntimeError("the stream of this GraphBuilder is already capturing")
        self._capture = StreamCapture_recapture(stream.handle(), c_mode, tree)
        return self

    @property
    @cython.critical_section
    def changes(self) -> dict[GraphNode, bool]:
        """The nodes whose parameters a :meth:`recapture` has changed, in the order of their capture.

        The value of a node is whether executables of the graph can be updated with its new parameters. If one cannot,
        instantiate the graph again.

        Raises
        ------
        RuntimeError
            If the builder has captured a new graph, or the recapture has not ended or has failed.
        """
        check_ended(self)
        if self._capture.recapture is None:
            raise UnavailableError("this GraphBuilder has captured a new graph; only a recapture has changes")
        return Recapture_changes(self._capture.recapture)

    @cython.critical_section
    def end_building(self) -> GraphBuilder:
        """End the capture (``cuStreamEndCapture``).

        Returns
        -------
        :class:`GraphBuilder`
            This builder.

        Raises
        ------
        RuntimeError
            If the builder is not capturing, or is a fork, which must be joined instead. The capture continues then.
        CUDAError
            If the capture was invalidated, or a fork of this builder was not joined. The capture has ended, without
            a graph.
        """
        check_building(self)
        if self._role == FORK:
            raise RuntimeError("this GraphBuilder is a fork; join() it and end the builder it forked from")
        StreamCapture_end(self._capture)
        return self

    @cython.critical_section
    def complete(self, options: GraphCompleteOptions | dict[str, Any] | None = None) -> Graph:
        """Instantiate the captured graph (``cuGraphInstantiateWithParams``).

        Parameters
        ----------
        options : :class:`GraphCompleteOptions`, optional
            How the graph is instantiated.

        Returns
        -------
        :class:`Graph`
            A new executable graph on every call.

        Raises
        ------
        TypeError
            If ``options`` has another type.
        RuntimeError
            If the capture has not ended, or failed; if this builder is a fork or the body of a conditional node; or if
            the graph cannot be instantiated, with the reason and the node in the message.
        CUDAError
            If the driver rejects the graph for another reason.
        """
        check_ended(self)
        if self._role != PRIMARY:
            raise RuntimeError(
                "only the GraphBuilder that began the capture can complete the graph, not the builder of a body"
            )
        return Graph_instantiate(self._capture.tree, self._capture.graph, options)

    def debug_dot_print(self, path: str, options: GraphDebugPrintOptions | dict[str, Any] | None = None) -> None:
        """Write the captured graph as DOT text, as :meth:`GraphDefinition.debug_dot_print` does.

        Raises
        ------
        RuntimeError
            If the capture has not ended, or failed.
        """
        captured_graph(self).debug_dot_print(path, options)

    @cython.critical_section
    def split(self, count: int) -> tuple[GraphBuilder, ...]:
        """Fork the capture: return builders whose work depends on the pending work, and not on each other's.

        Parameters
        ----------
        count : int
            The number of builders, from 2 to 65,536.

        Returns
        -------
        tuple of :class:`GraphBuilder`
            This builder, and forks, which capture on new streams and must be joined.

        Raises
        ------
        TypeError
            If ``count`` is not an int.
        ValueError
            If ``count`` is less than 2 or more than 65,536.
        RuntimeError
            If this builder is not capturing.

        Examples
        --------
        >>> from cuda.core import Device
        >>> from cuda.core.graph import GraphBuilder
        >>> device = Device()
        >>> device.set_current()
        >>> stream = device.create_stream()
        >>> x, y = device.allocate(64, stream=stream), device.allocate(64, stream=stream)
        >>> left, right = device.create_graph_builder().begin_building().split(2)
        >>> x.fill(1, stream=left)
        >>> y.fill(2, stream=right)
        >>> graph = GraphBuilder.join(left, right).end_building().complete()
        >>> graph.launch(stream)
        >>> stream.sync()
        """
        count = int_argument("count", count)
        if count < 2:
            raise ValueError(f"count must be at least 2, not {shown(count)}")
        if count > MAX_BRANCHES:
            raise ValueError(f"count must be at most {MAX_BRANCHES}, not {shown(count)}")
        check_building(self)
        forks = [fork(self) for _ in range(count - 1)]
        return (self, *forks)

    @staticmethod
    def join(*graph_builders: GraphBuilder) -> GraphBuilder:
        """Join forks: later work of the returned builder depends on the work of all builders. The others are closed.

        Parameters
        ----------
        *graph_builders : :class:`GraphBuilder`
            At least two builders of one capture.

        Returns
        -------
        :class:`GraphBuilder`
            The builder that began the capture if it is among them, else the first.

        Raises
        ------
        TypeError
            If an argument is not a :class:`GraphBuilder`.
        ValueError
            If there are fewer than two builders, one is given twice, or they belong to different captures. All captures
            continue then.
        RuntimeError
            If a builder is not capturing.
        CUDAError
            If the driver rejects the join of a fork. That fork and those after it are closed without being joined, and
            ending the capture fails.
        """
        cdef GraphBuilder builder
        cdef GraphBuilder result
        cdef StreamCapture capture
        for item in graph_builders:
            if not isinstance(item, GraphBuilder):
                raise TypeError(f"only GraphBuilder objects can be joined, not {type(item).__name__}")
        if len(graph_builders) < 2:
            raise ValueError(f"join takes at least two GraphBuilder objects, not {len(graph_builders)}")
        result = graph_builders[0]
        capture = running_capture(result)
        for builder in graph_builders:
            if running_capture(builder) is not capture:
                raise ValueError("builders of different captures cannot be joined")
            if builder._role != FORK:
                result = builder
        if len({id(item) for item in graph_builders}) < len(graph_builders):
            raise ValueError("join takes each GraphBuilder once")
        rest = [builder for builder in graph_builders if builder is not result]
        try:
            while rest:
                join_fork(result, rest[0])
                del rest[0]
        except BaseException:
            # Ending the capture then reports the work that was not joined.
            for builder in rest:
                builder.close()
            raise
        return result

    @cython.critical_section
    def create_condition(self, default_value: int | None = None) -> GraphCondition:
        """Create a condition for a conditional node of this graph (``cuGraphConditionalHandleCreate``).

        Parameters
        ----------
        default_value : int, optional
            The 32-bit value that each launch of the graph assigns at its start. If None, launches assign nothing, and
            the value of the previous launch remains.

        Raises
        ------
        TypeError
            If ``default_value`` is not an int.
        OverflowError
            If ``default_value`` does not fit 32 bits.
        RuntimeError
            If this builder is not capturing.
        NotSupportedError
            If the driver is older than CUDA 12.3.
        """
        cdef ContextHandle h_context
        cdef int device_id = -1
        cdef int is_entered = 0
        check_building(self)
        check_adds_nodes(self)
        require_driver(12030, "a conditional node")
        Stream_context(self._stream, &h_context, &device_id)
        graph = StreamCapture_graph(self._capture)
        is_entered = Context_enter(h_context.get())
        try:
            condition = GraphCondition_create(self._capture.tree, graph, default_value)
        except BaseException as error:
            note_left_context(error, Context_leave(is_entered))
            raise
        LEAVE_RETURN(cydriver.CUresult.CUDA_SUCCESS, NULL, Context_leave(is_entered))
        return condition

    @cython.critical_section
    def if_then(self, condition: GraphCondition) -> GraphBuilder:
        """Add a conditional node and return the builder of its body, which runs if the condition is not zero.

        Parameters
        ----------
        condition : :class:`GraphCondition`
            A condition from :meth:`create_condition`; each serves one node.

        Returns
        -------
        :class:`GraphBuilder`
            The builder of the body. It captures between its own :meth:`begin_building` and :meth:`end_building`, or
            nodes are added to its :attr:`graph_definition`. A body can have kernel, memcpy, memset, child graph, empty
            and conditional nodes; with any other node, such as a callback, :meth:`complete` fails.

        Raises
        ------
        TypeError
            If ``condition`` is not a :class:`GraphCondition`.
        RuntimeError
            If this builder is not capturing.
        NotSupportedError
            If the driver is older than CUDA 12.3.
        """
        return add_bodies(self, condition, cydriver.CU_GRAPH_COND_TYPE_IF, 1)[0]

    @cython.critical_section
    def if_else(self, condition: GraphCondition) -> tuple[GraphBuilder, GraphBuilder]:
        """Add a conditional node with two bodies and return their builders, as :meth:`if_then` does.

        The first body runs if the condition is not zero, the second if it is zero. The driver must support CUDA 12.8.
        """
        require_driver(12080, "an if-else node")
        return add_bodies(self, condition, cydriver.CU_GRAPH_COND_TYPE_IF, 2)

    @cython.critical_section
    def while_loop(self, condition: GraphCondition) -> GraphBuilder:
        """Add a conditional node and return the builder of its body, as :meth:`if_then` does.

        The body runs repeatedly while the condition is not zero; a kernel in it sets the condition.
        """
        return add_bodies(self, condition, cydriver.CU_GRAPH_COND_TYPE_WHILE, 1)[0]

    @cython.critical_section
    def switch(self, condition: GraphCondition, count: int) -> tuple[GraphBuilder, ...]:
        """Add a conditional node with several bodies and return their builders, as :meth:`if_then` does.

        Parameters
        ----------
        condition : :class:`GraphCondition`
            The condition, whose value is the index of the body that runs; a larger value runs none.
        count : int
            The number of bodies.

        Raises
        ------
        OverflowError
            If ``count`` is negative or more than 65,536.
        RuntimeError
            If this builder is not capturing.
        NotSupportedError
            If the driver is older than CUDA 12.8.
        CUDAError
            If ``count`` is 0.
        """
        require_driver(12080, "a switch node")
        return add_bodies(self, condition, cydriver.CU_GRAPH_COND_TYPE_SWITCH, count)

    def embed(self, child: GraphBuilder) -> None:
        """Add a copy of another builder's graph as one node (``cuGraphAddNode``).

        Parameters
        ----------
        child : :class:`GraphBuilder`
            A builder that has ended its capture. Nodes added to its graph later are not copied.

        Raises
        ------
        TypeError
            If ``child`` is not a :class:`GraphBuilder`.
        ValueError
            If ``child`` has not ended its capture, or this builder is not capturing.
        RuntimeError
            If one of the builders is closed.
        CUDAError
            If ``child`` has nodes that a child graph must not have.
        """
        if not isinstance(child, GraphBuilder):
            raise TypeError(f"child must be a GraphBuilder, not {type(child).__name__}")
        embed_graph(self, <GraphBuilder>child)

    @cython.critical_section
    def callback(self, fn, *, user_data=None) -> None:
        """Add a host node, which calls a function on the host (``cuGraphAddNode``). It must not call CUDA.

        Parameters
        ----------
        fn : callable
            A Python callable, called without arguments, or a C function that takes one pointer: one of ``ctypes``
            (``CFUNCTYPE(None, c_void_p)``), ``cffi`` or Numba. The graph keeps it alive. An exception goes to
            ``sys.unraisablehook``, with the names of the callable and the graph, and the stream continues.
        user_data : int | buffer, optional
            The argument of a C function: an address, or bytes. The graph copies the bytes and passes the address of its
            copy.

        Raises
        ------
        TypeError
            If ``fn`` is not callable, or is a C function with another signature.
        ValueError
            If ``user_data`` is given with a Python callable.
        RuntimeError
            If this builder is not capturing.
        """
        cdef StreamPin stream
        check_building(self)
        GraphBuilder_pin(self, &stream)
        if self._capture.recapture is not None:
            where = f"the graph {<uintptr_t>self._capture.recapture.c_graph:#x}"
            StreamCapture_call(self._capture, stream.handle(), HostValues_create(fn, user_data, where))
            return
        where = f"the graph {<uintptr_t>StreamCapture_graph(self._capture).c_graph:#x}"
        StreamCapture_add(self._capture, stream.handle(), HostValues_create(fn, user_data, where))

    @property
    @cython.critical_section
    def is_building(self) -> bool:
        """Whether the builder is capturing (``cuStreamIsCapturing``).

        Raises
        ------
        RuntimeError
            If the builder is closed, or an error has invalidated the capture.
        """
        cdef StreamPin stream
        GraphBuilder_pin(self, &stream)
        return is_running(self) and is_capturing(stream.handle())

    @property
    @cython.critical_section
    def is_join_required(self) -> bool:
        """Whether the builder is a fork, created by :meth:`split`, which must be joined."""
        return self._role == FORK

    @property
    @cython.critical_section
    def graph_definition(self) -> GraphDefinition:
        """A view of the captured graph, to read it and to add nodes.

        It stays valid after the builder is closed. The builder of a conditional body has it even before its capture.

        Raises
        ------
        RuntimeError
            If the capture has not begun, has not ended, or failed, or if the builder is a fork.
        """
        if self._role == BODY and self._capture is None:
            self._check_open()
            return GraphDefinition_wrap(self._tree, self._graph)
        return captured_graph(self)

    @property
    @cython.critical_section
    def stream(self) -> Stream:
        """The capturing :class:`~cuda.core.Stream`."""
        self._check_open()
        return self._stream

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` or :meth:`join` has closed this builder."""
        return not self._h_stream

    @cython.critical_section
    def _graph_source(self):
        # For Graph.update().
        self._check_open()
        if self._capture is None or self._capture.h_running or self._role == FORK:
            raise ValueError("source must have ended its capture; call end_building() first")
        check_ended(self)
        return self._capture.tree, self._capture.graph

    @cython.critical_section
    cdef Stream _stream_to_use(self):
        self._check_open()
        if self._role == FORK and not self._capture.h_running:
            raise RuntimeError("the capture that this GraphBuilder forked from has ended")
        return self._stream

    cdef intptr_t _address(self) noexcept:
        return address(self._h_stream)

    cdef object _identity(self):
        return id(self)

    cdef void _release(self) noexcept:
        # The capture of a fork belongs to the builder that it forked from.
        if self._capture is not None and self._role != FORK:
            StreamCapture_abandon(self._capture)
        self._capture = None
        self._outer = None
        self._stream = None
        self._tree = None
        self._graph = None
        self._h_stream.reset()

    cdef int _check_open(self) except -1:
        return 0 if self._h_stream else refuse_closed(self)


# Holds a reference to the stream of a builder for a call; RuntimeError if the builder is closed.
cdef inline int GraphBuilder_pin(GraphBuilder self, StreamPin* pin) except -1:
    return 0 if pin.hold(self._h_stream) else refuse_closed(self)


cdef dict MODES = {
    "global": cydriver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL,
    "thread_local": cydriver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    "relaxed": cydriver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED,
}


# A builder that captures on a stream; it keeps the stream alive after the caller closes its Stream.
cdef GraphBuilder GraphBuilder_create(Stream stream):
    cdef GraphBuilder self = GraphBuilder.__new__(GraphBuilder)
    cdef Stream own = Stream.__new__(Stream)
    cdef StreamPin pin
    Stream_pin(stream, &pin)
    own._h_stream.set(pin.handle())
    own._h_context.set(stream._h_context.copy())
    own._device_id = stream._device_id
    self._stream = own
    self._h_stream.set(pin.handle())
    self._role = PRIMARY
    return self


def _create_graph_builder(stream):
    """Create a builder (:meth:`Stream.create_graph_builder`)."""
    return GraphBuilder_create(<Stream?>stream)


# A builder that captures on a new stream of the same context.
cdef GraphBuilder GraphBuilder_beside(Stream stream):
    return GraphBuilder_create(new_stream(stream))


cdef inline bint is_running(GraphBuilder self):
    return self._capture is not None and <bint>self._capture.h_running


cdef int check_building(GraphBuilder self) except -1:
    self._check_open()
    if not is_running(self):
        raise RuntimeError("this GraphBuilder is not building; call begin_building() first")
    return 0


cdef int check_not_begun(GraphBuilder self) except -1:
    if self._capture is None:
        return 0
    if self._capture.h_running:
        raise RuntimeError("this GraphBuilder is already building")
    raise RuntimeError("this GraphBuilder has ended its capture and cannot begin another; create a new one")


# The tree of a definition, or of a builder that has ended its capture.
cdef GraphTree whole_graph(object graph):
    if not hasattr(type(graph), "_graph_source"):
        raise TypeError(f"graph must be a GraphDefinition or a GraphBuilder, not {type(graph).__name__}")
    tree, record = graph._graph_source()
    if record is not (<GraphTree?>tree).root:
        raise ValueError("graph must be a whole graph, not a child graph or a body of a conditional node")
    return <GraphTree>tree


# Raises for a recapture, which cannot add nodes to its graph.
cdef int check_adds_nodes(GraphBuilder self) except -1:
    if self._capture.recapture is not None:
        raise RuntimeError("a recapture cannot embed graphs or add conditional nodes; capture a new graph")
    return 0


cdef int check_ended(GraphBuilder self) except -1:
    self._check_open()
    if self._role == FORK:
        raise UnavailableError("this GraphBuilder is a fork; use the builder it forked from")
    if self._capture is None or self._capture.h_running:
        raise UnavailableError("this GraphBuilder has not ended its capture; call end_building() first")
    if self._capture.graph is None:
        raise UnavailableError("the capture of this GraphBuilder failed, so it has no graph")
    return 0


@cython.critical_section
cdef str state_of(GraphBuilder self):
    if not self._h_stream:
        return "closed"
    return "not begun" if self._capture is None else "building" if self._capture.h_running else "built"


cdef cydriver.CUstreamCaptureMode capture_mode(object mode) except *:
    if mode is not None and not isinstance(mode, str):
        raise TypeError(f"mode must be a str, not {type(mode).__name__}")
    if mode not in MODES:
        raise ValueError(f"mode must be 'global', 'thread_local' or 'relaxed', not {shown(mode)}")
    return <cydriver.CUstreamCaptureMode><int>MODES[mode]


@cython.critical_section
cdef GraphDefinition captured_graph(GraphBuilder self):
    check_ended(self)
    return GraphDefinition_wrap(self._capture.tree, self._capture.graph)


cdef int embed_graph(GraphBuilder self, GraphBuilder child) except -1:
    cdef StreamPin stream
    with cython.critical_section(self, child):
        GraphBuilder_pin(self, &stream)
        child._check_open()
        if not is_running(self):
            raise ValueError("this GraphBuilder is not building; call begin_building() first")
        check_adds_nodes(self)
        if child._capture is None or child._capture.h_running or child._capture.graph is None:
            raise ValueError("child must have ended its capture; call end_building() first")
        definition = GraphDefinition_wrap(child._capture.tree, child._capture.graph)
        StreamCapture_add(self._capture, stream.handle(), ChildValues_create(definition, None))
    return 0


cdef GraphBuilder fork(GraphBuilder self):
    cdef GraphBuilder result = GraphBuilder_create(fork_stream(self._capture, self._stream))
    result._role = FORK
    result._capture = self._capture
    return result


@cython.critical_section
cdef StreamCapture running_capture(GraphBuilder self):
    check_building(self)
    return self._capture


cdef int join_fork(GraphBuilder self, GraphBuilder fork) except -1:
    cdef StreamCapture capture = running_capture(fork)
    cdef Stream stream = self._stream_to_use()
    cdef Stream forked = fork._stream_to_use()
    stream.wait(forked)
    if forked in capture.forks:
        capture.forks.remove(forked)
    fork.close()
    return 0


cdef tuple add_bodies(
    GraphBuilder self, object condition, cydriver.CUgraphConditionalNodeType c_type, object count
):
    cdef StreamPin stream
    cdef list streams = []
    cdef NodeRecord node
    if not isinstance(condition, GraphCondition):
        raise TypeError(f"condition must be a GraphCondition, not {type(condition).__name__}")
    check_building(self)
    check_adds_nodes(self)
    GraphBuilder_pin(self, &stream)
    node = add_conditional(self._capture, self._stream, stream.handle(), condition, c_type, count, streams)
    return tuple([
        body_builder(self._capture, body, child) for body, child in zip(streams, node.children, strict=True)
    ])


cdef GraphBuilder body_builder(StreamCapture outer, Stream stream, GraphRecord graph):
    cdef GraphBuilder self = GraphBuilder_create(stream)
    self._role = BODY
    self._outer = outer
    self._tree = outer.tree
    self._graph = graph
    return self


slots.register("graph builder", _create_graph_builder)
