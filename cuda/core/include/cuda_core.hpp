// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Streams, buffers and memory resources of cuda.core for extensions in C++; docs/guide/compiled-consumers.md explains it.
//
// Needs the headers of Python and CUDA, and C++17. It calls the Python interface, so an extension links to nothing, and
// works with any version of cuda.core and any C++ library. Call all functions with the GIL.
#pragma once

#include <Python.h>
#include <cuda.h>

#include <cstddef>
#include <exception>
#include <utility>

// What to throw while a Python exception is set. Define it before the include for a binding library, such as
// `throw pybind11::error_already_set()` or `throw nanobind::python_error()`.
#ifndef CUDA_CORE_THROW
#define CUDA_CORE_THROW throw cuda_core_api::PythonError()
#endif

namespace cuda_core_api {

// Thrown while a Python exception is set; the caller returns NULL to Python.
struct PythonError : std::exception {
    const char* what() const noexcept override { return "a Python exception is set"; }
};

// A reference to a Python object.
class Object {
  public:
    Object() noexcept = default;
    Object(const Object& other) noexcept : object_(other.object_) { Py_XINCREF(object_); }
    Object(Object&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Object& operator=(Object other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    ~Object() { Py_XDECREF(object_); }

    // Takes over a new reference. Throws if it is NULL.
    static Object take(PyObject* object) {
        if (!object) CUDA_CORE_THROW;
        Object result;
        result.object_ = object;
        return result;
    }
    // Adds a reference to a borrowed object.
    static Object share(PyObject* object) {
        Py_XINCREF(object);
        return take(object);
    }

    PyObject* get() const noexcept { return object_; }
    // Returns the reference, for example as the result of a function.
    PyObject* release() noexcept { return std::exchange(object_, nullptr); }

    Object attribute(const char* name) const { return take(PyObject_GetAttrString(object_, name)); }
    unsigned long long to_integer() const {
        Object number = take(PyNumber_Long(object_));
        const auto value = PyLong_AsUnsignedLongLong(number.get());
        if (PyErr_Occurred()) CUDA_CORE_THROW;
        return value;
    }

  private:
    PyObject* object_ = nullptr;
};

// Returns a public class of cuda.core, which it imports.
inline Object public_class(const char* name) {
    return Object::take(PyImport_ImportModule("cuda.core")).attribute(name);
}

// Returns an argument whose type must be a class of cuda.core or derived from it. Throws with TypeError set.
inline Object argument_of(PyObject* object, const char* name) {
    const int is_instance = PyObject_IsInstance(object, public_class(name).get());
    if (is_instance == 0)
        PyErr_Format(PyExc_TypeError, "expected a cuda.core.%s, got %s", name, Py_TYPE(object)->tp_name);
    if (is_instance != 1) CUDA_CORE_THROW;
    return Object::share(object);
}

// A stream of this or another library.
class Stream {
  public:
    // Accepts an object with the method `__cuda_stream__`: a cuda.core.Stream, a graph builder, a foreign stream.
    static Stream accept(PyObject* object) {
        Object stream = Object::share(object);
        Object pair = Object::take(PyObject_CallMethod(object, "__cuda_stream__", nullptr));
        Object handle = Object::take(PySequence_GetItem(pair.get(), 1));
        return Stream(stream, reinterpret_cast<CUstream>(handle.to_integer()));
    }
    // Wraps a stream, which the caller keeps alive, as a cuda.core.Stream.
    static Stream wrap(CUstream handle) {
        const auto number = reinterpret_cast<unsigned long long>(handle);
        return Stream(
            Object::take(PyObject_CallMethod(public_class("Stream").get(), "from_handle", "K", number)), handle);
    }

    CUstream handle() const noexcept { return handle_; }
    const Object& object() const noexcept { return object_; }

  private:
    Stream(Object object, CUstream handle) noexcept : object_(std::move(object)), handle_(handle) {}

    Object object_;  // keeps the stream alive
    CUstream handle_;
};

// A buffer: a range of memory on the device or the host.
class Buffer {
  public:
    // Accepts an open cuda.core.Buffer.
    static Buffer accept(PyObject* object) {
        Object buffer = argument_of(object, "Buffer");
        if (PyObject_IsTrue(buffer.attribute("is_closed").get()) == 0) return Buffer(std::move(buffer));
        PyErr_SetString(PyExc_RuntimeError, "the Buffer is closed");
        CUDA_CORE_THROW;
    }
    // Wraps memory as a cuda.core.Buffer, which keeps `owner` alive until it is closed.
    static Buffer wrap(CUdeviceptr pointer, std::size_t size, PyObject* owner) {
        Object method = public_class("Buffer").attribute("from_handle");
        Object arguments = Object::take(Py_BuildValue("(KnOO)", static_cast<unsigned long long>(pointer),
                                                      static_cast<Py_ssize_t>(size), Py_None, owner ? owner : Py_None));
        return Buffer(Object::take(PyObject_Call(method.get(), arguments.get(), nullptr)));
    }

    CUdeviceptr pointer() const { return object_.attribute("handle").to_integer(); }
    std::size_t size() const { return object_.attribute("size").to_integer(); }
    const Object& object() const noexcept { return object_; }

  private:
    friend class MemoryResource;
    explicit Buffer(Object object) noexcept : object_(std::move(object)) {}

    Object object_;
};

// A memory resource, of cuda.core or derived from its class in Python.
class MemoryResource {
  public:
    static MemoryResource accept(PyObject* object) { return MemoryResource(argument_of(object, "MemoryResource")); }

    // Allocates memory in the order of a stream.
    Buffer allocate(std::size_t size, const Stream& stream) const {
        Object method = object_.attribute("allocate");
        Object arguments = Object::take(Py_BuildValue("(n)", static_cast<Py_ssize_t>(size)));
        Object keywords = Object::take(Py_BuildValue("{s:O}", "stream", stream.object().get()));
        return Buffer(Object::take(PyObject_Call(method.get(), arguments.get(), keywords.get())));
    }
    const Object& object() const noexcept { return object_; }

  private:
    explicit MemoryResource(Object object) noexcept : object_(std::move(object)) {}

    Object object_;
};

}  // namespace cuda_core_api
