// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Plain, pinned, registered and managed memory, and pointer attributes.
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "../config.hpp"
#include "../state/memory/arena.hpp"
#include "../state/memory/memory_sharing.hpp"
#include "../state/memory/pool.hpp"
#include "../state/memory/virtual_memory.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

AddressSpace& space()
{
    return AddressSpace::get();
}

// Like drivers, waits for all work that may use the memory before freeing it.
void wait_for_users(const Allocation& allocation)
{
    auto here = current(), owner = Context::find(allocation.context);
    if (here)
        here->wait_idle();
    if (owner && owner != here)
        owner->wait_idle();
}

CUresult allocate_pinned(void** out, size_t size, unsigned flags)
{
    std::shared_ptr<Context> context;
    CUdeviceptr address = 0;
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    TRY(space().allocate(space().pinned(), size, context->handle(), flags, &address));
    *out = reinterpret_cast<void*>(address);
    return CUDA_SUCCESS;
}

} // namespace

ENTRY(cuMemAlloc, 3020)(CUdeviceptr* dptr, size_t bytesize)
{
    std::shared_ptr<Context> context;
    REQUIRE(dptr, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return space().allocate(context->device().memory(), bytesize, context->handle(), 0, dptr);
}

ENTRY(cuMemAllocPitch, 3020)(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes, size_t Height,
                             unsigned int ElementSizeBytes)
{
    REQUIRE(dptr && pPitch && WidthInBytes && Height, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(ElementSizeBytes == 4 || ElementSizeBytes == 8 || ElementSizeBytes == 16, CUDA_ERROR_INVALID_VALUE);
    const size_t unit = 512;
    size_t pitch = (WidthInBytes + unit - 1) / unit * unit, size = 0;
    REQUIRE(pitch <= 0x7fffffff, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!__builtin_mul_overflow(pitch, Height, &size), CUDA_ERROR_OUT_OF_MEMORY);
    TRY(entry_cuMemAlloc_3020(dptr, size));
    *pPitch = pitch;
    return CUDA_SUCCESS;
}

ENTRY(cuMemFree, 3020)(CUdeviceptr dptr)
{
    std::shared_ptr<Context> context;
    TRY(need_any_context(&context));
    if (!dptr)
        return context->sticky();
    auto allocation = space().find(dptr);
    REQUIRE(allocation && allocation->base == dptr && !allocation->is_host() && allocation->kind != MemoryKind::heap,
            CUDA_ERROR_INVALID_VALUE);
    wait_for_users(*allocation);
    TRY(allocation->kind == MemoryKind::external ? SharedMemory::close(dptr) : Pool::release_now(dptr));
    return context->sticky();
}

ENTRY(cuMemGetInfo, 3020)(size_t* free, size_t* total)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    Arena& memory = context->device().memory();
    if (total)
        *total = memory.limit();
    if (free)
        *free = memory.limit() - memory.used();
    return CUDA_SUCCESS;
}

ENTRY(cuMemGetAddressRange, 3020)(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    auto allocation = space().find(dptr);
    REQUIRE(allocation, CUDA_ERROR_NOT_FOUND);
    if (pbase)
        *pbase = allocation->base;
    if (psize)
        *psize = allocation->size;
    return CUDA_SUCCESS;
}

ENTRY(cuMemAllocManaged, 6000)(CUdeviceptr* dptr, size_t bytesize, unsigned int flags)
{
    std::shared_ptr<Context> context;
    REQUIRE(dptr && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST), CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return space().allocate(space().managed(), bytesize, context->handle(), flags, dptr);
}

// --------------------------------------------------------------------------- pinned memory

ENTRY(cuMemHostAlloc, 2020)(void** pp, size_t bytesize, unsigned int Flags)
{
    REQUIRE((Flags & ~7u) == 0, CUDA_ERROR_INVALID_VALUE);
    return allocate_pinned(pp, bytesize, Flags);
}

ENTRY(cuMemAllocHost, 3020)(void** pp, size_t bytesize)
{
    return allocate_pinned(pp, bytesize, 0);
}

ENTRY(cuMemFreeHost, 2000)(void* p)
{
    std::shared_ptr<Context> context;
    TRY(need_any_context(&context));
    if (!p)
        return context->sticky();
    auto allocation = space().find(address_of(p));
    REQUIRE(allocation && allocation->base == address_of(p) && allocation->kind == MemoryKind::pinned &&
                !allocation->owner,
            CUDA_ERROR_INVALID_VALUE);
    wait_for_users(*allocation);
    TRY(space().release(address_of(p)));
    return context->sticky();
}

ENTRY(cuMemHostGetDevicePointer, 3020)(CUdeviceptr* pdptr, void* p, unsigned int Flags)
{
    std::shared_ptr<Context> context;
    REQUIRE(pdptr && Flags == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    auto allocation = space().find(address_of(p));
    REQUIRE(allocation && allocation->is_host(), CUDA_ERROR_INVALID_VALUE);
    *pdptr = address_of(p);
    return CUDA_SUCCESS;
}

ENTRY(cuMemHostGetFlags, 2030)(unsigned int* pFlags, void* p)
{
    std::shared_ptr<Context> context;
    REQUIRE(pFlags, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    auto allocation = space().find(address_of(p));
    REQUIRE(allocation && allocation->is_host(), CUDA_ERROR_INVALID_VALUE);
    // With unified addressing all pinned memory is mapped.
    *pFlags = allocation->flags | (allocation->kind == MemoryKind::pinned ? 2u : 0u);
    return CUDA_SUCCESS;
}

ENTRY(cuMemHostRegister, 6050)(void* p, size_t bytesize, unsigned int Flags)
{
    std::shared_ptr<Context> context;
    REQUIRE(p && bytesize && (Flags & ~15u) == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!(Flags & CU_MEMHOSTREGISTER_IOMEMORY), CUDA_ERROR_NOT_SUPPORTED);
    TRY(need_context(&context));
    // msync() checks whether every page is mapped without reading it.
    auto page = size_t(sysconf(_SC_PAGESIZE));
    auto begin = reinterpret_cast<uintptr_t>(p) / page * page;
    auto end = reinterpret_cast<uintptr_t>(p) + bytesize;
    REQUIRE(end > begin && msync(reinterpret_cast<void*>(begin), end - begin, MS_ASYNC) == 0, CUDA_ERROR_INVALID_VALUE);
    return space().register_host(p, bytesize, Flags, context->handle());
}

ENTRY(cuMemHostUnregister, 4000)(void* p)
{
    std::shared_ptr<Context> context;
    TRY(need_any_context(&context));
    REQUIRE(p, CUDA_ERROR_INVALID_VALUE);
    auto allocation = space().find(address_of(p));
    REQUIRE(allocation && allocation->kind == MemoryKind::registered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    wait_for_users(*allocation);
    TRY(space().unregister_host(p));
    return context->sticky();
}

// ------------------------------------------------------------------------- other processes

ENTRY(cuIpcGetMemHandle, 4010)(CUipcMemHandle* pHandle, CUdeviceptr dptr)
{
    std::shared_ptr<Context> context;
    REQUIRE(pHandle, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return SharedMemory::describe(space().find(dptr), pHandle);
}

ENTRY(cuIpcOpenMemHandle, 11000)(CUdeviceptr* pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    std::shared_ptr<Context> context;
    REQUIRE(pdptr && Flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return SharedMemory::open(context->handle(), handle, pdptr);
}

ENTRY(cuIpcCloseMemHandle, 4010)(CUdeviceptr dptr)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    auto allocation = space().find(dptr);
    REQUIRE(allocation && allocation->base == dptr && allocation->kind == MemoryKind::opened, CUDA_ERROR_INVALID_VALUE);
    wait_for_users(*allocation);
    return SharedMemory::close(dptr);
}

// ------------------------------------------------------------------------ pointer attributes

namespace {

template <class T> CUresult set_value(void* out, T value)
{
    std::memcpy(out, &value, sizeof value);
    return CUDA_SUCCESS;
}

int ordinal_of(const Allocation& a)
{
    if (a.device >= 0)
        return a.device;
    if (auto context = Context::find(a.context))
        return context->device().ordinal();
    return 0;
}

CUresult pointer_attribute(const Allocation& a, CUpointer_attribute attribute, CUdeviceptr address, void* out)
{
    const size_t mapping = 2 << 20;
    std::pair<CUdeviceptr, size_t> range{a.base, a.size};
    if (a.kind == MemoryKind::mapped)
        virtual_memory::reservation_of(address, &range.first, &range.second);
    bool host = a.is_host(), reachable = host || a.is_managed();
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return set_value(out, a.pool ? nullptr : a.context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return set_value(out, unsigned(host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return set_value(out, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: return reachable ? set_value(out, address) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return set_value(out, unsigned(a.sync_memops));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return set_value(out, a.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return set_value(out, unsigned(a.is_managed()));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return set_value(out, ordinal_of(a));
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return set_value(out, unsigned(a.kind == MemoryKind::device && !a.pool));
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return set_value(out, range.first);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return set_value(out, range.second);
    case CU_POINTER_ATTRIBUTE_MAPPED: return set_value(out, 1u);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return set_value(out, cuuint64_t(0));
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: return set_value(out, 0u);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
        return set_value(out,
                         unsigned(a.read_only ? CU_MEM_ACCESS_FLAGS_PROT_READ : CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return set_value(out, a.pool);
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return set_value(out, (a.size + mapping - 1) / mapping * mapping);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return set_value(out, a.base);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return set_value(out, a.id);
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return set_value(out, 0u);
    case CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL: // a device has one domain, which counts as none
        return config().driver_version < domains_since ? CUDA_ERROR_INVALID_VALUE : set_value(out, -1);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

// The values cuPointerGetAttributes returns for an unknown pointer.
CUresult unknown_attribute(CUpointer_attribute attribute, void* out)
{
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return set_value(out, 0u);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return set_value(out, -2); // CU_DEVICE_INVALID
    case CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL: return set_value(out, -1);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS: return CUDA_ERROR_INVALID_VALUE;
    default: return set_value(out, cuuint64_t(0));
    }
}

} // namespace

ENTRY(cuPointerGetAttribute, 4000)(void* data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    REQUIRE(data, CUDA_ERROR_INVALID_VALUE);
    auto allocation = space().find(ptr);
    if (!allocation) { // mapped virtual memory without access
        allocation = virtual_memory::allocation_at(ptr);
        REQUIRE(allocation && attribute != CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CUDA_ERROR_INVALID_VALUE);
    }
    return pointer_attribute(*allocation, attribute, ptr, data);
}

ENTRY(cuPointerGetAttributes, 7000)(unsigned int numAttributes, CUpointer_attribute* attributes, void** data,
                                    CUdeviceptr ptr)
{
    REQUIRE(!numAttributes || (attributes && data), CUDA_ERROR_INVALID_VALUE);
    auto allocation = space().find(ptr);
    for (unsigned i = 0; i < numAttributes; ++i) {
        REQUIRE(data[i], CUDA_ERROR_INVALID_VALUE);
        CUresult result =
            allocation ? pointer_attribute(*allocation, attributes[i], ptr, data[i]) : CUDA_ERROR_INVALID_VALUE;
        if (result != CUDA_SUCCESS) // attributes that do not apply to the pointer become zero
            TRY(unknown_attribute(attributes[i], data[i]));
    }
    return CUDA_SUCCESS;
}

ENTRY(cuPointerSetAttribute, 6000)(const void* value, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    auto allocation = space().find(ptr);
    REQUIRE(value && allocation && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS &&
                allocation->kind == MemoryKind::device,
            CUDA_ERROR_INVALID_VALUE);
    allocation->sync_memops = *static_cast<const unsigned*>(value) != 0;
    return CUDA_SUCCESS;
}
