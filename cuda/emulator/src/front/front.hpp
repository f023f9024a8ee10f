// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// From CUDA C++ source to loaded kernels: scanner, toolchain, cache, ELF reader, linker.
// Knows nothing of contexts; state loads modules through it, the NVRTC and nvJitLink
// facades (abi/nvrtc*.cpp, abi/nvjitlink*.cpp) compile and link through it.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "../common.hpp"
#include "../config.hpp"
#include "../exec/exec.hpp"

namespace emu::front {

// ------------------------------------------------------------------------------- compile

struct Header {
    std::string name, text;
};

struct CompileRequest {
    std::string source;
    std::string name;                           // "default_program" when none was given
    std::vector<Header> headers;
    std::vector<std::string> options;           // as NVRTC takes them
    std::vector<std::string> name_expressions;
};

enum class CompileStatus {
    ok,
    invalid_option,
    compile_error,
    name_expression_not_valid,
    no_toolchain, // the log says what to install
    internal_error,
};

struct CompileResult {
    CompileStatus status = CompileStatus::internal_error;
    std::string log;                            // errors and warnings, in NVRTC's form
    Bytes cubin;                                // host ELF: .so, or .o when relocatable
    Bytes ptx;                                  // text container; NUL-terminated
    Bytes lto;                                  // text container, when -dlto was given
    std::map<std::string, std::string> lowered; // name expression -> symbol
    bool from_cache = false;
};

CompileResult compile(const CompileRequest& request);

std::vector<int> supported_architectures();     // 75, 80, ..., as nvrtcGetSupportedArchs

// -------------------------------------------------------------------------------- images

// What a pointer given to cuModuleLoadData or cuLibraryLoadData is.
enum class ImageKind {
    host_module,   // our ELF .so
    host_object,   // our ELF .o: link first
    text,          // our text container: compile when loaded
    library,       // objects in an archive: link first
    foreign_ptx,   // all of these: CUDA_ERROR_NO_BINARY_FOR_GPU
    foreign_cubin,
    fatbin,
    nvvm,
    unknown,       // CUDA_ERROR_INVALID_IMAGE
};

// Reads no further than the headers; `known_size` 0 when the caller has a pointer only.
// Gives the size of the image, 0 when it cannot be told.
ImageKind inspect_image(const void* image, size_t known_size, size_t* size);

struct KernelInfo {
    std::string name;       // lowered name
    std::string shown;      // demangled
    EmuEntry entry = nullptr;
    std::vector<EmuParameter> parameters;
    uint32_t parameter_bytes = 0;
    uint32_t static_shared = 0;
    uint32_t constant_bytes = 0;
    uint32_t local_bytes = 0;
    uint32_t registers = 0; // an estimate, stable for one text
    uint32_t max_threads = 0, min_blocks = 0, max_cluster = 0; // 0: not given
    Dim3 cluster{0, 0, 0};
    std::string file;
    int line = 0;
};

struct GlobalInfo {
    std::string name;       // lowered name
    void* address = nullptr;
    size_t size = 0;
    EmuVariableKind kind = EMU_VARIABLE_DEVICE;
};

// One loaded copy of an image, with its own variables. Unloaded by the destructor, which
// the owner runs only when no launch of it is left.
class LoadedModule {
public:
    virtual ~LoadedModule() = default;
    virtual const std::vector<KernelInfo>& kernels() const = 0;
    virtual const std::vector<GlobalInfo>& globals() const = 0;
    virtual const KernelInfo* find_kernel(const std::string& name) const = 0;
    virtual const GlobalInfo* find_global(const std::string& name) const = 0;
    virtual uint64_t image() const = 0;     // as registered with exec
    virtual size_t memory_bytes() const = 0;
};

struct LoadRequest {
    const void* image = nullptr;
    size_t size = 0;                         // 0: not known
    int device = 0;
    Checks checks;                           // texts are compiled with them
    std::vector<std::string> options;        // for texts
};

struct LoadResult {
    std::shared_ptr<LoadedModule> module;    // null on error
    Error error;
    std::string info_log, error_log;         // for CU_JIT_*_LOG_BUFFER
};

LoadResult load_image(const LoadRequest& request);

// Kernels of an image without a loaded copy of it (cuLibraryGetKernel, cuLibraryEnumerate-
// Kernels work without a context): everything of KernelInfo but `entry`.
struct ImageContents {
    std::vector<KernelInfo> kernels;
    std::vector<GlobalInfo> globals;
    Bytes module;                            // the host module, to be given to load_image
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
    std::vector<LinkInput> inputs;           // objects, texts, modules in any mixture
    std::vector<std::string> options;        // as nvJitLink takes them
    bool text_output = false;                // -ptx: join texts instead
};

struct LinkResult {
    Error error;
    Bytes image;                             // host ELF .so, or a text container
    std::string info_log, error_log;         // undefined symbols are named here
};

LinkResult link(const LinkRequest& request);

// ----------------------------------------------------------------------------- toolchain

struct Toolchain {
    std::vector<std::string> command;        // {"g++"} or {python, "-m", "ziglang", "c++"}
    std::string kind;                        // "gcc" or "clang"
    std::string version;
    std::string error;                       // not empty: there is none, and what to do
};

const Toolchain& toolchain();                // probed once per process

struct CacheStatistics {
    uint64_t hits = 0, misses = 0, failures = 0;
    std::string folder;                      // empty: no cache
};
CacheStatistics cache_statistics();

// File, line and function of an address, read from the image's line table.
exec::CodePlace symbolize(const exec::Image& image, uintptr_t pc);

// The interpreter of this process, which may have a compiler installed; to be told before the first use.
void set_python(const std::string& path);

} // namespace emu::front
