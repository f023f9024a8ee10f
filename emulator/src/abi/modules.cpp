// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Modules and libraries.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "../state/code/module.hpp"
#include "../state/memory/arena.hpp"
#include "calls.hpp"
#include "jit_options.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

CUresult need_module(CUmodule handle, std::shared_ptr<Module>* out)
{
    *out = Module::find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult need_library(CUlibrary handle, std::shared_ptr<Library>* out)
{
    *out = Library::find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult read_file(const char* path, Bytes* out)
{
    REQUIRE(path, CUDA_ERROR_INVALID_VALUE);
    FILE* file = std::fopen(path, "rbe");
    REQUIRE(file, CUDA_ERROR_FILE_NOT_FOUND);
    std::byte part[65536];
    while (size_t count = std::fread(part, 1, sizeof part, file))
        out->insert(out->end(), part, part + count);
    bool failed = std::ferror(file);
    std::fclose(file);
    size_t size = out->size();
    out->push_back(std::byte{0}); // text images end with a zero
    return failed || !size ? CUDA_ERROR_INVALID_IMAGE : CUDA_SUCCESS;
}

CUresult load_module(CUmodule* out, const void* image, size_t size, JitOptions& options)
{
    std::shared_ptr<Context> context;
    REQUIRE(out && image, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    front::LoadRequest request;
    request.image = image;
    request.size = size;
    std::string info, error;
    CUresult result = Module::load(*context, request, &info, &error, out);
    options.give(info, error);
    return result;
}

CUresult load_library(CUlibrary* out, const void* image, size_t size, JitOptions& options)
{
    REQUIRE(out && image, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    front::LoadRequest request;
    request.image = image;
    request.size = size;
    std::string info, error;
    CUresult result = Library::load(request, &info, &error, out);
    options.give(info, error);
    return result;
}

} // namespace

ENTRY(cuModuleLoad, 2000)(CUmodule* module, const char* fname)
{
    Bytes bytes;
    JitOptions none;
    TRY(read_file(fname, &bytes));
    return load_module(module, bytes.data(), bytes.size() - 1, none);
}

ENTRY(cuModuleLoadData, 2000)(CUmodule* module, const void* image)
{
    JitOptions none;
    return load_module(module, image, 0, none);
}

ENTRY(cuModuleLoadDataEx, 2010)(CUmodule* module, const void* image, unsigned int numOptions, CUjit_option* options,
                                void** optionValues)
{
    JitOptions logs;
    TRY(logs.read(numOptions, options, optionValues));
    return load_module(module, image, 0, logs);
}

ENTRY(cuModuleLoadFatBinary, 2000)(CUmodule* module, const void* fatCubin)
{
    JitOptions none;
    return load_module(module, fatCubin, 0, none);
}

ENTRY(cuModuleUnload, 2000)(CUmodule hmod)
{
    std::shared_ptr<Context> context;
    std::shared_ptr<Module> module;
    TRY(need_any_context(&context));
    TRY(need_module(hmod, &module));
    REQUIRE(!module->is_of_library(), CUDA_ERROR_INVALID_VALUE);
    TRY(Module::unload(hmod));
    return context->sticky();
}

ENTRY(cuModuleGetLoadingMode, 11070)(CUmoduleLoadingMode* mode)
{
    REQUIRE(mode, CUDA_ERROR_INVALID_VALUE);
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

ENTRY(cuModuleGetFunction, 2000)(CUfunction* hfunc, CUmodule hmod, const char* name)
{
    std::shared_ptr<Context> context;
    std::shared_ptr<Module> module;
    std::shared_ptr<Function> function;
    REQUIRE(hfunc && name, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    TRY(need_module(hmod, &module));
    TRY(module->function(name, &function));
    *hfunc = function->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuModuleGetFunctionCount, 12040)(unsigned int* count, CUmodule mod)
{
    std::shared_ptr<Module> module;
    REQUIRE(count, CUDA_ERROR_INVALID_VALUE);
    TRY(need_module(mod, &module));
    *count = unsigned(module->code().kernels().size());
    return CUDA_SUCCESS;
}

ENTRY(cuModuleEnumerateFunctions, 12040)(CUfunction* functions, unsigned int numFunctions, CUmodule mod)
{
    std::shared_ptr<Module> module;
    REQUIRE(functions || !numFunctions, CUDA_ERROR_INVALID_VALUE);
    TRY(need_module(mod, &module));
    const auto& kernels = module->code().kernels();
    for (size_t i = 0; i < std::min<size_t>(numFunctions, kernels.size()); ++i) {
        std::shared_ptr<Function> function;
        TRY(module->function(kernels[i].name, &function));
        functions[i] = function->handle();
    }
    return CUDA_SUCCESS;
}

ENTRY(cuModuleGetGlobal, 3020)(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name)
{
    std::shared_ptr<Context> context;
    std::shared_ptr<Module> module;
    REQUIRE(name, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    TRY(need_module(hmod, &module));
    return module->global(name, dptr, bytes);
}

// ------------------------------------------------------------------------------ libraries

ENTRY(cuLibraryLoadData, 12000)(CUlibrary* library, const void* code, CUjit_option* jitOptions, void** jitOptionsValues,
                                unsigned int numJitOptions, CUlibraryOption*, void**, unsigned int)
{
    JitOptions logs;
    TRY(logs.read(numJitOptions, jitOptions, jitOptionsValues));
    return load_library(library, code, 0, logs);
}

ENTRY(cuLibraryLoadFromFile, 12000)(CUlibrary* library, const char* fileName, CUjit_option* jitOptions,
                                    void** jitOptionsValues, unsigned int numJitOptions, CUlibraryOption*, void**,
                                    unsigned int)
{
    Bytes bytes;
    JitOptions logs;
    TRY(logs.read(numJitOptions, jitOptions, jitOptionsValues));
    TRY(read_file(fileName, &bytes));
    return load_library(library, bytes.data(), bytes.size() - 1, logs);
}

ENTRY(cuLibraryUnload, 12000)(CUlibrary library)
{
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    return Library::unload(library);
}

ENTRY(cuLibraryGetKernel, 12000)(CUkernel* pKernel, CUlibrary library, const char* name)
{
    std::shared_ptr<Library> found;
    REQUIRE(pKernel && name, CUDA_ERROR_INVALID_VALUE);
    TRY(need_library(library, &found));
    return found->kernel(name, pKernel);
}

ENTRY(cuLibraryGetKernelCount, 12040)(unsigned int* count, CUlibrary lib)
{
    std::shared_ptr<Library> found;
    REQUIRE(count, CUDA_ERROR_INVALID_VALUE);
    TRY(need_library(lib, &found));
    *count = unsigned(found->contents().kernels.size());
    return CUDA_SUCCESS;
}

ENTRY(cuLibraryEnumerateKernels, 12040)(CUkernel* kernels, unsigned int numKernels, CUlibrary lib)
{
    std::shared_ptr<Library> found;
    REQUIRE(kernels || !numKernels, CUDA_ERROR_INVALID_VALUE);
    TRY(need_library(lib, &found));
    auto all = found->kernels();
    std::copy_n(all.begin(), std::min<size_t>(numKernels, all.size()), kernels);
    return CUDA_SUCCESS;
}

ENTRY(cuLibraryGetModule, 12000)(CUmodule* pMod, CUlibrary library)
{
    std::shared_ptr<Context> context;
    std::shared_ptr<Library> found;
    std::shared_ptr<Module> module;
    REQUIRE(pMod, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    TRY(need_library(library, &found));
    TRY(found->module_in(*context, &module));
    *pMod = module->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuLibraryGetGlobal, 12000)(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name)
{
    CUmodule module = nullptr;
    REQUIRE((dptr || bytes) && name, CUDA_ERROR_INVALID_VALUE);
    TRY(entry_cuLibraryGetModule_12000(&module, library));
    return Module::find(module)->global(name, dptr, bytes);
}

ENTRY(cuLibraryGetManaged, 12000)(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name)
{
    std::shared_ptr<Library> found;
    REQUIRE((dptr || bytes) && name, CUDA_ERROR_INVALID_VALUE);
    TRY(need_library(library, &found));
    for (const auto& global : found->contents().globals)
        if (global.name == name && global.kind == EMU_VARIABLE_MANAGED)
            return entry_cuLibraryGetGlobal_12000(dptr, bytes, library, name);
    return CUDA_ERROR_NOT_FOUND;
}
