// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The CUDA runtime API for the host part of a program: declarations of the functions that the software device exports
// (emulator/src/abi/runtime*.cpp), and their forms in C++. g++ reports what is missing, with its line.
#pragma once

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Programs ask for these names, and for the version.
#define CUDART_VERSION 12090
#define CUDA_VERSION CUDART_VERSION
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define CUDART_CB
#define CUDARTAPI
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))

#include "emulator_vectors.h"
#include "emulator_errors.h"
#include "emulator_driver_types.h"
#include "library_types.h"
#include "cuda_enumerators.h"
#include "cuda_host_math.h"

typedef unsigned int uint;
typedef unsigned short ushort;
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
typedef struct CUfunc_st* cudaFunction_t;
typedef void (*cudaHostFn_t)(void*);
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void*);

// What only device code uses.
namespace cooperative_groups {}
namespace nvcuda {
namespace wmma {}
} // namespace nvcuda

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes;
    int preferredShmemCarveout, clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
    int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed, reserved[16];
};
struct cudaMemLocation {
    cudaMemLocationType type;
    int id;
    unsigned char localized[2];
};
struct cudaMemAccessDesc {
    cudaMemLocation location;
    cudaMemAccessFlags flags;
};
struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    cudaMemAllocationHandleType handleTypes;
    cudaMemLocation location;
    void* win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};
struct cudaKernelNodeParams {
    void* func;
    dim3 gridDim, blockDim;
    unsigned int sharedMemBytes;
    void **kernelParams, **extra;
};
struct cudaMemsetParams {
    void* dst;
    size_t pitch;
    unsigned int value, elementSize;
    size_t width, height;
};
struct cudaHostNodeParams {
    cudaHostFn_t fn;
    void* userData;
};
struct cudaGraphEdgeData {
    unsigned char from_port, to_port, type, reserved[5];
};
struct cudaGraphExecUpdateResultInfo {
    cudaGraphExecUpdateResult result;
    cudaGraphNode_t errorNode, errorFromNode;
};
struct cudaResourceViewDesc {
    cudaResourceViewFormat format;
    size_t width, height, depth;
    unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer, reserved[16];
};
struct cudaIpcMemHandle_t {
    char reserved[64];
};
struct cudaIpcEventHandle_t {
    char reserved[64];
};
struct cudaAccessPolicyWindow {
    void* base_ptr;
    size_t num_bytes;
    float hitRatio;
    cudaAccessProperty hitProp, missProp;
};
union cudaLaunchAttributeValue {
    char pad[64];
    cudaAccessPolicyWindow accessPolicyWindow;
    int cooperative, priority;
    struct {
        unsigned int x, y, z;
    } clusterDim;
    int programmaticStreamSerializationAllowed;
};
typedef cudaLaunchAttributeID cudaStreamAttrID;
typedef cudaLaunchAttributeValue cudaStreamAttrValue;
#define cudaStreamAttributeAccessPolicyWindow cudaLaunchAttributeAccessPolicyWindow
#define cudaStreamAttributePriority cudaLaunchAttributePriority
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    char pad[4];
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned int numAttrs;
};

#include "cuda_runtime_functions.h"
#include "cuda_device_properties.h"
