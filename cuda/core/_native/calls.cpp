// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// How driver and NVRTC functions are found, each on its first call.
#include "calls.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace cuda_core {

namespace {

// The symbols of a function in the headers of CUDA: with the version suffix, such as cuMemAlloc_v2, and without.
struct Symbol {
    const char* versioned;
    const char* plain;
};

// Opens a library at the path that a function of `_utils.libraries` returns. If there is no library at the
// first path, the function is called again, and searches thoroughly, which takes long; it raises if it finds nothing.
void* open_library(const char* loaded_name, const char* function) noexcept {
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
void* find_in_bindings(const char* module, const char* function, const char* library) noexcept {
    void* found = nullptr;
    with_interpreter([&found, module, function, library] {
        found = function_of_module(module, function);
        if (found == nullptr) {
            PyErr_Clear();
            PyErr_Format(
                PyExc_RuntimeError, "the installed %s is older than %s, which is needed here", library, function
            );
        }
    });
    return found;
}

// `Library::find` looks a symbol up, or returns null with an exception set; the call then returns `Library::failure`.
// Two threads may resolve one function at the same time, with the same result.
template <class Library, const Symbol& symbol, auto& entry, class Type>
struct Resolver;

template <class Library, const Symbol& symbol, auto& entry, class Result, class... Arguments>
struct Resolver<Library, symbol, entry, Result (*)(Arguments...)> {
    using Function = Result (*)(Arguments...);

    static Result resolve(Arguments... arguments) {
        Function found = (Function)Library::find(symbol);
        if (found == nullptr) return (Result)Library::failure;
        entry.store(found, std::memory_order_relaxed);
        return found(arguments...);
    }
};

}  // namespace

#define CUDA_CORE_TEXT(name) #name
#define CUDA_CORE_EXPANDED(name) CUDA_CORE_TEXT(name)
// The macros of CUDA's headers, which add the version to a name, are not expanded where `##` joins it.
#define CUDA_CORE_CALL_OF_TYPE(name, type)                                                      \
    static constexpr Symbol name##_symbol{CUDA_CORE_EXPANDED(name), #name};                     \
    Entry<type> name{&Resolver<Library, name##_symbol, name, type>::resolve};
#define CUDA_CORE_CALL(name) CUDA_CORE_CALL_OF_TYPE(name, decltype(&::name))

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace driver_calls {

namespace {

// Whether to call the variants of functions for which the NULL stream is the per-thread default stream; the bindings
// decide in the same way.
bool has_stream_per_thread() noexcept {
    const char* choice = std::getenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
    return choice != nullptr && std::atoi(choice) != 0;
}

struct Library {
    static constexpr CUresult failure = CUDA_ERROR_NOT_FOUND;

    static void* find(const Symbol& symbol) noexcept {
        void* library = open_library("libcuda.so.1", "driver");
        if (library == nullptr) return nullptr;
        void* found = nullptr;
        if (has_stream_per_thread()) {
            for (const char* ending : {"_ptsz", "_ptds"}) {
                char name[128];
                std::snprintf(name, sizeof(name), "%s%s", symbol.versioned, ending);
                if (found == nullptr) found = dlsym(library, name);
            }
        }
        if (found == nullptr) found = dlsym(library, symbol.versioned);
        // cuGetProcAddress may return another version of the function than the declared one. So it is used last: for
        // functions with a single version, and for a replacement of the driver that exports only cuGetProcAddress.
        if (found == nullptr && (std::strcmp(symbol.versioned, symbol.plain) == 0 || !dlsym(library, "cuInit"))) {
            found = query(library, symbol.plain);
        }
        return found ? found : find_in_bindings("cuda.bindings.cydriver", symbol.plain, "CUDA driver");
    }

    static void* query(void* library, const char* name) noexcept {
        using Query = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
        const Query get_address = (Query)dlsym(library, "cuGetProcAddress_v2");
        void* found = nullptr;
        if (get_address == nullptr || get_address(name, &found, CUDA_VERSION, 0, nullptr) != CUDA_SUCCESS) {
            return nullptr;
        }
        return found;
    }
};

}  // namespace

#include "driver_calls_list.hpp"

}  // namespace driver_calls

namespace nvrtc_calls {

namespace {

constexpr char library_name[] = "libnvrtc.so.13";

struct Library {
    static constexpr nvrtcResult failure = NVRTC_ERROR_INVALID_INPUT;

    static void* find(const Symbol& symbol) noexcept {
        // A global symbol of the process comes first, such as that of the software device, as in the bindings.
        if (void* loaded = dlsym(RTLD_DEFAULT, symbol.versioned)) return loaded;
        void* library = open_library(library_name, "nvrtc");
        if (library == nullptr) return nullptr;
        void* found = dlsym(library, symbol.versioned);
        return found ? found : find_in_bindings("cuda.bindings.cynvrtc", symbol.plain, "NVRTC");
    }
};

}  // namespace

#include "nvrtc_calls_list.hpp"

bool is_loaded() noexcept {
    if (dlsym(RTLD_DEFAULT, "nvrtcVersion")) return true;
    void* loaded = dlopen(library_name, RTLD_NOW | RTLD_NOLOAD);
    if (loaded) dlclose(loaded);
    return loaded != nullptr;
}

const char* loaded_path() noexcept {
    Dl_info info;
    void* function = Library::find(nvrtcVersion_symbol);
    return function && dladdr(function, &info) ? info.dli_fname : nullptr;
}

}  // namespace nvrtc_calls

#pragma GCC diagnostic pop

}  // namespace cuda_core
