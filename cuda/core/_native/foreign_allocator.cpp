// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The functions through which PyTorch allocates from a memory resource (`torch.cuda.memory.CUDAPluggableAllocator`). They
// have no argument for the resource, so there is one for each device. For a memory pool, no Python runs.
#include <atomic>
#include <cstddef>
#include <new>

#include "calls.hpp"
#include "native.hpp"

namespace cuda_core {

namespace {

using Allocate = void* (*)(std::ptrdiff_t size, int device, CUstream stream);
using Free = void (*)(void* pointer, std::ptrdiff_t size, int device, CUstream stream);

// What a device allocates from: a pool, or the functions of another resource.
struct Source {
    std::atomic<CUmemoryPool> pool{nullptr};
    std::atomic<Allocate> allocate{nullptr};
    std::atomic<Free> free{nullptr};
};

constexpr int most_devices = 64;
Source sources[most_devices];

}  // namespace

// Sets what a device allocates from. Returns false for a device beyond the last.
CUDA_CORE_API bool set_foreign_source(int device, CUmemoryPool pool, void* allocate, void* free) noexcept {
    if (device < 0 || device >= most_devices) return false;
    sources[device].allocate.store((Allocate)allocate);
    sources[device].free.store((Free)free);
    sources[device].pool.store(pool);
    return true;
}

}  // namespace cuda_core

extern "C" {

// Throws std::bad_alloc, which PyTorch turns into an exception of Python, if there is no memory.
CUDA_CORE_API void* cuda_core_allocate(std::ptrdiff_t size, int device, CUstream stream) {
    cuda_core::Source& source = cuda_core::sources[device];
    if (size == 0) return nullptr;
    if (const auto allocate = source.allocate.load(std::memory_order_acquire)) {
        void* pointer = allocate(size, device, stream);
        if (pointer == nullptr) throw std::bad_alloc();
        return pointer;
    }
    CUdeviceptr pointer = 0;
    const CUmemoryPool pool = source.pool.load(std::memory_order_acquire);
    if (cuda_core::driver_calls::cuMemAllocFromPoolAsync(&pointer, (std::size_t)size, pool, stream) != CUDA_SUCCESS) {
        throw std::bad_alloc();
    }
    return (void*)pointer;
}

CUDA_CORE_API void cuda_core_free(void* pointer, std::ptrdiff_t size, int device, CUstream stream) {
    if (pointer == nullptr) return;
    if (const auto free = cuda_core::sources[device].free.load(std::memory_order_acquire)) {
        free(pointer, size, device, stream);
    } else {
        cuda_core::driver_calls::cuMemFreeAsync((CUdeviceptr)pointer, stream);
    }
}

}  // extern "C"
