// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The nvJitLink interface: it links the output of our NVRTC facade, and rejects everything else.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>

#include "../front/front.hpp"

using namespace emu;

namespace {

enum nvJitLinkResult {
    NVJITLINK_SUCCESS = 0,
    NVJITLINK_ERROR_UNRECOGNIZED_OPTION = 1,
    NVJITLINK_ERROR_INVALID_INPUT = 3,
    NVJITLINK_ERROR_INTERNAL = 6,
    NVJITLINK_ERROR_UNRECOGNIZED_INPUT = 8,
    NVJITLINK_ERROR_NULL_INPUT = 10,
    NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS = 11,
    NVJITLINK_ERROR_INCORRECT_INPUT_TYPE = 12,
    NVJITLINK_ERROR_ARCH_MISMATCH = 13,
    NVJITLINK_ERROR_UNRECOGNIZED_ARCH = 16,
    NVJITLINK_ERROR_LTO_NOT_ENABLED = 18,
};

enum nvJitLinkInputType {
    NVJITLINK_INPUT_NONE = 0,
    NVJITLINK_INPUT_CUBIN = 1,
    NVJITLINK_INPUT_PTX = 2,
    NVJITLINK_INPUT_LTOIR = 3,
    NVJITLINK_INPUT_FATBIN = 4,
    NVJITLINK_INPUT_OBJECT = 5,
    NVJITLINK_INPUT_LIBRARY = 6,
    NVJITLINK_INPUT_INDEX = 7,
    NVJITLINK_INPUT_ANY = 10,
};

const char* const type_names[] = {"NONE", "CUBIN", "PTX", "LTOIR", "FATBIN", "OBJECT", "LIBRARY", "INDEX"};

struct Linker {
    std::mutex mutex;
    front::LinkRequest request;
    bool link_time = false, text = false, all_link_time = true;
    bool completed = false, succeeded = false;
    Bytes image;
    std::string error_log, info_log;
};

typedef struct nvJitLink* nvJitLinkHandle;

struct Linkers {
    std::mutex mutex;
    std::map<nvJitLinkHandle, std::shared_ptr<Linker>> live;
    uintptr_t next = 0x4e4a0010;
};

Linkers& linkers()
{
    static Linkers* all = new Linkers; // not destroyed: programs may use it at exit
    return *all;
}

template <class F> nvJitLinkResult with_linker(nvJitLinkHandle handle, F f)
{
    try {
        std::shared_ptr<Linker> linker;
        {
            Linkers& all = linkers();
            std::lock_guard<std::mutex> lock(all.mutex);
            auto found = all.live.find(handle);
            if (found == all.live.end())
                return handle ? NVJITLINK_ERROR_INVALID_INPUT : NVJITLINK_ERROR_NULL_INPUT;
            linker = found->second;
        }
        std::lock_guard<std::mutex> lock(linker->mutex);
        return f(*linker);
    } catch (...) {
        return NVJITLINK_ERROR_INTERNAL;
    }
}

bool begins(const std::string& text, const char* with)
{
    return text.compare(0, std::strlen(with), with) == 0;
}

nvJitLinkResult read_architecture(const std::string& value, bool* real)
{
    std::string digits = begins(value, "sm_") ? value.substr(3) : begins(value, "compute_") ? value.substr(8) : "";
    char* end = nullptr;
    long number = std::strtol(digits.c_str(), &end, 10);
    std::string suffix = end;
    auto known = front::supported_architectures();
    if (std::find(known.begin(), known.end(), int(number)) == known.end() ||
        (suffix != "" && suffix != "a" && suffix != "f"))
        return NVJITLINK_ERROR_UNRECOGNIZED_ARCH;
    *real = begins(value, "sm_");
    return NVJITLINK_SUCCESS;
}

// Options accepted without effect: those with a value, and those without.
const char* const valued[] = {"-ftz=",
                              "-prec-div=",
                              "-prec-sqrt=",
                              "-fma=",
                              "-maxrregcount=",
                              "-kernels-used=",
                              "-variables-used=",
                              "-split-compile=",
                              "-split-compile-extended=",
                              "-jump-table-density=",
                              "-Ofc=",
                              "--device-stack-protector=",
                              "-Xptxas=",
                              "-Xnvvm="};
const char* const flags[] = {"-time", "-verbose", "-g",        "-lineinfo",
                             "-O0",   "-O3",      "-no-cache", "-optimize-unused-variables",
                             "-nvvm-latest"};

nvJitLinkResult read_options(const std::vector<std::string>& options, Linker* linker)
{
    bool architecture = false, real = true;
    for (const std::string& option : options) {
        if (begins(option, "-arch=")) {
            architecture = true;
            if (nvJitLinkResult error = read_architecture(option.substr(6), &real))
                return error;
        } else if (option == "-lto") {
            linker->link_time = true;
        } else if (option == "-ptx") {
            linker->text = true;
        } else {
            bool known =
                std::any_of(std::begin(valued), std::end(valued), [&](const char* v) { return begins(option, v); }) ||
                std::any_of(std::begin(flags), std::end(flags), [&](const char* v) { return option == v; });
            if (!known)
                return NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
        }
    }
    if (!architecture)
        return NVJITLINK_ERROR_NULL_INPUT; // like nvJitLink 13.5, which does not return MISSING_ARCH
    if ((linker->text && !linker->link_time) || (!real && !(linker->text && linker->link_time)))
        return NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS;
    return NVJITLINK_SUCCESS;
}

// Returns true if an image is of the kind named by the caller.
bool has_type(front::ImageKind kind, nvJitLinkInputType type)
{
    bool code = kind == front::ImageKind::host_module || kind == front::ImageKind::host_object;
    switch (type) {
    case NVJITLINK_INPUT_CUBIN:
    case NVJITLINK_INPUT_OBJECT: return code || kind == front::ImageKind::foreign_cubin;
    case NVJITLINK_INPUT_LIBRARY: return kind == front::ImageKind::library;
    case NVJITLINK_INPUT_PTX: return kind == front::ImageKind::text || kind == front::ImageKind::ptx;
    case NVJITLINK_INPUT_LTOIR: return kind == front::ImageKind::text || kind == front::ImageKind::nvvm;
    case NVJITLINK_INPUT_FATBIN: return kind == front::ImageKind::fatbin;
    case NVJITLINK_INPUT_ANY: return kind != front::ImageKind::unknown;
    default: return false;
    }
}

nvJitLinkResult add_input(Linker& linker, nvJitLinkInputType type, const void* data, size_t size,
                          const std::string& name)
{
    bool known_type = (type >= NVJITLINK_INPUT_CUBIN && type <= NVJITLINK_INPUT_INDEX) || type == NVJITLINK_INPUT_ANY;
    if (!data || !size || !known_type || linker.completed)
        return data ? NVJITLINK_ERROR_INVALID_INPUT : NVJITLINK_ERROR_NULL_INPUT;
    front::ImageKind kind = front::inspect_image(data, size, nullptr);
    if (!has_type(kind, type)) {
        if (type == NVJITLINK_INPUT_ANY) {
            linker.error_log += "unrecognized input type: " + name + "\n";
            return NVJITLINK_ERROR_UNRECOGNIZED_INPUT;
        }
        linker.error_log +=
            std::string("ERROR 1: bad input: does not match type NVJITLINK_INPUT_") + type_names[type] + name + "\n";
        return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
    }
    bool ours = kind == front::ImageKind::host_module || kind == front::ImageKind::host_object ||
                kind == front::ImageKind::text || kind == front::ImageKind::ptx ||
                kind == front::ImageKind::library;
    if (!ours) {
        linker.error_log += "ERROR 4: bad input:" + name +
                            ": it contains code made for NVIDIA GPUs; the software device links only its own output\n";
        return NVJITLINK_ERROR_INVALID_INPUT;
    }
    if (type == NVJITLINK_INPUT_LTOIR && !linker.link_time) {
        linker.error_log += "ERROR 1: LTO-IR input cannot be used without LTO enabled (-lto)\n";
        return NVJITLINK_ERROR_LTO_NOT_ENABLED;
    }
    linker.all_link_time = linker.all_link_time && type == NVJITLINK_INPUT_LTOIR;
    auto* bytes = static_cast<const std::byte*>(data);
    linker.request.inputs.push_back({Bytes(bytes, bytes + size), name});
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult complete(Linker& linker)
{
    if (linker.completed)
        return NVJITLINK_ERROR_INTERNAL;
    linker.completed = true;
    if (linker.text && !linker.all_link_time) {
        linker.error_log += "ERROR: -ptx requires that all inputs have LTOIR\n";
        return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
    }
    linker.request.text_output = linker.text;
    front::LinkResult result = front::link(linker.request);
    linker.info_log += result.info_log;
    if (result.error) {
        linker.error_log += result.error_log + "ERROR 9: complete\n";
        return NVJITLINK_ERROR_INTERNAL;
    }
    linker.image = std::move(result.image);
    linker.succeeded = true;
    return NVJITLINK_SUCCESS;
}

nvJitLinkResult return_image_size(nvJitLinkHandle handle, size_t* size, bool text)
{
    return with_linker(handle, [&](Linker& linker) {
        if (!size)
            return NVJITLINK_ERROR_NULL_INPUT;
        if (!linker.succeeded || linker.text != text)
            return text ? NVJITLINK_ERROR_INVALID_INPUT : NVJITLINK_ERROR_INTERNAL;
        *size = linker.image.size();
        return NVJITLINK_SUCCESS;
    });
}

nvJitLinkResult copy_image(nvJitLinkHandle handle, void* to, bool text)
{
    return with_linker(handle, [&](Linker& linker) {
        if (!to)
            return NVJITLINK_ERROR_NULL_INPUT;
        if (!linker.succeeded || linker.text != text)
            return text ? NVJITLINK_ERROR_INVALID_INPUT : NVJITLINK_ERROR_INTERNAL;
        std::memcpy(to, linker.image.data(), linker.image.size());
        return NVJITLINK_SUCCESS;
    });
}

// A log's size includes the terminating zero; an empty log has size 0.
nvJitLinkResult log_size(nvJitLinkHandle handle, size_t* size, std::string Linker::* log)
{
    return with_linker(handle, [&](Linker& linker) {
        if (!size)
            return NVJITLINK_ERROR_NULL_INPUT;
        const std::string& text = linker.*log;
        *size = text.empty() ? 0 : text.size() + 1;
        return NVJITLINK_SUCCESS;
    });
}

nvJitLinkResult log_text(nvJitLinkHandle handle, char* to, std::string Linker::* log)
{
    return with_linker(handle, [&](Linker& linker) {
        const std::string& text = linker.*log;
        if (!to && !text.empty())
            return NVJITLINK_ERROR_NULL_INPUT;
        if (!text.empty())
            std::memcpy(to, text.c_str(), text.size() + 1);
        return NVJITLINK_SUCCESS;
    });
}

} // namespace

extern "C" {

EMU_EXPORT nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle* out, uint32_t count, const char** options)
{
    if (!out || (count && !options))
        return NVJITLINK_ERROR_NULL_INPUT;
    try {
        auto linker = std::make_shared<Linker>();
        std::vector<std::string> words;
        for (uint32_t i = 0; i < count; ++i) {
            if (!options[i])
                return NVJITLINK_ERROR_NULL_INPUT;
            words.emplace_back(options[i]);
        }
        if (nvJitLinkResult error = read_options(words, linker.get()))
            return error;
        linker->request.options = words;
        Linkers& all = linkers();
        std::lock_guard<std::mutex> lock(all.mutex);
        all.next += 16;
        *out = reinterpret_cast<nvJitLinkHandle>(all.next);
        all.live[*out] = linker;
        return NVJITLINK_SUCCESS;
    } catch (...) {
        return NVJITLINK_ERROR_INTERNAL;
    }
}

EMU_EXPORT nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle* handle)
{
    if (!handle || !*handle)
        return NVJITLINK_ERROR_NULL_INPUT;
    Linkers& all = linkers();
    std::lock_guard<std::mutex> lock(all.mutex);
    if (!all.live.erase(*handle))
        return NVJITLINK_ERROR_INVALID_INPUT;
    *handle = nullptr;
    return NVJITLINK_SUCCESS;
}

EMU_EXPORT nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType type, const void* data,
                                            size_t size, const char* name)
{
    return with_linker(handle, [&](Linker& linker) { return add_input(linker, type, data, size, name ? name : ""); });
}

EMU_EXPORT nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType type, const char* path)
{
    return with_linker(handle, [&](Linker& linker) {
        if (!path)
            return NVJITLINK_ERROR_NULL_INPUT;
        std::ifstream file(path, std::ios::binary);
        std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        if (!file || text.empty()) {
            linker.error_log += std::string("ERROR 2: could not read file: ") + path + "\n";
            return NVJITLINK_ERROR_INVALID_INPUT;
        }
        return add_input(linker, type, text.data(), text.size(), path);
    });
}

EMU_EXPORT nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle)
{
    return with_linker(handle, [](Linker& linker) { return complete(linker); });
}

EMU_EXPORT nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t* size)
{
    return return_image_size(handle, size, false);
}

EMU_EXPORT nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void* to)
{
    return copy_image(handle, to, false);
}

EMU_EXPORT nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t* size)
{
    return return_image_size(handle, size, true);
}

EMU_EXPORT nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char* to)
{
    return copy_image(handle, to, true);
}

EMU_EXPORT nvJitLinkResult nvJitLinkGetLinkedLTOIRSize(nvJitLinkHandle, size_t*)
{
    return NVJITLINK_ERROR_INVALID_INPUT; // linking produces no LTO IR
}

EMU_EXPORT nvJitLinkResult nvJitLinkGetLinkedLTOIR(nvJitLinkHandle, void*)
{
    return NVJITLINK_ERROR_INVALID_INPUT;
}

EMU_EXPORT nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t* size)
{
    return log_size(handle, size, &Linker::error_log);
}

EMU_EXPORT nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char* to)
{
    return log_text(handle, to, &Linker::error_log);
}

EMU_EXPORT nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t* size)
{
    return log_size(handle, size, &Linker::info_log);
}

EMU_EXPORT nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char* to)
{
    return log_text(handle, to, &Linker::info_log);
}

EMU_EXPORT nvJitLinkResult nvJitLinkVersion(unsigned int* major, unsigned int* minor)
{
    if (!major || !minor)
        return NVJITLINK_ERROR_NULL_INPUT;
    *major = unsigned(config().driver_version / 1000);
    *minor = unsigned(config().driver_version % 1000 / 10);
    return NVJITLINK_SUCCESS;
}

} // extern "C"

// NVIDIA's libraries, such as those that PyTorch needs, call the functions by names with the version of CUDA that they
// were built for, and cannot be loaded without them.
#define VERSION(name, version) \
    ".globl __nvJitLink" #name "_" #version "\n.set __nvJitLink" #name "_" #version ", nvJitLink" #name "\n"
#define VERSIONS(name) \
    VERSION(name, 12_0) VERSION(name, 12_1) VERSION(name, 12_2) VERSION(name, 12_3) VERSION(name, 12_4) \
    VERSION(name, 12_5) VERSION(name, 12_6) VERSION(name, 12_7) VERSION(name, 12_8) VERSION(name, 12_9) \
    VERSION(name, 13_0) VERSION(name, 13_1) VERSION(name, 13_2) VERSION(name, 13_3) VERSION(name, 13_4) \
    VERSION(name, 13_5) VERSION(name, 13_6) VERSION(name, 13_7) VERSION(name, 13_8) VERSION(name, 13_9)
__asm__(VERSIONS(Create) VERSIONS(Destroy) VERSIONS(AddData) VERSIONS(AddFile) VERSIONS(Complete));
__asm__(VERSIONS(GetLinkedCubinSize) VERSIONS(GetLinkedCubin) VERSIONS(GetLinkedPtxSize) VERSIONS(GetLinkedPtx));
__asm__(VERSIONS(GetLinkedLTOIRSize) VERSIONS(GetLinkedLTOIR));
__asm__(VERSIONS(GetErrorLogSize) VERSIONS(GetErrorLog) VERSIONS(GetInfoLogSize) VERSIONS(GetInfoLog));
