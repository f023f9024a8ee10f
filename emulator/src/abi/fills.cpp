// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Fills of 1, 2 and 4 bytes, of rows and rectangles.
#include "../state/streams/stream_copies.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

CUresult fill_rows(const char* name, CUdeviceptr target, uint32_t value, unsigned bytes, size_t width, size_t height,
                   size_t pitch, CUstream handle, Return when)
{
    std::shared_ptr<Stream> stream;
    TRY(need_stream(handle, &stream));
    return fill(*stream, name, target, value, bytes, width, height, pitch, when);
}

} // namespace

ENTRY(cuMemsetD8, 3020)(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
    return fill_rows("cuMemsetD8", dstDevice, uc, 1, N, 1, 0, nullptr, Return::when_done);
}

ENTRY(cuMemsetD8Async, 3020)(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
    return fill_rows("cuMemsetD8Async", dstDevice, uc, 1, N, 1, 0, hStream, Return::when_queued);
}

ENTRY(cuMemsetD2D8, 3020)(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
    return fill_rows("cuMemsetD2D8", dstDevice, uc, 1, Width, Height, dstPitch, nullptr, Return::when_done);
}

ENTRY(cuMemsetD2D8Async, 3020)(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
                               CUstream hStream)
{
    return fill_rows("cuMemsetD2D8Async", dstDevice, uc, 1, Width, Height, dstPitch, hStream, Return::when_queued);
}

ENTRY(cuMemsetD16, 3020)(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
    return fill_rows("cuMemsetD16", dstDevice, us, 2, N, 1, 0, nullptr, Return::when_done);
}

ENTRY(cuMemsetD16Async, 3020)(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
    return fill_rows("cuMemsetD16Async", dstDevice, us, 2, N, 1, 0, hStream, Return::when_queued);
}

ENTRY(cuMemsetD2D16, 3020)(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height)
{
    return fill_rows("cuMemsetD2D16", dstDevice, us, 2, Width, Height, dstPitch, nullptr, Return::when_done);
}

ENTRY(cuMemsetD2D16Async, 3020)(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,
                                CUstream hStream)
{
    return fill_rows("cuMemsetD2D16Async", dstDevice, us, 2, Width, Height, dstPitch, hStream, Return::when_queued);
}

ENTRY(cuMemsetD32, 3020)(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
    return fill_rows("cuMemsetD32", dstDevice, ui, 4, N, 1, 0, nullptr, Return::when_done);
}

ENTRY(cuMemsetD32Async, 3020)(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
    return fill_rows("cuMemsetD32Async", dstDevice, ui, 4, N, 1, 0, hStream, Return::when_queued);
}

ENTRY(cuMemsetD2D32, 3020)(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
    return fill_rows("cuMemsetD2D32", dstDevice, ui, 4, Width, Height, dstPitch, nullptr, Return::when_done);
}

ENTRY(cuMemsetD2D32Async, 3020)(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
                                CUstream hStream)
{
    return fill_rows("cuMemsetD2D32Async", dstDevice, ui, 4, Width, Height, dstPitch, hStream, Return::when_queued);
}
