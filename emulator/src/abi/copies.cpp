// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// One-dimensional copies between all kinds of memory.
#include "../state/streams/stream_copies.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

CUresult linear(const char* name, Operand target, Operand source, size_t size, CUstream handle, Return when)
{
    std::shared_ptr<Stream> stream;
    TRY(need_stream(handle, &stream));
    for (Operand* operand : {&target, &source})
        if (operand->device < 0)
            operand->device = copying_device();
    return copy_linear(*stream, name, target, source, size, when);
}

// Each side is accessed by the device of its context.
CUresult between_peers(const char* name, CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                       CUcontext source_context, size_t size, CUstream handle, Return when)
{
    auto to = Context::find(target_context), from = Context::find(source_context);
    REQUIRE(to, Context::error_for(target_context));
    REQUIRE(from, Context::error_for(source_context));
    return linear(name, {target, Kind::device, to->device().ordinal()},
                  {source, Kind::device, from->device().ordinal()}, size, handle, when);
}

} // namespace

ENTRY(cuMemcpy, 4000)(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount)
{
    return linear("cuMemcpy", {dst, Kind::any}, {src, Kind::any}, ByteCount, nullptr, Return::when_done);
}

ENTRY(cuMemcpyAsync, 4000)(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount, CUstream hStream)
{
    return linear("cuMemcpyAsync", {dst, Kind::any}, {src, Kind::any}, ByteCount, hStream, Return::when_queued);
}

ENTRY(cuMemcpyHtoD, 3020)(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount)
{
    return linear("cuMemcpyHtoD", {dstDevice, Kind::device}, {address_of(srcHost), Kind::host}, ByteCount, nullptr,
                  Return::when_done);
}

ENTRY(cuMemcpyHtoDAsync, 3020)(CUdeviceptr dstDevice, const void* srcHost, size_t ByteCount, CUstream hStream)
{
    return linear("cuMemcpyHtoDAsync", {dstDevice, Kind::device}, {address_of(srcHost), Kind::host}, ByteCount, hStream,
                  Return::when_queued);
}

ENTRY(cuMemcpyDtoH, 3020)(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount)
{
    return linear("cuMemcpyDtoH", {address_of(dstHost), Kind::host}, {srcDevice, Kind::device}, ByteCount, nullptr,
                  Return::when_done);
}

ENTRY(cuMemcpyDtoHAsync, 3020)(void* dstHost, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return linear("cuMemcpyDtoHAsync", {address_of(dstHost), Kind::host}, {srcDevice, Kind::device}, ByteCount, hStream,
                  Return::when_queued);
}

ENTRY(cuMemcpyDtoD, 3020)(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount)
{
    return linear("cuMemcpyDtoD", {dstDevice, Kind::device}, {srcDevice, Kind::device}, ByteCount, nullptr,
                  Return::when_done);
}

ENTRY(cuMemcpyDtoDAsync, 3020)(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount, CUstream hStream)
{
    return linear("cuMemcpyDtoDAsync", {dstDevice, Kind::device}, {srcDevice, Kind::device}, ByteCount, hStream,
                  Return::when_queued);
}

ENTRY(cuMemcpyPeer, 4000)(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                          size_t ByteCount)
{
    return copy_alone(dstContext, srcContext, [=] {
        return between_peers("cuMemcpyPeer", dstDevice, dstContext, srcDevice, srcContext, ByteCount, nullptr,
                             Return::when_done);
    });
}

ENTRY(cuMemcpyPeerAsync, 4000)(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice, CUcontext srcContext,
                               size_t ByteCount, CUstream hStream)
{
    return between_peers("cuMemcpyPeerAsync", dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream,
                         Return::when_queued);
}

ENTRY(cuMemcpyWithAttributesAsync, 13020)(CUdeviceptr dst, CUdeviceptr src, size_t size, CUmemcpyAttributes* attr,
                                          CUstream hStream)
{
    REQUIRE(attr && size, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(is_access_order(attr->srcAccessOrder), CUDA_ERROR_INVALID_VALUE);
    return linear("cuMemcpyWithAttributesAsync", {dst, Kind::any}, {src, Kind::any}, size, hStream,
                  Return::when_queued);
}

// Copies in stream order, which every requested access order allows.
ENTRY(cuMemcpyBatchAsync, 13000)(CUdeviceptr* dsts, CUdeviceptr* srcs, size_t* sizes, size_t count,
                                 CUmemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs, CUstream hStream)
{
    REQUIRE(count && dsts && srcs && sizes && attrs && attrsIdxs && numAttrs && numAttrs <= count && attrsIdxs[0] == 0,
            CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < numAttrs; ++i)
        REQUIRE(is_access_order(attrs[i].srcAccessOrder) && attrsIdxs[i] < count &&
                    (i == 0 || attrsIdxs[i] > attrsIdxs[i - 1]),
                CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < count; ++i)
        REQUIRE(dsts[i] && srcs[i] && sizes[i], CUDA_ERROR_INVALID_VALUE);
    std::shared_ptr<Stream> stream;
    TRY(need_own_stream(hStream, &stream));
    for (size_t i = 0; i < count; ++i)
        TRY(copy_linear(*stream, "cuMemcpyBatchAsync", {dsts[i]}, {srcs[i]}, sizes[i], Return::when_queued));
    return CUDA_SUCCESS;
}
