// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "stream_copies.hpp"

#include "../device.hpp"
#include "../memory/pool.hpp"
#include "capture.hpp"
#include "host_sources.hpp"

namespace emu::state {
namespace {

constexpr size_t staged_bytes = 64 << 10;

} // namespace

// Pageable memory makes a copy synchronous, or is staged; registered and pinned memory do not.
CUresult copy(Stream& stream, const char* name, const Side& target, const Side& source, const Box& box, Return when)
{
    if (target.allocation && target.allocation->read_only)
        return CUDA_ERROR_INVALID_VALUE;
    for (const Side* side : {&target, &source})
        if (CUresult failed = check_access(*side, stream.context().get()))
            return failed;
    bool pageable_source = source.guarded && !source.allocation;
    bool pageable_target = target.guarded && !target.allocation;
    bool between_devices = !target.host && !source.host;
    bool wait = when == Return::when_done ? !between_devices : pageable_target || (source.host && target.host);
    Operation operation{Operation::Kind::copy, name, nullptr};
    size_t bytes = box.width * box.height * box.depth;
    if (when == Return::when_queued && stream.is_capturing())
        return Capture::add(stream, CopyWork::captured(target, source, box));
    if (!wait && pageable_source && bytes <= staged_bytes) {
        auto stage = std::make_shared<Bytes>(bytes);
        Side staged;
        staged.at = stage->data();
        staged.pitch = box.width;
        staged.slice = box.width * box.height;
        staged.host = true;
        if (run_copy(staged, source, box))
            return CUDA_ERROR_INVALID_VALUE;
        operation.work = [stage, staged, target, box] { return run_copy(target, staged, box); };
        return stream.enqueue(std::move(operation));
    }
    if (!wait && !pageable_source) {
        operation.work = [source, target, box] { return run_copy(target, source, box); };
        HostSource watched(name, source, box);
        CUresult result = stream.enqueue(std::move(operation));
        if (result == CUDA_SUCCESS)
            watched.watch(stream);
        return result;
    }
    bool done = true; // the caller waits, so a bad host pointer is an error of this call alone
    operation.work = [&] {
        done = run_copy(target, source, box) == CUDA_SUCCESS;
        return CUDA_SUCCESS;
    };
    CUresult result = stream.run(std::move(operation));
    return result == CUDA_SUCCESS && !done ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult copy_linear(Stream& stream, const char* name, const Operand& target, const Operand& source, size_t size,
                     Return when)
{
    if (size == 0)
        return CUDA_SUCCESS;
    Box box{size, 1, 1};
    Side to, from;
    to.device = target.device;
    from.device = source.device;
    bool captured = stream.is_capturing();
    if (CUresult failed = find_side(captured, target.address, target.kind, box, size, size, &to))
        return failed;
    if (CUresult failed = find_side(captured, source.address, source.kind, box, size, size, &from))
        return failed;
    return copy(stream, name, to, from, box, when);
}

CUresult fill(Stream& stream, const char* name, CUdeviceptr target, uint32_t value, unsigned bytes, size_t width,
              size_t height, size_t pitch, Return when)
{
    if (!width || !height)
        return CUDA_SUCCESS;
    auto context = stream.context();
    if (stream.is_capturing() && when == Return::when_queued) {
        Work work;
        CUDA_MEMSET_NODE_PARAMS p{target, pitch, value, bytes, width, height};
        CUresult failed = FillWork::make(p, context, &work);
        return failed ? failed : Capture::add(stream, std::move(work));
    }
    Side side;
    if (CUresult failed = find_fill(target, bytes, width, height, pitch, false, context.get(), &side))
        return failed;
    Operation operation{Operation::Kind::fill, name, [=] {
                            run_fill(side, value, bytes, width, height);
                            return CUDA_SUCCESS;
                        }};
    // Fills are asynchronous, except for pinned memory.
    if (when == Return::when_done && side.host)
        return stream.run(std::move(operation));
    return stream.enqueue(std::move(operation));
}

} // namespace emu::state
