// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// The most common functions of the CUDA runtime API, as driver calls, for the host part of a program run by
// benchmarks/programs.py. Anything else is not supported, and g++ reports it with its line.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define __align__(n) __attribute__((aligned(n)))

// ------------------------------------------------------------------ types

#define CUDA_VECTORS(T, name) \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; }; \
    struct name##3 { T x, y, z; }; \
    struct alignas(sizeof(T) > 4 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; }; \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; } \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
#define CUDA_MIN_MAX(T) \
    inline T min(T a, T b) { return b < a ? b : a; } \
    inline T max(T a, T b) { return a < b ? b : a; }
#define CUDA_NUMBERS(T, name) CUDA_VECTORS(T, name) CUDA_MIN_MAX(T)
CUDA_VECTORS(signed char, char)
CUDA_VECTORS(unsigned char, uchar)
CUDA_VECTORS(short, short)
CUDA_VECTORS(unsigned short, ushort)
CUDA_NUMBERS(int, int)
CUDA_NUMBERS(unsigned, uint)
CUDA_NUMBERS(long, long)
CUDA_NUMBERS(unsigned long, ulong)
CUDA_NUMBERS(long long, longlong)
CUDA_NUMBERS(unsigned long long, ulonglong)
CUDA_NUMBERS(float, float)
CUDA_NUMBERS(double, double)
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline double rsqrt(double x) { return 1 / sqrt(x); }

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

// The codes are the driver's, except 9, 13 and 21.
enum cudaError_t {
    cudaSuccess,
    cudaErrorInvalidValue,
    cudaErrorMemoryAllocation,
    cudaErrorInitializationError,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources,
    cudaErrorLaunchTimeout,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
    cudaErrorUnknown = 999
};
typedef cudaError_t cudaError;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaFuncCache {
    cudaFuncCachePreferNone,
    cudaFuncCachePreferShared,
    cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual
};
enum { cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming };
enum { cudaStreamDefault, cudaStreamNonBlocking };
enum { cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocMapped, cudaHostAllocWriteCombined = 4 };
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost };
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, totalConstMem;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor;
    int multiProcessorCount, maxThreadsPerMultiProcessor, l2CacheSize, canMapHostMemory, concurrentKernels;
};

// ------------------------------------------------------------------ launches, variables, errors

namespace cuda_program {

// A CUdeviceptr is passed as a pointer, which has the same size and representation.
extern "C" {
int cuDeviceGetAttribute(int*, int, int), cuDeviceGetName(char*, int, int), cuDeviceTotalMem_v2(size_t*, int);
int cuDevicePrimaryCtxRetain(void**, int), cuCtxSetCurrent(void*);
int cuGetErrorName(int, const char**), cuGetErrorString(int, const char**);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t, void**,
                   void**);
int cuMemAlloc_v2(void**, size_t), cuMemFree_v2(void*), cuMemFreeHost(void*);
int cuMemAllocManaged(void**, size_t, unsigned), cuMemHostAlloc(void**, size_t, unsigned);
int cuMemAllocPitch_v2(void**, size_t*, size_t, size_t, unsigned);
int cuMemHostGetDevicePointer_v2(void**, void*, unsigned);
int cuMemcpy(void*, const void*, size_t), cuMemcpyAsync(void*, const void*, size_t, cudaStream_t);
int cuMemcpyDtoD_v2(void*, const void*, size_t), cuMemcpyDtoDAsync_v2(void*, const void*, size_t, cudaStream_t);
int cuMemcpyDtoH_v2(void*, const void*, size_t), cuMemcpyDtoHAsync_v2(void*, const void*, size_t, cudaStream_t);
int cuMemcpyHtoD_v2(void*, const void*, size_t), cuMemcpyHtoDAsync_v2(void*, const void*, size_t, cudaStream_t);
int cuMemcpy2DUnaligned_v2(const struct copy_2d*);
}

// CUDA_MEMCPY2D
struct copy_2d_side {
    size_t x, y;
    int type;  // 1 host, 2 device, 4 as the address says
    const void *host, *device, *array;
    size_t pitch;
};
struct copy_2d {
    copy_2d_side from, to;
    size_t width, height;
};

struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};
inline thread_local configuration next_launch;
inline thread_local cudaError_t last_error;

// A device variable, and the host part's variable with the same name.
struct symbol {
    const void* shadow;
    void* device;
    symbol* next;
};
inline symbol* symbols;

inline cudaError_t result(int code) {
    if (code && code != cudaErrorNotReady) last_error = cudaError_t(code);
    return cudaError_t(code);
}
inline void configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) {
    next_launch = {grid, block, shared, stream};
}
inline void launch(void* kernel, void** arguments) {
    dim3 grid = next_launch.grid, block = next_launch.block;
    int code = cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, unsigned(next_launch.shared),
                              next_launch.stream, arguments, nullptr);
    result(code == cudaErrorInvalidValue ? cudaErrorInvalidConfiguration : code);
}
// The launcher calls it for each variable.
extern "C" __attribute__((used)) inline void cuda_program_add_symbol(const void* shadow, void* device) {
    symbols = new symbol{shadow, device, symbols};
}
inline const char* text_of(int error, bool is_name) {
    const char *name = "unrecognized error code", *text = name;
    if (error == cudaErrorInvalidConfiguration)
        name = "cudaErrorInvalidConfiguration", text = "invalid configuration argument";
    else if (error == cudaErrorInvalidSymbol)
        name = "cudaErrorInvalidSymbol", text = "invalid device symbol";
    else if (error == cudaErrorInvalidMemcpyDirection)
        name = "cudaErrorInvalidMemcpyDirection", text = "invalid copy direction for memcpy";
    else
        cuGetErrorName(error, &name), cuGetErrorString(error, &text);  // the name is CUDA_ERROR_...
    return is_name ? name : text;
}

}  // namespace cuda_program

inline const char* cudaGetErrorString(cudaError_t error) { return cuda_program::text_of(error, false); }
inline const char* cudaGetErrorName(cudaError_t error) { return cuda_program::text_of(error, true); }
inline cudaError_t cudaPeekAtLastError() { return cuda_program::last_error; }
inline cudaError_t cudaGetLastError() {
    cudaError_t last = cuda_program::last_error;
    cuda_program::last_error = cudaSuccess;
    return last;
}

// ------------------------------------------------------------------ devices, streams, events, fills

// A function with the same parameters as the driver's.
#define CUDA_CALL(name, driver, parameters, arguments) \
    extern "C" int driver parameters; \
    inline cudaError_t name parameters { return cuda_program::result(driver arguments); }
CUDA_CALL(cudaGetDeviceCount, cuDeviceGetCount, (int* count), (count))
CUDA_CALL(cudaGetDevice, cuCtxGetDevice, (int* device), (device))
CUDA_CALL(cudaDeviceSynchronize, cuCtxSynchronize, (), ())
CUDA_CALL(cudaDriverGetVersion, cuDriverGetVersion, (int* version), (version))
CUDA_CALL(cudaMemGetInfo, cuMemGetInfo_v2, (size_t* free, size_t* total), (free, total))
CUDA_CALL(cudaMemset, cuMemsetD8_v2, (void* p, unsigned char value, size_t bytes), (p, value, bytes))
CUDA_CALL(cudaMemsetAsync, cuMemsetD8Async, (void* p, unsigned char value, size_t bytes, cudaStream_t stream = 0),
          (p, value, bytes, stream))
CUDA_CALL(cudaMemset2D, cuMemsetD2D8_v2, (void* p, size_t pitch, unsigned char value, size_t width, size_t height),
          (p, pitch, value, width, height))
CUDA_CALL(cudaStreamCreateWithFlags, cuStreamCreate, (cudaStream_t * stream, unsigned flags), (stream, flags))
CUDA_CALL(cudaStreamDestroy, cuStreamDestroy_v2, (cudaStream_t stream), (stream))
CUDA_CALL(cudaStreamQuery, cuStreamQuery, (cudaStream_t stream), (stream))
CUDA_CALL(cudaStreamSynchronize, cuStreamSynchronize, (cudaStream_t stream), (stream))
CUDA_CALL(cudaStreamWaitEvent, cuStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags = 0),
          (stream, event, flags))
CUDA_CALL(cudaEventCreateWithFlags, cuEventCreate, (cudaEvent_t * event, unsigned flags), (event, flags))
CUDA_CALL(cudaEventDestroy, cuEventDestroy_v2, (cudaEvent_t event), (event))
CUDA_CALL(cudaEventElapsedTime, cuEventElapsedTime, (float* ms, cudaEvent_t start, cudaEvent_t end), (ms, start, end))
CUDA_CALL(cudaEventQuery, cuEventQuery, (cudaEvent_t event), (event))
CUDA_CALL(cudaEventRecord, cuEventRecord, (cudaEvent_t event, cudaStream_t stream = 0), (event, stream))
CUDA_CALL(cudaEventSynchronize, cuEventSynchronize, (cudaEvent_t event), (event))

inline cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, 0); }
inline cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
// The launcher owns the kernels, so the context stays.
inline cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
inline cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
template <class Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel, cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaSetDevice(int device) {
    void* context;
    int code = cuda_program::cuDevicePrimaryCtxRetain(&context, device);
    return cuda_program::result(code ? code : cuda_program::cuCtxSetCurrent(context));
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
    memset(p, 0, sizeof *p);
    auto get = [device](int attribute) {
        int value = 0;
        cuda_program::cuDeviceGetAttribute(&value, attribute, device);
        return value;
    };
    p->maxThreadsPerBlock = get(1);
    for (int i = 0; i < 3; ++i) p->maxThreadsDim[i] = get(2 + i), p->maxGridSize[i] = get(5 + i);
    p->sharedMemPerBlock = get(8), p->totalConstMem = get(9), p->warpSize = get(10), p->regsPerBlock = get(12);
    p->clockRate = get(13), p->multiProcessorCount = get(16), p->canMapHostMemory = get(19);
    p->concurrentKernels = get(31), p->l2CacheSize = get(38), p->maxThreadsPerMultiProcessor = get(39);
    p->major = get(75), p->minor = get(76);
    cuda_program::cuDeviceTotalMem_v2(&p->totalGlobalMem, device);
    return cuda_program::result(cuda_program::cuDeviceGetName(p->name, sizeof p->name, device));
}

// ------------------------------------------------------------------ memory

template <class T>
cudaError_t cudaMalloc(T** p, size_t bytes) {
    *p = nullptr;
    return bytes ? cuda_program::result(cuda_program::cuMemAlloc_v2((void**)p, bytes)) : cudaSuccess;
}
template <class T>
cudaError_t cudaMallocManaged(T** p, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
    return cuda_program::result(cuda_program::cuMemAllocManaged((void**)p, bytes, flags));
}
template <class T>
cudaError_t cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t height) {
    return cuda_program::result(cuda_program::cuMemAllocPitch_v2((void**)p, pitch, width, height, 4));
}
template <class T>
cudaError_t cudaHostAlloc(T** p, size_t bytes, unsigned flags) {
    return cuda_program::result(cuda_program::cuMemHostAlloc((void**)p, bytes, flags));
}
template <class T>
cudaError_t cudaMallocHost(T** p, size_t bytes, unsigned flags = 0) { return cudaHostAlloc(p, bytes, flags); }
template <class T>
cudaError_t cudaHostGetDevicePointer(T** p, void* host, unsigned flags) {
    return cuda_program::result(cuda_program::cuMemHostGetDevicePointer_v2((void**)p, host, flags));
}
inline cudaError_t cudaFree(void* p) { return cuda_program::result(p ? cuda_program::cuMemFree_v2(p) : 0); }
inline cudaError_t cudaFreeHost(void* p) { return cuda_program::result(p ? cuda_program::cuMemFreeHost(p) : 0); }

inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    using namespace cuda_program;
    if (unsigned(kind) > cudaMemcpyDefault) return result(cudaErrorInvalidMemcpyDirection);
    const decltype(&cuMemcpy) copies[] = {cuMemcpy, cuMemcpyHtoD_v2, cuMemcpyDtoH_v2, cuMemcpyDtoD_v2, cuMemcpy};
    return result(bytes ? copies[kind](to, from, bytes) : 0);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                                   cudaStream_t stream = 0) {
    using namespace cuda_program;
    if (unsigned(kind) > cudaMemcpyDefault) return result(cudaErrorInvalidMemcpyDirection);
    const decltype(&cuMemcpyAsync) copies[] = {cuMemcpyAsync, cuMemcpyHtoDAsync_v2, cuMemcpyDtoHAsync_v2,
                                               cuMemcpyDtoDAsync_v2, cuMemcpyAsync};
    return result(bytes ? copies[kind](to, from, bytes, stream) : 0);
}
inline cudaError_t cudaMemcpy2D(void* to, size_t pitch, const void* from, size_t from_pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
    using namespace cuda_program;
    if (unsigned(kind) > cudaMemcpyDefault) return result(cudaErrorInvalidMemcpyDirection);
    const int from_types[] = {1, 1, 2, 2, 4}, to_types[] = {1, 2, 1, 2, 4};
    copy_2d copy = {{0, 0, from_types[kind], from, from, nullptr, from_pitch},
                    {0, 0, to_types[kind], to, to, nullptr, pitch},
                    width,
                    height};
    return result(cuMemcpy2DUnaligned_v2(&copy));
}

template <class T>
cudaError_t cudaGetSymbolAddress(void** p, const T& variable) {
    for (auto* s = cuda_program::symbols; s; s = s->next)
        if (s->shadow == &variable) return *p = s->device, cudaSuccess;
    return cuda_program::result(cudaErrorInvalidSymbol);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& variable, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    void* p;
    cudaError_t error = cudaGetSymbolAddress(&p, variable);
    return error ? error : cudaMemcpy(static_cast<char*>(p) + offset, from, bytes, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& variable, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    void* p;
    cudaError_t error = cudaGetSymbolAddress(&p, variable);
    return error ? error : cudaMemcpy(to, static_cast<char*>(p) + offset, bytes, kind);
}
