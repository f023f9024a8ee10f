# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The handle templates, for values of any type; modules cimport them from ``_handles``."""

from libc.stdint cimport intptr_t, uint32_t
from libcpp cimport bool as cpp_bool
from libcpp.vector cimport vector

from cpython.object cimport PyObject


cdef extern from "handle.hpp" namespace "cuda_core" nogil:
    const char* work_left_at_exit

    cppclass Keep:
        Keep() noexcept
        @staticmethod
        Keep of_object(PyObject* object) noexcept
        PyObject* object() noexcept
        cpp_bool operator bool() noexcept
        cpp_bool operator!() noexcept

    cppclass Handle[T]:
        Handle() noexcept
        Handle(const Handle[T]& other) noexcept
        @staticmethod
        Handle[T] own(T value, void (*destroy)(T) noexcept nogil, Keep keep) except +
        @staticmethod
        Handle[T] own_without_blocking(T value, void (*destroy)(T) noexcept nogil, Keep keep) except +
        @staticmethod
        Handle[T] borrow(T value, Keep keep) except +
        void reset() noexcept
        T get() noexcept
        T& value() noexcept
        Keep keep() noexcept
        PyObject* kept_object() noexcept
        cpp_bool is_owner() noexcept
        uint32_t use_count() noexcept
        cpp_bool operator bool() noexcept
        cpp_bool operator!() noexcept

    cppclass WeakCell:
        WeakCell() noexcept
        void observe[T](const Handle[T]& handle) noexcept
        uint32_t use_count() noexcept

    cppclass Registry[T]:
        Registry() except +
        Handle[T] add(const Handle[T]& handle) except +
        Handle[T] find(T value) except +
        void remove(T value) noexcept
        vector[Handle[T]] living() except +
        size_t size() except +

    intptr_t address[T](const Handle[T]& handle) noexcept


# The handle field of an object, which any thread may close at any time, and the reference that a call takes from it.
# Taking and dropping that reference need the interpreter lock, using it does not.
cdef extern from "member.hpp" namespace "cuda_core":
    cppclass Member[T]:
        Member() noexcept
        Handle[T] copy() noexcept
        void set(Handle[T] handle) noexcept
        void reset() noexcept
        uint32_t use_count() noexcept
        cpp_bool operator bool() noexcept
        cpp_bool operator!() noexcept

    cppclass Kept[T]:
        Kept() noexcept
        cpp_bool hold(const Member[T]& member) noexcept
        T get() noexcept nogil
        T& value() noexcept nogil
        const Handle[T]& handle() noexcept nogil
        Keep keep() noexcept nogil
        cpp_bool is_owner() noexcept nogil
        cpp_bool operator bool() noexcept nogil
        cpp_bool operator!() noexcept nogil

    intptr_t address[T](const Member[T]& member) noexcept
