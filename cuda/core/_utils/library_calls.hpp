// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Calls of shared libraries that are loaded at run time. Each function has an entry: a pointer that first points to
// a resolver, which looks the function up. The result never changes while the process lives, so it does not matter that
// every extension has its own entries, nor that two threads resolve one at the same time.
#pragma once

#include <Python.h>
#include <dlfcn.h>

#include <atomic>

#include "cpython.hpp"

namespace cuda_core {

// The symbols of a function, as the headers of CUDA have them: with its version, and without one.
struct Symbol {
    const char* versioned;
    const char* plain;
};

// `Library` has `failure`, the result where the function is missing and an exception is set, and `find`.
template <class Library, const Symbol& symbol, class Type>
struct Entry;

template <class Library, const Symbol& symbol, class Result, class... Arguments>
struct Entry<Library, symbol, Result (*)(Arguments...)> {
    using Function = Result (*)(Arguments...);

    static Result call(Arguments... arguments) { return function.load(std::memory_order_relaxed)(arguments...); }

    static Result look(Arguments... arguments) {
        Function found = (Function)Library::find(symbol);
        if (found == nullptr) return (Result)Library::failure;
        function.store(found, std::memory_order_relaxed);
        return found(arguments...);
    }

    static inline std::atomic<Function> function{&look};
};

// Opens a library whose path a function of `_utils.importing.libraries` tells; where its first answer is none, the
// second comes from a search that takes long, or is an exception.
inline void* open_library(const char* loaded_name, const char* function) noexcept {
    // At exit Python cannot be called, but the library is loaded.
    void* library = dlopen(loaded_name, RTLD_NOW | RTLD_NOLOAD);
    if (library != nullptr) return library;
    with_interpreter([&library, function] {
        PyObject* module = PyImport_ImportModule("cuda.core._utils.importing.libraries");
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

// The function that the bindings find; else null, with an exception set.
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
