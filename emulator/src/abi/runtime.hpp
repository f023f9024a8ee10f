// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What the files of the CUDA runtime share: its names for types of the driver, and how a function is served.
//
//     SERVE(cudaEventQuery, (cudaEvent_t event), cuEventQuery(event))
//
// Python packages find the function through cuda/emulator/_runtime.py, which compares the text of the parameters with
// the signature that the bindings have, so types are written as the runtime has them. Whole programs call it by the
// exported name emulator_cudaEventQuery. Enumerators, flags and structures have the values and layouts of the driver's,
// which the driver's functions then check.
#pragma once

#include "abi.hpp"
#include "entry_prototypes.hpp"

namespace emu::abi {

using cudaError_t = int;
using cudaArray_const_t = CUarray;
using cudaArray_t = CUarray;
using cudaDeviceAttr = CUdevice_attribute;
using cudaDeviceP2PAttr = CUdevice_P2PAttribute;
using cudaDriverEntryPointQueryResult = CUdriverProcAddressQueryResult;
using cudaEvent_t = CUevent;
using cudaFuncCache = CUfunc_cache;
using cudaGraphEdgeData = CUgraphEdgeData;
using cudaGraphExecUpdateResultInfo = CUgraphExecUpdateResultInfo;
using cudaGraphExec_t = CUgraphExec;
using cudaGraphInstantiateParams = CUDA_GRAPH_INSTANTIATE_PARAMS;
using cudaGraphMemAttributeType = CUgraphMem_attribute;
using cudaGraphNodeType = CUgraphNodeType;
using cudaGraphNode_t = CUgraphNode;
using cudaGraph_t = CUgraph;
using cudaHostFn_t = CUhostFn;
using cudaIpcEventHandle_t = CUipcEventHandle;
using cudaIpcMemHandle_t = CUipcMemHandle;
using cudaJitOption = CUjit_option;
using cudaKernel_t = CUkernel;
using cudaLibraryOption = CUlibraryOption;
using cudaLibrary_t = CUlibrary;
using cudaLimit = CUlimit;
using cudaMemAccessDesc = CUmemAccessDesc;
using cudaMemAccessFlags = CUmemAccess_flags;
using cudaMemAllocationHandleType = CUmemAllocationHandleType;
using cudaMemLocation = CUmemLocation;
using cudaMemPoolAttr = CUmemPool_attribute;
using cudaMemPoolProps = CUmemPoolProps;
using cudaMemPoolPtrExportData = CUmemPoolPtrExportData;
using cudaMemPool_t = CUmemoryPool;
using cudaMemRangeAttribute = CUmem_range_attribute;
using cudaMemcpyKind = int;
using cudaMemoryAdvise = CUmem_advise;
using cudaMipmappedArray_const_t = CUmipmappedArray;
using cudaMipmappedArray_t = CUmipmappedArray;
using cudaLaunchAttributeID = CUlaunchAttributeID;
using cudaLaunchAttributeValue = CUlaunchAttributeValue;
using cudaStreamCallback_t = CUstreamCallback;
using cudaStreamCaptureMode = CUstreamCaptureMode;
using cudaStreamCaptureStatus = CUstreamCaptureStatus;
using cudaStream_t = CUstream;
using cudaSurfaceObject_t = CUsurfObject;
using cudaTextureObject_t = CUtexObject;
using cudaUserObject_t = CUuserObject;

// Error codes that the driver does not have.
constexpr int invalid_configuration = 9, invalid_symbol = 13, invalid_direction = 21, invalid_function = 98;

// A function that Python packages find, in a list of all.
struct Served {
    const char *name, *parameters;
    void* function;
    const Served* next;
    static const Served*& first();
    Served(const char* name, const char* parameters, void* function)
        : name(name), parameters(parameters), function(function), next(first())
    {
        first() = this;
    }
};

int keep(int code); // remembers an error for cudaGetLastError(), and returns it
int place_managed_variables(); // tells a program's references to them where they are
int need_runtime_context(); // makes a device current if no context is

inline CUdeviceptr number(const void* pointer)
{
    return reinterpret_cast<CUdeviceptr>(pointer);
}

inline CUdeviceptr* numbers(void** pointer)
{
    return reinterpret_cast<CUdeviceptr*>(pointer);
}

inline bool is_direction(int kind)
{
    return kind >= 0 && kind <= 4; // cudaMemcpyHostToHost, HostToDevice, DeviceToHost, DeviceToDevice, Default
}

// What a copy in this direction reads and writes.
inline CUmemorytype source_type(int kind)
{
    return kind == 4 ? CU_MEMORYTYPE_UNIFIED : kind >= 2 ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

inline CUmemorytype target_type(int kind)
{
    return kind == 4 ? CU_MEMORYTYPE_UNIFIED : kind & 1 ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

struct cudaChannelFormatDesc {
    int x, y, z, w, f;
};
struct cudaExtent {
    size_t width, height, depth;
};
struct cudaPos {
    size_t x, y, z;
};
struct cudaPitchedPtr {
    void* ptr;
    size_t pitch, xsize, ysize;
};
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    cudaPos srcPos;
    cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    cudaPos dstPos;
    cudaPitchedPtr dstPtr;
    cudaExtent extent;
    cudaMemcpyKind kind;
};

// Returns a copy of a box as the driver describes it.
int describe_copy(const cudaMemcpy3DParms* p, CUDA_MEMCPY3D* out);

} // namespace emu::abi

#define ROW(name, parameters) const Served row_##name(#name, #parameters, reinterpret_cast<void*>(&name));
// A function of whole programs only.
#define OFFER(name, parameters, call) \
    extern "C" EMU_EXPORT cudaError_t name parameters __asm__("emulator_" #name); \
    cudaError_t name parameters \
    { \
        int failed = need_runtime_context(); \
        return keep(failed ? failed : int(call)); \
    }
#define SERVE(name, parameters, call) OFFER(name, parameters, call) ROW(name, parameters)
// A function that needs no context.
#define SERVE_ALWAYS(name, parameters, call) \
    extern "C" EMU_EXPORT cudaError_t name parameters __asm__("emulator_" #name); \
    cudaError_t name parameters \
    { \
        return keep(int(call)); \
    } \
    ROW(name, parameters)
