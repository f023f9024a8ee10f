// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Multicast objects.
#include "../state/memory/multicast.hpp"

#include "../state/memory/virtual_memory.hpp"
#include "../state/memory/virtual_space.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

CUresult need_multicast(CUmemGenericAllocationHandle handle, std::shared_ptr<Physical>* out)
{
    *out = Physical::find(handle);
    return *out && (*out)->multicast() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check_properties(const CUmulticastObjectProp_st* prop)
{
    REQUIRE(prop && prop->numDevices && prop->size && !prop->flags, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(prop->numDevices <= unsigned(device_count()), CUDA_ERROR_INVALID_VALUE);
    REQUIRE(prop->handleTypes == CU_MEM_HANDLE_TYPE_NONE ||
                prop->handleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
            CUDA_ERROR_NOT_SUPPORTED);
    return CUDA_SUCCESS;
}

CUresult bind_memory(const Physical& object, size_t offset, size_t size, const std::shared_ptr<Physical>& memory)
{
    REQUIRE(!memory->is_host() && !memory->multicast() && size <= memory->size(), CUDA_ERROR_INVALID_VALUE);
    return object.multicast()->bind(memory->properties().location.id, offset, size, memory->file(), memory);
}

// Hardware drivers wait until all devices have been added, which another thread or process must do.
CUresult need_team(const Physical& object)
{
    return object.multicast()->is_complete() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

} // namespace

ENTRY(cuMulticastGetGranularity, 12010)(size_t* granularity, const CUmulticastObjectProp_st* prop,
                                        CUmulticastGranularity_flags option)
{
    REQUIRE(granularity && unsigned(option) <= CU_MULTICAST_GRANULARITY_RECOMMENDED, CUDA_ERROR_INVALID_VALUE);
    TRY(check_properties(prop));
    *granularity = VirtualSpace::unit;
    return CUDA_SUCCESS;
}

ENTRY(cuMulticastCreate, 12010)(CUmemGenericAllocationHandle* mcHandle, const CUmulticastObjectProp_st* prop)
{
    REQUIRE(mcHandle, CUDA_ERROR_INVALID_VALUE);
    TRY(check_properties(prop));
    REQUIRE(prop->size % VirtualSpace::unit == 0, CUDA_ERROR_INVALID_VALUE);
    return Physical::create_multicast(*prop, mcHandle);
}

ENTRY(cuMulticastAddDevice, 12010)(CUmemGenericAllocationHandle mcHandle, CUdevice dev)
{
    std::shared_ptr<Physical> object;
    TRY(need_multicast(mcHandle, &object));
    REQUIRE(device_at(dev), CUDA_ERROR_INVALID_DEVICE);
    return object->multicast()->add_device(dev);
}

ENTRY(cuMulticastBindMem, 12010)(CUmemGenericAllocationHandle mcHandle, size_t mcOffset,
                                 CUmemGenericAllocationHandle memHandle, size_t memOffset, size_t size,
                                 unsigned long long flags)
{
    std::shared_ptr<Physical> object, memory = Physical::find(memHandle);
    REQUIRE(memory && flags == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(memOffset == 0, CUDA_ERROR_NOT_SUPPORTED);
    TRY(need_multicast(mcHandle, &object));
    TRY(need_team(*object));
    return bind_memory(*object, mcOffset, size, memory);
}

ENTRY(cuMulticastBindAddr, 12010)(CUmemGenericAllocationHandle mcHandle, size_t mcOffset, CUdeviceptr memptr,
                                  size_t size, unsigned long long flags)
{
    std::shared_ptr<Physical> object, memory = virtual_memory::memory_at(memptr);
    auto allocation = virtual_memory::allocation_at(memptr);
    REQUIRE(memory && allocation && flags == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(allocation->base == memptr, CUDA_ERROR_NOT_SUPPORTED); // a part of an allocation
    TRY(need_multicast(mcHandle, &object));
    TRY(need_team(*object));
    return bind_memory(*object, mcOffset, size, memory);
}

ENTRY(cuMulticastUnbind, 12010)(CUmemGenericAllocationHandle mcHandle, CUdevice dev, size_t mcOffset, size_t size)
{
    std::shared_ptr<Physical> object;
    TRY(need_multicast(mcHandle, &object));
    for (auto& row : Context::all())
        row.first->wait_idle();
    return object->multicast()->unbind(dev, mcOffset, size);
}
