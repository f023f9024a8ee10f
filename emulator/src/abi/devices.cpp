// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Devices, their attributes, primary contexts and pools.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "../config.hpp"
#include "../state/memory/pool.hpp"
#include "../state/primary_context.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

CUresult need_device(CUdevice number, Device** out)
{
    *out = device_at(number);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

// Copies a string with its terminating zero, truncated to `size` bytes.
CUresult copy_text(const std::string& text, char* out, int size)
{
    REQUIRE(out && size > 0, CUDA_ERROR_INVALID_VALUE);
    std::snprintf(out, size_t(size), "%s", text.c_str());
    return CUDA_SUCCESS;
}

// Host memory is always mapped, and the CUDA 13.0 driver rejects the flag that requested it.
bool are_context_flags(unsigned flags)
{
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    return !(flags & ~unsigned(CU_CTX_FLAGS_MASK)) && !(flags & CU_CTX_MAP_HOST) &&
           (schedule == CU_CTX_SCHED_AUTO || schedule == CU_CTX_SCHED_SPIN || schedule == CU_CTX_SCHED_YIELD ||
            schedule == CU_CTX_SCHED_BLOCKING_SYNC);
}

} // namespace

ENTRY(cuDeviceGetCount, 2000)(int* count)
{
    REQUIRE(count, CUDA_ERROR_INVALID_VALUE);
    *count = device_count();
    return CUDA_SUCCESS;
}

ENTRY(cuDeviceGet, 2000)(CUdevice* device, int ordinal)
{
    Device* found;
    REQUIRE(device, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(ordinal, &found));
    *device = ordinal;
    return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetName, 2000)(char* name, int len, CUdevice dev)
{
    Device* device;
    TRY(need_device(dev, &device));
    return copy_text(device->name(), name, len);
}

ENTRY(cuDeviceGetUuid, 11040)(CUuuid* uuid, CUdevice dev)
{
    Device* device;
    REQUIRE(uuid, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(dev, &device));
    *uuid = device->uuid();
    return CUDA_SUCCESS;
}

ENTRY(cuDeviceTotalMem, 3020)(size_t* bytes, CUdevice dev)
{
    Device* device;
    REQUIRE(bytes, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(dev, &device));
    *bytes = device->total_memory();
    return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetAttribute, 2000)(int* pi, CUdevice_attribute attrib, CUdevice dev)
{
    Device* device;
    REQUIRE(pi, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(dev, &device));
    return device->attribute(attrib, pi);
}

ENTRY(cuDeviceComputeCapability, 2000)(int* major, int* minor, CUdevice dev)
{
    Device* device;
    REQUIRE(major && minor, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(dev, &device));
    *major = device->major();
    *minor = device->minor();
    return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetProperties, 2000)(CUdevprop* prop, CUdevice dev)
{
    Device* device;
    REQUIRE(prop, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(dev, &device));
    auto number = [&](int attribute) { return device->number(CUdevice_attribute(attribute)); };
    prop->maxThreadsPerBlock = number(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    for (int axis = 0; axis < 3; ++axis) {
        prop->maxThreadsDim[axis] = number(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis);
        prop->maxGridSize[axis] = number(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis);
    }
    prop->sharedMemPerBlock = number(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    prop->totalConstantMemory = number(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
    prop->SIMDWidth = number(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    prop->memPitch = number(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
    prop->regsPerBlock = number(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
    prop->clockRate = number(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    prop->textureAlign = number(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
    return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetPCIBusId, 4010)(char* pciBusId, int len, CUdevice dev)
{
    Device* device;
    TRY(need_device(dev, &device));
    return copy_text(device->pci_bus_id(), pciBusId, len);
}

// Accepts "domain:bus:device.function", and forms without domain or function.
ENTRY(cuDeviceGetByPCIBusId, 4010)(CUdevice* dev, const char* pciBusId)
{
    REQUIRE(dev && pciBusId, CUDA_ERROR_INVALID_VALUE);
    unsigned domain = 0, bus = 0, slot = 0, function = 0;
    if (std::sscanf(pciBusId, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = function = 0;
        if (std::sscanf(pciBusId, "%x:%x.%x", &bus, &slot, &function) < 2)
            return CUDA_ERROR_INVALID_VALUE;
    }
    for (int i = 0; i < device_count(); ++i) {
        Device& device = *device_at(i);
        if (domain == 0 && function == 0 && int(bus) == device.number(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) &&
            int(slot) == device.number(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)) {
            *dev = i;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_DEVICE;
}

ENTRY(cuDeviceGetExecAffinitySupport, 11040)(int* pi, CUexecAffinityType, CUdevice dev)
{
    Device* device;
    REQUIRE(pi, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(dev, &device));
    *pi = 0;
    return CUDA_SUCCESS;
}

// ------------------------------------------------------------------------- primary context

ENTRY(cuDevicePrimaryCtxRetain, 7000)(CUcontext* pctx, CUdevice dev)
{
    Device* device;
    REQUIRE(pctx, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    TRY(need_device(dev, &device));
    return PrimaryContext::of(*device).retain(pctx);
}

ENTRY(cuDevicePrimaryCtxRelease, 11000)(CUdevice dev)
{
    Device* device;
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    TRY(need_device(dev, &device));
    return PrimaryContext::of(*device).release();
}

ENTRY(cuDevicePrimaryCtxReset, 11000)(CUdevice dev)
{
    Device* device;
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    TRY(need_device(dev, &device));
    return PrimaryContext::of(*device).reset();
}

ENTRY(cuDevicePrimaryCtxSetFlags, 11000)(CUdevice dev, unsigned int flags)
{
    Device* device;
    TRY(need_device(dev, &device));
    REQUIRE(are_context_flags(flags), CUDA_ERROR_INVALID_VALUE);
    return PrimaryContext::of(*device).set_flags(flags);
}

ENTRY(cuDevicePrimaryCtxGetState, 7000)(CUdevice dev, unsigned int* flags, int* active)
{
    Device* device;
    REQUIRE(flags && active, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(dev, &device));
    PrimaryContext::of(*device).state(flags, active);
    return CUDA_SUCCESS;
}

// ----------------------------------------------------------------------------------- peers

ENTRY(cuDeviceCanAccessPeer, 4000)(int* canAccessPeer, CUdevice dev, CUdevice peerDev)
{
    Device *from, *to;
    REQUIRE(canAccessPeer, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(dev, &from));
    TRY(need_device(peerDev, &to));
    *canAccessPeer = can_access_peer(dev, peerDev);
    return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetP2PAttribute, 8000)(int* value, CUdevice_P2PAttribute attrib, CUdevice srcDevice, CUdevice dstDevice)
{
    Device *from, *to;
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(srcDevice, &from));
    TRY(need_device(dstDevice, &to));
    REQUIRE(srcDevice != dstDevice, CUDA_ERROR_INVALID_DEVICE);
    switch (attrib) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK: *value = 0; break;
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED: *value = 1; break;
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED: *value = 0; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

namespace {

constexpr unsigned scalars = CU_ATOMIC_CAPABILITY_REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32 |
                             CU_ATOMIC_CAPABILITY_SCALAR_64;

// All links are the memory of this process, so they support whatever a kernel can do.
CUresult atomic_capabilities(unsigned* capabilities, const CUatomicOperation* operations, unsigned count)
{
    REQUIRE(capabilities && operations && count, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; ++i) {
        REQUIRE(operations[i] >= CU_ATOMIC_OPERATION_INTEGER_ADD && operations[i] <= CU_ATOMIC_OPERATION_FLOAT_MAX,
                CUDA_ERROR_INVALID_VALUE);
        bool is_float = operations[i] >= CU_ATOMIC_OPERATION_FLOAT_ADD;
        capabilities[i] = scalars | CU_ATOMIC_CAPABILITY_SIGNED | (is_float ? 0 : CU_ATOMIC_CAPABILITY_UNSIGNED);
    }
    return CUDA_SUCCESS;
}

} // namespace

ENTRY(cuDeviceGetHostAtomicCapabilities, 13000)(unsigned int* capabilities, const CUatomicOperation* operations,
                                                unsigned int count, CUdevice dev)
{
    Device* device;
    TRY(need_device(dev, &device));
    return atomic_capabilities(capabilities, operations, count);
}

ENTRY(cuDeviceGetP2PAtomicCapabilities, 13000)(unsigned int* capabilities, const CUatomicOperation* operations,
                                               unsigned int count, CUdevice srcDevice, CUdevice dstDevice)
{
    Device *from, *to;
    TRY(need_device(srcDevice, &from));
    TRY(need_device(dstDevice, &to));
    REQUIRE(srcDevice != dstDevice, CUDA_ERROR_INVALID_DEVICE);
    return atomic_capabilities(capabilities, operations, count);
}

ENTRY(cuDeviceRegisterAsyncNotification, 12040)(CUdevice device, CUasyncCallback callbackFunc, void* userData,
                                                CUasyncCallbackHandle* callback)
{
    Device* found;
    REQUIRE(callbackFunc && callback, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(device, &found));
    auto handle = std::make_shared<CUasyncCallbackHandle>();
    uint64_t number = OverBudget::add(device, [callbackFunc, userData, handle](uint64_t bytes) {
        CUasyncNotificationInfo info{};
        info.type = CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET;
        info.info.overBudget.bytesOverBudget = bytes;
        callbackFunc(&info, userData, *handle);
    });
    *callback = *handle = reinterpret_cast<CUasyncCallbackHandle>(number);
    return CUDA_SUCCESS;
}

ENTRY(cuDeviceUnregisterAsyncNotification, 12040)(CUdevice device, CUasyncCallbackHandle callback)
{
    Device* found;
    TRY(need_device(device, &found));
    return OverBudget::remove(device, reinterpret_cast<uint64_t>(callback)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

// ----------------------------------------------------------------------------------- pools

ENTRY(cuDeviceGetDefaultMemPool, 11020)(CUmemoryPool* pool_out, CUdevice dev)
{
    Device* device;
    REQUIRE(pool_out, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(dev, &device));
    *pool_out = Pool::default_of(*device)->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetMemPool, 11020)(CUmemoryPool* pool, CUdevice dev)
{
    Device* device;
    REQUIRE(pool, CUDA_ERROR_INVALID_VALUE);
    TRY(need_device(dev, &device));
    *pool = Pool::current_of(*device)->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuDeviceSetMemPool, 11020)(CUdevice dev, CUmemoryPool pool)
{
    Device* device;
    TRY(need_device(dev, &device));
    auto found = Pool::find(pool);
    REQUIRE(found, CUDA_ERROR_INVALID_VALUE);
    const CUmemLocation& at = found->properties().location;
    REQUIRE(at.type == CU_MEM_LOCATION_TYPE_DEVICE && at.id == dev, CUDA_ERROR_INVALID_VALUE);
    Pool::make_current(*device, found->is_default() ? nullptr : found);
    return CUDA_SUCCESS;
}
