// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The functions of the runtime API.
#pragma once

// A function that the software device exports. Its own name would take the place of that of other libraries.
#define CUDA_EXPORTED(result, name, ...) extern "C" result name(__VA_ARGS__) __asm__("emulator_" #name);
#define CUDA_FUNCTION(name, ...) CUDA_EXPORTED(cudaError_t, name, __VA_ARGS__)

// ------------------------------------------------------------------ errors, devices

CUDA_EXPORTED(const char*, cudaGetErrorName, cudaError_t error)
CUDA_EXPORTED(const char*, cudaGetErrorString, cudaError_t error)
CUDA_FUNCTION(cudaGetLastError, void)
CUDA_FUNCTION(cudaPeekAtLastError, void)
CUDA_FUNCTION(cudaDriverGetVersion, int* version)
CUDA_FUNCTION(cudaGetDeviceCount, int* count)
CUDA_FUNCTION(cudaGetDevice, int* device)
CUDA_FUNCTION(cudaSetDevice, int device)
CUDA_FUNCTION(cudaInitDevice, int device, unsigned int device_flags, unsigned int flags)
CUDA_FUNCTION(cudaSetDeviceFlags, unsigned int flags)
CUDA_FUNCTION(cudaGetDeviceFlags, unsigned int* flags)
CUDA_FUNCTION(cudaDeviceGetAttribute, int* value, cudaDeviceAttr attribute, int device)
CUDA_FUNCTION(cudaDeviceGetPCIBusId, char* id, int length, int device)
CUDA_FUNCTION(cudaDeviceGetByPCIBusId, int* device, const char* id)
CUDA_FUNCTION(cudaDeviceGetP2PAttribute, int* value, cudaDeviceP2PAttr attribute, int from, int to)
CUDA_FUNCTION(cudaDeviceCanAccessPeer, int* can, int device, int peer)
CUDA_FUNCTION(cudaDeviceEnablePeerAccess, int peer, unsigned int flags)
CUDA_FUNCTION(cudaDeviceDisablePeerAccess, int peer)
CUDA_FUNCTION(cudaDeviceSynchronize, void)
CUDA_FUNCTION(cudaDeviceReset, void)
CUDA_FUNCTION(cudaDeviceGetLimit, size_t* value, cudaLimit limit)
CUDA_FUNCTION(cudaDeviceSetLimit, cudaLimit limit, size_t value)
CUDA_FUNCTION(cudaDeviceGetCacheConfig, cudaFuncCache* config)
CUDA_FUNCTION(cudaDeviceSetCacheConfig, cudaFuncCache config)
CUDA_FUNCTION(cudaDeviceGetStreamPriorityRange, int* least, int* greatest)
CUDA_FUNCTION(cudaProfilerStart, void)
CUDA_FUNCTION(cudaProfilerStop, void)

// The runtime is that of the headers.
inline cudaError_t cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
inline cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config)
{
    return *config = cudaSharedMemBankSizeFourByte, cudaSuccess;
}

// ------------------------------------------------------------------ streams, events

CUDA_FUNCTION(cudaStreamCreate, cudaStream_t* stream)
CUDA_FUNCTION(cudaStreamCreateWithFlags, cudaStream_t* stream, unsigned int flags)
CUDA_FUNCTION(cudaStreamCreateWithPriority, cudaStream_t* stream, unsigned int flags, int priority)
CUDA_FUNCTION(cudaStreamDestroy, cudaStream_t stream)
CUDA_FUNCTION(cudaStreamSynchronize, cudaStream_t stream)
CUDA_FUNCTION(cudaStreamQuery, cudaStream_t stream)
CUDA_FUNCTION(cudaStreamWaitEvent, cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0)
CUDA_FUNCTION(cudaStreamGetPriority, cudaStream_t stream, int* priority)
CUDA_FUNCTION(cudaStreamGetFlags, cudaStream_t stream, unsigned int* flags)
CUDA_FUNCTION(cudaStreamGetAttribute, cudaStream_t stream, cudaStreamAttrID attribute, cudaStreamAttrValue* value)
CUDA_FUNCTION(cudaStreamSetAttribute, cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue* value)
CUDA_FUNCTION(cudaCtxResetPersistingL2Cache, void)
CUDA_FUNCTION(cudaStreamAddCallback, cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned int flags)
CUDA_FUNCTION(cudaStreamAttachMemAsync, cudaStream_t stream, void* p, size_t size = 0, unsigned int flags = 4)
CUDA_FUNCTION(cudaLaunchHostFunc, cudaStream_t stream, cudaHostFn_t function, void* data)
CUDA_FUNCTION(cudaEventCreateWithFlags, cudaEvent_t* event, unsigned int flags)
CUDA_FUNCTION(cudaEventRecord, cudaEvent_t event, cudaStream_t stream = 0)
CUDA_FUNCTION(cudaEventRecordWithFlags, cudaEvent_t event, cudaStream_t stream, unsigned int flags)
CUDA_FUNCTION(cudaEventSynchronize, cudaEvent_t event)
CUDA_FUNCTION(cudaEventQuery, cudaEvent_t event)
CUDA_FUNCTION(cudaEventDestroy, cudaEvent_t event)
CUDA_FUNCTION(cudaEventElapsedTime, float* milliseconds, cudaEvent_t start, cudaEvent_t end)
CUDA_FUNCTION(cudaIpcGetEventHandle, cudaIpcEventHandle_t* handle, cudaEvent_t event)
CUDA_FUNCTION(cudaIpcOpenEventHandle, cudaEvent_t* event, cudaIpcEventHandle_t handle)
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags = 0)
{
    return cudaEventCreateWithFlags(event, flags);
}

// ------------------------------------------------------------------ memory

CUDA_FUNCTION(cudaMalloc, void** p, size_t size)
CUDA_FUNCTION(cudaMallocManaged, void** p, size_t size, unsigned int flags = cudaMemAttachGlobal)
CUDA_FUNCTION(cudaMallocPitch, void** p, size_t* pitch, size_t width, size_t height)
CUDA_FUNCTION(cudaHostAlloc, void** p, size_t size, unsigned int flags)
CUDA_FUNCTION(cudaHostGetDevicePointer, void** p, void* host, unsigned int flags)
CUDA_FUNCTION(cudaHostGetFlags, unsigned int* flags, void* p)
CUDA_FUNCTION(cudaHostRegister, void* p, size_t size, unsigned int flags)
CUDA_FUNCTION(cudaHostUnregister, void* p)
CUDA_FUNCTION(cudaFree, void* p)
CUDA_FUNCTION(cudaFreeHost, void* p)
CUDA_FUNCTION(cudaMemGetInfo, size_t* free, size_t* total)
CUDA_FUNCTION(cudaPointerGetAttributes, cudaPointerAttributes* attributes, const void* p)
CUDA_FUNCTION(cudaMemcpy, void* to, const void* from, size_t size, cudaMemcpyKind kind)
CUDA_FUNCTION(cudaMemcpyAsync, void* to, const void* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream = 0)
CUDA_FUNCTION(cudaMemcpyPeer, void* to, int to_device, const void* from, int from_device, size_t size)
CUDA_FUNCTION(cudaMemcpyPeerAsync, void* to, int to_device, const void* from, int from_device, size_t size,
              cudaStream_t stream = 0)
CUDA_FUNCTION(cudaMemcpy2D, void* to, size_t pitch, const void* from, size_t from_pitch, size_t width, size_t height,
              cudaMemcpyKind kind)
CUDA_FUNCTION(cudaMemcpy2DAsync, void* to, size_t pitch, const void* from, size_t from_pitch, size_t width,
              size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0)
CUDA_FUNCTION(cudaMemset, void* p, int value, size_t size)
CUDA_FUNCTION(cudaMemsetAsync, void* p, int value, size_t size, cudaStream_t stream = 0)
CUDA_FUNCTION(cudaMemset2D, void* p, size_t pitch, int value, size_t width, size_t height)
CUDA_FUNCTION(cudaMemset2DAsync, void* p, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream = 0)
CUDA_FUNCTION(cudaMallocAsync, void** p, size_t size, cudaStream_t stream)
CUDA_FUNCTION(cudaFreeAsync, void* p, cudaStream_t stream)
CUDA_FUNCTION(cudaMallocFromPoolAsync, void** p, size_t size, cudaMemPool_t pool, cudaStream_t stream)
CUDA_FUNCTION(cudaMemPoolCreate, cudaMemPool_t* pool, const cudaMemPoolProps* properties)
CUDA_FUNCTION(cudaMemPoolDestroy, cudaMemPool_t pool)
CUDA_FUNCTION(cudaMemPoolTrimTo, cudaMemPool_t pool, size_t size)
CUDA_FUNCTION(cudaMemPoolGetAttribute, cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value)
CUDA_FUNCTION(cudaMemPoolSetAttribute, cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value)
CUDA_FUNCTION(cudaMemPoolSetAccess, cudaMemPool_t pool, const cudaMemAccessDesc* rows, size_t count)
CUDA_FUNCTION(cudaDeviceGetDefaultMemPool, cudaMemPool_t* pool, int device)
CUDA_FUNCTION(cudaDeviceGetMemPool, cudaMemPool_t* pool, int device)
CUDA_FUNCTION(cudaDeviceSetMemPool, int device, cudaMemPool_t pool)
CUDA_FUNCTION(cudaMemRangeGetAttribute, void* data, size_t size, cudaMemRangeAttribute attribute, const void* p,
              size_t count)
CUDA_FUNCTION(cudaMemPrefetchAsync_v2, const void* p, size_t size, cudaMemLocation location, unsigned int flags,
              cudaStream_t stream)
CUDA_FUNCTION(cudaMemAdvise_v2, const void* p, size_t size, cudaMemoryAdvise advice, cudaMemLocation location)
CUDA_FUNCTION(cudaIpcGetMemHandle, cudaIpcMemHandle_t* handle, void* p)
CUDA_FUNCTION(cudaIpcOpenMemHandle, void** p, cudaIpcMemHandle_t handle, unsigned int flags)
CUDA_FUNCTION(cudaIpcCloseMemHandle, void* p)

template <class T> cudaError_t cudaMalloc(T** p, size_t size) { return cudaMalloc((void**)p, size); }
template <class T> cudaError_t cudaMallocManaged(T** p, size_t size, unsigned int flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void**)p, size, flags);
}
template <class T> cudaError_t cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t height)
{
    return cudaMallocPitch((void**)p, pitch, width, height);
}
template <class T> cudaError_t cudaHostAlloc(T** p, size_t size, unsigned int flags)
{
    return cudaHostAlloc((void**)p, size, flags);
}
template <class T> cudaError_t cudaMallocHost(T** p, size_t size, unsigned int flags = 0)
{
    return cudaHostAlloc((void**)p, size, flags);
}
template <class T> cudaError_t cudaHostGetDevicePointer(T** p, void* host, unsigned int flags)
{
    return cudaHostGetDevicePointer((void**)p, host, flags);
}
template <class T> cudaError_t cudaMallocAsync(T** p, size_t size, cudaStream_t stream)
{
    return cudaMallocAsync((void**)p, size, stream);
}
template <class T> cudaError_t cudaMallocAsync(T** p, size_t size, cudaMemPool_t pool, cudaStream_t stream)
{
    return cudaMallocFromPoolAsync((void**)p, size, pool, stream);
}
// Both the forms of CUDA 12, with a device, and those of CUDA 13, with a location.
inline cudaMemLocation cuda_location(int device)
{
    cudaMemLocation location = {};
    location.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    location.id = device == cudaCpuDeviceId ? 0 : device;
    return location;
}
inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t size, int device, cudaStream_t stream = 0)
{
    return cudaMemPrefetchAsync_v2(p, size, cuda_location(device), 0, stream);
}
inline cudaError_t cudaMemPrefetchAsync(const void* p, size_t size, cudaMemLocation location, unsigned int flags,
                                        cudaStream_t stream = 0)
{
    return cudaMemPrefetchAsync_v2(p, size, location, flags, stream);
}
inline cudaError_t cudaMemAdvise(const void* p, size_t size, cudaMemoryAdvise advice, int device)
{
    return cudaMemAdvise_v2(p, size, advice, cuda_location(device));
}
inline cudaError_t cudaMemAdvise(const void* p, size_t size, cudaMemoryAdvise advice, cudaMemLocation location)
{
    return cudaMemAdvise_v2(p, size, advice, location);
}

// ------------------------------------------------------------------ arrays, textures, boxes

CUDA_FUNCTION(cudaMallocArray, cudaArray_t* array, const cudaChannelFormatDesc* desc, size_t width, size_t height = 0,
              unsigned int flags = 0)
CUDA_FUNCTION(cudaMalloc3DArray, cudaArray_t* array, const cudaChannelFormatDesc* desc, cudaExtent extent,
              unsigned int flags = 0)
CUDA_FUNCTION(cudaFreeArray, cudaArray_t array)
CUDA_FUNCTION(cudaArrayGetInfo, cudaChannelFormatDesc* desc, cudaExtent* extent, unsigned int* flags, cudaArray_t array)
CUDA_FUNCTION(cudaGetChannelDesc, cudaChannelFormatDesc* desc, cudaArray_const_t array)
CUDA_FUNCTION(cudaMallocMipmappedArray, cudaMipmappedArray_t* array, const cudaChannelFormatDesc* desc,
              cudaExtent extent, unsigned int levels, unsigned int flags = 0)
CUDA_FUNCTION(cudaGetMipmappedArrayLevel, cudaArray_t* level, cudaMipmappedArray_const_t array, unsigned int number)
CUDA_FUNCTION(cudaFreeMipmappedArray, cudaMipmappedArray_t array)
CUDA_FUNCTION(cudaMalloc3D, cudaPitchedPtr* p, cudaExtent extent)
CUDA_FUNCTION(cudaMemset3D, cudaPitchedPtr p, int value, cudaExtent extent)
CUDA_FUNCTION(cudaMemset3DAsync, cudaPitchedPtr p, int value, cudaExtent extent, cudaStream_t stream = 0)
CUDA_FUNCTION(cudaMemcpy3D, const cudaMemcpy3DParms* box)
CUDA_FUNCTION(cudaMemcpy3DAsync, const cudaMemcpy3DParms* box, cudaStream_t stream = 0)
CUDA_FUNCTION(cudaMemcpy2DToArray, cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
              size_t height, cudaMemcpyKind kind)
CUDA_FUNCTION(cudaMemcpy2DToArrayAsync, cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch,
              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0)
CUDA_FUNCTION(cudaMemcpy2DFromArray, void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
              size_t height, cudaMemcpyKind kind)
CUDA_FUNCTION(cudaMemcpy2DFromArrayAsync, void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream = 0)
CUDA_FUNCTION(cudaMemcpy2DArrayToArray, cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t x,
              size_t y, size_t width, size_t height, cudaMemcpyKind kind = cudaMemcpyDeviceToDevice)
CUDA_FUNCTION(cudaMemcpyToArray, cudaArray_t to, size_t x, size_t y, const void* from, size_t size, cudaMemcpyKind kind)
CUDA_FUNCTION(cudaMemcpyFromArray, void* to, cudaArray_const_t from, size_t x, size_t y, size_t size,
              cudaMemcpyKind kind)
CUDA_FUNCTION(cudaCreateTextureObject, cudaTextureObject_t* object, const cudaResourceDesc* resource,
              const cudaTextureDesc* sampling, const cudaResourceViewDesc* view)
CUDA_FUNCTION(cudaGetTextureObjectResourceDesc, cudaResourceDesc* resource, cudaTextureObject_t object)
CUDA_FUNCTION(cudaGetTextureObjectTextureDesc, cudaTextureDesc* sampling, cudaTextureObject_t object)
CUDA_FUNCTION(cudaDestroyTextureObject, cudaTextureObject_t object)
CUDA_FUNCTION(cudaCreateSurfaceObject, cudaSurfaceObject_t* object, const cudaResourceDesc* resource)
CUDA_FUNCTION(cudaDestroySurfaceObject, cudaSurfaceObject_t object)

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind)
{
    return {x, y, z, w, kind};
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }
template <class T> cudaChannelFormatDesc cudaCreateChannelDesc();
#define CUDA_CHANNEL(T, n, bits, kind) \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T>() \
    { \
        return {bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0, cudaChannelFormatKind##kind}; \
    }
#define CUDA_CHANNELS(T, V, kind) \
    CUDA_CHANNEL(T, 1, 8 * sizeof(T), kind) CUDA_CHANNEL(V##1, 1, 8 * sizeof(T), kind) \
    CUDA_CHANNEL(V##2, 2, 8 * sizeof(T), kind) CUDA_CHANNEL(V##4, 4, 8 * sizeof(T), kind)
CUDA_CHANNEL(char, 1, 8, Signed)
CUDA_CHANNELS(signed char, char, Signed)
CUDA_CHANNELS(unsigned char, uchar, Unsigned)
CUDA_CHANNELS(short, short, Signed)
CUDA_CHANNELS(unsigned short, ushort, Unsigned)
CUDA_CHANNELS(int, int, Signed)
CUDA_CHANNELS(unsigned int, uint, Unsigned)
CUDA_CHANNELS(float, float, Float)
#undef CUDA_CHANNELS
#undef CUDA_CHANNEL

// ------------------------------------------------------------------ capture, graphs

CUDA_FUNCTION(cudaStreamBeginCapture, cudaStream_t stream, cudaStreamCaptureMode mode)
CUDA_FUNCTION(cudaStreamEndCapture, cudaStream_t stream, cudaGraph_t* graph)
CUDA_FUNCTION(cudaStreamIsCapturing, cudaStream_t stream, cudaStreamCaptureStatus* status)
CUDA_FUNCTION(cudaThreadExchangeStreamCaptureMode, cudaStreamCaptureMode* mode)
CUDA_FUNCTION(cudaGraphCreate, cudaGraph_t* graph, unsigned int flags)
CUDA_FUNCTION(cudaGraphClone, cudaGraph_t* clone, cudaGraph_t graph)
CUDA_FUNCTION(cudaGraphDestroy, cudaGraph_t graph)
CUDA_FUNCTION(cudaGraphDestroyNode, cudaGraphNode_t node)
CUDA_FUNCTION(cudaGraphAddKernelNode, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
              size_t count, const cudaKernelNodeParams* params)
CUDA_FUNCTION(cudaGraphKernelNodeGetParams, cudaGraphNode_t node, cudaKernelNodeParams* params)
CUDA_FUNCTION(cudaGraphKernelNodeSetParams, cudaGraphNode_t node, const cudaKernelNodeParams* params)
CUDA_FUNCTION(cudaGraphExecKernelNodeSetParams, cudaGraphExec_t exec, cudaGraphNode_t node,
              const cudaKernelNodeParams* params)
CUDA_FUNCTION(cudaGraphAddMemcpyNode, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
              size_t count, const cudaMemcpy3DParms* box)
CUDA_FUNCTION(cudaGraphAddMemcpyNode1D, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
              size_t count, void* to, const void* from, size_t size, cudaMemcpyKind kind)
CUDA_FUNCTION(cudaGraphExecMemcpyNodeSetParams1D, cudaGraphExec_t exec, cudaGraphNode_t node, void* to,
              const void* from, size_t size, cudaMemcpyKind kind)
CUDA_FUNCTION(cudaGraphAddMemsetNode, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
              size_t count, const cudaMemsetParams* params)
CUDA_FUNCTION(cudaGraphExecMemsetNodeSetParams, cudaGraphExec_t exec, cudaGraphNode_t node,
              const cudaMemsetParams* params)
CUDA_FUNCTION(cudaGraphAddHostNode, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
              size_t count, const cudaHostNodeParams* params)
CUDA_FUNCTION(cudaGraphAddEmptyNode, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
              size_t count)
CUDA_FUNCTION(cudaGraphAddChildGraphNode, cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
              size_t count, cudaGraph_t child)
CUDA_FUNCTION(cudaGraphAddDependencies, cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
              const cudaGraphEdgeData* edges, size_t count)
CUDA_FUNCTION(cudaGraphGetNodes, cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count)
CUDA_FUNCTION(cudaGraphGetRootNodes, cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count)
CUDA_FUNCTION(cudaGraphGetEdges, cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
              cudaGraphEdgeData* edges, size_t* count)
CUDA_FUNCTION(cudaGraphNodeGetType, cudaGraphNode_t node, cudaGraphNodeType* type)
CUDA_FUNCTION(cudaGraphNodeFindInClone, cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone)
CUDA_FUNCTION(cudaGraphDebugDotPrint, cudaGraph_t graph, const char* path, unsigned int flags)
CUDA_FUNCTION(cudaGraphInstantiate, cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags = 0)
CUDA_FUNCTION(cudaGraphInstantiateWithFlags, cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags = 0)
CUDA_FUNCTION(cudaGraphExecUpdate, cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result)
CUDA_FUNCTION(cudaGraphExecDestroy, cudaGraphExec_t exec)
CUDA_FUNCTION(cudaGraphUpload, cudaGraphExec_t exec, cudaStream_t stream)
CUDA_FUNCTION(cudaGraphLaunch, cudaGraphExec_t exec, cudaStream_t stream)

// The forms of CUDA 11.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t*, char*, size_t)
{
    return cudaGraphInstantiate(exec, graph, 0ull);
}
inline cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* node,
                                       cudaGraphExecUpdateResult* result)
{
    cudaGraphExecUpdateResultInfo info = {};
    cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
    if (node) *node = info.errorNode;
    *result = info.result;
    return error;
}
inline cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count)
{
    return cudaGraphGetEdges(graph, from, to, nullptr, count);
}
inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                            size_t count)
{
    return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

// ------------------------------------------------------------------ kernels, device variables

CUDA_FUNCTION(cudaLaunchKernel, const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared = 0,
              cudaStream_t stream = 0)
CUDA_FUNCTION(cudaLaunchCooperativeKernel, const void* kernel, dim3 grid, dim3 block, void** arguments,
              size_t shared = 0, cudaStream_t stream = 0)
CUDA_FUNCTION(cudaLaunchKernelExC, const cudaLaunchConfig_t* config, const void* kernel, void** arguments)
CUDA_FUNCTION(cudaFuncGetAttributes, cudaFuncAttributes* attributes, const void* kernel)
CUDA_FUNCTION(cudaFuncSetAttribute, const void* kernel, cudaFuncAttribute attribute, int value)
CUDA_FUNCTION(cudaFuncSetCacheConfig, const void* kernel, cudaFuncCache config)
CUDA_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessor, int* blocks, const void* kernel, int size, size_t shared)
CUDA_FUNCTION(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, int* blocks, const void* kernel, int size,
              size_t shared, unsigned int flags)
CUDA_FUNCTION(cudaOccupancyAvailableDynamicSMemPerBlock, size_t* shared, const void* kernel, int blocks, int size)
CUDA_FUNCTION(cudaOccupancyMaxPotentialBlockSize, int* grid, int* block, const void* kernel, size_t shared, int limit)
CUDA_FUNCTION(cudaOccupancyMaxActiveClusters, int* clusters, const void* kernel, const cudaLaunchConfig_t* config)
CUDA_FUNCTION(cudaOccupancyMaxPotentialClusterSize, int* size, const void* kernel, const cudaLaunchConfig_t* config)
CUDA_FUNCTION(cudaGetSymbolAddress, void** p, const void* variable)
CUDA_FUNCTION(cudaGetSymbolSize, size_t* size, const void* variable)
CUDA_FUNCTION(cudaMemcpyToSymbol, const void* variable, const void* from, size_t size, size_t offset,
              cudaMemcpyKind kind)
CUDA_FUNCTION(cudaMemcpyFromSymbol, void* to, const void* variable, size_t size, size_t offset, cudaMemcpyKind kind)
CUDA_FUNCTION(cudaMemcpyToSymbolAsync, const void* variable, const void* from, size_t size, size_t offset,
              cudaMemcpyKind kind, cudaStream_t stream)
CUDA_FUNCTION(cudaMemcpyFromSymbolAsync, void* to, const void* variable, size_t size, size_t offset,
              cudaMemcpyKind kind, cudaStream_t stream)
#undef CUDA_FUNCTION
#undef CUDA_EXPORTED

template <class... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments, size_t shared = 0,
                             cudaStream_t stream = 0)
{
    return cudaLaunchKernel((const void*)kernel, grid, block, arguments, shared, stream);
}
template <class... P>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** arguments,
                                        size_t shared = 0, cudaStream_t stream = 0)
{
    return cudaLaunchCooperativeKernel((const void*)kernel, grid, block, arguments, shared, stream);
}
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...), A&&... arguments)
{
    return [&](P... copies) {
        void* pointers[] = {(void*)&copies..., nullptr};
        return cudaLaunchKernelExC(config, (const void*)kernel, pointers);
    }(static_cast<A&&>(arguments)...);
}
template <class... P> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*kernel)(P...))
{
    return cudaFuncGetAttributes(attributes, (const void*)kernel);
}
template <class... P> cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute, int value)
{
    return cudaFuncSetAttribute((const void*)kernel, attribute, value);
}
template <class... P> cudaError_t cudaFuncSetCacheConfig(void (*kernel)(P...), cudaFuncCache config)
{
    return cudaFuncSetCacheConfig((const void*)kernel, config);
}
template <class... P> cudaError_t cudaFuncSetSharedMemConfig(void (*)(P...), cudaSharedMemConfig)
{
    return cudaSuccess;
}
template <class... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void (*kernel)(P...), int size, size_t shared)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void*)kernel, size, shared);
}
template <class... P>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* grid, int* block, void (*kernel)(P...), size_t shared = 0,
                                               int limit = 0)
{
    return cudaOccupancyMaxPotentialBlockSize(grid, block, (const void*)kernel, shared, limit);
}
template <class... P>
cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, void (*kernel)(P...), size_t shared = 0,
                                                        int limit = 0, unsigned int = 0)
{
    return cudaOccupancyMaxPotentialBlockSize(grid, block, (const void*)kernel, shared, limit);
}
template <class... P>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, void (*kernel)(P...), int size,
                                                                   size_t shared, unsigned int flags)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void*)kernel, size, shared, flags);
}
template <class... P>
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* shared, void (*kernel)(P...), int blocks, int size)
{
    return cudaOccupancyAvailableDynamicSMemPerBlock(shared, (const void*)kernel, blocks, size);
}
template <class... P>
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, void (*kernel)(P...), const cudaLaunchConfig_t* config)
{
    return cudaOccupancyMaxActiveClusters(clusters, (const void*)kernel, config);
}
template <class... P>
cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, void (*kernel)(P...), const cudaLaunchConfig_t* config)
{
    return cudaOccupancyMaxPotentialClusterSize(size, (const void*)kernel, config);
}
// `shared_of` returns the bytes of dynamic shared memory for a size of blocks.
template <class K, class F>
cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid, int* block, K kernel, F shared_of, int limit = 0)
{
    int device = 0, multiprocessors = 0, most = 0;
    cudaFuncAttributes attributes;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess)
        return error;
    int size = attributes.maxThreadsPerBlock;
    if (limit && limit < size)
        size = limit;
    for (*grid = *block = 0, size = (size + 31) / 32 * 32; size > 0; size -= 32) {
        int threads = limit && size > limit ? limit : size, blocks = 0;
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_of(threads));
        if (error != cudaSuccess)
            return error;
        if (blocks * threads > most)
            most = blocks * threads, *block = threads, *grid = blocks * multiprocessors;
    }
    return cudaSuccess;
}
template <class T> cudaError_t cudaGetSymbolAddress(void** p, const T& variable)
{
    return cudaGetSymbolAddress(p, (const void*)&variable);
}
template <class T> cudaError_t cudaGetSymbolSize(size_t* size, const T& variable)
{
    return cudaGetSymbolSize(size, (const void*)&variable);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& variable, const void* from, size_t size, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice)
{
    return cudaMemcpyToSymbol((const void*)&variable, from, size, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& variable, size_t size, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost)
{
    return cudaMemcpyFromSymbol(to, (const void*)&variable, size, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(const T& variable, const void* from, size_t size, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream = 0)
{
    return cudaMemcpyToSymbolAsync((const void*)&variable, from, size, offset, kind, stream);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& variable, size_t size, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream = 0)
{
    return cudaMemcpyFromSymbolAsync(to, (const void*)&variable, size, offset, kind, stream);
}

// ------------------------------------------------------------------ kernel<<<grid, block, shared, stream>>>(...)

// Such a launch is `(::cuda_program::configure(grid, block, shared, stream), kernel(...))`; the kernel's function in
// the host part calls launch().
namespace cuda_program {
struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    bool is_made;
};
inline thread_local configuration next_launch;
inline void configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr)
{
    next_launch = {grid, block, shared, stream, true};
}
extern "C" void emulator_check_parameters(const void* kernel, const size_t* sizes);
inline void launch(const void* kernel, void** arguments, const size_t* sizes)
{
    emulator_check_parameters(kernel, sizes);
    if (!next_launch.is_made) { // a compiler of CUDA C++ would reject the call
        fputs("cuda.emulator: a kernel was called without <<<grid, block>>>\n", stderr);
        exit(1);
    }
    next_launch.is_made = false;
    cudaLaunchKernel(kernel, next_launch.grid, next_launch.block, arguments, next_launch.shared, next_launch.stream);
}
// Hides from the compiler what a managed variable's name refers to, which is set when the device part is loaded.
template <class T> T& managed(T& variable)
{
    T* p = &variable;
    asm volatile("" : "+r"(p));
    return *p;
}
} // namespace cuda_program
