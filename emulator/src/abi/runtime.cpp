// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The functions of the CUDA runtime, over the driver, for Python packages that call them through cuda.bindings and for
// whole programs. NVIDIA's runtime itself cannot run here, because it needs tables of the driver that are not public.
#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "calls.hpp"
#include "runtime.hpp"

namespace emu::abi {

namespace {

struct cudaPointerAttributes { // the beginning; newer versions have reserved members after it
    int type, device;
    void *devicePointer, *hostPointer;
};

thread_local int last_error = 0;
thread_local int chosen_device = 0; // for the next call, if no context is current

int set_device(int device)
{
    CUcontext context;
    if (int failed = cuInit(0))
        return failed;
    if (int failed = cuDevicePrimaryCtxRetain(&context, device)) // kept until the process ends, as the runtime does
        return failed;
    chosen_device = device;
    return cuCtxSetCurrent(context);
}

int current_device(int* device)
{
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    CUcontext context = nullptr;
    if (!cuCtxGetCurrent(&context) && context)
        return cuCtxGetDevice(device);
    *device = chosen_device;
    return CUDA_SUCCESS;
}

int reset_device()
{
    int device = 0;
    int failed = current_device(&device);
    failed = failed ? failed : int(cuDevicePrimaryCtxReset_v2(device));
    if (failed)
        return failed;
    chosen_device = device; // the next call makes a new context
    failed = cuCtxSetCurrent(nullptr);
    return failed ? failed : place_managed_variables();
}

int set_flags(unsigned flags)
{
    int device = 0;
    int failed = current_device(&device);
    return failed ? failed : int(cuDevicePrimaryCtxSetFlags_v2(device, flags));
}

int set_peer(int device, bool enabled)
{
    CUcontext peer;
    if (int failed = cuDevicePrimaryCtxRetain(&peer, device))
        return failed;
    return enabled ? cuCtxEnablePeerAccess(peer, 0) : cuCtxDisablePeerAccess(peer);
}

int copy(void* dst, const void* src, size_t count, int kind)
{
    if (!is_direction(kind))
        return invalid_direction;
    if (!count)
        return CUDA_SUCCESS;
    switch (kind) {
    case 1: return cuMemcpyHtoD_v2(number(dst), src, count);
    case 2: return cuMemcpyDtoH_v2(dst, number(src), count);
    case 3: return cuMemcpyDtoD_v2(number(dst), number(src), count);
    default: return cuMemcpy(number(dst), number(src), count);
    }
}

int copy_async(void* dst, const void* src, size_t count, int kind, CUstream stream)
{
    if (!is_direction(kind))
        return invalid_direction;
    if (!count)
        return CUDA_SUCCESS;
    switch (kind) {
    case 1: return cuMemcpyHtoDAsync_v2(number(dst), src, count, stream);
    case 2: return cuMemcpyDtoHAsync_v2(dst, number(src), count, stream);
    case 3: return cuMemcpyDtoDAsync_v2(number(dst), number(src), count, stream);
    default: return cuMemcpyAsync(number(dst), number(src), count, stream);
    }
}

CUDA_MEMCPY2D box(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height)
{
    CUDA_MEMCPY2D out{};
    out.srcHost = const_cast<void*>(src);
    out.srcDevice = number(src);
    out.dstHost = dst;
    out.dstDevice = number(dst);
    out.srcPitch = spitch;
    out.dstPitch = dpitch;
    out.WidthInBytes = width;
    out.Height = height;
    return out;
}

int copy_rows(CUDA_MEMCPY2D box, int kind, CUstream* stream)
{
    if (!is_direction(kind))
        return invalid_direction;
    box.srcMemoryType = source_type(kind);
    box.dstMemoryType = target_type(kind);
    return stream ? cuMemcpy2DAsync_v2(&box, *stream) : cuMemcpy2DUnaligned_v2(&box);
}

int query_pointer(cudaPointerAttributes* out, const void* pointer)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = {0, -2, nullptr, nullptr}; // cudaMemoryTypeUnregistered, cudaInvalidDeviceId
    unsigned type = 0, managed = 0;
    auto query = [&](void* value, CUpointer_attribute attribute) {
        return cuPointerGetAttribute(value, attribute, number(pointer));
    };
    if (query(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE)) {
        out->hostPointer = const_cast<void*>(pointer);
        return CUDA_SUCCESS;
    }
    query(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED);
    out->type = managed ? 3 : int(type); // cudaMemoryTypeManaged
    query(&out->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
    query(&out->devicePointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER);
    query(&out->hostPointer, CU_POINTER_ATTRIBUTE_HOST_POINTER);
    return CUDA_SUCCESS;
}

int allocate(void** pointer, size_t size)
{
    if (pointer && !size) {
        *pointer = nullptr;
        return CUDA_SUCCESS;
    }
    return cuMemAlloc_v2(numbers(pointer), size);
}

int take_last_error()
{
    int code = last_error;
    last_error = 0;
    return code;
}

} // namespace

const Served*& Served::first()
{
    static const Served* rows = nullptr;
    return rows;
}

int keep(int code)
{
    if (code && code != CUDA_ERROR_NOT_READY)
        last_error = code;
    return code;
}

int need_runtime_context()
{
    CUcontext context = nullptr;
    int failed = cuCtxGetCurrent(&context);
    return failed == CUDA_ERROR_NOT_INITIALIZED || (!failed && !context) ? set_device(chosen_device) : failed;
}

#define AFTER_INIT(call) (cuInit(0) ? cuInit(0) : (call))

// clang-format off
// ---------------------------------------------------------------------------------- devices
SERVE_ALWAYS(cudaDriverGetVersion, (int* version), cuDriverGetVersion(version))
SERVE_ALWAYS(cudaRuntimeGetVersion, (int* version), cuDriverGetVersion(version))
SERVE_ALWAYS(getLocalRuntimeVersion, (int* version), cuDriverGetVersion(version))
SERVE_ALWAYS(cudaGetDeviceCount, (int* count), AFTER_INIT(cuDeviceGetCount(count)))
SERVE_ALWAYS(cudaGetDevice, (int* device), AFTER_INIT(CUresult(current_device(device))))
SERVE_ALWAYS(cudaSetDevice, (int device), set_device(device))
SERVE_ALWAYS(cudaInitDevice, (int device, unsigned int, unsigned int), set_device(device))
SERVE_ALWAYS(cudaDeviceGetAttribute, (int* value, cudaDeviceAttr attr, int device), AFTER_INIT(cuDeviceGetAttribute(value, attr, device)))
SERVE_ALWAYS(cudaDeviceGetPCIBusId, (char* id, int length, int device), AFTER_INIT(cuDeviceGetPCIBusId(id, length, device)))
SERVE_ALWAYS(cudaDeviceGetByPCIBusId, (int* device, const char* id), AFTER_INIT(cuDeviceGetByPCIBusId(device, id)))
SERVE_ALWAYS(cudaDeviceGetP2PAttribute, (int* value, cudaDeviceP2PAttr attr, int from, int to), AFTER_INIT(cuDeviceGetP2PAttribute(value, attr, from, to)))
SERVE_ALWAYS(cudaDeviceCanAccessPeer, (int* can, int device, int peer), AFTER_INIT(cuDeviceCanAccessPeer(can, device, peer)))
SERVE(cudaDeviceEnablePeerAccess, (int peer, unsigned int), set_peer(peer, true))
SERVE(cudaDeviceDisablePeerAccess, (int peer), set_peer(peer, false))
SERVE(cudaDeviceSynchronize, (void), cuCtxSynchronize())
SERVE(cudaDeviceReset, (void), reset_device())
SERVE(cudaDeviceGetLimit, (size_t* value, cudaLimit limit), cuCtxGetLimit(value, limit))
SERVE(cudaDeviceSetLimit, (cudaLimit limit, size_t value), cuCtxSetLimit(limit, value))
SERVE(cudaDeviceGetCacheConfig, (cudaFuncCache* config), cuCtxGetCacheConfig(config))
SERVE(cudaDeviceSetCacheConfig, (cudaFuncCache config), cuCtxSetCacheConfig(config))
SERVE(cudaCtxResetPersistingL2Cache, (void), cuCtxResetPersistingL2Cache())
SERVE(cudaDeviceGetStreamPriorityRange, (int* least, int* greatest), cuCtxGetStreamPriorityRange(least, greatest))
SERVE(cudaGetDeviceFlags, (unsigned int* flags), cuCtxGetFlags(flags))
SERVE_ALWAYS(cudaSetDeviceFlags, (unsigned int flags), AFTER_INIT(CUresult(set_flags(flags))))
SERVE(cudaProfilerStart, (void), cuProfilerStart())
SERVE(cudaProfilerStop, (void), cuProfilerStop())
SERVE_ALWAYS(cudaGetDriverEntryPointByVersion, (const char* symbol, void** function, unsigned int version, unsigned long long flags, cudaDriverEntryPointQueryResult* status), cuGetProcAddress_v2(symbol, function, int(version), flags, status))

// ----------------------------------------------------------------------------------- memory
SERVE(cudaMalloc, (void** pointer, size_t size), allocate(pointer, size))
SERVE(cudaFree, (void* pointer), pointer ? cuMemFree_v2(number(pointer)) : CUDA_SUCCESS)
SERVE(cudaMallocManaged, (void** pointer, size_t size, unsigned int flags), cuMemAllocManaged(numbers(pointer), size, flags))
SERVE(cudaMallocPitch, (void** pointer, size_t* pitch, size_t width, size_t height), cuMemAllocPitch_v2(numbers(pointer), pitch, width, height, 4))
SERVE(cudaMallocHost, (void** pointer, size_t size), cuMemHostAlloc(pointer, size, 0))
SERVE(cudaHostAlloc, (void** pointer, size_t size, unsigned int flags), cuMemHostAlloc(pointer, size, flags))
SERVE(cudaFreeHost, (void* pointer), pointer ? cuMemFreeHost(pointer) : CUDA_SUCCESS)
SERVE(cudaHostRegister, (void* pointer, size_t size, unsigned int flags), cuMemHostRegister_v2(pointer, size, flags))
SERVE(cudaHostUnregister, (void* pointer), cuMemHostUnregister(pointer))
SERVE(cudaHostGetDevicePointer, (void** device, void* host, unsigned int flags), cuMemHostGetDevicePointer_v2(numbers(device), host, flags))
SERVE(cudaHostGetFlags, (unsigned int* flags, void* pointer), cuMemHostGetFlags(flags, pointer))
SERVE(cudaMemGetInfo, (size_t* left, size_t* total), cuMemGetInfo_v2(left, total))
SERVE(cudaPointerGetAttributes, (cudaPointerAttributes* attributes, const void* pointer), query_pointer(attributes, pointer))
SERVE(cudaMemcpy, (void* dst, const void* src, size_t count, cudaMemcpyKind kind), copy(dst, src, count, kind))
SERVE(cudaMemcpyAsync, (void* dst, const void* src, size_t count, cudaMemcpyKind kind, cudaStream_t stream), copy_async(dst, src, count, kind, stream))
SERVE(cudaMemcpyPeer, (void* dst, int, const void* src, int, size_t count), cuMemcpy(number(dst), number(src), count))
SERVE(cudaMemcpyPeerAsync, (void* dst, int, const void* src, int, size_t count, cudaStream_t stream), cuMemcpyAsync(number(dst), number(src), count, stream))
SERVE(cudaMemcpy2D, (void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, cudaMemcpyKind kind), copy_rows(box(dst, dpitch, src, spitch, width, height), kind, nullptr))
SERVE(cudaMemcpy2DAsync, (void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream), copy_rows(box(dst, dpitch, src, spitch, width, height), kind, &stream))
SERVE(cudaMemset, (void* pointer, int value, size_t count), cuMemsetD8_v2(number(pointer), static_cast<unsigned char>(value), count))
SERVE(cudaMemsetAsync, (void* pointer, int value, size_t count, cudaStream_t stream), cuMemsetD8Async(number(pointer), static_cast<unsigned char>(value), count, stream))
SERVE(cudaMemset2D, (void* pointer, size_t pitch, int value, size_t width, size_t height), cuMemsetD2D8_v2(number(pointer), pitch, static_cast<unsigned char>(value), width, height))
SERVE(cudaMemset2DAsync, (void* pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream), cuMemsetD2D8Async(number(pointer), pitch, static_cast<unsigned char>(value), width, height, stream))
SERVE(cudaMemPrefetchAsync, (const void* pointer, size_t count, cudaMemLocation location, unsigned int flags, cudaStream_t stream), cuMemPrefetchAsync_v2(number(pointer), count, location, flags, stream))
SERVE(cudaMemPrefetchAsync_v2, (const void* pointer, size_t count, cudaMemLocation location, unsigned int flags, cudaStream_t stream), cuMemPrefetchAsync_v2(number(pointer), count, location, flags, stream))
SERVE(cudaMemAdvise, (const void* pointer, size_t count, cudaMemoryAdvise advice, cudaMemLocation location), cuMemAdvise_v2(number(pointer), count, advice, location))
SERVE(cudaMemAdvise_v2, (const void* pointer, size_t count, cudaMemoryAdvise advice, cudaMemLocation location), cuMemAdvise_v2(number(pointer), count, advice, location))
SERVE(cudaMemRangeGetAttribute, (void* data, size_t size, cudaMemRangeAttribute attribute, const void* pointer, size_t count), cuMemRangeGetAttribute(data, size, attribute, number(pointer), count))
SERVE(cudaIpcGetMemHandle, (cudaIpcMemHandle_t* handle, void* pointer), cuIpcGetMemHandle(handle, number(pointer)))
SERVE(cudaIpcOpenMemHandle, (void** pointer, cudaIpcMemHandle_t handle, unsigned int flags), cuIpcOpenMemHandle_v2(numbers(pointer), handle, flags))
SERVE(cudaIpcCloseMemHandle, (void* pointer), cuIpcCloseMemHandle(number(pointer)))

// ------------------------------------------------------------------------------------ pools
SERVE(cudaMallocAsync, (void** pointer, size_t size, cudaStream_t stream), cuMemAllocAsync(numbers(pointer), size, stream))
SERVE(cudaFreeAsync, (void* pointer, cudaStream_t stream), cuMemFreeAsync(number(pointer), stream))
SERVE(cudaMallocFromPoolAsync, (void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream), cuMemAllocFromPoolAsync(numbers(pointer), size, pool, stream))
SERVE(cudaMemPoolCreate, (cudaMemPool_t* pool, const cudaMemPoolProps* props), cuMemPoolCreate(pool, props))
SERVE(cudaMemPoolDestroy, (cudaMemPool_t pool), cuMemPoolDestroy(pool))
SERVE(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t size), cuMemPoolTrimTo(pool, size))
SERVE(cudaMemPoolGetAttribute, (cudaMemPool_t pool, cudaMemPoolAttr attr, void* value), cuMemPoolGetAttribute(pool, attr, value))
SERVE(cudaMemPoolSetAttribute, (cudaMemPool_t pool, cudaMemPoolAttr attr, void* value), cuMemPoolSetAttribute(pool, attr, value))
SERVE(cudaMemPoolGetAccess, (cudaMemAccessFlags* flags, cudaMemPool_t pool, cudaMemLocation* location), cuMemPoolGetAccess(flags, pool, location))
SERVE(cudaMemPoolSetAccess, (cudaMemPool_t pool, const cudaMemAccessDesc* rows, size_t count), cuMemPoolSetAccess(pool, rows, count))
SERVE(cudaMemPoolExportToShareableHandle, (void* handle, cudaMemPool_t pool, cudaMemAllocationHandleType type, unsigned int flags), cuMemPoolExportToShareableHandle(handle, pool, type, flags))
SERVE(cudaMemPoolImportFromShareableHandle, (cudaMemPool_t* pool, void* handle, cudaMemAllocationHandleType type, unsigned int flags), cuMemPoolImportFromShareableHandle(pool, handle, type, flags))
SERVE(cudaMemPoolExportPointer, (cudaMemPoolPtrExportData* data, void* pointer), cuMemPoolExportPointer(data, number(pointer)))
SERVE(cudaMemPoolImportPointer, (void** pointer, cudaMemPool_t pool, cudaMemPoolPtrExportData* data), cuMemPoolImportPointer(numbers(pointer), pool, data))
SERVE(cudaDeviceGetDefaultMemPool, (cudaMemPool_t* pool, int device), cuDeviceGetDefaultMemPool(pool, device))
SERVE(cudaDeviceGetMemPool, (cudaMemPool_t* pool, int device), cuDeviceGetMemPool(pool, device))
SERVE(cudaDeviceSetMemPool, (int device, cudaMemPool_t pool), cuDeviceSetMemPool(device, pool))
SERVE(cudaDeviceGraphMemTrim, (int device), cuDeviceGraphMemTrim(device))
SERVE(cudaDeviceGetGraphMemAttribute, (int device, cudaGraphMemAttributeType attr, void* value), cuDeviceGetGraphMemAttribute(device, attr, value))
SERVE(cudaDeviceSetGraphMemAttribute, (int device, cudaGraphMemAttributeType attr, void* value), cuDeviceSetGraphMemAttribute(device, attr, value))

// ----------------------------------------------------------------------- streams and events
SERVE(cudaStreamCreate, (cudaStream_t* stream), cuStreamCreate(stream, 0))
SERVE(cudaStreamCreateWithFlags, (cudaStream_t* stream, unsigned int flags), cuStreamCreate(stream, flags))
SERVE(cudaStreamCreateWithPriority, (cudaStream_t* stream, unsigned int flags, int priority), cuStreamCreateWithPriority(stream, flags, priority))
SERVE(cudaStreamDestroy, (cudaStream_t stream), cuStreamDestroy_v2(stream))
SERVE(cudaStreamSynchronize, (cudaStream_t stream), cuStreamSynchronize(stream))
SERVE(cudaStreamQuery, (cudaStream_t stream), cuStreamQuery(stream))
SERVE(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags), cuStreamWaitEvent(stream, event, flags))
SERVE(cudaStreamGetPriority, (cudaStream_t stream, int* priority), cuStreamGetPriority(stream, priority))
SERVE(cudaStreamGetFlags, (cudaStream_t stream, unsigned int* flags), cuStreamGetFlags(stream, flags))
SERVE(cudaStreamGetId, (cudaStream_t stream, unsigned long long* id), cuStreamGetId(stream, id))
SERVE(cudaStreamGetDevice, (cudaStream_t stream, int* device), cuStreamGetDevice(stream, device))
SERVE(cudaStreamCopyAttributes, (cudaStream_t dst, cudaStream_t src), cuStreamCopyAttributes(dst, src))
OFFER(cudaStreamGetAttribute, (cudaStream_t stream, cudaLaunchAttributeID attribute, cudaLaunchAttributeValue* value), cuStreamGetAttribute(stream, attribute, value))
OFFER(cudaStreamSetAttribute, (cudaStream_t stream, cudaLaunchAttributeID attribute, const cudaLaunchAttributeValue* value), cuStreamSetAttribute(stream, attribute, value))
SERVE(cudaStreamAddCallback, (cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned int flags), cuStreamAddCallback(stream, function, data, flags))
SERVE(cudaStreamAttachMemAsync, (cudaStream_t stream, void* pointer, size_t length, unsigned int flags), cuStreamAttachMemAsync(stream, number(pointer), length, flags))
SERVE(cudaLaunchHostFunc, (cudaStream_t stream, cudaHostFn_t function, void* data), cuLaunchHostFunc(stream, function, data))
SERVE(cudaEventCreate, (cudaEvent_t* event), cuEventCreate(event, 0))
SERVE(cudaEventCreateWithFlags, (cudaEvent_t* event, unsigned int flags), cuEventCreate(event, flags))
SERVE(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), cuEventRecord(event, stream))
SERVE(cudaEventRecordWithFlags, (cudaEvent_t event, cudaStream_t stream, unsigned int flags), cuEventRecordWithFlags(event, stream, flags))
SERVE(cudaEventSynchronize, (cudaEvent_t event), cuEventSynchronize(event))
SERVE(cudaEventQuery, (cudaEvent_t event), cuEventQuery(event))
SERVE(cudaEventDestroy, (cudaEvent_t event), cuEventDestroy_v2(event))
SERVE(cudaEventElapsedTime, (float* milliseconds, cudaEvent_t start, cudaEvent_t end), cuEventElapsedTime_v2(milliseconds, start, end))
SERVE(cudaEventElapsedTime_v2, (float* milliseconds, cudaEvent_t start, cudaEvent_t end), cuEventElapsedTime_v2(milliseconds, start, end))
SERVE(cudaIpcGetEventHandle, (cudaIpcEventHandle_t* handle, cudaEvent_t event), cuIpcGetEventHandle(handle, event))
SERVE(cudaIpcOpenEventHandle, (cudaEvent_t* event, cudaIpcEventHandle_t handle), cuIpcOpenEventHandle(event, handle))

// ------------------------------------------------------------------------ capture and graphs
SERVE(cudaStreamBeginCapture, (cudaStream_t stream, cudaStreamCaptureMode mode), cuStreamBeginCapture_v2(stream, mode))
SERVE(cudaStreamBeginCaptureToGraph, (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* nodes, const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode), cuStreamBeginCaptureToGraph(stream, graph, nodes, edges, count, mode))
SERVE(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t* graph), cuStreamEndCapture(stream, graph))
SERVE(cudaStreamIsCapturing, (cudaStream_t stream, cudaStreamCaptureStatus* status), cuStreamIsCapturing(stream, status))
SERVE(cudaStreamGetCaptureInfo, (cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges, size_t* count), cuStreamGetCaptureInfo_v3(stream, status, reinterpret_cast<cuuint64_t*>(id), graph, nodes, edges, count))
SERVE(cudaThreadExchangeStreamCaptureMode, (cudaStreamCaptureMode* mode), cuThreadExchangeStreamCaptureMode(mode))
SERVE(cudaGraphCreate, (cudaGraph_t* graph, unsigned int flags), cuGraphCreate(graph, flags))
SERVE(cudaGraphClone, (cudaGraph_t* clone, cudaGraph_t graph), cuGraphClone(clone, graph))
SERVE(cudaGraphDestroy, (cudaGraph_t graph), cuGraphDestroy(graph))
SERVE(cudaGraphAddDependencies, (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, const cudaGraphEdgeData* edges, size_t count), cuGraphAddDependencies_v2(graph, from, to, edges, count))
SERVE(cudaGraphDestroyNode, (cudaGraphNode_t node), cuGraphDestroyNode(node))
SERVE(cudaGraphAddEmptyNode, (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count), cuGraphAddEmptyNode(node, graph, after, count))
SERVE(cudaGraphAddChildGraphNode, (cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, size_t count, cudaGraph_t child), cuGraphAddChildGraphNode(node, graph, after, count, child))
SERVE(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count), cuGraphGetNodes(graph, nodes, count))
SERVE(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count), cuGraphGetRootNodes(graph, nodes, count))
SERVE(cudaGraphGetEdges, (cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* edges, size_t* count), cuGraphGetEdges_v2(graph, from, to, edges, count))
SERVE(cudaGraphNodeGetType, (cudaGraphNode_t node, cudaGraphNodeType* type), cuGraphNodeGetType(node, type))
SERVE(cudaGraphNodeFindInClone, (cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone), cuGraphNodeFindInClone(node, original, clone))
SERVE(cudaGraphNodeGetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int* enabled), cuGraphNodeGetEnabled(exec, node, enabled))
SERVE(cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned int enabled), cuGraphNodeSetEnabled(exec, node, enabled))
SERVE(cudaGraphKernelNodeCopyAttributes, (cudaGraphNode_t dst, cudaGraphNode_t src), cuGraphKernelNodeCopyAttributes(dst, src))
SERVE(cudaGraphDebugDotPrint, (cudaGraph_t graph, const char* path, unsigned int flags), cuGraphDebugDotPrint(graph, path, flags))
SERVE(cudaGraphInstantiate, (cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags), cuGraphInstantiateWithFlags(exec, graph, flags))
SERVE(cudaGraphInstantiateWithFlags, (cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags), cuGraphInstantiateWithFlags(exec, graph, flags))
SERVE(cudaGraphInstantiateWithParams, (cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphInstantiateParams* params), cuGraphInstantiateWithParams(exec, graph, params))
SERVE(cudaGraphExecUpdate, (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result), cuGraphExecUpdate_v2(exec, graph, result))
SERVE(cudaGraphExecGetFlags, (cudaGraphExec_t exec, unsigned long long* flags), cuGraphExecGetFlags(exec, reinterpret_cast<cuuint64_t*>(flags)))
SERVE(cudaGraphExecDestroy, (cudaGraphExec_t exec), cuGraphExecDestroy(exec))
SERVE(cudaGraphUpload, (cudaGraphExec_t exec, cudaStream_t stream), cuGraphUpload(exec, stream))
SERVE(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), cuGraphLaunch(exec, stream))
SERVE(cudaUserObjectCreate, (cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy, unsigned int count, unsigned int flags), cuUserObjectCreate(object, pointer, destroy, count, flags))
SERVE(cudaUserObjectRetain, (cudaUserObject_t object, unsigned int count), cuUserObjectRetain(object, count))
SERVE(cudaUserObjectRelease, (cudaUserObject_t object, unsigned int count), cuUserObjectRelease(object, count))
SERVE(cudaGraphRetainUserObject, (cudaGraph_t graph, cudaUserObject_t object, unsigned int count, unsigned int flags), cuGraphRetainUserObject(graph, object, count, flags))
SERVE(cudaGraphReleaseUserObject, (cudaGraph_t graph, cudaUserObject_t object, unsigned int count), cuGraphReleaseUserObject(graph, object, count))

// --------------------------------------------------------------------------------- libraries
SERVE(cudaLibraryLoadData, (cudaLibrary_t* library, const void* code, cudaJitOption* jit, void** jit_values, unsigned int jit_count, cudaLibraryOption* options, void** values, unsigned int count), cuLibraryLoadData(library, code, jit, jit_values, jit_count, options, values, count))
SERVE(cudaLibraryUnload, (cudaLibrary_t library), cuLibraryUnload(library))
SERVE(cudaLibraryGetKernel, (cudaKernel_t* kernel, cudaLibrary_t library, const char* name), cuLibraryGetKernel(kernel, library, name))
SERVE(cudaLibraryGetKernelCount, (unsigned int* count, cudaLibrary_t library), cuLibraryGetKernelCount(count, library))
SERVE(cudaLibraryGetGlobal, (void** pointer, size_t* size, cudaLibrary_t library, const char* name), cuLibraryGetGlobal(numbers(pointer), size, library, name))

// clang-format on
// ----------------------------------------------------------------------------------- errors
extern "C" EMU_EXPORT cudaError_t cudaGetLastError(void) __asm__("emulator_cudaGetLastError");
cudaError_t cudaGetLastError(void)
{
    return take_last_error();
}
ROW(cudaGetLastError, (void))

extern "C" EMU_EXPORT cudaError_t cudaPeekAtLastError(void) __asm__("emulator_cudaPeekAtLastError");
cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}
ROW(cudaPeekAtLastError, (void))

namespace {
constexpr const char* unknown_code = "unrecognized error code";
} // namespace

extern "C" EMU_EXPORT const char* cudaGetErrorName(cudaError_t error) __asm__("emulator_cudaGetErrorName");
const char* cudaGetErrorName(cudaError_t error)
{
    const auto* end = runtime_result_names + runtime_result_name_count;
    const auto* row = std::find_if(runtime_result_names, end, [&](const auto& r) { return r.value == error; });
    return row == end ? unknown_code : row->name;
}
ROW(cudaGetErrorName, (cudaError_t error))

extern "C" EMU_EXPORT const char* cudaGetErrorString(cudaError_t error) __asm__("emulator_cudaGetErrorString");
const char* cudaGetErrorString(cudaError_t error)
{
    const char* text = nullptr;
    switch (error) {
    case invalid_configuration: return "invalid configuration argument";
    case invalid_symbol: return "invalid device symbol";
    case invalid_direction: return "invalid copy direction for memcpy";
    case invalid_function: return "invalid device function";
    default: break;
    }
    return cuGetErrorString(CUresult(error), &text) || !text ? cudaGetErrorName(error) : text;
}
ROW(cudaGetErrorString, (cudaError_t error))

// -------------------------------------------------------------------------- other functions

namespace {

// What the runtime has besides these functions: each name gets a function of its own, which reports it.
constexpr size_t most_missing = 512;

struct Missing {
    std::string name;
    std::atomic<uint64_t> calls{0};
};

struct AllMissing {
    std::mutex mutex;
    size_t count = 0;
    std::array<Missing, most_missing> rows;
    static AllMissing& get()
    {
        static auto* all = new AllMissing;
        return *all;
    }
};

int report_missing(size_t index)
{
    Missing& missing = AllMissing::get().rows[index];
    if (missing.calls.fetch_add(1, std::memory_order_relaxed) == 0)
        say(missing.name + ": the software device does not implement this function of the CUDA runtime");
    return keep(CUDA_ERROR_NOT_SUPPORTED);
}

// The caller removes the arguments, so this has any signature that returns a code.
template <size_t index> int missing_function()
{
    return report_missing(index);
}

template <size_t... indices> auto make_missing(std::index_sequence<indices...>)
{
    return std::array<int (*)(), sizeof...(indices)>{&missing_function<indices>...};
}

} // namespace

std::string missing_runtime_calls()
{
    AllMissing& all = AllMissing::get();
    std::lock_guard lock(all.mutex);
    std::string text;
    for (size_t i = 0; i < all.count; ++i)
        if (uint64_t calls = all.rows[i].calls.load(std::memory_order_relaxed))
            text += all.rows[i].name + " " + std::to_string(calls) + "\n";
    return text;
}

// Returns lines with the name, the address and the parameters of each function.
std::string list_runtime_functions()
{
    std::string text;
    for (const Served* row = Served::first(); row; row = row->next)
        text += std::string(row->name) + " " + std::to_string(reinterpret_cast<uintptr_t>(row->function)) + " " +
                row->parameters + "\n";
    return text;
}

void* missing_runtime_function(const char* name)
{
    static const auto functions = make_missing(std::make_index_sequence<most_missing>());
    AllMissing& all = AllMissing::get();
    std::lock_guard lock(all.mutex);
    size_t index = 0;
    while (index < all.count && all.rows[index].name != name)
        ++index;
    if (index == most_missing)
        return nullptr;
    if (index == all.count)
        all.rows[all.count++].name = name;
    return reinterpret_cast<void*>(functions[index]);
}

} // namespace emu::abi
