// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "copy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

#include "../exec/memory.hpp"
#include "device.hpp"
#include "graph_memory.hpp"
#include "pool.hpp"

namespace emu::state {
namespace {

constexpr size_t staged_bytes = 64 << 10;

// A row whose host side may not be mapped: the kernel copies it and says so, where memcpy
// would end the process. False: a part of it could not be read or written.
bool copy_guarded(std::byte* target, const std::byte* source, size_t size)
{
    while (size) {
        iovec local{target, size}, remote{const_cast<std::byte*>(source), size};
        ssize_t done = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
        if (done < 0 && (errno == EPERM || errno == ENOSYS)) { // forbidden in some containers
            std::memmove(target, source, size);
            return true;
        }
        if (done <= 0)
            return false;
        target += done, source += done, size -= size_t(done);
    }
    return true;
}

bool copy_box(const Side& target, const Side& source, const Box& box)
{
    bool guarded = target.guarded || source.guarded;
    auto one = [&](std::byte* to, const std::byte* from, size_t size) {
        if (guarded)
            return copy_guarded(to, from, size);
        std::memmove(to, from, size);
        return true;
    };
    bool rows_join = box.height == 1 || (target.pitch == box.width && source.pitch == box.width);
    size_t slice = box.width * box.height;
    if (rows_join && (box.depth == 1 || (target.slice == slice && source.slice == slice)))
        return one(target.at, source.at, slice * box.depth);
    for (size_t z = 0; z < box.depth; ++z)
        for (size_t y = 0; y < box.height; ++y)
            if (!one(target.at + z * target.slice + y * target.pitch,
                     source.at + z * source.slice + y * source.pitch, box.width))
                return false;
    return true;
}

size_t extent(const Box& box, size_t pitch, size_t slice)
{
    return (box.depth - 1) * slice + (box.height - 1) * pitch + box.width;
}

void mark(const Side& target, const Box& box)
{
    if (target.allocation && !target.host) {
        auto base = uintptr_t(target.allocation->base) + size_t(target.at - target.allocation->host);
        exec::mark_initialised(base, extent(box, target.pitch, target.slice));
    }
}

template <class T>
void fill_row(std::byte* row, T value, size_t count)
{
    auto* items = reinterpret_cast<T*>(row);
    std::fill(items, items + count, value);
}

} // namespace

CUresult find_side(const Stream& stream, CUdeviceptr address, Kind kind, const Box& box,
                   size_t pitch, size_t slice, Side* side)
{
    auto& space = AddressSpace::get();
    size_t size = extent(box, pitch, slice);
    side->pitch = pitch;
    side->slice = slice;
    auto allocation = space.find(address);
    if (!allocation && stream.is_capturing())
        allocation = GraphMemory::find_allocation(address);
    if (!allocation) {
        if (kind == Kind::device || !address || space.in_window(address))
            return CUDA_ERROR_INVALID_VALUE;
        side->at = reinterpret_cast<std::byte*>(address);
        side->guarded = side->host = true;
        return CUDA_SUCCESS;
    }
    bool registered = allocation->kind == MemoryKind::registered;
    if (size > allocation->size - size_t(address - allocation->base) &&
        (allocation->kind != MemoryKind::mapped || size > space.extent(address))) {
        if (!registered || kind == Kind::device)
            return CUDA_ERROR_INVALID_VALUE;
    }
    side->at = allocation->at(address);
    side->guarded = registered; // its owner may have unmapped it
    side->host = allocation->is_host();
    side->allocation = std::move(allocation);
    return CUDA_SUCCESS;
}

// Pageable memory makes a copy synchronous, or is staged; registered and pinned does not.
CUresult copy(Stream& stream, const char* name, const Side& target, const Side& source,
              const Box& box, Return when)
{
    if (target.allocation && target.allocation->read_only)
        return CUDA_ERROR_INVALID_VALUE;
    bool pageable_source = source.guarded && !source.allocation;
    bool pageable_target = target.guarded && !target.allocation;
    bool between_devices = !target.host && !source.host;
    bool wait = when == Return::when_done ? !between_devices
                                          : pageable_target || (source.host && target.host);
    bool captured = when == Return::when_queued && stream.is_capturing();
    Operation operation{Operation::Kind::copy, name, nullptr};
    size_t bytes = box.width * box.height * box.depth;
    if (captured) // read and written when the graph runs
        wait = pageable_source = false;
    if (!wait && pageable_source && bytes <= staged_bytes) {
        auto stage = std::make_shared<Bytes>(bytes);
        Side staged;
        staged.at = stage->data();
        staged.pitch = box.width;
        staged.slice = box.width * box.height;
        staged.host = true;
        if (!copy_box(staged, source, box))
            return CUDA_ERROR_INVALID_VALUE;
        operation.work = [stage, staged, target, box] {
            mark(target, box);
            return copy_box(target, staged, box) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
        };
        return stream.enqueue(std::move(operation));
    }
    if (!wait && !pageable_source) {
        operation.work = [source, target, box] {
            mark(target, box);
            return copy_box(target, source, box) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
        };
        return stream.enqueue(std::move(operation));
    }
    bool done = true; // the caller waits, so a bad host pointer is its error alone
    operation.work = [&] {
        mark(target, box);
        done = copy_box(target, source, box);
        return CUDA_SUCCESS;
    };
    CUresult result = stream.run(std::move(operation));
    return result == CUDA_SUCCESS && !done ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult copy_linear(Stream& stream, const char* name, CUdeviceptr target, Kind target_kind,
                     CUdeviceptr source, Kind source_kind, size_t size, Return when)
{
    if (size == 0)
        return CUDA_SUCCESS;
    Box box{size, 1, 1};
    Side to, from;
    if (CUresult failed = find_side(stream, target, target_kind, box, size, size, &to))
        return failed;
    if (CUresult failed = find_side(stream, source, source_kind, box, size, size, &from))
        return failed;
    return copy(stream, name, to, from, box, when);
}

CUresult fill(Stream& stream, const char* name, CUdeviceptr target, uint32_t value,
              unsigned bytes, size_t width, size_t height, size_t pitch, Return when)
{
    if (!width || !height)
        return CUDA_SUCCESS;
    if (target % bytes || (height > 1 && (pitch % bytes || pitch < width * bytes)))
        return CUDA_ERROR_INVALID_VALUE;
    Box box{width * bytes, height, 1};
    Side side;
    if (CUresult failed = find_side(stream, target, Kind::device, box, pitch, 0, &side))
        return failed;
    auto context = stream.context();
    Pool* pool = side.allocation->owner.get();
    if (side.allocation->read_only || (context && pool && !pool->lets_in(context->device().ordinal())))
        return CUDA_ERROR_INVALID_VALUE;
    Operation operation{Operation::Kind::fill, name, [side, box, value, bytes] {
                            mark(side, box);
                            for (size_t y = 0; y < box.height; ++y) {
                                std::byte* row = side.at + y * side.pitch;
                                if (bytes == 1)
                                    std::memset(row, int(value & 0xff), box.width);
                                else if (bytes == 2)
                                    fill_row(row, uint16_t(value), box.width / 2);
                                else
                                    fill_row(row, value, box.width / 4);
                            }
                            return CUDA_SUCCESS;
                        }};
    // Only a fill of pinned memory is synchronous.
    if (when == Return::when_done && side.host)
        return stream.run(std::move(operation));
    return stream.enqueue(std::move(operation));
}

} // namespace emu::state
