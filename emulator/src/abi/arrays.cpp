// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Arrays, mipmapped arrays, and copies of rows from and to them.
#include "../state/memory/arena.hpp"
#include "../state/streams/stream_copies.hpp"
#include "../state/textures/array.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

ArrayPlace place_in(Context& context)
{
    return {context.device().memory(), context.handle(), context.device().ordinal()};
}

CUresult need_array(CUarray handle, std::shared_ptr<Array>* out)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    *out = Array::find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult need_mipmap(CUmipmappedArray handle, std::shared_ptr<MipmappedArray>* out)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    *out = MipmappedArray::find(handle);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult create(const CUDA_ARRAY3D_DESCRIPTOR& description, CUarray* out)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    return Array::create(description, place_in(*context), out);
}

// Like memory, arrays are destroyed after all work that may use them.
CUresult wait_for_work(CUcontext owner)
{
    std::shared_ptr<Context> context;
    TRY(need_any_context(&context));
    context->wait_idle();
    auto other = Context::find(owner);
    if (other && other != context)
        other->wait_idle();
    return CUDA_SUCCESS;
}

constexpr size_t array_page = 64 << 10;

CUresult return_requirements(CUDA_ARRAY_MEMORY_REQUIREMENTS* out, size_t size, int device, CUdevice asked)
{
    REQUIRE(out && device == asked, CUDA_ERROR_INVALID_VALUE);
    *out = {};
    out->size = round_up(size, array_page);
    out->alignment = array_page;
    return CUDA_SUCCESS;
}

} // namespace

ENTRY(cuArrayCreate, 3020)(CUarray* pHandle, const CUDA_ARRAY_DESCRIPTOR* pAllocateArray)
{
    REQUIRE(pHandle && pAllocateArray, CUDA_ERROR_INVALID_VALUE);
    CUDA_ARRAY3D_DESCRIPTOR description{};
    description.Width = pAllocateArray->Width;
    description.Height = pAllocateArray->Height;
    description.Format = pAllocateArray->Format;
    description.NumChannels = pAllocateArray->NumChannels;
    return create(description, pHandle);
}

ENTRY(cuArray3DCreate, 3020)(CUarray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pAllocateArray)
{
    REQUIRE(pHandle && pAllocateArray, CUDA_ERROR_INVALID_VALUE);
    return create(*pAllocateArray, pHandle);
}

ENTRY(cuArrayGetDescriptor, 3020)(CUDA_ARRAY_DESCRIPTOR* pArrayDescriptor, CUarray hArray)
{
    std::shared_ptr<Array> array;
    REQUIRE(pArrayDescriptor, CUDA_ERROR_INVALID_VALUE);
    TRY(need_array(hArray, &array));
    const auto& d = array->description();
    *pArrayDescriptor = {d.Width, d.Height, d.Format, d.NumChannels};
    return CUDA_SUCCESS;
}

ENTRY(cuArray3DGetDescriptor, 3020)(CUDA_ARRAY3D_DESCRIPTOR* pArrayDescriptor, CUarray hArray)
{
    std::shared_ptr<Array> array;
    REQUIRE(pArrayDescriptor, CUDA_ERROR_INVALID_VALUE);
    TRY(need_array(hArray, &array));
    *pArrayDescriptor = array->description();
    return CUDA_SUCCESS;
}

ENTRY(cuArrayGetMemoryRequirements, 11060)(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements, CUarray array,
                                           CUdevice device)
{
    std::shared_ptr<Array> found;
    TRY(need_array(array, &found));
    return return_requirements(memoryRequirements, found->size(), found->device(), device);
}

ENTRY(cuArrayDestroy, 2000)(CUarray hArray)
{
    auto array = Array::find(hArray);
    REQUIRE(array && !array->is_level(), CUDA_ERROR_INVALID_HANDLE);
    TRY(wait_for_work(array->context()));
    return Array::destroy(hArray);
}

ENTRY(cuMipmappedArrayCreate, 5000)(CUmipmappedArray* pHandle, const CUDA_ARRAY3D_DESCRIPTOR* pMipmappedArrayDesc,
                                    unsigned int numMipmapLevels)
{
    std::shared_ptr<Context> context;
    REQUIRE(pHandle && pMipmappedArrayDesc, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return MipmappedArray::create(*pMipmappedArrayDesc, numMipmapLevels, place_in(*context), pHandle);
}

ENTRY(cuMipmappedArrayGetLevel, 5000)(CUarray* pLevelArray, CUmipmappedArray hMipmappedArray, unsigned int level)
{
    std::shared_ptr<MipmappedArray> mipmap;
    REQUIRE(pLevelArray, CUDA_ERROR_INVALID_VALUE);
    TRY(need_mipmap(hMipmappedArray, &mipmap));
    REQUIRE(level < mipmap->levels().size(), CUDA_ERROR_INVALID_VALUE);
    *pLevelArray = mipmap->levels()[level]->handle();
    return CUDA_SUCCESS;
}

ENTRY(cuMipmappedArrayGetMemoryRequirements, 11060)(CUDA_ARRAY_MEMORY_REQUIREMENTS* memoryRequirements,
                                                    CUmipmappedArray mipmap, CUdevice device)
{
    std::shared_ptr<MipmappedArray> found;
    TRY(need_mipmap(mipmap, &found));
    return return_requirements(memoryRequirements, found->size(), found->levels()[0]->device(), device);
}

ENTRY(cuMipmappedArrayDestroy, 5000)(CUmipmappedArray hMipmappedArray)
{
    auto mipmap = MipmappedArray::find(hMipmappedArray);
    REQUIRE(mipmap, CUDA_ERROR_INVALID_HANDLE);
    TRY(wait_for_work(mipmap->context()));
    return MipmappedArray::destroy(hMipmappedArray);
}

// ------------------------------------------------------------------------------- copies of rows

namespace {

// One side of a copy: a place in an array's first row, or linear memory.
struct End {
    CUarray array = nullptr;
    size_t offset = 0; // in the row, in bytes
    Operand memory{};
};

CUresult find_end(const Stream& stream, const End& end, size_t size, Side* side)
{
    Box box{size, 1, 1};
    if (!end.array)
        return find_side(stream.is_capturing(), end.memory.address, end.memory.kind, box, size, size, side);
    return find_array_side(end.array, end.offset, 0, 0, box, side);
}

CUresult copy_row(const char* name, const End& target, const End& source, size_t size, CUstream handle, Return when)
{
    std::shared_ptr<Stream> stream;
    Side to, from;
    TRY(need_stream(handle, &stream));
    if (!size)
        return CUDA_SUCCESS;
    TRY(find_end(*stream, target, size, &to));
    TRY(find_end(*stream, source, size, &from));
    return copy(*stream, name, to, from, {size, 1, 1}, when);
}

End in_array(CUarray array, size_t offset)
{
    // A null handle is invalid, and must not be mistaken for linear memory.
    return {array ? array : reinterpret_cast<CUarray>(1), offset, {}};
}

End on_host(const void* pointer)
{
    return {nullptr, 0, {address_of(pointer), Kind::host}};
}

End on_device(CUdeviceptr address)
{
    return {nullptr, 0, {address, Kind::device}};
}

} // namespace

ENTRY(cuMemcpyAtoA, 3020)(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return copy_row("cuMemcpyAtoA", in_array(dstArray, dstOffset), in_array(srcArray, srcOffset), ByteCount, nullptr,
                    Return::when_done);
}

ENTRY(cuMemcpyAtoD, 3020)(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return copy_row("cuMemcpyAtoD", on_device(dstDevice), in_array(srcArray, srcOffset), ByteCount, nullptr,
                    Return::when_done);
}

ENTRY(cuMemcpyDtoA, 3020)(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount)
{
    return copy_row("cuMemcpyDtoA", in_array(dstArray, dstOffset), on_device(srcDevice), ByteCount, nullptr,
                    Return::when_done);
}

ENTRY(cuMemcpyAtoH, 3020)(void* dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return copy_row("cuMemcpyAtoH", on_host(dstHost), in_array(srcArray, srcOffset), ByteCount, nullptr,
                    Return::when_done);
}

ENTRY(cuMemcpyHtoA, 3020)(CUarray dstArray, size_t dstOffset, const void* srcHost, size_t ByteCount)
{
    return copy_row("cuMemcpyHtoA", in_array(dstArray, dstOffset), on_host(srcHost), ByteCount, nullptr,
                    Return::when_done);
}

ENTRY(cuMemcpyAtoHAsync, 3020)(void* dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream)
{
    return copy_row("cuMemcpyAtoHAsync", on_host(dstHost), in_array(srcArray, srcOffset), ByteCount, hStream,
                    Return::when_queued);
}

ENTRY(cuMemcpyHtoAAsync, 3020)(CUarray dstArray, size_t dstOffset, const void* srcHost, size_t ByteCount,
                               CUstream hStream)
{
    return copy_row("cuMemcpyHtoAAsync", in_array(dstArray, dstOffset), on_host(srcHost), ByteCount, hStream,
                    Return::when_queued);
}
