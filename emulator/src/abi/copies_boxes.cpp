// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Two- and three-dimensional copies.
#include <algorithm>
#include <cstring>

#include "../state/streams/stream_copies.hpp"
#include "../state/textures/array.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

// `devices` access the two sides; -1 means the copying device.
CUresult copy_box(const char* name, const CUDA_MEMCPY3D& parameters, CUstream handle, Return when,
                  int target_device = -1, int source_device = -1)
{
    std::shared_ptr<Stream> stream;
    Side target, source;
    target.device = target_device < 0 ? copying_device() : target_device;
    source.device = source_device < 0 ? copying_device() : source_device;
    Box box;
    TRY(need_stream(handle, &stream));
    TRY(find_sides(parameters, stream->is_capturing(), &target, &source, &box));
    return box.empty() ? CUDA_SUCCESS : copy(*stream, name, target, source, box, when);
}

CUresult copy_2d(const char* name, const CUDA_MEMCPY2D* p, CUstream handle, Return when)
{
    REQUIRE(p, CUDA_ERROR_INVALID_VALUE);
    CUDA_MEMCPY3D box{};
    box.srcMemoryType = p->srcMemoryType;
    box.srcHost = p->srcHost;
    box.srcDevice = p->srcDevice;
    box.srcArray = p->srcArray;
    box.srcXInBytes = p->srcXInBytes;
    box.srcY = p->srcY;
    box.srcPitch = p->srcPitch;
    box.dstMemoryType = p->dstMemoryType;
    box.dstHost = p->dstHost;
    box.dstDevice = p->dstDevice;
    box.dstArray = p->dstArray;
    box.dstXInBytes = p->dstXInBytes;
    box.dstY = p->dstY;
    box.dstPitch = p->dstPitch;
    box.WidthInBytes = p->WidthInBytes;
    box.Height = p->Height;
    box.Depth = 1;
    return copy_box(name, box, handle, when);
}

CUresult copy_3d(const char* name, const CUDA_MEMCPY3D* p, CUstream handle, Return when)
{
    REQUIRE(p, CUDA_ERROR_INVALID_VALUE);
    return copy_box(name, *p, handle, when);
}

// Like copy_box(), with a context for each side, whose device accesses the memory.
CUresult copy_peer(const char* name, const CUDA_MEMCPY3D_PEER* p, CUstream handle, Return when)
{
    REQUIRE(p, CUDA_ERROR_INVALID_VALUE);
    CUDA_MEMCPY3D box;
    static_assert(sizeof box == sizeof *p, "both structures have the same fields");
    std::memcpy(&box, p, sizeof box);
    auto to = Context::find(p->dstContext), from = Context::find(p->srcContext);
    return copy_box(name, box, handle, when, to ? to->device().ordinal() : -1, from ? from->device().ordinal() : -1);
}

} // namespace

ENTRY(cuMemcpy2D, 3020)(const CUDA_MEMCPY2D* pCopy)
{
    return copy_2d("cuMemcpy2D", pCopy, nullptr, Return::when_done);
}

ENTRY(cuMemcpy2DUnaligned, 3020)(const CUDA_MEMCPY2D* pCopy)
{
    return copy_2d("cuMemcpy2DUnaligned", pCopy, nullptr, Return::when_done);
}

ENTRY(cuMemcpy2DAsync, 3020)(const CUDA_MEMCPY2D* pCopy, CUstream hStream)
{
    return copy_2d("cuMemcpy2DAsync", pCopy, hStream, Return::when_queued);
}

ENTRY(cuMemcpy3D, 3020)(const CUDA_MEMCPY3D* pCopy)
{
    return copy_3d("cuMemcpy3D", pCopy, nullptr, Return::when_done);
}

ENTRY(cuMemcpy3DAsync, 3020)(const CUDA_MEMCPY3D* pCopy, CUstream hStream)
{
    return copy_3d("cuMemcpy3DAsync", pCopy, hStream, Return::when_queued);
}

ENTRY(cuMemcpy3DPeer, 4000)(const CUDA_MEMCPY3D_PEER* pCopy)
{
    REQUIRE(pCopy, CUDA_ERROR_INVALID_VALUE);
    return copy_alone(pCopy->dstContext, pCopy->srcContext,
                      [=] { return copy_peer("cuMemcpy3DPeer", pCopy, nullptr, Return::when_done); });
}

ENTRY(cuMemcpy3DPeerAsync, 4000)(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream)
{
    return copy_peer("cuMemcpy3DPeerAsync", pCopy, hStream, Return::when_queued);
}

// ----------------------------------------------------------------------------- batches

namespace {

// Returns the bytes of an element: those of an array, which must not differ, or 1 for memory.
CUresult find_element(const CUDA_MEMCPY3D_BATCH_OP& op, size_t* out)
{
    *out = 0;
    for (const CUmemcpy3DOperand* operand : {&op.src, &op.dst}) {
        if (operand->type != CU_MEMCPY_OPERAND_TYPE_ARRAY)
            continue;
        auto array = Array::find(operand->op.array.array);
        REQUIRE(array, CUDA_ERROR_INVALID_HANDLE);
        const size_t size = element_size(array->description());
        REQUIRE(*out == 0 || *out == size, CUDA_ERROR_INVALID_VALUE);
        *out = size;
    }
    *out = std::max<size_t>(*out, 1);
    return CUDA_SUCCESS;
}

// Row lengths count elements, and layer heights rows; 0 means tightly packed.
CUresult find_operand(const Stream& stream, const CUmemcpy3DOperand& operand, const Box& box, size_t element,
                      Side* side)
{
    if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
        const auto& at = operand.op.array;
        return find_array_side(at.array, at.offset.x * element, at.offset.y, at.offset.z, box, side);
    }
    REQUIRE(operand.type == CU_MEMCPY_OPERAND_TYPE_POINTER && operand.op.ptr.ptr, CUDA_ERROR_INVALID_VALUE);
    size_t row = operand.op.ptr.rowLength ? operand.op.ptr.rowLength * element : box.width;
    size_t layer = operand.op.ptr.layerHeight ? operand.op.ptr.layerHeight : box.height;
    REQUIRE(row >= box.width && layer >= box.height, CUDA_ERROR_INVALID_VALUE);
    return find_side(stream.is_capturing(), operand.op.ptr.ptr, Kind::any, box, row, row * layer, side);
}

CUresult find_operation(const Stream& stream, const CUDA_MEMCPY3D_BATCH_OP& op, Side* target, Side* source, Box* box)
{
    size_t element = 1;
    TRY(find_element(op, &element));
    *box = {op.extent.width * element, op.extent.height, op.extent.depth};
    REQUIRE(!box->empty() && is_access_order(op.srcAccessOrder), CUDA_ERROR_INVALID_VALUE);
    TRY(find_operand(stream, op.dst, *box, element, target));
    return find_operand(stream, op.src, *box, element, source);
}

} // namespace

ENTRY(cuMemcpy3DWithAttributesAsync, 13020)(CUDA_MEMCPY3D_BATCH_OP* op, unsigned long long flags, CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    Side target, source;
    Box box;
    REQUIRE(op && flags == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    TRY(find_operation(*stream, *op, &target, &source, &box));
    return copy(*stream, "cuMemcpy3DWithAttributesAsync", target, source, box, Return::when_queued);
}

ENTRY(cuMemcpy3DBatchAsync, 13000)(size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList, unsigned long long flags,
                                   CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(numOps && opList && flags == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_own_stream(hStream, &stream));
    std::vector<Side> targets(numOps), sources(numOps);
    std::vector<Box> boxes(numOps);
    for (size_t i = 0; i < numOps; ++i)
        TRY(find_operation(*stream, opList[i], &targets[i], &sources[i], &boxes[i]));
    for (size_t i = 0; i < numOps; ++i)
        TRY(copy(*stream, "cuMemcpy3DBatchAsync", targets[i], sources[i], boxes[i], Return::when_queued));
    return CUDA_SUCCESS;
}
