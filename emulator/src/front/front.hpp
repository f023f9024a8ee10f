// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// From CUDA C++ source to loaded kernels: scanner, toolchain, cache, ELF reader, linker. This room knows no contexts:
// `state` loads modules through it, the facades of NVRTC and nvJitLink (abi/nvrtc.cpp, abi/nvjitlink.cpp) compile and
// link through it.
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
    std::vector<std::string> options; // as NVRTC takes them
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
    std::string log;                            // errors and warnings, in the form of NVRTC
    Bytes cubin;                                // host ELF: a .so file, or .o if relocatable
    Bytes ptx;                                  // text container, terminated by a zero
    Bytes lto;                                  // text container, with -dlto
    std::map<std::string, std::string> lowered; // name expression -> symbol
    bool from_cache = false;
};

CompileResult compile(const CompileRequest& request);

std::vector<int> supported_architectures(); // 75, 80, ..., as nvrtcGetSupportedArchs returns them

// -------------------------------------------------------------------------------- images

// The kinds of data that cuModuleLoadData and cuLibraryLoadData are given.
enum class ImageKind {
    host_module, // our ELF .so
    host_object, // our ELF .o, to be linked first
    text,        // our text container, compiled when loaded
    library,     // an archive of objects, to be linked first
    ptx,         // of an open compiler: translated and compiled when loaded
    foreign_cubin, // these all give CUDA_ERROR_NO_BINARY_FOR_GPU
    fatbin,
    nvvm,
    unknown,       // CUDA_ERROR_INVALID_IMAGE
};

// Finds the kind and the size of an image by its headers. `known_size` is 0 if the caller has only a pointer; `size`
// becomes 0 if it cannot be determined.
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
    uint32_t max_threads = 0, min_blocks = 0, max_cluster = 0; // 0: not given
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

// A loaded copy of an image, with variables of its own. The destructor unloads it; the owner makes sure that no launch
// of it is left.
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
    Checks checks;                    // texts are compiled with these checks
    std::vector<std::string> options; // for texts
};

struct LoadResult {
    std::shared_ptr<LoadedModule> module; // null after an error
    Error error;
    std::string info_log, error_log; // for the CU_JIT_*_LOG_BUFFER options
};

LoadResult load_image(const LoadRequest& request);

// The kernels of an image that is not loaded (cuLibraryGetKernel and cuLibraryEnumerateKernels need no context): all of
// KernelInfo but `entry`.
struct ImageContents {
    std::vector<KernelInfo> kernels;
    std::vector<GlobalInfo> globals;
    Bytes module; // the host module, which load_image() takes
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
    std::vector<LinkInput> inputs;    // objects, texts and modules, also mixed
    std::vector<std::string> options; // as nvJitLink takes them
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
    std::string error; // what to install if there is no compiler; empty if there is one
};

const Toolchain& toolchain(); // searched once per process

struct CacheStatistics {
    uint64_t hits = 0, misses = 0, failures = 0;
    std::string folder; // empty: no cache
};
CacheStatistics cache_statistics();

// File, line and function of an address, from the line table of the image.
exec::CodePlace symbolize(const exec::Image& image, uintptr_t pc);

// Adds the counts of an image to those of the process, and writes them into the folder of CUDA_EMULATOR_COVERAGE.
void add_coverage(const exec::Image& image, std::atomic<uint64_t>* counts);

// Sets the interpreter of this process, which may have a compiler installed as a package; called before the first use.
void set_python(const std::string& path);

} // namespace emu::front
