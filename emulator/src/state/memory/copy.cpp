// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "copy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

#include "../../config.hpp"
#include "../../exec/checks/initialized.hpp"
#include "../../exec/checks/poison.hpp"
#include "../../exec/checks/races.hpp"
#include "../device.hpp"
#include "../origin.hpp"
#include "graph_memory.hpp"
#include "pool.hpp"

namespace emu::state {
namespace {

// Copies a row to or from plain host memory, which may not be mapped. process_vm_readv() and process_vm_writev() report
// that, whereas memcpy() would kill the process. Returns false if a part could not be read or written.
bool copy_guarded(std::byte* target, const std::byte* source, size_t size)
{
    while (size) {
        iovec local{target, size}, remote{const_cast<std::byte*>(source), size};
        ssize_t done = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
        if (done < 0 && (errno == EPERM || errno == ENOSYS)) { // some containers forbid the call
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
            if (!one(target.at + z * target.slice + y * target.pitch, source.at + z * source.slice + y * source.pitch,
                     box.width))
                return false;
    return true;
}

size_t extent(const Box& box, size_t pitch, size_t slice)
{
    return (box.depth - 1) * slice + (box.height - 1) * pitch + box.width;
}

void check_races(const Side& side, const Box& box, exec::Transfer transfer)
{
    if (!side.allocation)
        return;
    for (size_t row = 0; row < box.height * box.depth; ++row)
        exec::check_transfer(side.address() + row / box.height * side.slice + row % box.height * side.pitch, box.width,
                             transfer);
}

// The stores of a copy or fill are recorded before they happen, while it counts as running: another thread may compare
// the memory at any time (HostSource).
class RunScope {
public:
    RunScope() : first_(config().checks.races ? exec::begin_run() : 0) {}
    ~RunScope()
    {
        if (first_)
            exec::end_run(first_);
    }
    RunScope(const RunScope&) = delete;
    RunScope& operator=(const RunScope&) = delete;

private:
    uint32_t first_;
};

void fill_poisoned(const Side& side, const Box& box, bool overwrites)
{
    if (!side.allocation)
        return;
    size_t size = extent(box, side.pitch, side.slice);
    exec::fill_poisoned(side.address(), size, overwrites && size == box.width * box.height * box.depth);
}

void check_written(const Side& side, const Box& box)
{
    for (size_t row = 0; row < box.height * box.depth; ++row) {
        uintptr_t at = side.address() + row / box.height * side.slice + row % box.height * side.pitch;
        uintptr_t begin = 0;
        if (size_t size = exec::find_unwritten(at, box.width, &begin))
            return exec::fail_transfer(exec::FaultKind::uninitialized,
                                       "copy of " + std::to_string(box.width) +
                                           " bytes to the host, but nobody has written " + std::to_string(size) +
                                           " of them: " + exec::describe_address(begin, size, true));
    }
}

template <class T> void fill_row(std::byte* row, T value, size_t count)
{
    auto* items = reinterpret_cast<T*>(row);
    std::fill(items, items + count, value);
}

} // namespace

CUdeviceptr Side::address() const
{
    return allocation ? allocation->base + CUdeviceptr(at - allocation->host) : reinterpret_cast<CUdeviceptr>(at);
}

CUresult run_copy(const Side& target, const Side& source, const Box& box)
{
    RunScope scope;
    fill_poisoned(source, box, false);
    fill_poisoned(target, box, true);
    if (config().checks.races) {
        check_races(source, box, exec::Transfer::load);
        check_races(target, box, exec::Transfer::store);
    }
    if (!copy_box(target, source, box))
        return CUDA_ERROR_INVALID_VALUE;
    if (config().checks.initialized && target.host && source.allocation && !source.host)
        check_written(source, box);
    if (config().checks.initialized && target.allocation)
        for (size_t row = 0; row < box.height * box.depth; ++row) {
            size_t y = row % box.height, z = row / box.height;
            exec::note_copied(target.address() + z * target.slice + y * target.pitch,
                              source.address() + z * source.slice + y * source.pitch, box.width);
        }
    return CUDA_SUCCESS;
}

void run_fill(const Side& target, uint32_t value, unsigned bytes, size_t width, size_t height)
{
    RunScope scope;
    fill_poisoned(target, {width * bytes, height}, true);
    for (size_t y = 0; y < height; ++y) {
        std::byte* row = target.at + y * target.pitch;
        exec::note_written(target.address() + y * target.pitch, width * bytes);
        if (config().checks.races)
            exec::check_transfer(target.address() + y * target.pitch, width * bytes, exec::Transfer::store);
        if (bytes == 1)
            std::memset(row, int(value & 0xff), width);
        else if (bytes == 2)
            fill_row(row, uint16_t(value), width);
        else
            fill_row(row, value, width);
    }
}

CUresult find_side(bool captured, CUdeviceptr address, Kind kind, const Box& box, size_t pitch, size_t slice,
                   Side* side)
{
    auto& space = AddressSpace::get();
    size_t size = extent(box, pitch, slice);
    side->pitch = pitch;
    side->slice = slice;
    side->any = kind == Kind::any;
    auto allocation = space.find(address);
    if (!allocation && captured)
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
    side->guarded = registered; // the program may have unmapped it
    side->host = allocation->is_host();
    side->pool = std::atomic_load(&allocation->owner);
    side->allocation = std::move(allocation);
    return CUDA_SUCCESS;
}

CUresult find_array_side(CUarray handle, size_t x, size_t y, size_t z, const Box& box, Side* side)
{
    auto array = Array::find(handle);
    if (!array)
        return CUDA_ERROR_INVALID_HANDLE;
    const exec::Texels& texels = array->texels();
    size_t row = texels.pitch;
    auto within = [](size_t start, size_t count, size_t extent) { return start <= extent && count <= extent - start; };
    if (!within(x, box.width, row) || !within(y, box.height, texels.height) || !within(z, box.depth, texels.depth))
        return CUDA_ERROR_INVALID_VALUE;
    side->at = texels.at + z * texels.slice + y * texels.pitch + x;
    side->pitch = texels.pitch;
    side->slice = texels.slice;
    side->x = x, side->y = y, side->z = z;
    side->array = std::move(array);
    return CUDA_SUCCESS;
}

namespace {

constexpr size_t most_pitch = 0x7fffffff;

// One side of a box copy, from the program's structure.
struct Given {
    CUmemorytype type;
    const void* host;
    CUdeviceptr device;
    CUarray array;
    size_t x, y, z, pitch, height;
};

CUresult find_given(bool captured, const Given& given, const Box& box, Side* side)
{
    if (given.type == CU_MEMORYTYPE_ARRAY)
        return find_array_side(given.array, given.x, given.y, given.z, box, side);
    bool single_row = box.height == 1 && box.depth == 1;
    bool has_kind =
        given.type == CU_MEMORYTYPE_HOST || given.type == CU_MEMORYTYPE_DEVICE || given.type == CU_MEMORYTYPE_UNIFIED;
    bool fits = given.pitch >= box.width + given.x || (single_row && given.pitch == 0);
    size_t slice = given.pitch * given.height;
    CUdeviceptr base = given.type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(given.host) : given.device;
    if (!has_kind || !fits || !base || given.pitch > most_pitch ||
        (box.depth != 1 && given.height < box.height + given.y))
        return CUDA_ERROR_INVALID_VALUE;
    Kind kind = given.type == CU_MEMORYTYPE_HOST     ? Kind::host
                : given.type == CU_MEMORYTYPE_DEVICE ? Kind::device
                                                     : Kind::any;
    base += given.z * slice + given.y * given.pitch + given.x;
    return find_side(captured, base, kind, box, given.pitch, slice, side);
}

} // namespace

CUresult find_sides(const CUDA_MEMCPY3D& p, bool captured, Side* target, Side* source, Box* box)
{
    *box = {p.WidthInBytes, p.Height, p.Depth};
    if (p.srcLOD || p.dstLOD)
        return CUDA_ERROR_INVALID_VALUE;
    if (box->empty())
        return CUDA_SUCCESS;
    Given to{p.dstMemoryType, p.dstHost, p.dstDevice, p.dstArray, p.dstXInBytes,
             p.dstY,          p.dstZ,    p.dstPitch,  p.dstHeight};
    Given from{p.srcMemoryType, p.srcHost, p.srcDevice, p.srcArray, p.srcXInBytes,
               p.srcY,          p.srcZ,    p.srcPitch,  p.srcHeight};
    if (CUresult failed = find_given(captured, to, *box, target))
        return failed;
    return find_given(captured, from, *box, source);
}

namespace {

CUresult deny_access(int device, const char* what, const char* remedy)
{
    explain("device " + std::to_string(device) + " cannot access " + what + " of the operand; grant access with " +
            remedy);
    return CUDA_ERROR_INVALID_VALUE;
}

// The stream's device executes fills; unlike copies, they do not go through the host.
CUresult check_peer(const Side& side, const Context& context)
{
    const Allocation& memory = *side.allocation;
    int device = context.device().ordinal();
    if (memory.kind != MemoryKind::device || side.pool || memory.graph || memory.device == device)
        return CUDA_SUCCESS;
    auto peers = context.peer_devices();
    bool is_peer = std::find(peers.begin(), peers.end(), memory.device) != peers.end();
    return is_peer ? CUDA_SUCCESS : deny_access(device, "the memory", "cuCtxEnablePeerAccess");
}

} // namespace

CUresult find_fill(CUdeviceptr target, unsigned bytes, size_t width, size_t height, size_t pitch, bool captured,
                   const Context* context, Side* side)
{
    if (target % bytes || (height > 1 && (pitch % bytes || pitch < width * bytes)))
        return CUDA_ERROR_INVALID_VALUE;
    Box box{width * bytes, height, 1};
    if (CUresult failed = find_side(captured, target, Kind::device, box, pitch, 0, side))
        return failed;
    if (side->allocation->read_only)
        return CUDA_ERROR_INVALID_VALUE;
    if (CUresult failed = check_access(*side, context))
        return failed;
    return context ? check_peer(*side, *context) : CUDA_SUCCESS;
}

CUresult check_access(const Side& side, const Context* context)
{
    int device = side.device >= 0 || !context ? side.device : context->device().ordinal();
    if (device < 0)
        return CUDA_SUCCESS;
    if (side.pool && side.any && side.pool->properties().location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return CUDA_SUCCESS;
    if (side.pool)
        return side.pool->allows_access(device) ? CUDA_SUCCESS
                                                : deny_access(device, "the memory pool", "cuMemPoolSetAccess");
    bool mapped = side.allocation && side.allocation->kind == MemoryKind::mapped && !side.host;
    if (mapped && !(side.allocation->shared_with >> device & 1))
        return deny_access(device, "the mapping", "cuMemSetAccess");
    return CUDA_SUCCESS;
}

} // namespace emu::state
