// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory: reserving addresses, creating memory, mapping, access.
#include "../state/memory/virtual_memory.hpp"

#include "../state/memory/multicast.hpp"
#include "../state/memory/virtual_space.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

constexpr size_t unit = VirtualSpace::unit;

CUresult need_memory(CUmemGenericAllocationHandle handle, std::shared_ptr<Physical>* out)
{
    *out = Physical::find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check(CUmemAllocationProp& prop)
{
    TRY(merge_domains(&prop.location));
    REQUIRE(prop.type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(prop.requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE ||
                prop.requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
            CUDA_ERROR_NOT_SUPPORTED);
    switch (prop.location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: return device_at(prop.location.id) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

} // namespace

ENTRY(cuMemAddressReserve, 10020)(CUdeviceptr* ptr, size_t size, size_t alignment, CUdeviceptr addr,
                                  unsigned long long flags)
{
    REQUIRE(ptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
    return virtual_memory::reserve(size, alignment, addr, ptr);
}

ENTRY(cuMemAddressFree, 10020)(CUdeviceptr ptr, size_t size)
{
    return virtual_memory::free(ptr, size);
}

ENTRY(cuMemCreate, 10020)(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* prop,
                          unsigned long long flags)
{
    REQUIRE(handle && prop && flags == 0 && size && size % unit == 0, CUDA_ERROR_INVALID_VALUE);
    CUmemAllocationProp properties = *prop;
    TRY(check(properties));
    return Physical::create(size, properties, handle);
}

ENTRY(cuMemRelease, 10020)(CUmemGenericAllocationHandle handle)
{
    return Physical::release(handle);
}

ENTRY(cuMemMap, 10020)(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                       unsigned long long flags)
{
    std::shared_ptr<Physical> memory;
    REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_memory(handle, &memory));
    REQUIRE(offset == 0, CUDA_ERROR_NOT_SUPPORTED);
    // Hardware drivers wait until all devices have been added.
    REQUIRE(!memory->multicast() || memory->multicast()->is_complete(), CUDA_ERROR_NOT_READY);
    return virtual_memory::map(ptr, size, std::move(memory));
}

// Waits for work of all contexts that may access it.
ENTRY(cuMemUnmap, 10020)(CUdeviceptr ptr, size_t size)
{
    for (auto& row : Context::all())
        row.first->wait_idle();
    return virtual_memory::unmap(ptr, size);
}

ENTRY(cuMemSetAccess, 10020)(CUdeviceptr ptr, size_t size, const CUmemAccessDesc* desc, size_t count)
{
    REQUIRE(desc, CUDA_ERROR_INVALID_VALUE);
    return virtual_memory::set_access(ptr, size, desc, count);
}

ENTRY(cuMemGetAccess, 10020)(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr ptr)
{
    CUmemAccess_flags found;
    REQUIRE(flags && location, CUDA_ERROR_INVALID_VALUE);
    TRY(virtual_memory::access(*location, ptr, &found));
    *flags = found;
    return CUDA_SUCCESS;
}

ENTRY(cuMemGetAllocationGranularity, 10020)(size_t* granularity, const CUmemAllocationProp* prop,
                                            CUmemAllocationGranularity_flags option)
{
    REQUIRE(granularity && prop &&
                (option == CU_MEM_ALLOC_GRANULARITY_MINIMUM || option == CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
            CUDA_ERROR_INVALID_VALUE);
    *granularity = unit;
    return CUDA_SUCCESS;
}

ENTRY(cuMemGetAllocationPropertiesFromHandle, 10020)(CUmemAllocationProp* prop, CUmemGenericAllocationHandle handle)
{
    std::shared_ptr<Physical> memory;
    REQUIRE(prop, CUDA_ERROR_INVALID_VALUE);
    TRY(need_memory(handle, &memory));
    *prop = memory->properties();
    return CUDA_SUCCESS;
}

ENTRY(cuMemRetainAllocationHandle, 11000)(CUmemGenericAllocationHandle* handle, void* addr)
{
    REQUIRE(handle, CUDA_ERROR_INVALID_VALUE);
    auto memory = virtual_memory::memory_at(address_of(addr));
    REQUIRE(memory, CUDA_ERROR_INVALID_VALUE);
    *handle = Physical::retain(memory);
    return CUDA_SUCCESS;
}

ENTRY(cuMemExportToShareableHandle, 10020)(void* shareableHandle, CUmemGenericAllocationHandle handle,
                                           CUmemAllocationHandleType handleType, unsigned long long flags)
{
    std::shared_ptr<Physical> memory;
    REQUIRE(shareableHandle && flags == 0 && handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
            CUDA_ERROR_INVALID_VALUE);
    TRY(need_memory(handle, &memory));
    REQUIRE(memory->properties().requestedHandleTypes == handleType, CUDA_ERROR_INVALID_VALUE);
    return memory->export_file(static_cast<int*>(shareableHandle));
}

// The descriptor is passed as the pointer's value.
ENTRY(cuMemImportFromShareableHandle, 10020)(CUmemGenericAllocationHandle* handle, void* osHandle,
                                             CUmemAllocationHandleType shHandleType)
{
    REQUIRE(handle && shHandleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_INVALID_VALUE);
    return Physical::import(int(reinterpret_cast<intptr_t>(osHandle)), handle);
}
