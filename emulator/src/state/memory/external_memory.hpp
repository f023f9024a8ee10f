// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory and semaphores that other programs share as file descriptors. Here a memory object is any file that can be
// mapped, and a semaphore is a file that begins with a 64-bit counter: a timeline semaphore, or a binary one that a
// signal sets and a wait clears.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "../handles.hpp"

namespace emu::state {

class Context;

class ExternalMemory {
public:
    // Owns the descriptor if it succeeds, unless it is a dma-buf.
    static CUresult import(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC& description, CUexternalMemory* out);
    static CUresult destroy(CUexternalMemory handle);
    static std::shared_ptr<ExternalMemory> find(CUexternalMemory handle);
    static std::vector<std::pair<std::shared_ptr<ExternalMemory>, Origin>> all();
    ~ExternalMemory();

    CUexternalMemory handle() const { return handle_; }
    // Maps a range as memory of a device, which cuMemFree() frees.
    CUresult map(const Context& context, uint64_t offset, uint64_t size, CUdeviceptr* out) const;
    // Maps a range as the host's memory, for an image.
    CUresult map_image(uint64_t offset, uint64_t size, std::shared_ptr<const void>* memory, std::byte** at) const;
    // Returns a dma-buf for device memory: a file that names the memory's place, which only import() reads.
    static CUresult export_dma_buf(CUdeviceptr address, size_t size, int* out);

private:
    CUexternalMemory handle_ = nullptr;
    int file_ = -1;
    uint64_t offset_ = 0, size_ = 0;
};

class ExternalSemaphore {
public:
    static CUresult import(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC& description, CUexternalSemaphore* out);
    static CUresult destroy(CUexternalSemaphore handle);
    static std::shared_ptr<ExternalSemaphore> find(CUexternalSemaphore handle);
    static std::vector<std::pair<std::shared_ptr<ExternalSemaphore>, Origin>> all();
    ~ExternalSemaphore();

    CUexternalSemaphore handle() const { return handle_; }
    void signal(uint64_t value) const;
    // Returns true once the semaphore has been signaled with this value or a larger one.
    bool try_wait(uint64_t value) const;

private:
    CUexternalSemaphore handle_ = nullptr;
    uint64_t* counter_ = nullptr;
    bool is_timeline_ = false;
};

} // namespace emu::state
