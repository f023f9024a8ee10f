// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The kernels and device variables of whole programs, which name them by functions and variables of the host, and the
// functions of the CUDA runtime that take such a name. cuda/emulator/programs registers them before main() is called.
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "../exec/signals.hpp"
#include "../front/contents.hpp"
#include "runtime.hpp"

namespace emu::abi {

struct dim3 {
    unsigned x, y, z;
};
struct cudaFuncAttributes { // the beginning, which the runtime has had since CUDA 12
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int values[13]; // those of the driver's attributes in `attributes`
};
struct cudaKernelNodeParams {
    void* func;
    dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams, **extra;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    CUstream stream;
    CUlaunchAttribute* attrs;
    unsigned numAttrs;
};
using cudaFuncAttribute = CUfunction_attribute;
using cudaHostNodeParams = CUDA_HOST_NODE_PARAMS_v1;
using cudaMemsetParams = CUDA_MEMSET_NODE_PARAMS_v1;

namespace {

struct Variable {
    CUlibrary library;
    std::string name;
};

struct Names {
    std::mutex mutex;
    std::map<const void*, CUkernel> kernels;
    std::set<const void*> checked; // kernels
    std::map<const void*, Variable> variables;
    std::map<CUdeviceptr*, Variable> managed; // by the places of references
    static Names& get()
    {
        static auto* names = new Names;
        return *names;
    }
};

// The host part refers to the managed variables of device 0, and each device has its own.
int need_device_of_managed(const Names& names)
{
    CUdevice device = 0;
    if (names.managed.empty() || cuCtxGetDevice(&device) || device == 0)
        return CUDA_SUCCESS;
    say("a program with __managed__ variables can use kernels on device 0 only");
    return CUDA_ERROR_NOT_SUPPORTED;
}

int find_kernel(const void* host, CUfunction* out)
{
    CUkernel kernel = nullptr;
    {
        Names& names = Names::get();
        std::lock_guard lock(names.mutex);
        if (int failed = need_device_of_managed(names))
            return failed;
        auto found = names.kernels.find(host);
        if (found == names.kernels.end())
            return invalid_function;
        kernel = found->second;
    }
    return cuKernelGetFunction(out, kernel);
}

int find_variable(const void* host, CUdeviceptr* address, size_t* size)
{
    Variable variable{};
    {
        Names& names = Names::get();
        std::lock_guard lock(names.mutex);
        auto found = names.variables.find(host);
        if (found != names.variables.end())
            variable = found->second;
    }
    if (variable.library)
        return cuLibraryGetGlobal(address, size, variable.library, variable.name.c_str());
    // A managed variable is in the program what it is on the device.
    if (cuMemGetAddressRange_v2(address, size, number(host)) || *address != number(host))
        return invalid_symbol;
    return CUDA_SUCCESS;
}

int measure(const void* variable, size_t* size)
{
    CUdeviceptr address = 0;
    return size ? find_variable(variable, &address, size) : int(CUDA_ERROR_INVALID_VALUE);
}

bool is_shape(CUfunction function, dim3 grid, dim3 block)
{
    int most = 0;
    CUdevice device = 0;
    cuCtxGetDevice(&device);
    cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
    if (static_cast<unsigned long long>(block.x) * block.y * block.z > unsigned(most))
        return false;
    const unsigned extents[] = {block.x, block.y, block.z, grid.x, grid.y, grid.z};
    for (int i = 0; i < 6; ++i) {
        int limit = 0;
        cuDeviceGetAttribute(&limit, CUdevice_attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + i), device);
        if (!extents[i] || extents[i] > unsigned(limit))
            return false;
    }
    return true;
}

// A wrong grid or block has a code of its own in the runtime.
int judge(int failed, CUfunction function, dim3 grid, dim3 block)
{
    return failed == CUDA_ERROR_INVALID_VALUE && !is_shape(function, grid, block) ? invalid_configuration : failed;
}

int run_kernel(const void* host, dim3 grid, dim3 block, void** arguments, size_t shared, CUstream stream, bool together)
{
    CUfunction function = nullptr;
    if (int failed = find_kernel(host, &function))
        return failed;
    if (shared > ~0u)
        return CUDA_ERROR_INVALID_VALUE;
    auto bytes = unsigned(shared);
    int failed = together ? cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, bytes,
                                                      stream, arguments)
                          : cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, bytes, stream,
                                           arguments, nullptr);
    return judge(failed, function, grid, block);
}

CUlaunchConfig config_of(const cudaLaunchConfig_t& in)
{
    CUlaunchConfig out{};
    out.gridDimX = in.gridDim.x;
    out.gridDimY = in.gridDim.y;
    out.gridDimZ = in.gridDim.z;
    out.blockDimX = in.blockDim.x;
    out.blockDimY = in.blockDim.y;
    out.blockDimZ = in.blockDim.z;
    out.sharedMemBytes = unsigned(in.dynamicSmemBytes);
    out.hStream = in.stream;
    out.attrs = in.attrs;
    out.numAttrs = in.numAttrs;
    return out;
}

int run_configured(const cudaLaunchConfig_t* in, const void* host, void** arguments)
{
    CUfunction function = nullptr;
    if (!in || in->dynamicSmemBytes > ~0u)
        return CUDA_ERROR_INVALID_VALUE;
    if (int failed = find_kernel(host, &function))
        return failed;
    CUlaunchConfig config = config_of(*in);
    return judge(cuLaunchKernelEx(&config, function, arguments, nullptr), function, in->gridDim, in->blockDim);
}

int describe_kernel(cudaFuncAttributes* out, const void* host)
{
    static const int attributes[13] = {0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14};
    CUfunction function = nullptr;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (int failed = find_kernel(host, &function))
        return failed;
    auto read = [&](int attribute) {
        int value = 0;
        cuFuncGetAttribute(&value, CUfunction_attribute(attribute), function);
        return value;
    };
    out->sharedSizeBytes = size_t(read(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    out->constSizeBytes = size_t(read(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
    out->localSizeBytes = size_t(read(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    for (int i = 0; i < 13; ++i)
        out->values[i] = read(attributes[i]);
    return CUDA_SUCCESS;
}

// Calls `use` with the kernel that a function of the host stands for.
template <class F> int with_kernel(const void* host, F use)
{
    CUfunction function = nullptr;
    int failed = find_kernel(host, &function);
    return failed ? failed : int(use(function));
}

// Calls `use` with the address of bytes of a device variable.
template <class F> int with_variable(const void* host, size_t count, size_t offset, F use)
{
    CUdeviceptr address = 0;
    size_t size = 0;
    if (int failed = find_variable(host, &address, &size))
        return failed;
    if (offset > size || count > size - offset)
        return CUDA_ERROR_INVALID_VALUE;
    return use(reinterpret_cast<char*>(address) + offset);
}

int give(void* value, void** out)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = value;
    return CUDA_SUCCESS;
}

int describe_node(const cudaKernelNodeParams* in, CUDA_KERNEL_NODE_PARAMS* out)
{
    if (!in)
        return CUDA_ERROR_INVALID_VALUE;
    *out = {};
    out->gridDimX = in->gridDim.x;
    out->gridDimY = in->gridDim.y;
    out->gridDimZ = in->gridDim.z;
    out->blockDimX = in->blockDim.x;
    out->blockDimY = in->blockDim.y;
    out->blockDimZ = in->blockDim.z;
    out->sharedMemBytes = in->sharedMemBytes;
    out->kernelParams = in->kernelParams;
    out->extra = in->extra;
    return find_kernel(in->func, &out->func);
}

template <class F> int with_node(const cudaKernelNodeParams* in, F use)
{
    CUDA_KERNEL_NODE_PARAMS node{};
    int failed = describe_node(in, &node);
    return failed ? failed : int(use(&node));
}

int recall_node(CUgraphNode node, cudaKernelNodeParams* out)
{
    CUDA_KERNEL_NODE_PARAMS d{};
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    if (int failed = cuGraphKernelNodeGetParams_v2(node, &d))
        return failed;
    *out = {nullptr, {d.gridDimX, d.gridDimY, d.gridDimZ}, {d.blockDimX, d.blockDimY, d.blockDimZ}, d.sharedMemBytes,
            d.kernelParams, d.extra};
    Names& names = Names::get();
    std::lock_guard lock(names.mutex);
    for (const auto& [host, kernel] : names.kernels) {
        CUfunction function = nullptr;
        if (kernel == d.kern || (!cuKernelGetFunction(&function, kernel) && function == d.func))
            out->func = const_cast<void*>(host);
    }
    return CUDA_SUCCESS;
}

// Calls `use` with a kernel and the configuration of a launch that nobody makes.
template <class F> int with_clusters(const void* host, const cudaLaunchConfig_t* config, F use)
{
    CUfunction function = nullptr;
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    if (int failed = find_kernel(host, &function))
        return failed;
    CUlaunchConfig launch = config_of(*config);
    return use(function, &launch);
}

template <class F> int with_context(F use)
{
    CUcontext context = nullptr;
    int failed = cuCtxGetCurrent(&context);
    return failed ? failed : int(use(context));
}

template <class F> int with_copy(const cudaMemcpy3DParms* in, F use)
{
    CUDA_MEMCPY3D box{};
    int failed = describe_copy(in, &box);
    return failed ? failed : with_context([&](CUcontext context) { return use(&box, context); });
}

cudaMemcpy3DParms row(void* dst, const void* src, size_t count, int kind)
{
    cudaMemcpy3DParms out{};
    out.srcPtr = {const_cast<void*>(src), count, count, 1};
    out.dstPtr = {dst, count, count, 1};
    out.extent = {count, 1, 1};
    out.kind = kind;
    return out;
}

} // namespace

int place_managed_variables()
{
    Names& names = Names::get();
    std::lock_guard lock(names.mutex);
    size_t size = 0;
    if (names.managed.empty())
        return CUDA_SUCCESS;
    if (int failed = need_runtime_context())
        return failed;
    CUdevice device = 0;
    if (cuCtxGetDevice(&device) || device)
        return CUDA_SUCCESS;
    for (auto& [place, variable] : names.managed)
        if (int failed = cuLibraryGetManaged(place, &size, variable.library, variable.name.c_str()))
            return failed;
    return CUDA_SUCCESS;
}

// clang-format off
// ---------------------------------------------------------------------------------- kernels
OFFER(cudaLaunchKernel, (const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream), run_kernel(kernel, grid, block, arguments, shared, stream, false))
OFFER(cudaLaunchCooperativeKernel, (const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared, cudaStream_t stream), run_kernel(kernel, grid, block, arguments, shared, stream, true))
OFFER(cudaLaunchKernelExC, (const cudaLaunchConfig_t* config, const void* kernel, void** arguments), run_configured(config, kernel, arguments))
OFFER(cudaFuncGetAttributes, (cudaFuncAttributes* attributes, const void* kernel), describe_kernel(attributes, kernel))
OFFER(cudaFuncSetAttribute, (const void* kernel, cudaFuncAttribute attribute, int value), with_kernel(kernel, [&](CUfunction f) { return cuFuncSetAttribute(f, attribute, value); }))
OFFER(cudaFuncSetCacheConfig, (const void* kernel, cudaFuncCache config), with_kernel(kernel, [&](CUfunction f) { return cuFuncSetCacheConfig(f, config); }))
OFFER(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int* blocks, const void* kernel, int size, size_t shared), with_kernel(kernel, [&](CUfunction f) { return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, size, shared); }))
OFFER(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int* blocks, const void* kernel, int size, size_t shared, unsigned int flags), with_kernel(kernel, [&](CUfunction f) { return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, size, shared, flags); }))
OFFER(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t* shared, const void* kernel, int blocks, int size), with_kernel(kernel, [&](CUfunction f) { return cuOccupancyAvailableDynamicSMemPerBlock(shared, f, blocks, size); }))
OFFER(cudaOccupancyMaxPotentialBlockSize, (int* grid, int* block, const void* kernel, size_t shared, int limit), with_kernel(kernel, [&](CUfunction f) { return cuOccupancyMaxPotentialBlockSize(grid, block, f, nullptr, shared, limit); }))
OFFER(cudaOccupancyMaxActiveClusters, (int* clusters, const void* kernel, const cudaLaunchConfig_t* config), with_clusters(kernel, config, [&](CUfunction f, CUlaunchConfig* launch) { return cuOccupancyMaxActiveClusters(clusters, f, launch); }))
OFFER(cudaOccupancyMaxPotentialClusterSize, (int* size, const void* kernel, const cudaLaunchConfig_t* config), with_clusters(kernel, config, [&](CUfunction f, CUlaunchConfig* launch) { return cuOccupancyMaxPotentialClusterSize(size, f, launch); }))

// -------------------------------------------------------------------------------- variables
OFFER(cudaGetSymbolAddress, (void** address, const void* variable), with_variable(variable, 0, 0, [&](char* at) { return give(at, address); }))
OFFER(cudaGetSymbolSize, (size_t* size, const void* variable), measure(variable, size))
OFFER(cudaMemcpyToSymbol, (const void* variable, const void* src, size_t count, size_t offset, cudaMemcpyKind kind), with_variable(variable, count, offset, [&](char* at) { return cudaMemcpy(at, src, count, kind); }))
OFFER(cudaMemcpyFromSymbol, (void* dst, const void* variable, size_t count, size_t offset, cudaMemcpyKind kind), with_variable(variable, count, offset, [&](char* at) { return cudaMemcpy(dst, at, count, kind); }))
OFFER(cudaMemcpyToSymbolAsync, (const void* variable, const void* src, size_t count, size_t offset, cudaMemcpyKind kind, cudaStream_t stream), with_variable(variable, count, offset, [&](char* at) { return cudaMemcpyAsync(at, src, count, kind, stream); }))
OFFER(cudaMemcpyFromSymbolAsync, (void* dst, const void* variable, size_t count, size_t offset, cudaMemcpyKind kind, cudaStream_t stream), with_variable(variable, count, offset, [&](char* at) { return cudaMemcpyAsync(dst, at, count, kind, stream); }))

// --------------------------------------------------------------------------- nodes of graphs
OFFER(cudaGraphAddKernelNode, (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, const cudaKernelNodeParams* params), with_node(params, [&](CUDA_KERNEL_NODE_PARAMS* p) { return cuGraphAddKernelNode_v2(node, graph, after, count, p); }))
OFFER(cudaGraphKernelNodeGetParams, (cudaGraphNode_t node, cudaKernelNodeParams* params), recall_node(node, params))
OFFER(cudaGraphKernelNodeSetParams, (cudaGraphNode_t node, const cudaKernelNodeParams* params), with_node(params, [&](CUDA_KERNEL_NODE_PARAMS* p) { return cuGraphKernelNodeSetParams_v2(node, p); }))
OFFER(cudaGraphExecKernelNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams* params), with_node(params, [&](CUDA_KERNEL_NODE_PARAMS* p) { return cuGraphExecKernelNodeSetParams_v2(exec, node, p); }))
SERVE(cudaGraphAddMemcpyNode, (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, const cudaMemcpy3DParms* box), with_copy(box, [&](CUDA_MEMCPY3D* p, CUcontext context) { return cuGraphAddMemcpyNode(node, graph, after, count, p, context); }))
SERVE(cudaGraphAddMemcpyNode1D, (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t after_count, void* dst, const void* src, size_t count, cudaMemcpyKind kind), [&] { auto box = row(dst, src, count, kind); return with_copy(&box, [&](CUDA_MEMCPY3D* p, CUcontext context) { return cuGraphAddMemcpyNode(node, graph, after, after_count, p, context); }); }())
SERVE(cudaGraphExecMemcpyNodeSetParams1D, (cudaGraphExec_t exec, cudaGraphNode_t node, void* dst, const void* src, size_t count, cudaMemcpyKind kind), [&] { auto box = row(dst, src, count, kind); return with_copy(&box, [&](CUDA_MEMCPY3D* p, CUcontext context) { return cuGraphExecMemcpyNodeSetParams(exec, node, p, context); }); }())
SERVE(cudaGraphAddMemsetNode, (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, const cudaMemsetParams* params), with_context([&](CUcontext context) { return cuGraphAddMemsetNode(node, graph, after, count, params, context); }))
SERVE(cudaGraphExecMemsetNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams* params), with_context([&](CUcontext context) { return cuGraphExecMemsetNodeSetParams(exec, node, params, context); }))
SERVE(cudaGraphAddHostNode, (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, const cudaHostNodeParams* params), cuGraphAddHostNode(node, graph, after, count, params))
// clang-format on

} // namespace emu::abi

using namespace emu::abi;

// Ends the program if the host part and the device part, which are compiled one by one, disagree about a type.
extern "C" EMU_EXPORT void emulator_check_parameters(const void* host, const size_t* sizes)
{
    CUkernel kernel = nullptr;
    {
        Names& names = Names::get();
        std::lock_guard lock(names.mutex);
        auto found = names.kernels.find(host);
        if (found == names.kernels.end() || !names.checked.insert(host).second)
            return;
        kernel = found->second;
    }
    size_t offset = 0, size = 0;
    for (size_t i = 0; cuKernelGetParamInfo(kernel, i, &offset, &size) == CUDA_SUCCESS; ++i) {
        if (size == sizes[i])
            continue;
        const char* name = "";
        cuKernelGetName(&name, kernel);
        emu::say("parameter " + std::to_string(i) + " of kernel " + emu::front::demangled(name) + " has " + std::to_string(sizes[i]) +
                 " bytes in host code and " + std::to_string(size) + " in kernels");
        std::exit(1);
    }
}

// Lets a function of the host stand for a kernel.
extern "C" EMU_EXPORT void emulator_name_kernel(const void* host, CUkernel kernel)
{
    Names& names = Names::get();
    std::lock_guard lock(names.mutex);
    emu::exec::install_handlers(); // before the host part can access device memory
    names.kernels[host] = kernel;
}

// Lets a variable of the host stand for a variable of a library on each device.
extern "C" EMU_EXPORT void emulator_name_variable(const void* host, CUlibrary library, const char* name)
{
    Names& names = Names::get();
    std::lock_guard lock(names.mutex);
    names.variables[host] = {library, name};
}

// Lets a reference of the host refer to a managed variable of a library.
extern "C" EMU_EXPORT int emulator_name_managed(CUdeviceptr* place, CUlibrary library, const char* name)
{
    {
        Names& names = Names::get();
        std::lock_guard lock(names.mutex);
        names.managed[place] = {library, name};
    }
    return place_managed_variables();
}
