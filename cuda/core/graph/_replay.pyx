# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Replays of captured functions with new data."""

from __future__ import annotations

cimport cython
from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t, uintptr_t
from libc.string cimport memcmp, memcpy, memset
from libcpp.vector cimport vector

from cpython.exc cimport PyErr_CheckSignals
from cpython.float cimport PyFloat_AS_DOUBLE
from cpython.object cimport PyObject
from cpython.pythread cimport (
    NOWAIT_LOCK,
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_get_thread_ident,
    PyThread_release_lock,
)

from cuda.core._arrays._importers cimport import_known_with_interface
from cuda.core._arrays._views cimport FOR_COPY, ViewState, element_of, read_entries, shape_of, strides_of
from cuda.core._launch_config cimport LaunchConfig
from cuda.core._memory._buffer cimport Buffer, resource_of
from cuda.core._module cimport Kernel, ParamSlot, read_function_layout, read_kernel_layout
from cuda.core._native._cuda_core cimport KeptAllocation, KeptGraphExec, KeptStream
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport read_short_int
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN
from cuda.core.graph._executable cimport Graph_keep
from cuda.core.graph._graph_builder cimport GraphBuilder
from cuda.core.graph._state cimport GraphRecord, GraphRecord_node, GraphTree, NodeRecord, read_edges, read_nodes

import inspect
import struct
import sys

from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.validators import list_argument

__all__ = []


cdef enum:
    WORD = 8


cdef class NodeImage:
    cdef void set_word(self, size_t word, uint64_t value) noexcept:
        self.words[word] = value
        if self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL:
            memcpy(self.block.data() + self.offsets[word], &value, self.sizes[word])
        elif self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET:
            self.fill.dst = self.words[0]
            self.fill.value = <unsigned int>self.words[1]
        elif self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY:
            set_addresses(&self.copy, self.words[0], self.words[1])


cdef NodeChange change_of(NodeImage self) noexcept:
    cdef NodeChange change
    change.c_node = self.c_node
    change.c_type = self.c_type
    if self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL:
        change.params = &self.kernel
    elif self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET:
        change.params = &self.fill
    else:
        change.params = &self.copy
    return change


cdef cydriver.CUresult write_change(
    cydriver.CUgraphExec c_exec, const NodeChange& change, cydriver.CUcontext c_context
) noexcept nogil:
    if change.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL:
        return cydriver.cuGraphExecKernelNodeSetParams(
            c_exec, change.c_node, <const cydriver.CUDA_KERNEL_NODE_PARAMS*>change.params
        )
    if change.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET:
        return cydriver.cuGraphExecMemsetNodeSetParams(
            c_exec, change.c_node, <const cydriver.CUDA_MEMSET_NODE_PARAMS*>change.params, c_context
        )
    return cydriver.cuGraphExecMemcpyNodeSetParams(
        c_exec, change.c_node, <const cydriver.CUDA_MEMCPY3D*>change.params, c_context
    )


cdef tuple read_images(GraphRecord graph):
    cdef vector[cydriver.CUgraphNode] c_nodes
    cdef vector[cydriver.CUgraphNode] c_from
    cdef vector[cydriver.CUgraphNode] c_to
    cdef NodeRecord record
    cdef NodeImage image
    cdef dict numbers = {}
    cdef dict layouts = {}
    cdef list images = []
    cdef size_t i
    read_nodes(graph, c_nodes)
    for i in range(c_nodes.size()):
        record = GraphRecord_node(graph, c_nodes[i])
        image = read_image(record, layouts)
        if image is None:
            return None
        numbers[<uintptr_t>c_nodes[i]] = i
        images.append(image)
    read_edges(graph.c_graph, c_from, c_to)
    edges = frozenset([
        (numbers[<uintptr_t>c_from[i]], numbers[<uintptr_t>c_to[i]]) for i in range(c_from.size())
    ])
    return images, edges


cdef NodeImage read_image(NodeRecord record, dict layouts):
    cdef NodeImage self = NodeImage.__new__(NodeImage)
    self.c_node = record.c_node
    self.c_type = record.c_type
    if self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_EMPTY:
        self.rest = ()
    elif self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL:
        return read_kernel(self, layouts)
    elif self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET:
        read_fill(self)
    elif self.c_type == cydriver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMCPY:
        return read_copy(self)
    else:
        return None
    return self


cdef NodeImage read_kernel(NodeImage self, dict layouts):
    cdef vector[size_t] places
    cdef char* c_bytes
    cdef uint64_t word
    cdef size_t start
    cdef size_t size
    cdef size_t i
    cdef list rest = []
    memset(&self.kernel, 0, sizeof(self.kernel))
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphKernelNodeGetParams(self.c_node, &self.kernel), b"cuGraphKernelNodeGetParams")
    key = <uintptr_t>self.kernel.kern if self.kernel.kern != NULL else <uintptr_t>self.kernel.func
    layout = layouts.get(key)
    if layout is None:
        layout = layouts[key] = read_layout(self.kernel)
    if self.kernel.extra != NULL or (layout and self.kernel.kernelParams == NULL):
        return None
    for start, size in layout:
        self.block.resize(max(self.block.size(), start + size))
    for i, (start, size) in enumerate(layout):
        c_bytes = <char*>self.kernel.kernelParams[i]
        memcpy(self.block.data() + start, c_bytes, size)
        places.push_back(start)
        if size > WORD:
            rest.append(c_bytes[:size])
            continue
        word = 0
        memcpy(&word, c_bytes, size)
        self.words.push_back(word)
        self.sizes.push_back(size)
        self.offsets.push_back(start)
    for i in range(places.size()):
        self.cells.push_back(self.block.data() + places[i])
    self.kernel.kernelParams = self.cells.data()
    self.rest = (
        key, self.kernel.gridDimX, self.kernel.gridDimY, self.kernel.gridDimZ, self.kernel.blockDimX,
        self.kernel.blockDimY, self.kernel.blockDimZ, self.kernel.sharedMemBytes, <uintptr_t>self.kernel.ctx, *rest
    )
    return self


# The offset and the size of each kernel parameter.
cdef list read_layout(const cydriver.CUDA_KERNEL_NODE_PARAMS& params):
    cdef vector[ParamSlot] slots
    if params.kern != NULL:
        read_kernel_layout(params.kern, slots)
    else:
        read_function_layout(params.func, slots)
    return [(slot.offset, slot.size) for slot in slots]


cdef int read_fill(NodeImage self) except -1:
    memset(&self.fill, 0, sizeof(self.fill))
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphMemsetNodeGetParams(self.c_node, &self.fill), b"cuGraphMemsetNodeGetParams")
    add_word(self, self.fill.dst, WORD)
    add_word(self, self.fill.value, self.fill.elementSize)
    self.rest = (self.fill.pitch, self.fill.elementSize, self.fill.width, self.fill.height)
    return 0


cdef NodeImage read_copy(NodeImage self):
    memset(&self.copy, 0, sizeof(self.copy))
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphMemcpyNodeGetParams(self.c_node, &self.copy), b"cuGraphMemcpyNodeGetParams")
    if (
        self.copy.srcMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_ARRAY
        or self.copy.dstMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_ARRAY
    ):
        return None
    is_host = self.copy.srcMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
    add_word(self, <uint64_t><uintptr_t>self.copy.srcHost if is_host else self.copy.srcDevice, WORD)
    is_host = self.copy.dstMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_HOST
    add_word(self, <uint64_t><uintptr_t>self.copy.dstHost if is_host else self.copy.dstDevice, WORD)
    self.rest = (
        self.copy.srcMemoryType, self.copy.srcXInBytes, self.copy.srcY, self.copy.srcZ, self.copy.srcLOD,
        self.copy.srcPitch, self.copy.srcHeight, self.copy.dstMemoryType, self.copy.dstXInBytes, self.copy.dstY,
        self.copy.dstZ, self.copy.dstLOD, self.copy.dstPitch, self.copy.dstHeight, self.copy.WidthInBytes,
        self.copy.Height, self.copy.Depth,
    )
    return self


cdef void set_addresses(cydriver.CUDA_MEMCPY3D* copy, uint64_t source, uint64_t target) noexcept:
    if copy.srcMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_HOST:
        copy.srcHost = <void*><uintptr_t>source
    else:
        copy.srcDevice = source
    if copy.dstMemoryType == cydriver.CUmemorytype.CU_MEMORYTYPE_HOST:
        copy.dstHost = <void*><uintptr_t>target
    else:
        copy.dstDevice = target


cdef void add_word(NodeImage self, uint64_t word, size_t size) noexcept:
    self.words.push_back(word)
    self.sizes.push_back(size)


# The sizes of floats in bytes.
cdef tuple _FLOAT_SIZES = (2, 4, 8)
# Larger ints may be addresses, which the function may pass on with an offset.
cdef uint64_t MIN_ADDRESS = <uint64_t>1 << 32
# Libraries may choose another kernel for addresses with another alignment, so patches keep it, up to this many bytes.
cdef uint64_t ALIGNMENT = 256


cdef class CapturedWork:
    pass


cdef CapturedWork CapturedWork_create(GraphTree tree, object kernels, list data):
    cdef CapturedWork self = CapturedWork.__new__(CapturedWork)
    self.tree = tree
    self.kernels = kernels
    self.data = data
    self.words.resize(len(data))
    write_words(data, self.words.data())
    return self


cdef int CapturedWork_read(CapturedWork self) except -1:
    found = read_images(self.tree.root)
    self.images, self.edges = (None, None) if found is None else found
    return 0


cdef int CapturedWork_update(CapturedWork self, CapturedWork other) except -1:
    cdef NodeImage image
    cdef NodeImage original
    # Nodes are matched by the order of their creation.
    if self.images is None or other.images is None or self.edges != other.edges:
        self.images = None
    else:
        for image, original in zip(other.images, self.images, strict=True):
            image.c_node = original.c_node
        self.images = other.images
    self.data = other.data
    self.words = other.words
    self.kernels = other.kernels
    return 0


cdef class ReplayPlan:
    cdef int learn(self, CapturedWork work) except -1:
        cdef dict found
        if self.is_invalid:
            return 0
        if work.images is None:
            self.is_invalid = True
            return 0
        if self.images is None:
            self.images, self.edges, self.data = copies_of(work.images), work.edges, work.data
            return index_places(self)
        changed = [i for i in range(len(self.data)) if self.data[i] != work.data[i]]
        if not all([self._is_distinct(i, work.data[i]) for i in changed]):
            return 0
        if not is_same(self, work):
            self.is_invalid = True
            return 0
        found = find_places(self, work, changed)
        if found is not None and not self.is_invalid:
            self.places.update(found)
            self.known.update(changed)
            index_places(self)
        return 0

    cdef bint patch(self, CapturedWork work, const DataWord* words) except -1:
        cdef size_t argument
        cdef size_t index = 0
        cdef uint64_t word
        cdef const Place* place
        if self.is_invalid or work.images is None or self.is_known.size() < work.words.size():
            return False
        work.new_words.clear()
        for argument in range(work.words.size()):
            if is_equal(&words[argument], &work.words[argument]):
                continue
            if not self.is_known[argument] or not has_same_alignment(self, argument, words[argument].bits):
                return False
            for index in range(self.by_argument[argument].size()):
                place = &self.by_argument[argument][index]
                if not fit_word(&words[argument], place.size, place.offset, &word):
                    return False
                work.new_words.push_back(word)
        work.changes.clear()
        work.patch_count += 1
        index = 0
        for argument in range(work.words.size()):
            if is_equal(&words[argument], &work.words[argument]):
                continue
            index = set_places(self, work, argument, index)
            work.words[argument] = words[argument]
        return True

    def _is_distinct(self, Py_ssize_t argument, value):
        # Two floats that are equal after rounding to a smaller type would hide the places of the argument.
        if isinstance(value, bytes):
            words = [(word_of(value, size, 0), word_of(self.data[argument], size, 0)) for size in _FLOAT_SIZES]
            return all([new is None or new != old for new, old in words])
        return not self.is_address[argument] or has_same_alignment(self, argument, <uint64_t>value)


cdef inline bint is_equal(const DataWord* one, const DataWord* other) noexcept:
    return one.bits == other.bits and one.type == other.type


cdef inline bint has_same_alignment(ReplayPlan self, size_t argument, uint64_t bits) noexcept:
    return not self.is_address[argument] or (bits ^ self.base[argument]) % ALIGNMENT == 0


# Sets the words of an argument in the images of nodes, from work.new_words[index]; returns the index after them.
cdef size_t set_places(ReplayPlan self, CapturedWork work, size_t argument, size_t index) except? 0:
    cdef NodeImage image
    cdef const Place* place
    cdef size_t i
    for i in range(self.by_argument[argument].size()):
        place = &self.by_argument[argument][i]
        image = <NodeImage>work.images[place.node]
        image.set_word(place.word, work.new_words[index])
        index += 1
        if image.last_patch != work.patch_count:
            image.last_patch = work.patch_count
            work.changes.push_back(change_of(image))
    return index


cdef ReplayPlan ReplayPlan_create(list kinds):
    cdef ReplayPlan self = ReplayPlan.__new__(ReplayPlan)
    cdef bint is_address
    self.kinds = kinds
    self.known = set()
    self.places = {}
    for kind in kinds:
        is_address = isinstance(kind, tuple) and kind[1] is ADDRESS
        self.is_address.push_back(is_address)
    return self


# Rebuilds the vectors that patch() reads from the places that are known.
cdef int index_places(ReplayPlan self) except -1:
    cdef vector[DataWord] words
    cdef NodeImage image
    cdef Place place
    cdef size_t argument
    cdef bint is_known
    words.resize(len(self.data))
    write_words(self.data, words.data())
    self.base.clear()
    self.is_known.clear()
    self.by_argument.clear()
    self.by_argument.resize(words.size())
    for argument in range(words.size()):
        self.base.push_back(words[argument].bits)
        is_known = argument in self.known
        self.is_known.push_back(is_known)
    for (node, word), (argument, offset) in self.places.items():
        image = self.images[node]
        place.node, place.word, place.offset, place.size = node, word, offset, image.sizes[word]
        self.by_argument[argument].push_back(place)
    return 0


# The bits of a value plus an offset, as a word of `size` bytes; None if it does not fit.
cdef object word_of(object value, size_t size, int64_t offset):
    cdef DataWord data
    cdef uint64_t word
    write_words([value], &data)
    return word if fit_word(&data, size, offset, &word) else None


cdef bint fit_word(const DataWord* data, size_t size, int64_t offset, uint64_t* word) except -1:
    cdef int64_t value = <int64_t>data.bits
    cdef uint64_t limit
    if data.type == DOUBLE:
        return fit_float(data.bits, size, word)
    if size == 8 and (offset == 0 or (data.type == SIGNED and value >= 0)):
        word[0] = data.bits + <uint64_t>offset
        return True
    if data.type != SIGNED or size == 8 or offset != 0:
        return False
    limit = <uint64_t>1 << 8 * size
    if value >= <int64_t>limit or value < -<int64_t>(limit // 2):
        return False
    word[0] = data.bits & (limit - 1)
    return True


# Converts the bits of a double to a float of `size` bytes; false if it does not fit.
cdef bint fit_float(uint64_t bits, size_t size, uint64_t* word) except -1:
    cdef double value
    cdef float narrow
    cdef uint32_t narrow_bits
    memcpy(&value, &bits, 8)
    if size == 8:
        word[0] = bits
    elif size == 4:
        narrow = <float>value
        if isfinite(value) and not isfinite(narrow):
            return False
        memcpy(&narrow_bits, &narrow, 4)
        word[0] = narrow_bits
    elif size == 2:
        try:
            word[0] = int.from_bytes(struct.pack("<e", value), "little")
        except OverflowError:
            return False
    else:
        return False
    return True


cdef list copies_of(list images):
    cdef NodeImage image
    cdef NodeImage copy
    cdef list result = []
    for image in images:
        copy = NodeImage.__new__(NodeImage)
        copy.rest, copy.c_type = image.rest, image.c_type
        copy.words, copy.sizes = image.words, image.sizes
        result.append(copy)
    return result


cdef bint is_same(ReplayPlan self, CapturedWork work) except -1:
    cdef NodeImage one
    cdef NodeImage other
    if len(self.images) != len(work.images) or self.edges != work.edges:
        return False
    for one, other in zip(self.images, work.images, strict=True):
        if one.c_type != other.c_type or one.rest != other.rest or one.sizes != other.sizes:
            return False
    return True


# The places of the arguments that changed; None if a word fits two arguments. Invalidates the plan if it fits none.
cdef dict find_places(ReplayPlan self, CapturedWork work, list changed):
    cdef NodeImage one
    cdef NodeImage other
    cdef dict found = {}
    cdef size_t word
    for node, (one, other) in enumerate(zip(self.images, work.images, strict=True)):
        for word in range(one.words.size()):
            before = self.places.get((node, word))
            if one.words[word] == other.words[word]:
                if before is not None and before[0] in changed:
                    self.is_invalid = True
                continue
            origins = [
                (i, offset) for i in changed
                if (offset := offset_of(self, i, work.data[i], one.words[word], other.words[word], one.sizes[word]))
                is not None
            ]
            # Arguments that are equal to each other in both calls cannot be told apart until they differ.
            if len(origins) > 1:
                return None
            if not origins or (before is not None and before != origins[0]):
                self.is_invalid = True
                return None
            found[node, word] = origins[0]
    return found


# The offset of a word from an argument, 0 if it is the argument itself; None if it does not come from this argument.
cdef object offset_of(ReplayPlan self, size_t argument, object value, object before, object after, size_t size):
    old = self.data[argument]
    kind = self.kinds[argument]
    if word_of(old, size, 0) == before and word_of(value, size, 0) == after:
        return 0
    if isinstance(old, bytes) or size != 8:
        return None
    offset = before - old
    if after - value != offset:
        return None
    if self.is_address[argument]:
        return offset if 0 <= offset <= extent_of(kind) else None
    return offset if min(old, value, before, after) >= MIN_ADDRESS else None


cdef object extent_of(tuple kind):
    # A buffer has its size in the kind; an array has shape, strides and type.
    if isinstance(kind[2], int):
        return kind[2]
    _, _, shape, strides, typestr = kind
    size = int(typestr[2:])
    for index, length in enumerate(shape):
        if strides is None:
            size *= length
        else:
            size += abs(strides[index]) * max(length - 1, 0)
    return size


cdef frozenset _PLAIN = frozenset((type(None), bool, int, str, bytes))
cdef frozenset _COMPARED = frozenset((complex, dict, Kernel, LaunchConfig))
ADDRESS = "address"  # in the kind of a data argument: it is memory
_HALF = 1 << 63


class NotComparable(Exception):
    """Raised for an argument that cannot be compared by value with that of another call."""


def data_names(function, data) -> tuple[frozenset, frozenset]:
    """Return the positions and the names of the parameters in ``data``; position 0 is the one after the stream.

    Raises
    ------
    TypeError
        If ``data`` is neither a str nor an iterable of str.
    ValueError
        If the function does not have one of the parameters.
    """
    names = [data] if isinstance(data, str) else list_argument("data", data, "names of parameters")
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"data must be names of parameters, not {type(name).__name__}")
    if not names:
        return frozenset(), frozenset()
    parameters = list(inspect.signature(function).parameters.values())[1:]
    known = {parameter.name: index for index, parameter in enumerate(parameters)}
    for name in names:
        if name not in known or parameters[known[name]].kind in (
            inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
        ):
            raise ValueError(f"data must name parameters after the stream; the function has no parameter {name!r}")
    return frozenset(known[name] for name in names), frozenset(names)


cdef extern from "Python.h":
    PyTypeObject* Py_TYPE(PyObject*) noexcept nogil
    int PyObject_RichCompareBool(PyObject*, PyObject*, int) except -1
    Py_ssize_t Py_SIZE(PyObject*) noexcept nogil
    int Py_EQ


cdef class CallPattern:
    def __hash__(self):
        return self.hash

    def __eq__(self, other):
        cdef CallPattern pattern
        if self is other or type(other) is not CallPattern:
            return self is other
        pattern = other
        return self.hash == pattern.hash and self.context == pattern.context and self.shape == pattern.shape

    cdef bint is_fast(self) noexcept:
        return len(self.kinds) <= MAX_WORDS

    cdef bint match(
        self, uintptr_t context, PyObject* const* arguments, Py_ssize_t count, PyObject* names, DataWord* words
    ) except -1:
        cdef Py_ssize_t index
        cdef size_t place = 0
        if context != self.context or count != self.count:
            return False
        if names == NULL:
            if len(self.names):
                return False
        elif <PyObject*>self.names != names and not PyObject_RichCompareBool(<PyObject*>self.names, names, Py_EQ):
            return False
        for index in range(count + len(self.names)):
            if not match_one(self, arguments[index], &place, &words):
                return False
        return True


# Compares one argument and its items; advances `place` and `words` past them.
cdef bint match_one(CallPattern self, PyObject* argument, size_t* place, DataWord** words) except -1:
    cdef const Expected* expected = &self.expected[place[0]]
    cdef int64_t number
    cdef double real
    place[0] += 1
    if expected.comparison == IDENTICAL:
        return argument == expected.thing
    if expected.comparison == EQUAL_VALUE or expected.comparison == DATA_VALUE:
        return match_value(expected, argument, words)
    if Py_TYPE(argument) != expected.cls:
        return False
    if expected.comparison == DATA_MEMORY or expected.comparison == EQUAL_MEMORY:
        return match_memory(expected, argument, words)
    if expected.comparison == DATA_INT:
        if read_short_int(argument, &number):
            words[0][0].bits = <uint64_t>number
            words[0][0].type = SIGNED
            words[0] += 1
            return True
        return match_value(expected, argument, words)
    if expected.comparison == EQUAL_INT:
        return read_short_int(argument, &number) and <uint64_t>number == expected.bits
    if expected.comparison == DATA_FLOAT or expected.comparison == EQUAL_FLOAT:
        real = PyFloat_AS_DOUBLE(<object>argument)
        if expected.comparison == EQUAL_FLOAT:
            return memcmp(&real, &expected.bits, 8) == 0
        memcpy(&words[0][0].bits, &real, 8)
        words[0][0].type = DOUBLE
        words[0] += 1
        return True
    if expected.comparison == EQUAL_TEXT:
        return argument == expected.thing or PyObject_RichCompareBool(argument, expected.thing, Py_EQ) != 0
    if expected.comparison == EQUAL_CONFIG:
        return is_config(<LaunchConfig>argument, self.configs.data() + expected.bits)
    return match_items(self, expected.size, argument, place, words)


cdef bint match_memory(const Expected* expected, PyObject* argument, DataWord** words) except -1:
    cdef KeptAllocation memory
    if (
        not memory.hold((<Buffer>argument)._h_allocation)
        or memory.value().size != expected.size
        or (<Buffer>argument)._is_readonly != expected.is_readonly
        or type_of_resource(<Buffer>argument) != expected.resource
    ):
        return False
    if expected.comparison == EQUAL_MEMORY:
        return memory.value().pointer == expected.bits
    words[0][0].bits = memory.value().pointer
    words[0][0].type = SIGNED
    words[0] += 1
    return True


cdef inline PyTypeObject* type_of_resource(Buffer buffer) noexcept:
    with cython.critical_section(buffer):
        return Py_TYPE(<PyObject*>buffer._memory_resource)


# The slow path of a comparison, with calls into Python.
cdef bint match_value(const Expected* expected, PyObject* argument, DataWord** words) except -1:
    try:
        if expected.comparison == EQUAL_VALUE:
            return value_of(<object>argument) == <object>expected.thing
        kind, value = data_of(<object>argument)
    except NotComparable:
        return False
    if value is None or kind != <object>expected.thing:
        return False
    write_word(value, words[0])
    words[0] += 1
    return True


cdef bint match_items(
    CallPattern self, size_t size, PyObject* argument, size_t* place, DataWord** words
) except -1:
    cdef bint is_list = isinstance(<object>argument, list)
    cdef size_t index
    # Comparing an item may run code that shortens the list.
    for index in range(size):
        if <size_t>Py_SIZE(argument) != size:
            return False
        item = (<list>argument)[index] if is_list else (<tuple>argument)[index]
        if not match_one(self, <PyObject*>item, place, words):
            return False
    return <size_t>Py_SIZE(argument) == size


# ---------------------------------------------------------------------------------------------
# Describing a call

cdef CallPattern CallPattern_create(
    uintptr_t context, tuple args, dict kwargs, DataChoice choice, frozenset positions, frozenset names, list data
):
    cdef CallPattern self = CallPattern.__new__(CallPattern)
    cdef Py_ssize_t index
    cdef list shape = []
    self.context = context
    self.kinds = []
    self.kept = []
    self.count = len(args)
    self.names = tuple(kwargs)
    for index in range(len(args)):
        shape.append(describe(self, args[index], choice == NAMED and index in positions, choice == MEMORY, data, 0))
    for name, argument in kwargs.items():
        shape.append(name)
        shape.append(describe(self, argument, choice == NAMED and name in names, choice == MEMORY, data, 0))
    self.shape = tuple(shape)
    self.hash = hash(self.shape)
    return self


# A hashable description of an argument: its value, or for a data argument its kind.
cdef object describe(CallPattern self, object argument, bint is_data, bint is_memory_data, list data, int depth):
    cdef Expected expected
    cdef double real
    cdef int64_t number
    cls = type(argument)
    clear(&expected, cls)
    if isinstance(argument, Buffer):
        return describe_memory(self, &expected, argument, is_data or is_memory_data, data)
    if cls is tuple or cls is list:
        if depth > MAX_DEPTH:
            raise NotComparable
        expected.comparison, expected.size = ITEMS, len(argument)
        self.expected.push_back(expected)
        return cls, tuple([describe(self, item, is_data, is_memory_data, data, depth + 1) for item in argument])
    if is_data and cls is int or cls is float:
        expected.comparison = DATA_FLOAT if cls is float else DATA_INT
        if is_data:
            expected.thing = <PyObject*>cls
            return add_data(self, &expected, cls, struct.pack("<d", argument) if cls is float else argument, data)
        real = argument
        expected.comparison = EQUAL_FLOAT
        memcpy(&expected.bits, &real, 8)
        self.expected.push_back(expected)
        return value_of(argument)
    if cls is int and read_short_int(<PyObject*>argument, &number):
        expected.comparison, expected.bits = EQUAL_INT, <uint64_t>number
    elif cls is Kernel:
        expected.comparison, expected.thing = IDENTICAL, <PyObject*>argument
    elif cls is LaunchConfig:
        expected.comparison, expected.bits = EQUAL_CONFIG, self.configs.size()
        self.configs.resize(self.configs.size() + CONFIG_NUMBERS)
        read_config(argument, self.configs.data() + expected.bits)
    elif cls in _PLAIN and cls is not int:
        expected.comparison = EQUAL_TEXT if cls is str or cls is bytes else IDENTICAL
        keep(self, &expected, argument)
    elif cls is not int and cls not in _COMPARED and (is_data or not is_numpy_scalar(argument)):
        kind, value = data_of(argument)
        if value is not None and (is_data or (is_memory_data and kind[1] is ADDRESS)):
            expected.comparison = DATA_VALUE
            keep(self, &expected, kind)
            return add_data(self, &expected, kind, value, data)
        return describe_value(self, &expected, argument)
    else:
        return describe_value(self, &expected, argument)
    self.expected.push_back(expected)
    return value_of(argument)


cdef object describe_value(CallPattern self, Expected* expected, object argument):
    value = value_of(argument)
    expected.comparison = EQUAL_VALUE
    keep(self, expected, value)
    self.expected.push_back(expected[0])
    return value


cdef object describe_memory(CallPattern self, Expected* expected, Buffer buffer, bint is_data, list data):
    cdef KeptAllocation memory
    if not memory.hold(buffer._h_allocation):
        raise NotComparable
    resource = type(resource_of(buffer))
    expected.size = memory.value().size
    expected.is_readonly = buffer._is_readonly
    expected.resource = <PyTypeObject*>resource
    self.kept.append(resource)
    kind = type(buffer), ADDRESS, memory.value().size, resource, bool(buffer._is_readonly)
    if is_data:
        expected.comparison = DATA_MEMORY
        return add_data(self, expected, kind, memory.value().pointer, data)
    expected.comparison, expected.bits = EQUAL_MEMORY, memory.value().pointer
    self.expected.push_back(expected[0])
    return kind, memory.value().pointer


cdef object add_data(CallPattern self, const Expected* expected, object kind, object value, list data):
    if not isinstance(value, bytes) and not -_HALF <= value < 2 * _HALF:
        raise NotComparable
    self.expected.push_back(expected[0])
    self.kinds.append(kind)
    data.append(value)
    return kind


cdef int keep(CallPattern self, Expected* expected, object thing) except -1:
    self.kept.append(thing)
    expected.thing = <PyObject*>thing
    return 0


cdef int clear(Expected* expected, cls) except -1:
    expected.comparison = IDENTICAL
    expected.cls = <PyTypeObject*>cls
    expected.thing = NULL
    expected.bits = expected.size = 0
    expected.resource = NULL
    expected.is_readonly = False
    return 0


cdef int write_words(list data, DataWord* words) except -1:
    cdef Py_ssize_t index
    for index in range(len(data)):
        write_word(data[index], &words[index])
    return 0


cdef int write_word(object value, DataWord* word) except -1:
    cdef double real
    if isinstance(value, bytes):
        real = struct.unpack("<d", value)[0]
        memcpy(&word.bits, &real, 8)
        word.type = DOUBLE
    elif value < _HALF:
        word.bits = <uint64_t><int64_t>value
        word.type = SIGNED
    else:
        word.bits = <uint64_t>value
        word.type = UNSIGNED
    return 0


# ---------------------------------------------------------------------------------------------
# Values of arguments

cdef enum:
    # Deeper nested arguments are not compared by value. A list may also contain itself.
    MAX_DEPTH = 32
    CONFIG_NUMBERS = 12


cdef int read_config(LaunchConfig config, uint32_t* numbers) except -1:
    cdef int index
    for index in range(3):
        numbers[index] = config._grid[index]
        numbers[3 + index] = config._cluster[index]
    numbers[6], numbers[7], numbers[8] = config._native.blockDimX, config._native.blockDimY, config._native.blockDimZ
    numbers[9], numbers[10] = config._native.sharedMemBytes, config._is_cooperative
    numbers[11] = config._is_serialization_programmatic
    return 0


cdef bint is_config(LaunchConfig config, const uint32_t* numbers) except -1:
    cdef uint32_t[CONFIG_NUMBERS] own
    read_config(config, own)
    return memcmp(own, numbers, sizeof(own)) == 0


# The kind and the value of a data argument that is not a Buffer, a short int or a float; None as the value if its type
# cannot be data.
cdef tuple data_of(object argument):
    if type(argument) is int:
        if not -_HALF <= argument < 2 * _HALF:
            raise NotComparable
        return int, argument
    if is_numpy_scalar(argument):
        value = value_of_array(argument)
        if argument.dtype.kind in "iu":
            return value[:2], int(argument)
        if argument.dtype.kind == "f" and argument.dtype.itemsize <= 8:
            return value[:2], struct.pack("<d", argument)
        return value, None
    cls, address, *rest = value_of_array(argument)
    if type(address) is not int or not 0 <= address < _HALF:
        raise NotComparable
    return (cls, ADDRESS, *rest), address


# A hashable value of an argument: arguments of equal values lead to the same captured work.
cdef object value_of(object argument, int depth=0):
    cdef KeptAllocation memory
    cls = type(argument)
    if isinstance(argument, Buffer):
        if not memory.hold((<Buffer>argument)._h_allocation):
            raise NotComparable
        return cls, memory.value().pointer, memory.value().size
    if cls in _PLAIN:
        return cls, argument
    if cls is tuple or cls is list or cls is dict:
        if depth > MAX_DEPTH:
            raise NotComparable
        if cls is dict:
            items = [(value_of(name, depth), value_of(item, depth + 1)) for name, item in argument.items()]
        else:
            items = [value_of(item, depth + 1) for item in argument]
        return cls, tuple(items)
    if cls is float:
        return cls, struct.pack("<d", argument)  # bytes, because 0.0 == -0.0 and nan != nan
    if cls is complex:
        return cls, struct.pack("<dd", argument.real, argument.imag)
    if cls is Kernel:
        return cls, id(argument)  # the executable keeps it
    if cls is LaunchConfig:
        return cls, repr(argument)
    return value_of_array(argument)


cdef bint is_numpy_scalar(object argument) except -1:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(argument, numpy.generic)


cdef tuple value_of_array(object argument):
    if is_numpy_scalar(argument):
        return type(argument), str(argument.dtype), argument.tobytes()
    try:
        interface = argument.__cuda_array_interface__
        if interface.get("version") == 2:
            return value_of_known_array(argument)  # a tensor of PyTorch
        shape, typestr, address, _ = read_entries(interface, "__cuda_array_interface__")
        place = type(argument), address, shape, interface.get("strides"), typestr
        hash(place)
        return place
    except Exception:  # a property of a foreign class may raise anything
        raise NotComparable from None


cdef tuple value_of_known_array(object argument):
    cdef ViewState state = ViewState.__new__(ViewState)
    if not import_known_with_interface(state, argument, -1, FOR_COPY) or not state._is_device_accessible:
        raise NotComparable
    return type(argument), state._ptr, shape_of(state), strides_of(state), element_of(state)


cdef extern from "Python.h":
    # The second argument is a timeout in microseconds, the third whether a signal interrupts the wait.
    int PyThread_acquire_lock_timed(PyThread_type_lock, long long, int) nogil

# The number of patterns that are remembered, to recognize calls that come back.
cdef Py_ssize_t MAX_FAMILIES = 256

cdef enum:
    # A set-associative cache of the data of earlier calls; each set replaces its oldest entry.
    SETS = 64
    WAYS = 8
    SIGNAL_CHECK_INTERVAL = 100_000  # microseconds


# Calls of one pattern, which differ in data only.
@cython.final
cdef class CallFamily:
    cdef:
        CallPattern pattern
        ReplayPlan plan                 # None without data
        uint64_t[SETS * WAYS] past      # hashes of the data of earlier calls
        uint8_t[SETS] next_way

    cdef bint has_seen(self, const DataWord* words) noexcept:
        cdef uint64_t mark = hash_of(words, len(self.pattern.kinds))
        cdef const uint64_t* row = &self.past[mark % SETS * WAYS]
        cdef int way
        for way in range(WAYS):
            if row[way] == mark:
                return True
        return False

    cdef int remember(self, const DataWord* words) except -1:
        cdef uint64_t mark
        if self.has_seen(words):
            return 0
        mark = hash_of(words, len(self.pattern.kinds))
        self.past[mark % SETS * WAYS + self.next_way[mark % SETS]] = mark
        self.next_way[mark % SETS] = (self.next_way[mark % SETS] + 1) % WAYS
        return 0


@cython.final
cdef class Replays:
    def __cinit__(self):
        self.lock = PyThread_allocate_lock()
        if self.lock == NULL:
            raise MemoryError()

    def __dealloc__(self):
        if self.lock != NULL:
            PyThread_free_lock(self.lock)

    cdef bint launch(
        self, uintptr_t context, PyObject* const* arguments, Py_ssize_t count, PyObject* names, const KeptStream& stream
    ) except -1:
        cdef DataWord[MAX_WORDS] words
        cdef CallFamily family
        cdef tuple candidates
        with cython.critical_section(self):
            candidates = self.candidates
        for family in candidates:
            if family.pattern.match(context, arguments, count, names, words):
                acquire(self)
                try:
                    return launch_known(self, family, words, stream)
                finally:
                    release(self)
        return False

    cdef bint launch_described(self, CallPattern pattern, list data, const KeptStream& stream) except -1:
        cdef vector[DataWord] words
        words.resize(len(data))
        write_words(data, words.data())
        acquire(self)
        try:
            family = self.families.get(pattern)
            return family is not None and launch_known(self, family, words.data(), stream)
        finally:
            release(self)

    cdef CallPattern describe(self, uintptr_t context, tuple args, dict kwargs, list data):
        try:
            return CallPattern_create(context, args, kwargs, self.choice, self.positions, self.data_names, data)
        except NotComparable:
            return None

    cdef int launch_captured(
        self,
        uintptr_t context,
        CallPattern pattern,
        list data,
        tuple kernels,
        GraphBuilder builder,
        const KeptStream& stream,
    ) except -1:
        cdef CapturedWork captured = CapturedWork_create(builder._capture.tree, kernels, data)
        cdef CapturedWork work = None
        cdef CallFamily family = None
        acquire(self)
        try:
            if pattern is not None:
                family = family_of(self, pattern)
                learn(family, captured)
            # Data that comes back gets an executable of its own, instead of an update with each call.
            if family is None or not family.has_seen(captured.words.data()):
                work = update_existing(self, context, builder, captured)
            if work is None:
                work = captured
                work.graph = builder.complete(self.options)
                work.context = context
                self.works.insert(0, work)
                self.capture_count += 1
            else:
                self.update_count += 1
            work.family = family
            if family is not None:
                family.remember(work.words.data())
            # Evict the least recently used works. `_evicted` keeps them until the lock is released.
            _evicted = self.works[self.maxsize:]
            del self.works[self.maxsize:]
            set_candidates(self)
            launch_work(work, stream)
        finally:
            release(self)
        return 0

    cdef int clear(self) except -1:
        acquire(self)
        try:
            works, self.works = self.works, []
            families, self.families = self.families, {}
            set_candidates(self)
        finally:
            release(self)
        # Their executables are destroyed here, after the lock is released.
        del works, families
        return 0


cdef Replays Replays_create(
    DataChoice choice, frozenset positions, frozenset data_names, object options, Py_ssize_t maxsize
):
    cdef Replays self = Replays.__new__(Replays)
    self.choice = choice
    self.positions = positions
    self.data_names = data_names
    self.options = options
    self.maxsize = maxsize
    self.works = []
    self.candidates = ()
    self.families = {}
    return self


# ---------------------------------------------------------------------------------------------
# The lock. Acquiring it calls no Python code, and waiting for it checks for signals.

cdef int acquire(Replays self) except -1:
    cdef PyThread_type_lock lock = self.lock
    cdef int is_taken = PyThread_acquire_lock(lock, NOWAIT_LOCK)
    if not is_taken and self.owner == PyThread_get_thread_ident():
        raise RuntimeError("a captured function cannot be called during a call of itself, for example by a finalizer")
    while not is_taken:
        with nogil:
            is_taken = PyThread_acquire_lock_timed(lock, SIGNAL_CHECK_INTERVAL, 0)
        if not is_taken:
            PyErr_CheckSignals()
    self.owner = PyThread_get_thread_ident()
    return 0


cdef inline void release(Replays self) noexcept:
    self.owner = 0
    PyThread_release_lock(self.lock)


# ---------------------------------------------------------------------------------------------
# Called with the lock held.

cdef bint launch_known(Replays self, CallFamily family, const DataWord* words, const KeptStream& stream) except -1:
    cdef CapturedWork work
    cdef CapturedWork latest = None
    cdef Py_ssize_t index
    cdef size_t size = len(family.pattern.kinds) * sizeof(DataWord)
    for index in range(len(self.works)):
        work = <CapturedWork>self.works[index]
        if work.family is not family:
            continue
        if memcmp(work.words.data(), words, size) == 0:
            set_first(self, index, work)
            launch_work(work, stream)
            self.replay_count += 1
            return True
        if latest is None:
            latest = work
    # Data that comes back gets an executable of its own, up to `maxsize`.
    if latest is None or family.plan is None or (len(self.works) < self.maxsize and family.has_seen(words)):
        return False
    if not family.plan.patch(latest, words):
        return False
    if not launch_patched(latest, family, stream):
        self.works.remove(latest)
        set_candidates(self)
        return False
    family.remember(words)
    set_first(self, -1, latest)
    self.patch_count += 1
    return True


cdef int launch_work(CapturedWork work, const KeptStream& stream) except -1:
    cdef KeptGraphExec executable
    Graph_keep(work.graph, &executable)
    with nogil:
        HANDLE_RETURN(cydriver.cuGraphLaunch(executable.get(), stream.get()), b"cuGraphLaunch")
    return 0


# False if a node cannot be changed; then the executable must be dropped.
cdef bint launch_patched(CapturedWork work, CallFamily family, const KeptStream& stream) except -1:
    cdef KeptGraphExec executable
    cdef cydriver.CUcontext c_context = <cydriver.CUcontext>family.pattern.context
    cdef cydriver.CUresult err = cydriver.CUresult.CUDA_SUCCESS
    cdef bint is_changed = False
    cdef size_t index
    Graph_keep(work.graph, &executable)
    with nogil:
        for index in range(work.changes.size()):
            err = write_change(executable.get(), work.changes[index], c_context)
            if err != cydriver.CUresult.CUDA_SUCCESS:
                break
        else:
            is_changed = True
            HANDLE_RETURN(cydriver.cuGraphLaunch(executable.get(), stream.get()), b"cuGraphLaunch")
    if not is_changed:
        family.plan.is_invalid = True
    return is_changed


cdef int set_first(Replays self, Py_ssize_t index, CapturedWork work) except -1:
    if <CapturedWork>self.works[0] is not work:
        del self.works[self.works.index(work) if index < 0 else index]
        self.works.insert(0, work)
    return 0


cdef int set_candidates(Replays self) except -1:
    cdef CapturedWork work
    found = {id(work.family): work.family for work in self.works if work.family is not None}
    candidates = tuple([family for family in found.values() if (<CallFamily>family).pattern.is_fast()])
    with cython.critical_section(self):
        self.candidates = candidates
    return 0


cdef CallFamily family_of(Replays self, CallPattern pattern):
    cdef CallFamily family = self.families.get(pattern)
    if family is not None:
        return family
    family = CallFamily.__new__(CallFamily)
    family.pattern = pattern
    if pattern.kinds:
        family.plan = ReplayPlan_create(pattern.kinds)
    self.families[pattern] = family
    if len(self.families) > MAX_FAMILIES:
        del self.families[next(iter(self.families))]
    return family


cdef int learn(CallFamily family, CapturedWork captured) except -1:
    if family.plan is None or family.plan.is_invalid:
        return 0
    try:
        CapturedWork_read(captured)
    except CUDAError:  # the driver does not report the parameters of a node: capture with each call
        captured.images = None
    return family.plan.learn(captured)


cdef CapturedWork update_existing(Replays self, uintptr_t context, GraphBuilder builder, CapturedWork captured):
    cdef CapturedWork work
    for work in list(self.works):
        if work.context != context:
            continue
        try:
            work.graph.update(builder)
        except CUDAError:  # the topology differs; the executable is unchanged
            continue
        CapturedWork_update(work, captured)
        set_first(self, -1, work)
        return work
    return None


cdef uint64_t hash_of(const DataWord* words, Py_ssize_t count) noexcept:
    cdef uint64_t mark = 0x9e3779b97f4a7c15
    cdef Py_ssize_t index
    for index in range(count):
        mark = (mark ^ words[index].bits ^ words[index].type << 56) * <uint64_t>0xff51afd7ed558ccd
        mark ^= mark >> 32
    return mark | 1 << 63  # never 0, which is an empty entry of the cache
