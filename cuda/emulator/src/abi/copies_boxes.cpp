// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Copies of rectangles and boxes.
#include "../state/copy.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

constexpr size_t most_pitch = 0x7fffffff;

// One side of a box copy as the structures give it.
struct Place {
    CUmemorytype type;
    const void* host;
    CUdeviceptr device;
    size_t x, y, z, pitch, height;
};

CUresult find_place(const Stream& stream, const Place& place, const Box& box, Side* side)
{
    REQUIRE(place.type != CU_MEMORYTYPE_ARRAY, CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(place.type == CU_MEMORYTYPE_HOST || place.type == CU_MEMORYTYPE_DEVICE ||
                place.type == CU_MEMORYTYPE_UNIFIED,
            CUDA_ERROR_INVALID_VALUE);
    bool single_row = box.height == 1 && box.depth == 1;
    REQUIRE(place.pitch <= most_pitch, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(place.pitch >= box.width + place.x || (single_row && place.pitch == 0),
            CUDA_ERROR_INVALID_VALUE);
    REQUIRE(box.depth == 1 || place.height >= box.height + place.y, CUDA_ERROR_INVALID_VALUE);
    size_t slice = place.pitch * place.height;
    CUdeviceptr base = place.type == CU_MEMORYTYPE_HOST ? address_of(place.host) : place.device;
    REQUIRE(base, CUDA_ERROR_INVALID_VALUE);
    Kind kind = place.type == CU_MEMORYTYPE_HOST     ? Kind::host
                : place.type == CU_MEMORYTYPE_DEVICE ? Kind::device
                                                     : Kind::any;
    base += place.z * slice + place.y * place.pitch + place.x;
    return find_side(stream, base, kind, box, place.pitch, slice, side);
}

CUresult copy_places(const char* name, const Place& target, const Place& source, const Box& box,
                     CUstream handle, Return when)
{
    std::shared_ptr<Stream> stream;
    TRY(need_stream(handle, &stream));
    if (box.empty())
        return CUDA_SUCCESS;
    Side to, from;
    TRY(find_place(*stream, target, box, &to));
    TRY(find_place(*stream, source, box, &from));
    return copy(*stream, name, to, from, box, when);
}

CUresult copy_2d(const char* name, const CUDA_MEMCPY2D* p, CUstream handle, Return when)
{
    REQUIRE(p, CUDA_ERROR_INVALID_VALUE);
    Place target{p->dstMemoryType, p->dstHost, p->dstDevice, p->dstXInBytes, p->dstY, 0, p->dstPitch, 0};
    Place source{p->srcMemoryType, p->srcHost, p->srcDevice, p->srcXInBytes, p->srcY, 0, p->srcPitch, 0};
    return copy_places(name, target, source, {p->WidthInBytes, p->Height, 1}, handle, when);
}

template <class T>
CUresult copy_3d(const char* name, const T* p, CUstream handle, Return when)
{
    REQUIRE(p && p->srcLOD == 0 && p->dstLOD == 0, CUDA_ERROR_INVALID_VALUE);
    Place target{p->dstMemoryType, p->dstHost, p->dstDevice, p->dstXInBytes,
                 p->dstY, p->dstZ, p->dstPitch, p->dstHeight};
    Place source{p->srcMemoryType, p->srcHost, p->srcDevice, p->srcXInBytes,
                 p->srcY, p->srcZ, p->srcPitch, p->srcHeight};
    return copy_places(name, target, source, {p->WidthInBytes, p->Height, p->Depth}, handle, when);
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
    return copy_3d("cuMemcpy3DPeer", pCopy, nullptr, Return::when_done);
}

ENTRY(cuMemcpy3DPeerAsync, 4000)(const CUDA_MEMCPY3D_PEER* pCopy, CUstream hStream)
{
    return copy_3d("cuMemcpy3DPeerAsync", pCopy, hStream, Return::when_queued);
}

// ----------------------------------------------------------------------------- batches

namespace {

// Lengths of rows and layers are in elements of one byte; 0 means closely packed.
CUresult find_operand(const Stream& stream, const CUmemcpy3DOperand& operand, const Box& box,
                      Side* side)
{
    REQUIRE(operand.type != CU_MEMCPY_OPERAND_TYPE_ARRAY, CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(operand.type == CU_MEMCPY_OPERAND_TYPE_POINTER && operand.op.ptr.ptr,
            CUDA_ERROR_INVALID_VALUE);
    size_t row = operand.op.ptr.rowLength ? operand.op.ptr.rowLength : box.width;
    size_t layer = operand.op.ptr.layerHeight ? operand.op.ptr.layerHeight : box.height;
    REQUIRE(row >= box.width && layer >= box.height, CUDA_ERROR_INVALID_VALUE);
    return find_side(stream, operand.op.ptr.ptr, Kind::any, box, row, row * layer, side);
}

} // namespace

ENTRY(cuMemcpy3DBatchAsync, 13000)(size_t numOps, CUDA_MEMCPY3D_BATCH_OP* opList,
                                   unsigned long long flags, CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(numOps && opList && flags == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_own_stream(hStream, &stream));
    std::vector<Side> targets(numOps), sources(numOps);
    std::vector<Box> boxes(numOps);
    for (size_t i = 0; i < numOps; ++i) {
        const CUDA_MEMCPY3D_BATCH_OP& op = opList[i];
        boxes[i] = {op.extent.width, op.extent.height, op.extent.depth};
        REQUIRE(!boxes[i].empty() && is_access_order(op.srcAccessOrder), CUDA_ERROR_INVALID_VALUE);
        TRY(find_operand(*stream, op.dst, boxes[i], &targets[i]));
        TRY(find_operand(*stream, op.src, boxes[i], &sources[i]));
    }
    for (size_t i = 0; i < numOps; ++i)
        TRY(copy(*stream, "cuMemcpy3DBatchAsync", targets[i], sources[i], boxes[i],
                 Return::when_queued));
    return CUDA_SUCCESS;
}
