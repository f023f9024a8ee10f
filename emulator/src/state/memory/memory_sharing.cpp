// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "memory_sharing.hpp"

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../device.hpp"
#include "virtual_space.hpp"

namespace emu::state {

namespace {

constexpr uint64_t memory_handle_magic = 0x656d756d656d6f72; // "emumemor"

// The contents of the file before its note.
struct FileExtent {
    int file; // contains the device memory
    uint64_t offset, size;
};

struct Import {
    CUcontext context;
    CUdeviceptr base, mapped;
    size_t room;
    int uses;
};

struct Imports {
    std::mutex mutex;
    std::map<uint64_t, Import> rows; // by file number
};

// Never destroyed, because threads may run until the process exits.
Imports& imports()
{
    static auto* all = new Imports;
    return *all;
}

class File {
public:
    File(int process, int number)
    {
        char path[64];
        std::snprintf(path, sizeof path, "/proc/%d/fd/%d", process, number);
        file_ = ::open(path, O_RDWR | O_CLOEXEC);
    }
    ~File()
    {
        if (file_ >= 0)
            ::close(file_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    operator int() const { return file_; }

private:
    int file_;
};

bool read_extent(int file, const HandleData& data, MemoryNote* note, FileExtent* extent)
{
    return read_memory_note(file, note) && note->kind == MemoryNote::Kind::memory && note->number == data.number &&
           pread(file, extent, sizeof *extent, 0) == sizeof *extent;
}

// Maps the pages around the memory, at addresses of this process.
CUresult map_extent(int file, const FileExtent& extent, Import* row)
{
    struct stat status;
    if (file < 0 || fstat(file, &status) || extent.offset > uint64_t(status.st_size) ||
        extent.size > uint64_t(status.st_size) - extent.offset)
        return CUDA_ERROR_INVALID_VALUE;
    auto& space = VirtualSpace::get();
    size_t head = extent.offset % page_bytes;
    size_t pages = round_up(head + extent.size, page_bytes);
    row->room = round_up(pages, VirtualSpace::unit);
    if (!space.take(row->room, 0, 0, &row->mapped))
        return CUDA_ERROR_OUT_OF_MEMORY;
    row->base = row->mapped + head;
    if (space.map(row->mapped, pages, file, extent.offset - head, PROT_READ | PROT_WRITE, false))
        return CUDA_SUCCESS;
    space.give(row->mapped, row->room);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

void show(const Import& row, const FileExtent& extent, int device, MemoryKind kind)
{
    auto allocation = std::make_shared<Allocation>();
    allocation->id = arena_detail::new_id();
    allocation->base = row.base;
    allocation->size = allocation->room = extent.size;
    allocation->kind = kind;
    allocation->device = device;
    allocation->context = row.context;
    allocation->host = VirtualSpace::get().mirror(row.base);
    allocation->made_by = origin;
    exec::forget_region(uintptr_t(row.base));
    exec::open_region(arena_detail::region(*allocation));
    AddressSpace::get().publish(allocation);
}

CUresult leave(CUdeviceptr base, bool all)
{
    std::lock_guard lock(imports().mutex);
    auto& rows = imports().rows;
    for (auto row = rows.begin(); row != rows.end(); ++row) {
        if (row->second.base != base)
            continue;
        if (--row->second.uses > 0 && !all)
            return CUDA_SUCCESS;
        AddressSpace::get().withdraw(base);
        exec::close_region(uintptr_t(base));
        VirtualSpace::get().unmap(row->second.mapped);
        VirtualSpace::get().give(row->second.mapped, row->second.room);
        rows.erase(row);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

} // namespace

// Pool memory is shared by other calls, and memory of another process can only be shared by that process.
CUresult SharedMemory::describe(const std::shared_ptr<Allocation>& allocation, CUipcMemHandle* out)
{
    if (!allocation || allocation->kind != MemoryKind::device || allocation->owner || allocation->graph)
        return CUDA_ERROR_INVALID_VALUE;
    std::lock_guard lock(imports().mutex);
    MemoryNote note;
    if (allocation->file < 0) {
        FileExtent extent{};
        note.kind = MemoryNote::Kind::memory;
        note.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        note.location.id = allocation->device;
        note.size = page_bytes;
        if (!AddressSpace::get().device(allocation->device).place_of(*allocation, &extent.file, &extent.offset))
            return CUDA_ERROR_INVALID_VALUE;
        extent.size = allocation->size;
        int file = make_memory_file("emulator-memory", &note);
        if (file < 0)
            return CUDA_ERROR_OPERATING_SYSTEM;
        if (pwrite(file, &extent, sizeof extent, 0) != sizeof extent) {
            ::close(file);
            return CUDA_ERROR_OPERATING_SYSTEM;
        }
        allocation->file = file;
    } else if (!read_memory_note(allocation->file, &note)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    HandleData data{memory_handle_magic, note.number, int(getpid()), allocation->file};
    std::memset(out, 0, sizeof *out);
    std::memcpy(out, &data, sizeof data);
    return CUDA_SUCCESS;
}

CUresult SharedMemory::open(CUcontext context, const CUipcMemHandle& handle, CUdeviceptr* out)
{
    HandleData data;
    std::memcpy(&data, &handle, sizeof data);
    if (data.magic != memory_handle_magic)
        return CUDA_ERROR_INVALID_VALUE;
    if (data.process == getpid())
        return CUDA_ERROR_INVALID_CONTEXT; // like hardware drivers
    MemoryNote note;
    FileExtent extent;
    if (!read_extent(File(data.process, data.file), data, &note, &extent))
        return CUDA_ERROR_INVALID_VALUE;
    if (!device_at(note.location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    std::lock_guard lock(imports().mutex);
    auto& rows = imports().rows;
    auto found = rows.find(note.number);
    if (found == rows.end()) {
        Import row{context, 0, 0, 0, 0};
        if (CUresult failed = map_extent(File(data.process, extent.file), extent, &row))
            return failed;
        found = rows.emplace(note.number, row).first;
        show(row, extent, note.location.id, MemoryKind::opened);
    }
    ++found->second.uses;
    *out = found->second.base;
    return CUDA_SUCCESS;
}

CUresult SharedMemory::map_file(CUcontext context, int device, int file, uint64_t offset, uint64_t size,
                                CUdeviceptr* out)
{
    FileExtent extent{file, offset, size};
    Import row{context, 0, 0, 0, 1};
    std::lock_guard lock(imports().mutex);
    if (CUresult failed = map_extent(file, extent, &row))
        return failed;
    imports().rows.emplace(random_number(), row);
    show(row, extent, device, MemoryKind::external);
    *out = row.base;
    return CUDA_SUCCESS;
}

CUresult SharedMemory::close(CUdeviceptr base)
{
    return leave(base, false);
}

void SharedMemory::close_all(CUdeviceptr base)
{
    leave(base, true);
}

} // namespace emu::state
