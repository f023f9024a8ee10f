// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory pools and stream-ordered allocation.
#include "../state/memory/pool.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

CUresult need_pool(CUmemoryPool handle, std::shared_ptr<Pool>* out)
{
    *out = Pool::find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Managed memory cannot be in a locality domain.
CUresult merge_domains_of(CUmemAllocationType type, CUmemLocation* location)
{
    REQUIRE(location->type != CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN || type == CU_MEM_ALLOCATION_TYPE_PINNED,
            CUDA_ERROR_INVALID_VALUE);
    return merge_domains(location);
}

// Finds the default or the current pool of a location.
CUresult pool_of(const CUmemLocation* given, CUmemAllocationType type, bool current, std::shared_ptr<Pool>* out)
{
    REQUIRE(given, CUDA_ERROR_INVALID_VALUE);
    CUmemLocation location = *given;
    TRY(merge_domains_of(type, &location));
    if (location.type != CU_MEM_LOCATION_TYPE_DEVICE || type == CU_MEM_ALLOCATION_TYPE_MANAGED)
        return Pool::host_pool(location, type, out);
    REQUIRE(type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE);
    Device* device = device_at(location.id);
    REQUIRE(device, CUDA_ERROR_INVALID_DEVICE);
    *out = current ? Pool::current_of(*device) : Pool::default_of(*device);
    return CUDA_SUCCESS;
}

} // namespace

ENTRY(cuMemPoolCreate, 11020)(CUmemoryPool* pool, const CUmemPoolProps* poolProps)
{
    REQUIRE(pool && poolProps, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    CUmemPoolProps properties = *poolProps;
    TRY(merge_domains_of(properties.allocType, &properties.location));
    return Pool::create(properties, pool);
}

ENTRY(cuMemPoolDestroy, 11020)(CUmemoryPool pool)
{
    REQUIRE(!in_callback(), CUDA_ERROR_NOT_PERMITTED);
    return Pool::destroy(pool);
}

ENTRY(cuMemPoolGetAttribute, 11020)(CUmemoryPool pool, CUmemPool_attribute attr, void* value)
{
    std::shared_ptr<Pool> found;
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    TRY(need_pool(pool, &found));
    return found->attribute(attr, value);
}

ENTRY(cuMemPoolSetAttribute, 11020)(CUmemoryPool pool, CUmemPool_attribute attr, void* value)
{
    std::shared_ptr<Pool> found;
    REQUIRE(value, CUDA_ERROR_INVALID_VALUE);
    TRY(need_pool(pool, &found));
    return found->set_attribute(attr, value);
}

ENTRY(cuMemPoolGetAccess, 11020)(CUmemAccess_flags* flags, CUmemoryPool memPool, CUmemLocation* location)
{
    std::shared_ptr<Pool> found;
    REQUIRE(flags && location, CUDA_ERROR_INVALID_VALUE);
    TRY(need_pool(memPool, &found));
    return found->access(*location, flags);
}

ENTRY(cuMemPoolSetAccess, 11020)(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count)
{
    std::shared_ptr<Pool> found;
    REQUIRE(map || !count, CUDA_ERROR_INVALID_VALUE);
    TRY(need_pool(pool, &found));
    return found->set_access(map, count);
}

ENTRY(cuMemPoolTrimTo, 11020)(CUmemoryPool pool, size_t minBytesToKeep)
{
    std::shared_ptr<Pool> found;
    TRY(need_pool(pool, &found));
    return found->trim(minBytesToKeep);
}

ENTRY(cuMemGetDefaultMemPool, 13000)(CUmemoryPool* pool_out, CUmemLocation* location, CUmemAllocationType type)
{
    std::shared_ptr<Pool> found;
    REQUIRE(pool_out, CUDA_ERROR_INVALID_VALUE);
    TRY(pool_of(location, type, false, &found));
    *pool_out = found->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuMemGetMemPool, 13000)(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type)
{
    std::shared_ptr<Pool> found;
    REQUIRE(pool, CUDA_ERROR_INVALID_VALUE);
    TRY(pool_of(location, type, true, &found));
    *pool = found->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuMemSetMemPool, 13000)(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool)
{
    REQUIRE(location, CUDA_ERROR_INVALID_VALUE);
    CUmemLocation merged = *location;
    TRY(merge_domains(&merged));
    REQUIRE(merged.type == CU_MEM_LOCATION_TYPE_DEVICE && type == CU_MEM_ALLOCATION_TYPE_PINNED,
            CUDA_ERROR_NOT_SUPPORTED);
    return entry_cuDeviceSetMemPool_11020(merged.id, pool);
}

ENTRY(cuMemAllocAsync, 11020)(CUdeviceptr* dptr, size_t bytesize, CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(dptr, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    auto context = stream->context();
    REQUIRE(context, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    return Pool::current_of(context->device())->allocate(bytesize, *stream, dptr);
}

ENTRY(cuMemAllocFromPoolAsync, 11020)(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    std::shared_ptr<Pool> found;
    REQUIRE(dptr, CUDA_ERROR_INVALID_VALUE);
    TRY(need_pool(pool, &found));
    TRY(need_stream(hStream, &stream));
    return found->allocate(bytesize, *stream, dptr);
}

// Memory can be freed even after a context error.
ENTRY(cuMemFreeAsync, 11020)(CUdeviceptr dptr, CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    CUresult result = need_stream(hStream, &stream);
    if (!stream)
        return result;
    TRY(Pool::release(dptr, *stream));
    return result;
}

// ------------------------------------------------------------------------- other processes

ENTRY(cuMemPoolExportToShareableHandle, 11020)(void* handle_out, CUmemoryPool pool,
                                               CUmemAllocationHandleType handleType, unsigned long long flags)
{
    std::shared_ptr<Pool> found;
    REQUIRE(handle_out && flags == 0 && handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
            CUDA_ERROR_INVALID_VALUE);
    TRY(need_pool(pool, &found));
    return found->export_file(static_cast<int*>(handle_out));
}

// The descriptor is passed as the pointer's value.
ENTRY(cuMemPoolImportFromShareableHandle, 11020)(CUmemoryPool* pool_out, void* handle,
                                                 CUmemAllocationHandleType handleType, unsigned long long flags)
{
    REQUIRE(pool_out && flags == 0 && handleType == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_INVALID_VALUE);
    return Pool::import_file(int(reinterpret_cast<intptr_t>(handle)), pool_out);
}

ENTRY(cuMemPoolExportPointer, 11020)(CUmemPoolPtrExportData* shareData_out, CUdeviceptr ptr)
{
    REQUIRE(shareData_out, CUDA_ERROR_INVALID_VALUE);
    return Pool::export_pointer(ptr, shareData_out);
}

ENTRY(cuMemPoolImportPointer, 11020)(CUdeviceptr* ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData* shareData)
{
    std::shared_ptr<Pool> found;
    REQUIRE(ptr_out && shareData, CUDA_ERROR_INVALID_VALUE);
    TRY(need_pool(pool, &found));
    return found->import_pointer(*shareData, ptr_out);
}
