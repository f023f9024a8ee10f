# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Replay plans: which words of which nodes come from the data arguments of a captured function.

Two captures of calls that differ in data arguments only are compared word by word. A word that differs is a place of an
argument if in both captures it equals that argument, or is an address in its memory, and no other argument fits.
Everything else must be equal. A difference that no argument explains invalidates the plan; then every call with changed
data captures. Until an argument has changed once, its places are not known, and a call that changes it captures, too.
"""

from __future__ import annotations

from libc.math cimport isfinite
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from cuda.core.graph._replay._data_arguments cimport DOUBLE, SIGNED, DataWord, write_words
from cuda.core.graph._replay._node_images cimport NodeImage, change_of, read_images
from cuda.core.graph._state._graph_state cimport GraphTree

import struct

from cuda.core.graph._replay._data_arguments import ADDRESS

__all__ = []

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
