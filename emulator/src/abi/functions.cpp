// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Functions and kernels: attributes, parameters, occupancy.
#include <algorithm>
#include <climits>

#include "../state/code/module.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

template <class Handle> CUresult need_function(Handle handle, std::shared_ptr<Function>* out)
{
    *out = Function::find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// Returns the device of a CUfunction. For a kernel in its place, returns the current device.
CUresult device_of(const Function& function, int* out)
{
    std::shared_ptr<Context> context;
    if (auto module = function.module())
        context = module->context();
    if (!context)
        TRY(need_context(&context));
    *out = context->device().ordinal();
    return CUDA_SUCCESS;
}

CUresult parameter(const Function& function, size_t index, size_t* offset, size_t* size)
{
    const auto& parameters = function.info().parameters;
    REQUIRE(offset && index < parameters.size(), CUDA_ERROR_INVALID_VALUE);
    *offset = parameters[index].offset;
    if (size)
        *size = parameters[index].size;
    return CUDA_SUCCESS;
}

} // namespace

ENTRY(cuFuncGetAttribute, 2020)(int* pi, CUfunction_attribute attrib, CUfunction hfunc)
{
    std::shared_ptr<Function> function;
    int device = 0;
    REQUIRE(pi, CUDA_ERROR_INVALID_VALUE);
    TRY(need_function(hfunc, &function));
    TRY(device_of(*function, &device));
    return function->attribute(attrib, device, pi);
}

ENTRY(cuFuncSetAttribute, 9000)(CUfunction hfunc, CUfunction_attribute attrib, int value)
{
    std::shared_ptr<Function> function;
    int device = 0;
    TRY(need_function(hfunc, &function));
    TRY(device_of(*function, &device));
    return function->set_attribute(attrib, device, value);
}

ENTRY(cuFuncSetCacheConfig, 3000)(CUfunction hfunc, CUfunc_cache config)
{
    std::shared_ptr<Function> function;
    REQUIRE(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL, CUDA_ERROR_INVALID_VALUE);
    return need_function(hfunc, &function); // a hint with no effect here
}

ENTRY(cuFuncGetModule, 11000)(CUmodule* hmod, CUfunction hfunc)
{
    std::shared_ptr<Function> function;
    REQUIRE(hmod, CUDA_ERROR_INVALID_VALUE);
    TRY(need_function(hfunc, &function));
    auto module = function->module();
    REQUIRE(module, CUDA_ERROR_INVALID_HANDLE);
    *hmod = module->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuFuncGetName, 12030)(const char** name, CUfunction hfunc)
{
    std::shared_ptr<Function> function;
    REQUIRE(name, CUDA_ERROR_INVALID_VALUE);
    TRY(need_function(hfunc, &function));
    *name = function->info().name.c_str();
    return CUDA_SUCCESS;
}

ENTRY(cuFuncGetParamCount, 13020)(CUfunction func, size_t* paramCount)
{
    std::shared_ptr<Function> function;
    REQUIRE(paramCount, CUDA_ERROR_INVALID_VALUE);
    TRY(need_function(func, &function));
    *paramCount = function->info().parameters.size();
    return CUDA_SUCCESS;
}

ENTRY(cuFuncGetParamInfo, 12040)(CUfunction func, size_t paramIndex, size_t* paramOffset, size_t* paramSize)
{
    std::shared_ptr<Function> function;
    TRY(need_function(func, &function));
    return parameter(*function, paramIndex, paramOffset, paramSize);
}

ENTRY(cuFuncIsLoaded, 12040)(CUfunctionLoadingState* state, CUfunction function)
{
    std::shared_ptr<Function> found;
    REQUIRE(state, CUDA_ERROR_INVALID_VALUE);
    TRY(need_function(function, &found));
    *state = found->is_kernel() ? CU_FUNCTION_LOADING_STATE_UNLOADED : CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
}

ENTRY(cuFuncLoad, 12040)(CUfunction function)
{
    std::shared_ptr<Context> context;
    std::shared_ptr<Function> found, loaded;
    TRY(need_context(&context));
    TRY(need_function(function, &found));
    return found->is_kernel() ? found->in(*context, &loaded) : CUDA_SUCCESS;
}

// -------------------------------------------------------------------------------- kernels

ENTRY(cuKernelGetFunction, 12000)(CUfunction* pFunc, CUkernel kernel)
{
    std::shared_ptr<Context> context;
    std::shared_ptr<Function> found, loaded;
    REQUIRE(pFunc, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    TRY(need_function(kernel, &found));
    TRY(found->in(*context, &loaded));
    *pFunc = loaded->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuKernelGetLibrary, 12050)(CUlibrary* pLib, CUkernel kernel)
{
    std::shared_ptr<Function> found;
    REQUIRE(pLib, CUDA_ERROR_INVALID_VALUE);
    TRY(need_function(kernel, &found));
    auto library = found->library();
    REQUIRE(library, CUDA_ERROR_INVALID_HANDLE);
    *pLib = library->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuKernelGetName, 12030)(const char** name, CUkernel hfunc)
{
    std::shared_ptr<Function> found;
    REQUIRE(name, CUDA_ERROR_INVALID_VALUE);
    TRY(need_function(hfunc, &found));
    *name = found->info().name.c_str();
    return CUDA_SUCCESS;
}

ENTRY(cuKernelGetParamCount, 13020)(CUkernel kernel, size_t* paramCount)
{
    std::shared_ptr<Function> found;
    REQUIRE(paramCount, CUDA_ERROR_INVALID_VALUE);
    TRY(need_function(kernel, &found));
    *paramCount = found->info().parameters.size();
    return CUDA_SUCCESS;
}

ENTRY(cuKernelGetParamInfo, 12040)(CUkernel kernel, size_t paramIndex, size_t* paramOffset, size_t* paramSize)
{
    std::shared_ptr<Function> found;
    TRY(need_function(kernel, &found));
    return parameter(*found, paramIndex, paramOffset, paramSize);
}

ENTRY(cuKernelGetAttribute, 12000)(int* pi, CUfunction_attribute attrib, CUkernel kernel, CUdevice dev)
{
    std::shared_ptr<Function> found;
    REQUIRE(pi, CUDA_ERROR_INVALID_VALUE);
    TRY(need_function(kernel, &found));
    return found->attribute(attrib, dev, pi);
}

ENTRY(cuKernelSetAttribute, 12000)(CUfunction_attribute attrib, int val, CUkernel kernel, CUdevice dev)
{
    std::shared_ptr<Function> found;
    TRY(need_function(kernel, &found));
    return found->set_attribute(attrib, dev, val);
}

ENTRY(cuKernelSetCacheConfig, 12000)(CUkernel kernel, CUfunc_cache config, CUdevice dev)
{
    std::shared_ptr<Function> found;
    REQUIRE(config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(device_at(dev), CUDA_ERROR_INVALID_DEVICE);
    return need_function(kernel, &found);
}

// ------------------------------------------------------------------------------ occupancy

namespace {

struct Subject {
    std::shared_ptr<Context> context;
    std::shared_ptr<Function> function;

    CUresult find(CUfunction handle)
    {
        TRY(need_context(&context));
        return need_function(handle, &function);
    }
    const Device& device() const { return context->device(); }
    int most_threads() const { return function->max_threads(device().ordinal()); }
    int blocks(int threads, size_t dynamic_shared) const
    {
        if (threads > most_threads() || dynamic_shared > size_t(function->max_dynamic_shared(device().ordinal())))
            return 0;
        return blocks_per_multiprocessor(
            device(), {uint32_t(threads), function->info().registers, function->info().static_shared + dynamic_shared});
    }
};

int threads_of(const CUlaunchConfig& config)
{
    uint64_t count = Dim3{config.blockDimX, config.blockDimY, config.blockDimZ}.count();
    return int(std::min<uint64_t>(count, INT_MAX));
}

} // namespace

// The largest cluster: 8 blocks, or 16 if the kernel allows non-portable sizes.
ENTRY(cuOccupancyMaxPotentialClusterSize, 11070)(int* clusterSize, CUfunction func, const CUlaunchConfig* config)
{
    Subject subject;
    REQUIRE(clusterSize && config, CUDA_ERROR_INVALID_VALUE);
    TRY(subject.find(func));
    REQUIRE(subject.device().number(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(subject.blocks(threads_of(*config), config->sharedMemBytes), CUDA_ERROR_INVALID_VALUE);
    int wide = subject.function->settings(subject.device().ordinal()).non_portable_cluster;
    *clusterSize = wide ? 16 : 8;
    return CUDA_SUCCESS;
}

ENTRY(cuOccupancyMaxActiveClusters, 11070)(int* numClusters, CUfunction func, const CUlaunchConfig* config)
{
    Subject subject;
    REQUIRE(numClusters && config, CUDA_ERROR_INVALID_VALUE);
    TRY(subject.find(func));
    const Device& device = subject.device();
    REQUIRE(device.number(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), CUDA_ERROR_NOT_SUPPORTED);
    const state::FunctionSettings settings = subject.function->settings(device.ordinal());
    Dim3 written = subject.function->info().cluster;
    uint64_t size = written.x ? written.count() : 1; // without a cluster size, a block is a cluster
    if (!written.x && settings.cluster[0])
        size = uint64_t(settings.cluster[0]) * uint64_t(std::max(1, settings.cluster[1])) *
               uint64_t(std::max(1, settings.cluster[2]));
    for (unsigned i = 0; i < config->numAttrs; ++i)
        if (config->attrs && config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            const auto& given = config->attrs[i].value.clusterDim;
            size = Dim3{given.x, given.y, given.z}.count();
        }
    REQUIRE(size >= 1, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(size <= (settings.non_portable_cluster ? 16u : 8u), CUDA_ERROR_INVALID_CLUSTER_SIZE);
    // A cluster is placed in one group of up to 16 SMs.
    int all = device.number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    int blocks = subject.blocks(threads_of(*config), config->sharedMemBytes), clusters = 0;
    for (int left = all; left > 0; left -= 16)
        clusters += std::min(left, 16) * blocks / int(size);
    *numClusters = clusters;
    return CUDA_SUCCESS;
}

ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050)(int* numBlocks, CUfunction func, int blockSize,
                                                         size_t dynamicSMemSize)
{
    Subject subject;
    REQUIRE(numBlocks && blockSize > 0, CUDA_ERROR_INVALID_VALUE);
    TRY(subject.find(func));
    *numBlocks = subject.blocks(blockSize, dynamicSMemSize);
    return CUDA_SUCCESS;
}

ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000)(int* numBlocks, CUfunction func, int blockSize,
                                                                  size_t dynamicSMemSize, unsigned int flags)
{
    REQUIRE((flags & ~1u) == 0, CUDA_ERROR_INVALID_VALUE);
    return entry_cuOccupancyMaxActiveBlocksPerMultiprocessor_6050(numBlocks, func, blockSize, dynamicSMemSize);
}

// Finds the block size with the most resident threads, starting from the largest.
ENTRY(cuOccupancyMaxPotentialBlockSize, 6050)(int* minGridSize, int* blockSize, CUfunction func,
                                              CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                              int blockSizeLimit)
{
    Subject subject;
    REQUIRE(minGridSize && blockSize && blockSizeLimit >= 0, CUDA_ERROR_INVALID_VALUE);
    TRY(subject.find(func));
    const int warp = 32;
    int most = subject.most_threads();
    if (blockSizeLimit)
        most = std::min(most, blockSizeLimit);
    int best = 0, best_blocks = 0;
    for (int size = (most + warp - 1) / warp * warp; size > 0; size -= warp) {
        int threads = std::min(size, most);
        size_t shared = blockSizeToDynamicSMemSize ? blockSizeToDynamicSMemSize(threads) : dynamicSMemSize;
        int blocks = subject.blocks(threads, shared);
        if (blocks * threads > best * best_blocks) {
            best = threads;
            best_blocks = blocks;
        }
    }
    *blockSize = best;
    *minGridSize = best_blocks * subject.device().number(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    return CUDA_SUCCESS;
}

ENTRY(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000)(int* minGridSize, int* blockSize, CUfunction func,
                                                       CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                       size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags)
{
    REQUIRE((flags & ~1u) == 0, CUDA_ERROR_INVALID_VALUE);
    return entry_cuOccupancyMaxPotentialBlockSize_6050(minGridSize, blockSize, func, blockSizeToDynamicSMemSize,
                                                       dynamicSMemSize, blockSizeLimit);
}

ENTRY(cuOccupancyAvailableDynamicSMemPerBlock, 10020)(size_t* dynamicSmemSize, CUfunction func, int numBlocks,
                                                      int blockSize)
{
    Subject subject;
    REQUIRE(dynamicSmemSize && numBlocks > 0 && blockSize > 0, CUDA_ERROR_INVALID_VALUE);
    TRY(subject.find(func));
    // This query ignores other limits on the blocks of an SM.
    int most = subject.device().number(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
    REQUIRE(numBlocks <= most && subject.blocks(blockSize, 0), CUDA_ERROR_INVALID_VALUE);
    const size_t allowed = size_t(subject.function->max_dynamic_shared(subject.device().ordinal()));
    const size_t left = shared_left(subject.device(), numBlocks, subject.function->info().static_shared);
    *dynamicSmemSize = std::min(left, allowed);
    return CUDA_SUCCESS;
}
