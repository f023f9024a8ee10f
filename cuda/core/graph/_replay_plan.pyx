# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Where data arguments of a captured function go: to which words of which nodes.

Two captures of calls that differ in data arguments only are compared, word by word. A word that differs must be the
argument, or an address in the memory of one, in both captures, and of one argument only; then it is that argument's
place. All else must be equal. What fits no argument ends the plan, and the function is captured each time, as it is
while an argument has not been seen to change.
"""

from __future__ import annotations

from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libcpp.vector cimport vector

from cpython.long cimport PyLong_AsLongLongAndOverflow
from cuda.core._utils cimport cydriver

from cuda.core._handles._handles cimport KeptGraphExec
from cuda.core.graph._executable cimport Graph_keep
from cuda.core.graph._graph_state cimport GraphTree
from cuda.core.graph._node_images cimport NodeImage, read_images

import struct

from cuda.core.graph._data_arguments import ADDRESS

__all__ = []

_LIMITS = {size: 1 << 8 * size for size in range(1, 9)}
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
# Ints from here on may be addresses, which are handed on with an offset, too.
cdef uint64_t LEAST_ADDRESS = <uint64_t>1 << 32
# Addresses that are less alike may be treated in another way by the library itself.
cdef uint64_t ALIGNMENT = 256


cdef class CapturedWork:
    pass


cdef CapturedWork CapturedWork_create(GraphTree tree, object kernels, tuple data):
    cdef CapturedWork self = CapturedWork.__new__(CapturedWork)
    self.tree = tree
    self.kernels = kernels
    self.data = data
    return self


cdef int CapturedWork_read(CapturedWork self) except -1:
    found = read_images(self.tree.root)
    self.images, self.edges = (None, None) if found is None else found
    return 0


cdef int CapturedWork_update(CapturedWork self, CapturedWork other) except -1:
    cdef NodeImage image
    cdef NodeImage original
    # Nodes are paired by the order in which they were made.
    if self.images is None or other.images is None or self.edges != other.edges:
        self.images = None
    else:
        for image, original in zip(other.images, self.images, strict=True):
            image.c_node = original.c_node
        self.images = other.images
    self.data = other.data
    self.kernels = other.kernels
    self.plan = other.plan
    return 0


cdef class ReplayPlan:
    cdef int learn(self, CapturedWork work) except -1:
        cdef dict found
        if self.is_dead:
            return 0
        if work.images is None:
            self.is_dead = True
            return 0
        if self.images is None:
            self.images, self.edges, self.data = copies_of(work.images), work.edges, work.data
            return 0
        changed = [i for i in range(len(self.data)) if self.data[i] != work.data[i]]
        if not all([self._is_distinct(i, work.data[i]) for i in changed]):
            return 0
        if not is_same(self, work):
            self.is_dead = True
            return 0
        found = find_places(self, work, changed)
        if found is not None and not self.is_dead:
            self.places.update(found)
            self.known.update(changed)
            sort_places(self)
        return 0

    cdef bint patch(self, CapturedWork work, tuple data, uintptr_t context) except -1:
        cdef KeptGraphExec executable
        cdef vector[uint64_t] words
        cdef NodeImage image
        cdef Place place
        cdef Py_ssize_t argument
        cdef size_t index = 0
        cdef list changed = []
        cdef uint64_t word
        if self.is_dead or work.images is None:
            return False
        for argument in range(len(data)):
            value = data[argument]
            if value == work.data[argument]:
                continue
            if argument not in self.known or not is_alike(self, argument, value):
                return False
            for place in self.by_argument[argument]:
                if not write_word(value, place.size, place.offset, &word):
                    return False
                changed.append(place)
                words.push_back(word)
        Graph_keep(work.graph, &executable)
        for place in changed:
            image = work.images[place.node]
            image.words[place.word] = words[index]
            image.is_changed = True
            index += 1
        for place in changed:
            image = work.images[place.node]
            if image.is_changed:
                image.is_changed = False
                image.write(executable.get(), <cydriver.CUcontext>context)
        work.data = data
        return True

    def _is_distinct(self, Py_ssize_t argument, value):
        # Floats that are the same number in fewer bits would hide where they went.
        if isinstance(value, bytes):
            words = [(word_of(value, size, 0), word_of(self.data[argument], size, 0)) for size in _FLOATS]
            return all([new is None or new != old for new, old in words])
        return is_alike(self, argument, value)


# Where an argument goes.
cdef class Place:
    cdef:
        Py_ssize_t node
        size_t word
        size_t size
        int64_t offset


cdef bint is_alike(ReplayPlan self, Py_ssize_t argument, object value) except -1:
    kind = self.kinds[argument]
    if type(kind) is tuple and kind[1] is ADDRESS:
        return <uint64_t>value % ALIGNMENT == <uint64_t>self.data[argument] % ALIGNMENT
    return True


cdef ReplayPlan ReplayPlan_create(list kinds):
    cdef ReplayPlan self = ReplayPlan.__new__(ReplayPlan)
    self.kinds = kinds
    self.known = set()
    self.places = {}
    self.by_argument = {}
    return self


cdef int sort_places(ReplayPlan self) except -1:
    cdef NodeImage image
    cdef Place place
    self.by_argument = {argument: [] for argument in self.known}
    for (node, word), (argument, offset) in self.places.items():
        image = self.images[node]
        place = Place.__new__(Place)
        place.node, place.word, place.offset, place.size = node, word, offset, image.sizes[word]
        self.by_argument[argument].append(place)
    return 0


# The bits of a value, with an offset, in a word of so many bytes; None where it does not fit.
cdef object word_of(object value, size_t size, int64_t offset):
    cdef uint64_t word
    return word if write_word(value, size, offset, &word) else None


cdef bint write_word(object value, size_t size, int64_t offset, uint64_t* word) except -1:
    cdef int overflow = 0
    cdef long long number
    if type(value) is bytes:
        if size not in _FLOATS:
            return False
        try:
            word[0] = int.from_bytes(struct.pack(_FLOATS[size], struct.unpack("<d", value)[0]), "little")
        except OverflowError:
            return False
        return True
    number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if size == 8 and overflow == 0 and (offset == 0 or number >= 0):
        word[0] = <uint64_t>number + <uint64_t>offset
        return True
    total = value + offset
    limit = _LIMITS[size]
    if not -limit // 2 <= total < limit:
        return False
    word[0] = total & (limit - 1)
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


# The places of the arguments that changed; None where two may be meant. Ends the plan where something does not fit.
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
                    self.is_dead = True
                continue
            origins = [
                (i, offset) for i in changed
                if (offset := offset_of(self, i, work.data[i], one.words[word], other.words[word], one.sizes[word]))
                is not None
            ]
            # Arguments that are equal in both calls are as good as one, until they differ.
            if len(origins) > 1:
                return None
            if not origins or (before is not None and before != origins[0]):
                self.is_dead = True
                return None
            found[node, word] = origins[0]
    return found


# How far a word is from an argument that it is made of; None where it is not.
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
    if isinstance(kind, tuple) and kind[1] == ADDRESS:
        return offset if 0 <= offset <= extent_of(kind) else None
    return offset if min(old, value, before, after) >= LEAST_ADDRESS else None


cdef object extent_of(tuple kind):
    # Of a buffer its size, of an array its shape, strides and type.
    if len(kind) == 4:
        return kind[2]
    _, _, shape, strides, typestr = kind
    size = int(typestr[2:])
    for index, length in enumerate(shape):
        if strides is None:
            size *= length
        else:
            size += abs(strides[index]) * max(length - 1, 0)
    return size
