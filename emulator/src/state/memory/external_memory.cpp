// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "external_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../context.hpp"
#include "../device.hpp"
#include "memory_sharing.hpp"
#include "virtual_memory.hpp"
#include "virtual_space.hpp"

namespace emu::state {
namespace {

constexpr uint64_t dma_buf_magic = 0x656d75646d616275; // "emudmabu"

// The contents of a file that stands in for a dma-buf.
struct DmaBuf {
    uint64_t magic, offset, size;
    int process, file; // contains the device memory
};

HandleTable<ExternalMemory, CUexternalMemory>& memories()
{
    static auto* rows = new HandleTable<ExternalMemory, CUexternalMemory>;
    return *rows;
}

HandleTable<ExternalSemaphore, CUexternalSemaphore>& semaphores()
{
    static auto* rows = new HandleTable<ExternalSemaphore, CUexternalSemaphore>;
    return *rows;
}

bool has_room(int file, uint64_t offset, uint64_t size)
{
    struct stat status;
    return !fstat(file, &status) && offset <= uint64_t(status.st_size) && size <= uint64_t(status.st_size) - offset;
}

// Returns the file with the memory, or -1.
int open_dma_buf(int file, uint64_t* offset)
{
    DmaBuf place;
    if (pread(file, &place, sizeof place, 0) != sizeof place || place.magic != dma_buf_magic)
        return -1;
    *offset = place.offset;
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", place.process, place.file);
    return ::open(path, O_RDWR | O_CLOEXEC);
}

// Finds the file with memory of cuMemAlloc(), or with one piece of virtual memory.
bool find_place(CUdeviceptr address, size_t size, DmaBuf* place)
{
    auto allocation = AddressSpace::get().find_range(address, size);
    if (!allocation || allocation->pool || allocation->device < 0)
        return false;
    if (allocation->kind == MemoryKind::mapped) {
        auto memory = virtual_memory::memory_at(address);
        auto piece = virtual_memory::allocation_at(address);
        if (!memory || !piece || memory->is_host() || memory->multicast())
            return false;
        place->file = memory->file();
        place->offset = address - piece->base;
        return place->offset + size <= memory->size();
    }
    if (allocation->kind != MemoryKind::device ||
        !AddressSpace::get().device(allocation->device).place_of(*allocation, &place->file, &place->offset))
        return false;
    place->offset += address - allocation->base;
    return true;
}

} // namespace

CUresult ExternalMemory::import(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC& description, CUexternalMemory* out)
{
    const bool is_dma_buf = description.type == CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD;
    if (!is_dma_buf && description.type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (description.size == 0 || (description.flags & ~unsigned(CUDA_EXTERNAL_MEMORY_DEDICATED)))
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t offset = 0;
    int file = is_dma_buf ? open_dma_buf(description.handle.fd, &offset) : description.handle.fd;
    if (!has_room(file, offset, description.size)) {
        if (is_dma_buf && file >= 0)
            ::close(file);
        return CUDA_ERROR_INVALID_VALUE;
    }
    auto memory = std::make_shared<ExternalMemory>();
    memory->file_ = file;
    memory->offset_ = offset;
    memory->size_ = description.size;
    *out = memory->handle_ = memories().add(memory);
    return CUDA_SUCCESS;
}

CUresult ExternalMemory::destroy(CUexternalMemory handle)
{
    return memories().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

std::shared_ptr<ExternalMemory> ExternalMemory::find(CUexternalMemory handle)
{
    return memories().find(handle);
}

std::vector<std::pair<std::shared_ptr<ExternalMemory>, Origin>> ExternalMemory::all()
{
    return memories().all();
}

ExternalMemory::~ExternalMemory()
{
    if (file_ >= 0)
        ::close(file_);
}

CUresult ExternalMemory::map(const Context& context, uint64_t offset, uint64_t size, CUdeviceptr* out) const
{
    if (size == 0 || offset > size_ || size > size_ - offset)
        return CUDA_ERROR_INVALID_VALUE;
    return SharedMemory::map_file(context.handle(), context.device().ordinal(), file_, offset_ + offset, size, out);
}

CUresult ExternalMemory::map_image(uint64_t offset, uint64_t size, std::shared_ptr<const void>* memory,
                                   std::byte** at) const
{
    if (size == 0 || offset > size_ || size > size_ - offset)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t first = offset_ + offset, begin = first / page_bytes * page_bytes;
    size_t length = size_t(first - begin + size);
    void* place = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file_, off_t(begin));
    if (place == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *memory = std::shared_ptr<const void>(place, [place, length](const void*) { munmap(place, length); });
    *at = static_cast<std::byte*>(place) + (first - begin);
    return CUDA_SUCCESS;
}

CUresult ExternalMemory::export_dma_buf(CUdeviceptr address, size_t size, int* out)
{
    DmaBuf place{dma_buf_magic, 0, size, int(getpid()), -1};
    if (size == 0 || address % page_bytes || size % page_bytes || !find_place(address, size, &place))
        return CUDA_ERROR_INVALID_VALUE;
    int file = memory_file_of("emulator-dma-buf", page_bytes);
    if (file < 0 || pwrite(file, &place, sizeof place, 0) != sizeof place) {
        if (file >= 0)
            ::close(file);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    *out = file;
    return CUDA_SUCCESS;
}

CUresult ExternalSemaphore::import(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC& description, CUexternalSemaphore* out)
{
    const bool is_timeline = description.type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    if (!is_timeline && description.type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (description.flags || !has_room(description.handle.fd, 0, sizeof(uint64_t)))
        return CUDA_ERROR_INVALID_VALUE;
    void* place = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, description.handle.fd, 0);
    if (place == MAP_FAILED)
        return CUDA_ERROR_INVALID_VALUE;
    ::close(description.handle.fd);
    auto semaphore = std::make_shared<ExternalSemaphore>();
    semaphore->counter_ = static_cast<uint64_t*>(place);
    semaphore->is_timeline_ = is_timeline;
    *out = semaphore->handle_ = semaphores().add(semaphore);
    return CUDA_SUCCESS;
}

CUresult ExternalSemaphore::destroy(CUexternalSemaphore handle)
{
    return semaphores().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

std::shared_ptr<ExternalSemaphore> ExternalSemaphore::find(CUexternalSemaphore handle)
{
    return semaphores().find(handle);
}

std::vector<std::pair<std::shared_ptr<ExternalSemaphore>, Origin>> ExternalSemaphore::all()
{
    return semaphores().all();
}

ExternalSemaphore::~ExternalSemaphore()
{
    if (counter_)
        munmap(counter_, page_bytes);
}

void ExternalSemaphore::signal(uint64_t value) const
{
    __atomic_store_n(counter_, is_timeline_ ? value : 1, __ATOMIC_RELEASE);
}

bool ExternalSemaphore::try_wait(uint64_t value) const
{
    if (is_timeline_)
        return __atomic_load_n(counter_, __ATOMIC_ACQUIRE) >= value;
    uint64_t signaled = 1;
    return __atomic_compare_exchange_n(counter_, &signaled, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

} // namespace emu::state
