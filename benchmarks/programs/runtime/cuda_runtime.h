// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// The part of the CUDA runtime API that whole programs use most, on top of the driver API, for the host part of a
// program that benchmarks/programs.py runs. Whatever is missing here is not supported; g++ names it with its line.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <map>

#define __align__(n) __attribute__((aligned(n)))

// ------------------------------------------------------------------ vectors

#define CUDA_VECTORS(T, name)                                                                     \
    struct name##1 { T x; };                                                                      \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                            \
    struct name##3 { T x, y, z; };                                                                \
    struct alignas(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; };            \
    inline name##1 make_##name##1(T x) { return {x}; }                                            \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                    \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                            \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
CUDA_VECTORS(signed char, char)
CUDA_VECTORS(unsigned char, uchar)
CUDA_VECTORS(short, short)
CUDA_VECTORS(unsigned short, ushort)
CUDA_VECTORS(int, int)
CUDA_VECTORS(unsigned, uint)
CUDA_VECTORS(long, long)
CUDA_VECTORS(unsigned long, ulong)
CUDA_VECTORS(long long, longlong)
CUDA_VECTORS(unsigned long long, ulonglong)
CUDA_VECTORS(float, float)
CUDA_VECTORS(double, double)
#undef CUDA_VECTORS

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

#define CUDA_MIN_MAX(T)                                  \
    inline T min(T a, T b) { return b < a ? b : a; }     \
    inline T max(T a, T b) { return a < b ? b : a; }
CUDA_MIN_MAX(int)
CUDA_MIN_MAX(unsigned)
CUDA_MIN_MAX(long)
CUDA_MIN_MAX(unsigned long)
CUDA_MIN_MAX(long long)
CUDA_MIN_MAX(unsigned long long)
CUDA_MIN_MAX(float)
CUDA_MIN_MAX(double)
#undef CUDA_MIN_MAX
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline double rsqrt(double x) { return 1 / sqrt(x); }

// ------------------------------------------------------------------ types

// Codes are those of the driver, apart from 9, 13 and 21.
enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchTimeout = 702,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801,
    cudaErrorUnknown = 999,
};
typedef cudaError_t cudaError;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum { cudaEventDefault, cudaEventBlockingSync, cudaEventDisableTiming };
enum { cudaStreamDefault, cudaStreamNonBlocking };
enum { cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocMapped, cudaHostAllocWriteCombined = 4 };
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2 };
typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, totalConstMem;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate, major, minor;
    int multiProcessorCount, maxThreadsPerMultiProcessor, l2CacheSize, memoryClockRate, memoryBusWidth;
    int integrated, canMapHostMemory, concurrentKernels, managedMemory, unifiedAddressing;
};

// ------------------------------------------------------------------ the driver

namespace cuda_program {
typedef unsigned long long pointer;
struct copy_2d {
    size_t source_x, source_y;
    int source_type;
    const void* source_host;
    pointer source_device;
    void* source_array;
    size_t source_pitch, x, y;
    int type;
    void* host;
    pointer device;
    void* array;
    size_t pitch, width, height;
};
extern "C" {
int cuCtxGetDevice(int*);
int cuCtxSetCurrent(void*);
int cuCtxSynchronize();
int cuDeviceGetAttribute(int*, int, int);
int cuDeviceGetCount(int*);
int cuDeviceGetName(char*, int, int);
int cuDevicePrimaryCtxRetain(void**, int);
int cuDeviceTotalMem_v2(size_t*, int);
int cuDriverGetVersion(int*);
int cuEventCreate(cudaEvent_t*, unsigned);
int cuEventDestroy_v2(cudaEvent_t);
int cuEventElapsedTime(float*, cudaEvent_t, cudaEvent_t);
int cuEventQuery(cudaEvent_t);
int cuEventRecord(cudaEvent_t, cudaStream_t);
int cuEventSynchronize(cudaEvent_t);
int cuGetErrorName(int, const char**);
int cuGetErrorString(int, const char**);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cudaStream_t, void**, void**);
int cuMemAlloc_v2(pointer*, size_t);
int cuMemAllocManaged(pointer*, size_t, unsigned);
int cuMemAllocPitch_v2(pointer*, size_t*, size_t, size_t, unsigned);
int cuMemFree_v2(pointer);
int cuMemFreeHost(void*);
int cuMemGetInfo_v2(size_t*, size_t*);
int cuMemHostAlloc(void**, size_t, unsigned);
int cuMemHostGetDevicePointer_v2(pointer*, void*, unsigned);
int cuMemcpy2DAsync_v2(const copy_2d*, cudaStream_t);
int cuMemcpy2DUnaligned_v2(const copy_2d*);
int cuMemcpy(pointer, pointer, size_t);
int cuMemcpyAsync(pointer, pointer, size_t, cudaStream_t);
int cuMemcpyDtoDAsync_v2(pointer, pointer, size_t, cudaStream_t);
int cuMemcpyDtoD_v2(pointer, pointer, size_t);
int cuMemcpyDtoHAsync_v2(void*, pointer, size_t, cudaStream_t);
int cuMemcpyDtoH_v2(void*, pointer, size_t);
int cuMemcpyHtoDAsync_v2(pointer, const void*, size_t, cudaStream_t);
int cuMemcpyHtoD_v2(pointer, const void*, size_t);
int cuMemsetD2D8_v2(pointer, size_t, unsigned char, size_t, size_t);
int cuMemsetD8Async(pointer, unsigned char, size_t, cudaStream_t);
int cuMemsetD8_v2(pointer, unsigned char, size_t);
int cuStreamCreate(cudaStream_t*, unsigned);
int cuStreamDestroy_v2(cudaStream_t);
int cuStreamQuery(cudaStream_t);
int cuStreamSynchronize(cudaStream_t);
int cuStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned);
}

// ------------------------------------------------------------------ launches, symbols, errors

struct configuration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};
inline thread_local configuration next_launch;
inline thread_local cudaError_t last_error;
inline std::map<const void*, pointer> symbols;  // addresses on the device of variables that have a shadow on the host

inline cudaError_t result(int code) {
    if (code != 0 && code != cudaErrorNotReady) last_error = cudaError_t(code);
    return cudaError_t(code);
}
inline void configure(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr) {
    next_launch = {grid, block, shared, stream};
}
inline void launch(void* kernel, void** arguments) {
    configuration& c = next_launch;
    int code = cuLaunchKernel(kernel, c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z, unsigned(c.shared),
                              c.stream, arguments, nullptr);
    result(code == cudaErrorInvalidValue ? cudaErrorInvalidConfiguration : code);
}
inline pointer address(const void* p) { return pointer(p); }
inline pointer address_of_symbol(const void* shadow) {
    auto found = symbols.find(shadow);
    return found == symbols.end() ? 0 : found->second;
}
inline int attribute(int which, int device) {
    int value = 0;
    cuDeviceGetAttribute(&value, which, device);
    return value;
}
// The launcher calls it for each variable.
extern "C" __attribute__((used)) inline void cuda_program_add_symbol(const void* shadow, pointer device) {
    symbols[shadow] = device;
}
}  // namespace cuda_program

inline cudaError_t cudaGetLastError() {
    cudaError_t last = cuda_program::last_error;
    cuda_program::last_error = cudaSuccess;
    return last;
}
inline cudaError_t cudaPeekAtLastError() { return cuda_program::last_error; }
inline const char* cudaGetErrorString(cudaError_t error) {
    const char* text = nullptr;
    if (error == cudaErrorInvalidConfiguration) return "invalid configuration argument";
    if (error == cudaErrorInvalidSymbol) return "invalid device symbol";
    if (error == cudaErrorInvalidMemcpyDirection) return "invalid copy direction for memcpy";
    cuda_program::cuGetErrorString(error, &text);
    return text ? text : "unrecognized error code";
}
inline const char* cudaGetErrorName(cudaError_t error) {
    const char* text = nullptr;
    if (error == cudaErrorInvalidConfiguration) return "cudaErrorInvalidConfiguration";
    if (error == cudaErrorInvalidSymbol) return "cudaErrorInvalidSymbol";
    if (error == cudaErrorInvalidMemcpyDirection) return "cudaErrorInvalidMemcpyDirection";
    cuda_program::cuGetErrorName(error, &text);  // CUDA_ERROR_..., as the driver names it
    return text ? text : "unrecognized error code";
}

// ------------------------------------------------------------------ devices

inline cudaError_t cudaGetDeviceCount(int* count) { return cuda_program::result(cuda_program::cuDeviceGetCount(count)); }
inline cudaError_t cudaGetDevice(int* device) { return cuda_program::result(cuda_program::cuCtxGetDevice(device)); }
inline cudaError_t cudaSetDevice(int device) {
    void* context;
    int code = cuda_program::cuDevicePrimaryCtxRetain(&context, device);
    return cuda_program::result(code ? code : cuda_program::cuCtxSetCurrent(context));
}
inline cudaError_t cudaDeviceSynchronize() { return cuda_program::result(cuda_program::cuCtxSynchronize()); }
inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
// The launcher owns the kernels, so the context is not destroyed.
inline cudaError_t cudaDeviceReset() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
inline cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }
template <class Kernel>
cudaError_t cudaFuncSetCacheConfig(Kernel, cudaFuncCache) { return cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int* version) {
    return cuda_program::result(cuda_program::cuDriverGetVersion(version));
}
inline cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
    memset(p, 0, sizeof *p);
    int code = cuda_program::cuDeviceGetName(p->name, sizeof p->name, device);
    if (code) return cuda_program::result(code);
    cuda_program::cuDeviceTotalMem_v2(&p->totalGlobalMem, device);
    auto get = [device](int which) { return cuda_program::attribute(which, device); };
    p->maxThreadsPerBlock = get(1);
    for (int i = 0; i < 3; ++i) p->maxThreadsDim[i] = get(2 + i), p->maxGridSize[i] = get(5 + i);
    p->sharedMemPerBlock = get(8), p->totalConstMem = get(9), p->warpSize = get(10), p->regsPerBlock = get(12);
    p->clockRate = get(13), p->multiProcessorCount = get(16), p->integrated = get(18), p->canMapHostMemory = get(19);
    p->concurrentKernels = get(31), p->memoryClockRate = get(36), p->memoryBusWidth = get(37), p->l2CacheSize = get(38);
    p->maxThreadsPerMultiProcessor = get(39), p->unifiedAddressing = get(41), p->major = get(75), p->minor = get(76);
    p->managedMemory = get(83);
    return cudaSuccess;
}

// ------------------------------------------------------------------ memory

template <class T>
cudaError_t cudaMalloc(T** p, size_t bytes) {
    cuda_program::pointer made = 0;
    int code = bytes ? cuda_program::cuMemAlloc_v2(&made, bytes) : 0;
    *p = reinterpret_cast<T*>(made);
    return cuda_program::result(code);
}
template <class T>
cudaError_t cudaMallocManaged(T** p, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
    cuda_program::pointer made = 0;
    int code = cuda_program::cuMemAllocManaged(&made, bytes, flags);
    *p = reinterpret_cast<T*>(made);
    return cuda_program::result(code);
}
template <class T>
cudaError_t cudaMallocPitch(T** p, size_t* pitch, size_t width, size_t height) {
    cuda_program::pointer made = 0;
    int code = cuda_program::cuMemAllocPitch_v2(&made, pitch, width, height, 4);
    *p = reinterpret_cast<T*>(made);
    return cuda_program::result(code);
}
template <class T>
cudaError_t cudaHostAlloc(T** p, size_t bytes, unsigned flags) {
    return cuda_program::result(cuda_program::cuMemHostAlloc(reinterpret_cast<void**>(p), bytes, flags));
}
template <class T>
cudaError_t cudaMallocHost(T** p, size_t bytes, unsigned flags = 0) { return cudaHostAlloc(p, bytes, flags); }
template <class T>
cudaError_t cudaHostGetDevicePointer(T** p, void* host, unsigned flags) {
    auto made = reinterpret_cast<cuda_program::pointer*>(p);
    return cuda_program::result(cuda_program::cuMemHostGetDevicePointer_v2(made, host, flags));
}
inline cudaError_t cudaFree(void* p) {
    return p ? cuda_program::result(cuda_program::cuMemFree_v2(cuda_program::address(p))) : cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* p) { return p ? cuda_program::result(cuda_program::cuMemFreeHost(p)) : cudaSuccess; }
inline cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    return cuda_program::result(cuda_program::cuMemGetInfo_v2(free, total));
}
inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
    using namespace cuda_program;
    switch (kind) {
        case cudaMemcpyHostToDevice: return result(cuMemcpyHtoD_v2(address(to), from, bytes));
        case cudaMemcpyDeviceToHost: return result(cuMemcpyDtoH_v2(to, address(from), bytes));
        case cudaMemcpyDeviceToDevice: return result(cuMemcpyDtoD_v2(address(to), address(from), bytes));
        case cudaMemcpyHostToHost: memcpy(to, from, bytes); return cudaSuccess;
        case cudaMemcpyDefault: return result(cuMemcpy(address(to), address(from), bytes));
    }
    return result(cudaErrorInvalidMemcpyDirection);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t s = 0) {
    using namespace cuda_program;
    switch (kind) {
        case cudaMemcpyHostToDevice: return result(cuMemcpyHtoDAsync_v2(address(to), from, bytes, s));
        case cudaMemcpyDeviceToHost: return result(cuMemcpyDtoHAsync_v2(to, address(from), bytes, s));
        case cudaMemcpyDeviceToDevice: return result(cuMemcpyDtoDAsync_v2(address(to), address(from), bytes, s));
        default: return result(cuMemcpyAsync(address(to), address(from), bytes, s));
    }
}
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t pitch, const void* from, size_t from_pitch, size_t width,
                                     size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    using namespace cuda_program;
    // Memory types: 1 host, 2 device, 4 whatever the address is.
    int type = kind == cudaMemcpyDefault ? 4 : kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost ? 1 : 2;
    int from_type = kind == cudaMemcpyDefault ? 4 : kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice ? 1 : 2;
    copy_2d copy = {0, 0, from_type, from, address(from), nullptr, from_pitch,
                    0, 0, type, to, address(to), nullptr, pitch, width, height};
    return result(stream ? cuMemcpy2DAsync_v2(&copy, stream) : cuMemcpy2DUnaligned_v2(&copy));
}
inline cudaError_t cudaMemcpy2D(void* to, size_t pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                                cudaMemcpyKind kind) {
    return cudaMemcpy2DAsync(to, pitch, from, from_pitch, width, height, kind, nullptr);
}
inline cudaError_t cudaMemset(void* p, int value, size_t bytes) {
    return cuda_program::result(cuda_program::cuMemsetD8_v2(cuda_program::address(p), (unsigned char)value, bytes));
}
inline cudaError_t cudaMemsetAsync(void* p, int value, size_t bytes, cudaStream_t stream = 0) {
    auto byte = (unsigned char)value;
    return cuda_program::result(cuda_program::cuMemsetD8Async(cuda_program::address(p), byte, bytes, stream));
}
inline cudaError_t cudaMemset2D(void* p, size_t pitch, int value, size_t width, size_t height) {
    auto byte = (unsigned char)value;
    return cuda_program::result(cuda_program::cuMemsetD2D8_v2(cuda_program::address(p), pitch, byte, width, height));
}

// ------------------------------------------------------------------ variables of kernels

template <class T>
cudaError_t cudaGetSymbolAddress(void** p, const T& symbol) {
    *p = reinterpret_cast<void*>(cuda_program::address_of_symbol(&symbol));
    return cuda_program::result(*p ? cudaSuccess : cudaErrorInvalidSymbol);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    void* p;
    cudaError_t error = cudaGetSymbolAddress(&p, symbol);
    return error ? error : cudaMemcpy(static_cast<char*>(p) + offset, from, bytes, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    void* p;
    cudaError_t error = cudaGetSymbolAddress(&p, symbol);
    return error ? error : cudaMemcpy(to, static_cast<char*>(p) + offset, bytes, kind);
}

// ------------------------------------------------------------------ streams and events

#define CUDA_CALL(name, parameters, call) \
    inline cudaError_t name parameters { return cuda_program::result(cuda_program::call); }
CUDA_CALL(cudaStreamCreate, (cudaStream_t * stream), cuStreamCreate(stream, 0))
CUDA_CALL(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), cuStreamCreate(stream, flags))
CUDA_CALL(cudaStreamDestroy, (cudaStream_t stream), cuStreamDestroy_v2(stream))
CUDA_CALL(cudaStreamQuery, (cudaStream_t stream), cuStreamQuery(stream))
CUDA_CALL(cudaStreamSynchronize, (cudaStream_t stream), cuStreamSynchronize(stream))
CUDA_CALL(cudaStreamWaitEvent, (cudaStream_t s, cudaEvent_t event, unsigned flags = 0), cuStreamWaitEvent(s, event, flags))
CUDA_CALL(cudaEventCreate, (cudaEvent_t * event), cuEventCreate(event, 0))
CUDA_CALL(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), cuEventCreate(event, flags))
CUDA_CALL(cudaEventDestroy, (cudaEvent_t event), cuEventDestroy_v2(event))
CUDA_CALL(cudaEventElapsedTime, (float* ms, cudaEvent_t start, cudaEvent_t end), cuEventElapsedTime(ms, start, end))
CUDA_CALL(cudaEventQuery, (cudaEvent_t event), cuEventQuery(event))
CUDA_CALL(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream = 0), cuEventRecord(event, stream))
CUDA_CALL(cudaEventSynchronize, (cudaEvent_t event), cuEventSynchronize(event))
#undef CUDA_CALL
