// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// From CUDA C++ source to loaded kernels: scanner, toolchain, cache, ELF reader, linker. This layer does not use
// contexts: `state` loads modules through it, and the NVRTC and nvJitLink facades (abi/nvrtc.cpp, abi/nvjitlink.cpp)
// compile and link through it.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "../common.hpp"
#include "../config.hpp"
#include "../exec/exec.hpp"

namespace emu::front {

// The file that the lines of name expressions belong to, as with NVRTC.
constexpr const char* name_map = "__nv_name_map";

// ------------------------------------------------------------------------------- compile

struct Header {
    std::string name, text;
};

struct CompileRequest {
    std::string source;
    std::string name;                           // "default_program" if none was passed
    std::vector<Header> headers;
    std::vector<std::string> options; // in NVRTC form
    std::vector<std::string> name_expressions;
};

enum class CompileStatus {
    ok,
    invalid_option,
    compile_error,
    name_expression_not_valid,
    no_toolchain, // the log explains what to install
    internal_error,
};

struct CompileResult {
    CompileStatus status = CompileStatus::internal_error;
    std::string log;                            // errors and warnings, in NVRTC format
    Bytes cubin;                                // host ELF: a .so file, or .o if relocatable
    Bytes ptx;                                  // text container, zero-terminated
    Bytes lto;                                  // text container, with -dlto
    std::map<std::string, std::string> lowered; // name expression -> symbol
    bool from_cache = false;
    enum class Pch { none, created, failed } pch = Pch::none; // the file that -create-pch names
};

CompileResult compile(const CompileRequest& request);

std::vector<int> supported_architectures(); // 75, 80, ..., as returned by nvrtcGetSupportedArchs

// -------------------------------------------------------------------------------- images

// The kinds of data passed to cuModuleLoadData and cuLibraryLoadData.
enum class ImageKind {
    host_module, // our ELF .so
    host_object, // our ELF .o, to be linked first
    text,        // our text container, compiled when loaded
    library,     // an archive of objects, to be linked first
    ptx,         // from an open compiler: translated and compiled when loaded
    foreign_cubin, // these all result in CUDA_ERROR_NO_BINARY_FOR_GPU
    fatbin,
    nvvm,
    unknown,       // CUDA_ERROR_INVALID_IMAGE
};

// Finds an image's kind and size by its headers. `known_size` is 0 if the caller has only a pointer; `size` becomes 0
// if it cannot be determined.
ImageKind inspect_image(const void* image, size_t known_size, size_t* size);

struct KernelInfo {
    std::string name;  // lowered name
    std::string shown; // demangled
    EmuEntry entry = nullptr;
    std::vector<EmuParameter> parameters;
    uint32_t parameter_bytes = 0;
    uint32_t static_shared = 0;
    uint32_t constant_bytes = 0;
    uint32_t local_bytes = 0;
    uint32_t registers = 0;                                    // an estimate, the same for the same text
    uint32_t max_threads = 0, min_blocks = 0, max_cluster = 0; // 0: not specified
    Dim3 cluster{0, 0, 0};
    std::string file;
    int line = 0;
};

struct GlobalInfo {
    std::string name; // lowered name
    void* address = nullptr;
    size_t size = 0;
    EmuVariableKind kind = EMU_VARIABLE_DEVICE;
};

// A loaded copy of an image, with its own variables. The destructor unloads it; the owner ensures that no launch of it
// is left.
class LoadedModule {
public:
    virtual ~LoadedModule() = default;
    virtual const std::vector<KernelInfo>& kernels() const = 0;
    virtual const std::vector<GlobalInfo>& globals() const = 0;
    virtual const KernelInfo* find_kernel(const std::string& name) const = 0;
    virtual const GlobalInfo* find_global(const std::string& name) const = 0;
    virtual uint64_t image() const = 0; // as registered with `exec`
    virtual size_t memory_bytes() const = 0;
};

struct LoadRequest {
    const void* image = nullptr;
    size_t size = 0; // 0: unknown
    int device = 0;
    std::vector<std::string> options; // for text images
};

struct LoadResult {
    std::shared_ptr<LoadedModule> module; // null after an error
    Error error;
    std::string info_log, error_log; // for the CU_JIT_*_LOG_BUFFER options
};

LoadResult load_image(const LoadRequest& request);

// The kernels of an image that is not loaded, because cuLibraryGetKernel and cuLibraryEnumerateKernels need no context.
// They lack only KernelInfo::entry.
struct ImageContents {
    std::vector<KernelInfo> kernels;
    std::vector<GlobalInfo> globals;
    Bytes module; // the host module, which load_image() accepts
    Error error;
    std::string info_log, error_log;
};
ImageContents read_image(const LoadRequest& request);

// ---------------------------------------------------------------------------------- link

struct LinkInput {
    Bytes bytes;
    std::string name;
};

struct LinkRequest {
    std::vector<LinkInput> inputs;    // objects, texts and modules, in any mix
    std::vector<std::string> options; // in nvJitLink form
    bool text_output = false;         // -ptx: combines texts instead
};

struct LinkResult {
    Error error;
    Bytes image;                     // host ELF .so, or a text container
    std::string info_log, error_log; // names undefined symbols
};

LinkResult link(const LinkRequest& request);

// ----------------------------------------------------------------------------- toolchain

struct Toolchain {
    std::vector<std::string> command;        // {"g++"} or {python, "-m", "ziglang", "c++"}
    std::string kind;                        // "gcc" or "clang"
    std::string version;
    std::string error; // what to install if there is no compiler; otherwise empty
};

const Toolchain& toolchain(); // searched once per process

struct CacheStatistics {
    uint64_t hits = 0, misses = 0, failures = 0;
    std::string folder; // empty: no cache
};
CacheStatistics cache_statistics();

// Identifies all that determines compiled code besides the program: this build, the compiler, the checks and the version
// that programs see. Every cache key contains it.
const std::string& code_identity();

// Finds the file, line and function of an address in the image's line table.
exec::CodePlace symbolize(const exec::Image& image, uintptr_t pc);

// Adds an image's counts to the process's, and writes them to the CUDA_EMULATOR_COVERAGE directory.
void add_coverage(const exec::Image& image, std::atomic<uint64_t>* counts);

// Sets this process's interpreter, which may have a compiler installed as a package. Called before the first use.
void set_python(const std::string& path);

} // namespace emu::front
