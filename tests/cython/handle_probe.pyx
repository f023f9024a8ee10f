# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# distutils: language = c++
# cython: language_level=3, freethreading_compatible=True
"""Handles of plain numbers, which count what is made and ended: tests of handles without a device."""

from cpython.object cimport PyObject
from libcpp.atomic cimport atomic
from libcpp.vector cimport vector

from cuda.core._native._cuda_core cimport Handle, Anchor, Pin, HandleField, Registry

ctypedef Handle[size_t] NumberHandle
ctypedef HandleField[size_t] NumberField
ctypedef Pin[size_t] NumberPin

cdef enum:
    CAPACITY = 1 << 20

cdef atomic[size_t] _next
cdef atomic[size_t] _made
cdef atomic[size_t] _ended
cdef atomic[size_t] _orphaned      # ended after the parent it depends on: must stay 0
cdef char* _alive = <char*>calloc(CAPACITY, 1)
cdef size_t* _parent = <size_t*>calloc(CAPACITY, sizeof(size_t))
cdef Registry[size_t]* _registry = new Registry[size_t]()

cdef extern from "<cstdlib>" nogil:
    void* calloc(size_t count, size_t size)


cdef void end(size_t number) noexcept nogil:
    _registry.remove(number)
    if _parent[number] and not _alive[_parent[number]]:
        _orphaned.fetch_add(1)
    _alive[number] = 0
    _ended.fetch_add(1)


cdef NumberHandle make(size_t parent, const Anchor& anchor) noexcept nogil:
    cdef size_t number = (_next.fetch_add(1) + 1) % CAPACITY
    # Busy threads make millions of handles on a slow machine: the numbers of handles that ended are used again.
    while number == 0 or _alive[number]:
        number = (_next.fetch_add(1) + 1) % CAPACITY
    _made.fetch_add(1)
    _parent[number] = parent
    _alive[number] = 1
    return NumberHandle.own(number, &end, anchor)


cdef class Node:
    """A handle that keeps its parent's."""

    cdef NumberHandle h
    cdef object __weakref__

    def __init__(self, Node parent=None, object anchor=None):
        if parent is not None:
            self.h = make(parent.h.get(), parent.h.anchor())
        elif anchor is not None:
            self.h = make(0, Anchor.of_object(<PyObject*>anchor))
        else:
            self.h = make(0, Anchor())

    @property
    def number(self):
        return self.h.get()

    @property
    def is_open(self):
        return <bint>self.h

    @property
    def use_count(self):
        return self.h.use_count()

    def copy(self):
        cdef Node node = Node.__new__(Node)
        node.h = self.h
        return node

    def borrow(self):
        cdef Node node = Node.__new__(Node)
        node.h = NumberHandle.borrow(self.h.get(), Anchor())
        return node

    def close(self):
        self.h.reset()

    def register(self):
        cdef Node node = Node.__new__(Node)
        node.h = _registry.add(self.h)
        return node


cdef class Holder:
    """An object with a handle field; calls keep the handle's value alive while they use it."""

    cdef NumberField h

    def __init__(self, Node node):
        self.h.set(node.h)

    @property
    def is_open(self):
        return <bint>self.h

    @property
    def use_count(self):
        return self.h.use_count()

    def set(self, Node node):
        self.h.set(node.h)

    def close(self):
        self.h.reset()

    def copy(self):
        cdef Node node = Node.__new__(Node)
        node.h = self.h.copy()
        return node

    def use(self, callback):
        """Return the number, and whether it is alive after a callback; None if the field is empty."""
        cdef NumberPin number
        if not number.hold(self.h):
            return None
        callback()
        return number.get(), bool(_alive[number.get()])


def find(size_t number):
    """Return a node of the handle registered for a number, or None."""
    cdef Node node = Node.__new__(Node)
    node.h = _registry.find(number)
    return node if node.h else None


def registered():
    return _registry.size()


def counts():
    """Return how many handles were made, ended, and ended too late."""
    return _made.load(), _ended.load(), _orphaned.load()


cdef extern from "Python.h" nogil:
    int PyGILState_Check()

cdef int _lock_seen = -1


cdef void see_lock(size_t number) noexcept nogil:
    global _lock_seen
    _lock_seen = PyGILState_Check()


def has_lock_at_the_end(bint is_brief):
    """Return 1 if the GIL is held while a handle ends, else 0."""
    make_and_end(is_brief)
    return _lock_seen


cdef void make_and_end(bint is_brief) noexcept:
    if is_brief:
        NumberHandle.own_holding_gil(1, &see_lock, Anchor())
    else:
        NumberHandle.own(1, &see_lock, Anchor())


def hammer(size_t rounds, unsigned int seed):
    """Make, copy, register, find and drop handles in random order without the GIL."""
    with nogil:
        _hammer(rounds, seed)


cdef void _hammer(size_t rounds, unsigned int seed) noexcept nogil:
    cdef vector[NumberHandle] pool
    cdef NumberHandle h
    cdef size_t _i, j
    pool.resize(16)
    for _i in range(rounds):
        seed = seed * 1664525u + 1013904223u
        j = (seed >> 8) & 15
        if (seed >> 16) & 3 == 0:
            pool[j].reset()
        elif (seed >> 16) & 3 == 1:
            pool[j] = pool[(seed >> 20) & 15]
        else:
            h = pool[(seed >> 20) & 15]
            if h:
                pool[j] = make(h.get(), h.anchor())
            else:
                pool[j] = make(0, Anchor())
            _registry.add(pool[j])
            h = _registry.find(pool[j].get())
        h.reset()
