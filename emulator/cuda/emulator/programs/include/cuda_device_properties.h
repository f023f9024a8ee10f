// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The properties of a device, as CUDA 12 has them. Most are attributes; the macros list these with their numbers.
#pragma once

// P(type, member, attribute)
#define CUDA_PROPERTIES(P) \
    P(size_t, sharedMemPerBlock, 8) P(int, regsPerBlock, 12) P(int, warpSize, 10) P(size_t, memPitch, 11) \
    P(int, maxThreadsPerBlock, 1) P(size_t, totalConstMem, 9) P(int, clockRate, 13) P(int, major, 75) \
    P(int, minor, 76) P(size_t, textureAlignment, 14) P(size_t, texturePitchAlignment, 51) P(int, deviceOverlap, 15) \
    P(int, multiProcessorCount, 16) P(int, kernelExecTimeoutEnabled, 17) P(int, integrated, 18) \
    P(int, canMapHostMemory, 19) P(int, computeMode, 20) P(int, maxTexture1D, 21) P(int, maxTexture1DLinear, 69) \
    P(int, maxTextureCubemap, 52) P(int, maxSurface1D, 55) P(size_t, surfaceAlignment, 30) \
    P(int, concurrentKernels, 31) P(int, ECCEnabled, 32) P(int, pciBusID, 33) P(int, pciDeviceID, 34) \
    P(int, pciDomainID, 50) P(int, tccDriver, 35) P(int, asyncEngineCount, 40) P(int, unifiedAddressing, 41) \
    P(int, memoryClockRate, 36) P(int, memoryBusWidth, 37) P(int, l2CacheSize, 38) \
    P(int, persistingL2CacheMaxSize, 108) P(int, maxThreadsPerMultiProcessor, 39) \
    P(int, streamPrioritiesSupported, 78) P(int, globalL1CacheSupported, 79) P(int, localL1CacheSupported, 80) \
    P(size_t, sharedMemPerMultiprocessor, 81) P(int, regsPerMultiprocessor, 82) P(int, managedMemory, 83) \
    P(int, isMultiGpuBoard, 84) P(int, multiGpuBoardGroupID, 85) P(int, hostNativeAtomicSupported, 86) \
    P(int, singleToDoublePrecisionPerfRatio, 87) P(int, pageableMemoryAccess, 88) P(int, concurrentManagedAccess, 89) \
    P(int, computePreemptionSupported, 90) P(int, canUseHostPointerForRegisteredMem, 91) P(int, cooperativeLaunch, 95) \
    P(size_t, sharedMemPerBlockOptin, 97) P(int, pageableMemoryAccessUsesHostPageTables, 100) \
    P(int, directManagedMemAccessFromHost, 101) P(int, maxBlocksPerMultiProcessor, 106) \
    P(int, accessPolicyMaxWindowSize, 109) P(size_t, reservedSharedMemPerBlock, 111) P(int, hostRegisterSupported, 99) \
    P(int, memoryPoolsSupported, 115) P(int, clusterLaunch, 120)
// P(member, extents, the attribute of the first), with consecutive attributes
#define CUDA_PROPERTIES_OF_EXTENTS(P) \
    P(maxThreadsDim, 3, 2) P(maxGridSize, 3, 5) P(maxTexture2D, 2, 22) P(maxTexture3D, 3, 24) \
    P(maxTexture2DLayered, 3, 27) P(maxTexture1DLayered, 2, 42) P(maxTexture2DGather, 2, 45) P(maxTexture3DAlt, 3, 47) \
    P(maxTextureCubemapLayered, 2, 53) P(maxSurface2D, 2, 56) P(maxSurface3D, 3, 58) P(maxSurface1DLayered, 2, 61) \
    P(maxSurface2DLayered, 3, 63) P(maxTexture2DLinear, 3, 70) P(maxTexture2DMipmap, 2, 73)

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem;
#define CUDA_MEMBER(type, member, attribute) type member;
#define CUDA_EXTENTS(member, count, attribute) int member[count];
    CUDA_PROPERTIES(CUDA_MEMBER)
    CUDA_PROPERTIES_OF_EXTENTS(CUDA_EXTENTS)
#undef CUDA_MEMBER
#undef CUDA_EXTENTS
};

extern "C" int cuDeviceGetAttribute(int*, int, int), cuDeviceGetName(char*, int, int);
extern "C" int cuDeviceTotalMem_v2(size_t*, int), cuDeviceGetUuid_v2(cudaUUID_t*, int);

inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* out, int device)
{
    int value = 0;
    if (!out) return cudaErrorInvalidValue;
    *out = {};
    if (cudaError_t error = cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, device)) return error;
    cuDeviceGetName(out->name, sizeof out->name, device);
    cuDeviceTotalMem_v2(&out->totalGlobalMem, device);
    cuDeviceGetUuid_v2(&out->uuid, device);
    auto get = [&](int attribute) {
        value = 0;
        cuDeviceGetAttribute(&value, attribute, device);
        return value;
    };
#define CUDA_MEMBER(type, member, attribute) out->member = type(get(attribute));
#define CUDA_EXTENTS(member, count, attribute) \
    for (int i = 0; i < count; ++i) out->member[i] = get(attribute + i);
    CUDA_PROPERTIES(CUDA_MEMBER)
    CUDA_PROPERTIES_OF_EXTENTS(CUDA_EXTENTS)
#undef CUDA_MEMBER
#undef CUDA_EXTENTS
    return cudaSuccess;
}

// Chooses the first device: all have the same properties.
inline cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) { return *device = 0, cudaSuccess; }
