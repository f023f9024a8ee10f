// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The NVRTC interface, implemented by `front`. Every function that the bindings look up is here: if one were missing,
// they would load NVIDIA's library.
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "../front/front.hpp"
#include "../front/process.hpp"
#include "abi.hpp"

using namespace emu;

namespace {

enum nvrtcResult {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INVALID_PROGRAM = 4,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6,
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8,
    NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9,
    NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID = 10,
    NVRTC_ERROR_INTERNAL_ERROR = 11,
    NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED = 13,
    NVRTC_ERROR_PCH_CREATE = 15,
    NVRTC_ERROR_CANCELLED = 16,
};

const char* const result_texts[] = {
    "NVRTC_SUCCESS",
    "NVRTC_ERROR_OUT_OF_MEMORY",
    "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
    "NVRTC_ERROR_INVALID_INPUT",
    "NVRTC_ERROR_INVALID_PROGRAM",
    "NVRTC_ERROR_INVALID_OPTION",
    "NVRTC_ERROR_COMPILATION",
    "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
    "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
    "NVRTC_ERROR_INTERNAL_ERROR",
    "NVRTC_ERROR_TIME_FILE_WRITE_FAILED",
    "NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED",
    "NVRTC_ERROR_PCH_CREATE_HEAP_EXHAUSTED",
    "NVRTC_ERROR_PCH_CREATE",
    "NVRTC_ERROR_CANCELLED",
    "NVRTC_ERROR_TIME_TRACE_FILE_WRITE_FAILED",
    "NVRTC_ERROR_BUSY",
};

struct Program {
    std::mutex mutex;
    front::CompileRequest request;
    front::CompileResult result;
    bool compiled = false; // a compilation was attempted
    bool succeeded = false;
    int (*callback)(void*, void*) = nullptr; // cancels the compilation by returning 1
    void* payload = nullptr;
};

typedef struct _nvrtcProgram* nvrtcProgram;

struct Programs {
    std::mutex mutex;
    std::map<nvrtcProgram, std::shared_ptr<Program>> live;
    uintptr_t next = 0x4e560010;
};

// Never destroyed, because programs may be used while the process exits.
Programs& programs()
{
    static Programs* all = new Programs;
    return *all;
}

std::shared_ptr<Program> find_program(nvrtcProgram handle)
{
    Programs& all = programs();
    std::lock_guard<std::mutex> lock(all.mutex);
    auto found = all.live.find(handle);
    return found == all.live.end() ? nullptr : found->second;
}

nvrtcResult result_of(front::CompileStatus status)
{
    switch (status) {
    case front::CompileStatus::ok: return NVRTC_SUCCESS;
    case front::CompileStatus::invalid_option: return NVRTC_ERROR_INVALID_OPTION;
    case front::CompileStatus::compile_error: return NVRTC_ERROR_COMPILATION;
    case front::CompileStatus::name_expression_not_valid: return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    case front::CompileStatus::no_toolchain: return NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
    case front::CompileStatus::internal_error: break;
    }
    return NVRTC_ERROR_INTERNAL_ERROR;
}

template <class F> nvrtcResult with_program(nvrtcProgram handle, F f)
{
    try {
        auto program = find_program(handle);
        if (!program)
            return NVRTC_ERROR_INVALID_PROGRAM;
        std::lock_guard<std::mutex> lock(program->mutex);
        return f(*program);
    } catch (const std::bad_alloc&) {
        return NVRTC_ERROR_OUT_OF_MEMORY;
    } catch (...) {
        return NVRTC_ERROR_INTERNAL_ERROR;
    }
}

nvrtcResult return_output_size(nvrtcProgram handle, size_t* size, Bytes front::CompileResult::* member, size_t without)
{
    return with_program(handle, [&](Program& program) {
        if (!size)
            return NVRTC_ERROR_INVALID_INPUT;
        const Bytes& bytes = program.result.*member;
        *size = bytes.empty() ? without : bytes.size();
        return NVRTC_SUCCESS;
    });
}

nvrtcResult copy_output(nvrtcProgram handle, char* to, Bytes front::CompileResult::* member, bool text)
{
    return with_program(handle, [&](Program& program) {
        const Bytes& bytes = program.result.*member;
        if (!to)
            return NVRTC_ERROR_INVALID_INPUT;
        if (!bytes.empty())
            std::memcpy(to, bytes.data(), bytes.size());
        else if (text)
            *to = 0;
        return NVRTC_SUCCESS;
    });
}

size_t pch_heap = size_t(256) << 20;

} // namespace

extern "C" {

EMU_EXPORT const char* nvrtcGetErrorString(nvrtcResult result)
{
    auto index = size_t(result);
    return index < sizeof result_texts / sizeof *result_texts ? result_texts[index] : "NVRTC_ERROR unknown";
}

EMU_EXPORT nvrtcResult nvrtcVersion(int* major, int* minor)
{
    if (!major || !minor)
        return NVRTC_ERROR_INVALID_INPUT;
    *major = config().driver_version / 1000;
    *minor = config().driver_version % 1000 / 10;
    return NVRTC_SUCCESS;
}

EMU_EXPORT nvrtcResult nvrtcGetNumSupportedArchs(int* count)
{
    if (!count)
        return NVRTC_ERROR_INVALID_INPUT;
    *count = int(front::supported_architectures().size());
    return NVRTC_SUCCESS;
}

EMU_EXPORT nvrtcResult nvrtcGetSupportedArchs(int* architectures)
{
    if (!architectures)
        return NVRTC_ERROR_INVALID_INPUT;
    for (int one : front::supported_architectures())
        *architectures++ = one;
    return NVRTC_SUCCESS;
}

EMU_EXPORT nvrtcResult nvrtcCreateProgram(nvrtcProgram* out, const char* source, const char* name, int header_count,
                                          const char* const* headers, const char* const* header_names)
{
    if (!out || !source || header_count < 0 || (header_count && (!headers || !header_names)))
        return NVRTC_ERROR_INVALID_INPUT;
    if (!emu::abi::are_variables_valid())
        return NVRTC_ERROR_INVALID_INPUT;
    try {
        auto program = std::make_shared<Program>();
        program->request.source = source;
        program->request.name = name ? name : "";
        for (int i = 0; i < header_count; ++i) {
            if (!headers[i] || !header_names[i])
                return NVRTC_ERROR_INVALID_INPUT;
            program->request.headers.push_back({header_names[i], headers[i]});
        }
        Programs& all = programs();
        std::lock_guard<std::mutex> lock(all.mutex);
        all.next += 16;
        auto handle = reinterpret_cast<nvrtcProgram>(all.next);
        all.live[handle] = program;
        *out = handle;
        return NVRTC_SUCCESS;
    } catch (...) {
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
}

EMU_EXPORT nvrtcResult nvrtcDestroyProgram(nvrtcProgram* handle)
{
    if (!handle)
        return NVRTC_ERROR_INVALID_PROGRAM;
    Programs& all = programs();
    std::lock_guard<std::mutex> lock(all.mutex);
    if (!all.live.erase(*handle))
        return NVRTC_ERROR_INVALID_PROGRAM;
    *handle = nullptr;
    return NVRTC_SUCCESS;
}

EMU_EXPORT nvrtcResult nvrtcCompileProgram(nvrtcProgram handle, int count, const char* const* options)
{
    return with_program(handle, [&](Program& program) {
        if (count < 0 || (count && !options))
            return NVRTC_ERROR_INVALID_INPUT;
        program.request.options.clear();
        for (int i = 0; i < count; ++i) {
            if (!options[i])
                return NVRTC_ERROR_INVALID_INPUT;
            program.request.options.emplace_back(options[i]);
        }
        program.compiled = true;
        program.succeeded = false;
        program.result = front::CompileResult();
        front::CancelScope scope([&] { return program.callback && program.callback(program.payload, nullptr) == 1; });
        if (scope.ask()) {
            program.result.log = "Compilation cancelled.\n";
            return NVRTC_ERROR_CANCELLED;
        }
        program.result = front::compile(program.request);
        if (scope.happened()) {
            program.result = front::CompileResult();
            program.result.log = "Compilation cancelled.\n";
            return NVRTC_ERROR_CANCELLED;
        }
        program.succeeded = program.result.status == front::CompileStatus::ok;
        return result_of(program.result.status);
    });
}

EMU_EXPORT nvrtcResult nvrtcGetPTXSize(nvrtcProgram handle, size_t* size)
{
    return return_output_size(handle, size, &front::CompileResult::ptx, 1);
}

EMU_EXPORT nvrtcResult nvrtcGetPTX(nvrtcProgram handle, char* to)
{
    return copy_output(handle, to, &front::CompileResult::ptx, true);
}

EMU_EXPORT nvrtcResult nvrtcGetCUBINSize(nvrtcProgram handle, size_t* size)
{
    return return_output_size(handle, size, &front::CompileResult::cubin, 0);
}

EMU_EXPORT nvrtcResult nvrtcGetCUBIN(nvrtcProgram handle, char* to)
{
    return copy_output(handle, to, &front::CompileResult::cubin, false);
}

EMU_EXPORT nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram handle, size_t* size)
{
    return return_output_size(handle, size, &front::CompileResult::lto, 0);
}

EMU_EXPORT nvrtcResult nvrtcGetLTOIR(nvrtcProgram handle, char* to)
{
    return copy_output(handle, to, &front::CompileResult::lto, false);
}

// OptiX IR and Tile IR are never produced: their size is 0, as for a program that was not compiled for them.
EMU_EXPORT nvrtcResult nvrtcGetOptiXIRSize(nvrtcProgram handle, size_t* size)
{
    return with_program(handle,
                        [&](Program&) { return size ? (*size = 0, NVRTC_SUCCESS) : NVRTC_ERROR_INVALID_INPUT; });
}

EMU_EXPORT nvrtcResult nvrtcGetOptiXIR(nvrtcProgram handle, char*)
{
    return with_program(handle, [](Program&) { return NVRTC_SUCCESS; });
}

EMU_EXPORT nvrtcResult nvrtcGetTileIRSize(nvrtcProgram handle, size_t* size)
{
    return nvrtcGetOptiXIRSize(handle, size);
}

EMU_EXPORT nvrtcResult nvrtcGetTileIR(nvrtcProgram handle, char* to)
{
    return nvrtcGetOptiXIR(handle, to);
}

EMU_EXPORT nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram handle, size_t* size)
{
    return with_program(handle, [&](Program& program) {
        return size ? (*size = program.result.log.size() + 1, NVRTC_SUCCESS) : NVRTC_ERROR_INVALID_INPUT;
    });
}

EMU_EXPORT nvrtcResult nvrtcGetProgramLog(nvrtcProgram handle, char* to)
{
    return with_program(handle, [&](Program& program) {
        if (!to)
            return NVRTC_ERROR_INVALID_INPUT;
        std::memcpy(to, program.result.log.c_str(), program.result.log.size() + 1);
        return NVRTC_SUCCESS;
    });
}

EMU_EXPORT nvrtcResult nvrtcAddNameExpression(nvrtcProgram handle, const char* expression)
{
    return with_program(handle, [&](Program& program) {
        if (!expression)
            return NVRTC_ERROR_INVALID_INPUT;
        if (program.compiled)
            return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
        program.request.name_expressions.emplace_back(expression);
        return NVRTC_SUCCESS;
    });
}

EMU_EXPORT nvrtcResult nvrtcGetLoweredName(nvrtcProgram handle, const char* expression, const char** name)
{
    return with_program(handle, [&](Program& program) {
        if (!expression || !name)
            return NVRTC_ERROR_INVALID_INPUT;
        if (!program.succeeded)
            return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
        auto found = program.result.lowered.find(expression);
        if (found == program.result.lowered.end())
            return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
        *name = found->second.c_str();
        return NVRTC_SUCCESS;
    });
}

EMU_EXPORT nvrtcResult nvrtcSetFlowCallback(nvrtcProgram handle, int (*callback)(void*, void*), void* payload)
{
    return with_program(handle, [&](Program& program) {
        if (!callback)
            return NVRTC_ERROR_INVALID_INPUT;
        program.callback = callback;
        program.payload = payload;
        return NVRTC_SUCCESS;
    });
}

// --------------------------------------------------------------- precompiled headers
// Compiling is fast without them: a file is written where one was asked for, and nothing reads it.

EMU_EXPORT nvrtcResult nvrtcGetPCHHeapSize(size_t* size)
{
    return size ? (*size = pch_heap, NVRTC_SUCCESS) : NVRTC_ERROR_INVALID_INPUT;
}

EMU_EXPORT nvrtcResult nvrtcSetPCHHeapSize(size_t size)
{
    pch_heap = size;
    return NVRTC_SUCCESS;
}

EMU_EXPORT nvrtcResult nvrtcGetPCHCreateStatus(nvrtcProgram handle)
{
    using Pch = front::CompileResult::Pch;
    return with_program(handle, [](Program& program) {
        Pch pch = program.result.pch;
        return pch == Pch::created  ? NVRTC_SUCCESS
               : pch == Pch::failed ? NVRTC_ERROR_PCH_CREATE
                                    : NVRTC_ERROR_NO_PCH_CREATE_ATTEMPTED;
    });
}

EMU_EXPORT nvrtcResult nvrtcGetPCHHeapSizeRequired(nvrtcProgram handle, size_t* size)
{
    return with_program(handle,
                        [&](Program&) { return size ? (*size = 0, NVRTC_SUCCESS) : NVRTC_ERROR_INVALID_INPUT; });
}

// ------------------------------------------------------------------- bundled headers
// Our device headers are always found; we may not distribute CUDA's headers.

struct nvrtcBundledHeadersInfo {
    int available;
    size_t compressedSize, uncompressedSize;
    int cudaVersionMajor, cudaVersionMinor;
    unsigned int numFiles;
};

static nvrtcResult no_bundle(const char** log)
{
    if (log)
        *log = "The software device has no bundled CUDA headers; its own are found without any option.";
    return NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
}

EMU_EXPORT nvrtcResult nvrtcGetBundledHeadersInfo(nvrtcBundledHeadersInfo* info, const char** log)
{
    if (log)
        *log = nullptr;
    if (!info)
        return NVRTC_ERROR_INVALID_INPUT;
    *info = nvrtcBundledHeadersInfo();
    return NVRTC_SUCCESS;
}

EMU_EXPORT nvrtcResult nvrtcInstallBundledHeaders(const char* path, unsigned int, const char** log)
{
    return path ? no_bundle(log) : NVRTC_ERROR_INVALID_INPUT;
}

EMU_EXPORT nvrtcResult nvrtcRemoveBundledHeaders(const char* path, const char** log)
{
    return path ? no_bundle(log) : NVRTC_ERROR_INVALID_INPUT;
}

} // extern "C"
