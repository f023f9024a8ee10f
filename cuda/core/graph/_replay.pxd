# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Replays of captured functions with new data."""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t, uintptr_t
from libcpp.vector cimport vector

from cpython.object cimport PyObject, PyTypeObject
from cpython.pythread cimport PyThread_type_lock

from cuda.core._native._cuda_core cimport KeptStream
from cuda.core._utils cimport cydriver
from cuda.core.graph._executable cimport Graph
from cuda.core.graph._graph_builder cimport GraphBuilder
from cuda.core.graph._state cimport GraphRecord, GraphTree


# The recorded parameters of a kernel, memcpy or memset node: numbers of up to 8 bytes ("words") that may come from a
# data argument, and the rest.
cdef class NodeImage:
    cdef:
        cydriver.CUgraphNode c_node
        cydriver.CUgraphNodeType c_type
        tuple rest                          # the other parameters; equal if two nodes differ in words only
        vector[uint64_t] words              # little-endian, of `sizes` bytes
        vector[size_t] sizes
        cydriver.CUDA_KERNEL_NODE_PARAMS kernel
        cydriver.CUDA_MEMCPY3D copy
        cydriver.CUDA_MEMSET_NODE_PARAMS fill
        vector[char] block                  # the kernel arguments
        vector[void*] cells                 # their addresses, for kernelParams
        vector[size_t] offsets              # the offsets of the words in the block
        uint64_t last_patch                 # the number of the last patch that changed the image

    # Changes a word in the image; write_change() passes it on to an executable.
    cdef void set_word(self, size_t word, uint64_t value) noexcept


# The new parameters of a node of an executable.
cdef struct NodeChange:
    cydriver.CUgraphNode c_node
    cydriver.CUgraphNodeType c_type
    const void* params                      # points into a NodeImage

cdef NodeChange change_of(NodeImage self) noexcept

cdef cydriver.CUresult write_change(
    cydriver.CUgraphExec c_exec, const NodeChange& change, cydriver.CUcontext c_context
) noexcept nogil

# The images of all nodes, in the order of their creation, and the set of edges as pairs of indices. None if the graph
# has a node of another type.
cdef tuple read_images(GraphRecord graph)


# An executable of a captured function, and the current parameters of its nodes.
cdef class CapturedWork:
    cdef:
        Graph graph
        GraphTree tree          # the graph it was instantiated from, whose nodes identify those of the executable
        object kernels          # keeps kernels loaded for the launches
        list images             # of its nodes; None if they cannot be patched one by one
        object edges
        list data               # of the call that captured it
        vector[DataWord] words  # the data of the last call
        object family           # of that call; None if the call cannot be compared with others
        uintptr_t context
        vector[uint64_t] new_words  # scratch space of patch(): the new words of nodes
        vector[NodeChange] changes
        uint64_t patch_count


# A word of a node that holds a data argument, plus an offset.
cdef struct Place:
    size_t node
    size_t word
    size_t size
    int64_t offset


# The places of the data arguments of calls with one pattern, learned by comparing captures.
cdef class ReplayPlan:
    cdef:
        bint is_invalid         # captures differ in ways that the data arguments do not explain
        list kinds              # of the data arguments
        list images             # of the first capture, with which others are compared
        object edges
        list data               # of the first capture
        dict places             # (node, word) -> (argument, offset)
        set known               # the arguments whose places are known
        vector[vector[Place]] by_argument
        vector[char] is_known
        vector[char] is_address
        vector[uint64_t] base   # the data of the first capture as bits

    # Compares one more capture with the first one.
    cdef int learn(self, CapturedWork work) except -1

    # Sets the images of nodes to other data, and lists the changes in work.changes, which the caller must apply to the
    # executable. False, and nothing is changed, if the places of the data are not known.
    cdef bint patch(self, CapturedWork work, const DataWord* words) except -1


cdef CapturedWork CapturedWork_create(GraphTree tree, object kernels, list data)
# Reads the images of the nodes of its graph.
cdef int CapturedWork_read(CapturedWork self) except -1
# Takes over the parameters of `other` after cuGraphExecUpdate.
cdef int CapturedWork_update(CapturedWork self, CapturedWork other) except -1

cdef ReplayPlan ReplayPlan_create(list kinds)


# The value of a data argument, or of an item of one.
cdef enum WordType:
    SIGNED
    UNSIGNED        # an int from 2**63 on
    DOUBLE          # the bits of a double

cdef struct DataWord:
    uint64_t bits
    uint64_t type   # a WordType


cdef enum:
    MAX_WORDS = 48  # calls with more data arguments are not compared on the fast path


# How an argument is compared with that of an earlier call.
cdef enum Comparison:
    IDENTICAL       # the same object
    EQUAL_TEXT
    EQUAL_INT
    EQUAL_FLOAT
    EQUAL_CONFIG
    EQUAL_MEMORY
    EQUAL_VALUE     # the result of value_of()
    ITEMS           # a tuple or list of the same length; entries for its items follow
    DATA_INT
    DATA_FLOAT
    DATA_MEMORY
    DATA_VALUE      # the result of data_of()

cdef struct Expected:
    Comparison comparison
    PyTypeObject* cls
    PyObject* thing             # the expected object or value; the pattern keeps it, except kernels
    uint64_t bits
    size_t size                 # of memory in bytes, of a sequence in items
    PyTypeObject* resource      # the type of the memory resource
    bint is_readonly


# The pattern of a call. Calls of equal patterns capture the same work, except for the values of data arguments.
cdef class CallPattern:
    cdef:
        readonly uintptr_t context
        readonly tuple shape        # the values of other arguments, and the kinds of the data arguments
        readonly list kinds         # the kinds of the data arguments, such as type and size
        Py_hash_t hash
        Py_ssize_t count            # the number of positional arguments
        tuple names                 # the names of keyword arguments
        list kept                   # objects to which `expected` refers
        vector[Expected] expected
        vector[uint32_t] configs    # 12 numbers for each

    # Whether a call has this pattern; writes its data to `words`. Only for patterns with is_fast().
    cdef bint match(
        self, uintptr_t context, PyObject* const* arguments, Py_ssize_t count, PyObject* names, DataWord* words
    ) except -1
    cdef bint is_fast(self) noexcept


# Which arguments are data.
cdef enum DataChoice:
    NAMED           # the parameters that the program names
    MEMORY          # all buffers and device arrays


# Describes a call, and appends its data to `data`: addresses and ints as ints, floats as bytes. Raises NotComparable if
# an argument has a type that cannot be compared by value.
cdef CallPattern CallPattern_create(
    uintptr_t context, tuple args, dict kwargs, DataChoice choice, frozenset positions, frozenset names, list data
)

cdef int write_words(list data, DataWord* words) except -1


# The executables of one captured function.
cdef class Replays:
    cdef:
        DataChoice choice
        frozenset positions         # of the data arguments
        frozenset data_names
        object options
        Py_ssize_t maxsize
        PyThread_type_lock lock
        long owner                  # the thread that holds the lock
        list works                  # CapturedWork, the most recently used first
        tuple candidates            # the CallFamily of each work, with which calls are compared
        dict families               # CallPattern -> CallFamily, oldest first
        uint64_t capture_count
        uint64_t update_count
        uint64_t replay_count
        uint64_t patch_count

    # Launches an executable for a call, unchanged or patched with other data; false if the call has to be captured.
    cdef bint launch(
        self, uintptr_t context, PyObject* const* arguments, Py_ssize_t count, PyObject* names, const KeptStream& stream
    ) except -1

    # The same for a call whose pattern is known.
    cdef bint launch_described(self, CallPattern pattern, list data, const KeptStream& stream) except -1

    # The pattern of a call and its data; None if it cannot be compared with others.
    cdef CallPattern describe(self, uintptr_t context, tuple args, dict kwargs, list data)

    # Launches work that was just captured: updates an existing executable if possible, else instantiates one.
    cdef int launch_captured(
        self,
        uintptr_t context,
        CallPattern pattern,
        list data,
        tuple kernels,
        GraphBuilder builder,
        const KeptStream& stream,
    ) except -1

    cdef int clear(self) except -1


cdef Replays Replays_create(
    DataChoice choice, frozenset positions, frozenset data_names, object options, Py_ssize_t maxsize
)
