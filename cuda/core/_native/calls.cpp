// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// How driver and NVRTC functions are found, each on its first call.
#include "calls.hpp"

#include "older_driver.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace cuda_core {

namespace {

// The symbols of a function in the headers of CUDA: with the version suffix, such as cuMemAlloc_v2, and without. `since`
// is the version of CUDA that brought the former, or 0.
struct Symbol {
    const char* versioned;
    const char* plain;
    int since;
};

// Opens a library at the path that a function of `_utils.libraries` returns. If there is no library at the
// first path, the function is called again, and searches thoroughly, which takes long; it raises if it finds nothing.
void* open_library(const char* function) noexcept {
    void* library = nullptr;
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

// The class of the exception for a function that the installed library lacks, or null with an exception set. The GIL is
// held.
PyObject* too_old_error() noexcept {
    PyObject* module = PyImport_ImportModule("cuda.core._utils.cuda_utils");
    PyObject* type = module ? PyObject_GetAttrString(module, "TooOldError") : nullptr;
    Py_XDECREF(module);
    Py_XDECREF(type);  // its module keeps it
    return type;
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
// The macros of CUDA's headers, which add the version to a name, are not expanded where `##` joins it or `#` quotes it.
#define CUDA_CORE_CALL_AS(name, plain, since, type)                                             \
    static constexpr Symbol name##_symbol{CUDA_CORE_EXPANDED(name), plain, since};              \
    Entry<type> name{&Resolver<Library, name##_symbol, name, type>::resolve};
#define CUDA_CORE_CALL_OF_TYPE(name, since, type) CUDA_CORE_CALL_AS(name, #name, since, type)
#define CUDA_CORE_CALL(name, since) CUDA_CORE_CALL_AS(name, #name, since, decltype(&::name))

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace driver_calls {

namespace {

std::atomic<bool> is_open{false};

void* open_driver() noexcept {
    // A loaded library needs no call of Python, which is impossible at exit.
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (library == nullptr) library = open_library("driver");
    if (library) is_open.store(true, std::memory_order_relaxed);
    return library;
}

// Whether to call the variants of functions for which the NULL stream is the per-thread default stream; the bindings
// decide in the same way.
bool has_stream_per_thread() noexcept {
    const char* choice = std::getenv("CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM");
    return choice != nullptr && std::atoi(choice) != 0;
}

// The address of an exported function; null if there is none.
void* find_export(void* library, const char* symbol) noexcept {
    if (has_stream_per_thread()) {
        for (const char* ending : {"_ptsz", "_ptds"}) {
            char name[128];
            std::snprintf(name, sizeof(name), "%s%s", symbol, ending);
            if (void* found = dlsym(library, name)) return found;
        }
    }
    return dlsym(library, symbol);
}

void* query(void* library, const char* name) noexcept {
    using Query = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
    const Query get_address = (Query)dlsym(library, "cuGetProcAddress_v2");
    void* found = nullptr;
    if (get_address == nullptr || get_address(name, &found, CUDA_VERSION, 0, nullptr) != CUDA_SUCCESS) {
        return nullptr;
    }
    return found;
}

// The version of CUDA that the driver supports, such as 12020; 0 if it is unknown.
int version_of(void* library) noexcept {
    static std::atomic<int> known{0};
    if (known.load(std::memory_order_relaxed) == 0) {
        using GetVersion = CUresult (*)(int*);
        void* found = dlsym(library, "cuDriverGetVersion");
        if (found == nullptr) found = query(library, "cuDriverGetVersion");
        int version = 0;
        if (found && ((GetVersion)found)(&version) == CUDA_SUCCESS) known.store(version, std::memory_order_relaxed);
    }
    return known.load(std::memory_order_relaxed);
}

struct Library {
    static constexpr CUresult failure = CUDA_ERROR_NOT_FOUND;

    static void* find(const Symbol& symbol) noexcept {
        void* library = open_driver();
        if (library == nullptr) return nullptr;
        const int version = version_of(library);
        void* found = nullptr;
        if (version != 0 && version < symbol.since) {
            found = replacement_in_older_driver(symbol.plain);
        } else {
            found = find_export(library, symbol.versioned);
            // cuGetProcAddress may return another version of the function than the declared one. So it is used last: for
            // functions with a single version, and for a replacement of the driver that exports only cuGetProcAddress.
            if (found == nullptr && (std::strcmp(symbol.versioned, symbol.plain) == 0 || !dlsym(library, "cuInit"))) {
                found = query(library, symbol.plain);
            }
        }
        if (found == nullptr) report_missing(symbol, version);
        return found;
    }

    static void report_missing(const Symbol& symbol, int version) noexcept {
        with_interpreter([&symbol, version] {
            PyObject* type = too_old_error();
            if (type == nullptr) return;
            if (version == 0 || symbol.since <= version) {
                PyErr_Format(type, "the installed CUDA driver has no %s", symbol.versioned);
                return;
            }
            PyErr_Format(
                type, "%s needs a driver for CUDA %d.%d or newer; this one is for CUDA %d.%d",
                symbol.plain, symbol.since / 1000, symbol.since % 1000 / 10, version / 1000, version % 1000 / 10
            );
        });
    }
};

}  // namespace

#include "driver_calls_list.hpp"

bool is_loaded() noexcept {
    return is_open.load(std::memory_order_relaxed) || dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
}

}  // namespace driver_calls

void* find_in_driver(const char* symbol) noexcept {
    void* library = driver_calls::open_driver();
    return library ? driver_calls::find_export(library, symbol) : nullptr;
}

namespace nvrtc_calls {

namespace {

struct Library {
    static constexpr nvrtcResult failure = NVRTC_ERROR_INVALID_INPUT;

    static void* open() noexcept {
        static std::atomic<void*> opened{nullptr};
        if (opened.load() == nullptr) opened.store(open_library("nvrtc"));
        return opened.load();
    }

    static void* find(const Symbol& symbol) noexcept {
        // A global symbol of the process comes first, such as that of the software device, as in the bindings.
        if (void* loaded = dlsym(RTLD_DEFAULT, symbol.versioned)) return loaded;
        void* library = open();
        if (library == nullptr) return nullptr;
        void* found = dlsym(library, symbol.versioned);
        if (found == nullptr) {
            with_interpreter([&symbol] {
                PyObject* type = too_old_error();
                if (type != nullptr) PyErr_Format(type, "the installed NVRTC is older than %s", symbol.plain);
            });
        }
        return found;
    }
};

}  // namespace

#include "nvrtc_calls_list.hpp"

bool is_loaded() noexcept {
    if (dlsym(RTLD_DEFAULT, "nvrtcVersion")) return true;
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
        void* loaded = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
        if (loaded) dlclose(loaded);
        if (loaded) return true;
    }
    return false;
}

const char* loaded_path() noexcept {
    Dl_info info;
    void* function = Library::find(nvrtcVersion_symbol);
    return function && dladdr(function, &info) ? info.dli_fname : nullptr;
}

}  // namespace nvrtc_calls

#undef CUDA_CORE_CALL
#undef CUDA_CORE_CALL_OF_TYPE
#define CUDA_CORE_CALL_OF_TYPE(function, since, type) {#function, #function, since},
#define CUDA_CORE_CALL(function, since) {#function, #function, since},

namespace driver_calls {

// The first version of CUDA whose driver has a function, or 0 if it is unknown.
CUDA_CORE_API int first_version(const char* name) noexcept {
    static constexpr Symbol symbols[] = {
#include "driver_calls_list.hpp"
    };
    for (const Symbol& symbol : symbols) {
        if (std::strcmp(symbol.plain, name) == 0) return symbol.since;
    }
    return 0;
}

}  // namespace driver_calls

#pragma GCC diagnostic pop

}  // namespace cuda_core
