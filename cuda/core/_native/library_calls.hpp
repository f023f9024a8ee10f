// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Calls of shared libraries that are loaded at run time. Each function has an entry: a pointer that first points to
// a resolver, which looks the function up. The result is the same for the whole process, so each extension may have its
// own entries, and two threads may resolve one at the same time.
#pragma once

#include <Python.h>
#include <dlfcn.h>

#include <atomic>

#include "cpython.hpp"

namespace cuda_core {

// The symbols of a function in the headers of CUDA: with the version suffix, such as cuMemAlloc_v2, and without.
struct Symbol {
    const char* versioned;
    const char* plain;
};

// `Library::find` looks a symbol up, or returns null with an exception set; the call then returns `Library::failure`.
template <class Library, const Symbol& symbol, class Type>
struct Entry;

template <class Library, const Symbol& symbol, class Result, class... Arguments>
struct Entry<Library, symbol, Result (*)(Arguments...)> {
    using Function = Result (*)(Arguments...);

    static Result call(Arguments... arguments) { return function.load(std::memory_order_relaxed)(arguments...); }

    static Result resolve(Arguments... arguments) {
        Function found = (Function)Library::find(symbol);
        if (found == nullptr) return (Result)Library::failure;
        function.store(found, std::memory_order_relaxed);
        return found(arguments...);
    }

    static inline std::atomic<Function> function{&resolve};
};

// Opens a library at the path that a function of `_utils.libraries` returns. If there is no library at the
// first path, the function is called again, and searches thoroughly, which takes long; it raises if it finds nothing.
inline void* open_library(const char* loaded_name, const char* function) noexcept {
    // A loaded library needs no call of Python, which is impossible at exit.
    void* library = dlopen(loaded_name, RTLD_NOW | RTLD_NOLOAD);
    if (library != nullptr) return library;
    with_interpreter([&library, function] {
        PyObject* module = PyImport_ImportModule("cuda.core._utils.libraries");
        for (int is_thorough = 0; module && !library && is_thorough < 2; ++is_thorough) {
            PyObject* path = PyObject_CallMethod(module, function, "i", is_thorough);
            const char* text = path ? PyUnicode_AsUTF8(path) : nullptr;
            if (text && *text) library = dlopen(text, RTLD_NOW);
            if (text && !library && is_thorough) PyErr_Format(PyExc_RuntimeError, "%s", dlerror());
            Py_XDECREF(path);
            if (!text) break;
        }
        Py_XDECREF(module);
    });
    return library;
}

// The address of a function that the bindings have found; null, with an exception set, if they have not.
inline void* find_in_bindings(const char* module, const char* function, const char* library) noexcept {
    void* found = nullptr;
    with_interpreter([&found, module, function, library] {
        found = deferred_function(module, function);
        if (found == nullptr) {
            PyErr_Clear();
            PyErr_Format(
                PyExc_RuntimeError, "the installed %s is older than %s, which is needed here", library, function
            );
        }
    });
    return found;
}

}  // namespace cuda_core

#define CUDA_CORE_TEXT(name) #name
#define CUDA_CORE_EXPANDED(name) CUDA_CORE_TEXT(name)
// NOLINTNEXTLINE: the macros of CUDA's headers, which add the version, are expanded in the second use only
#define CUDA_CORE_CALL_OF_TYPE(name, type)                                         \
    inline constexpr ::cuda_core::Symbol name##_symbol{CUDA_CORE_EXPANDED(name), #name}; \
    using name##_entry = ::cuda_core::Entry<Library, name##_symbol, type>;
#define CUDA_CORE_CALL(name)                                                       \
    inline constexpr ::cuda_core::Symbol name##_symbol{CUDA_CORE_EXPANDED(name), #name}; \
    using name##_entry = ::cuda_core::Entry<Library, name##_symbol, decltype(&::name)>;
