// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "virtual_memory.hpp"

#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

#include "../../exec/exec.hpp"
#include "../device.hpp"
#include "../handles.hpp"
#include "multicast.hpp"
#include "virtual_space.hpp"

namespace emu::state {

namespace {

constexpr size_t unit = VirtualSpace::unit;

HandleTable<Physical, void*>& physicals()
{
    static auto* rows = new HandleTable<Physical, void*>;
    return *rows;
}

void* key_of(CUmemGenericAllocationHandle handle)
{
    return reinterpret_cast<void*>(handle);
}

struct Reservation {
    size_t size;
    Origin made_by;
};

struct Mapping {
    std::shared_ptr<Physical> memory;
    std::shared_ptr<Allocation> allocation;
    std::map<int, CUmemAccess_flags> access; // by device; -1: the host
    bool published = false;
};

struct All {
    std::mutex mutex;
    std::map<CUdeviceptr, Reservation> reserved;
    std::map<CUdeviceptr, Mapping> mapped;

    std::map<CUdeviceptr, Reservation>::iterator reservation_at(CUdeviceptr address)
    {
        auto row = reserved.upper_bound(address);
        if (row == reserved.begin())
            return reserved.end();
        --row;
        return address - row->first < row->second.size ? row : reserved.end();
    }

    std::map<CUdeviceptr, Mapping>::iterator mapping_at(CUdeviceptr address)
    {
        auto row = mapped.upper_bound(address);
        if (row == mapped.begin())
            return mapped.end();
        --row;
        return address - row->first < row->second.memory->size() ? row : mapped.end();
    }

    // Returns true if the whole range is reserved, by one reservation or by adjacent ones.
    bool is_reserved(CUdeviceptr address, size_t size)
    {
        for (CUdeviceptr end = address + size; address < end;) {
            auto row = reservation_at(address);
            if (row == reserved.end())
                return false;
            address = row->first + row->second.size;
        }
        return true;
    }

    // Returns true if the range contains only whole mappings and, with `full`, nothing unmapped between them.
    bool holds_whole(CUdeviceptr address, size_t size, bool full)
    {
        CUdeviceptr end = address + size;
        if (auto first = mapping_at(address); first != mapped.end() && first->first != address)
            return false;
        for (auto row = mapped.lower_bound(address); row != mapped.end() && row->first < end; ++row) {
            if (full && row->first != address)
                return false;
            address = row->first + row->second.memory->size();
            if (address > end)
                return false;
        }
        return !full || address == end;
    }
};

All& all_memory()
{
    static auto* rows = new All;
    return *rows;
}

bool is_range(CUdeviceptr address, size_t size)
{
    return address && size && address % unit == 0 && size % unit == 0 && address + size > address &&
           VirtualSpace::get().contains(address) && VirtualSpace::get().contains(address + size - 1);
}

// Lets kernels and copies access a mapping to the extent that access was granted.
void apply_access(CUdeviceptr address, Mapping& mapping)
{
    int first = -1, most = PROT_NONE;
    uint32_t others = 0;
    for (const auto& row : mapping.access) {
        if (row.second == CU_MEM_ACCESS_FLAGS_PROT_NONE)
            continue;
        most |= row.second == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ : PROT_READ | PROT_WRITE;
        if (row.first < 0)
            continue;
        others |= 1u << row.first;
        if (first < 0 || row.first == mapping.memory->properties().location.id)
            first = row.first;
    }
    // Ordinary loads, stores and copies do not reach the memory backing a multicast address.
    if (mapping.memory->multicast())
        return;
    auto& space = AddressSpace::get();
    if (mapping.published)
        exec::close_region(uintptr_t(address));
    exec::forget_region(uintptr_t(address));
    VirtualSpace::get().set_access(address, most);
    mapping.allocation->read_only = most == PROT_READ;
    mapping.allocation->shared_with = others;
    if (most == PROT_NONE) {
        space.withdraw(address);
        mapping.published = false;
        return;
    }
    exec::Region region = arena_detail::region(*mapping.allocation);
    if (!mapping.memory->is_host())
        region.device = first;
    region.shared_with = others;
    exec::open_region(region);
    space.publish(mapping.allocation);
    mapping.published = true;
}

} // namespace

// --------------------------------------------------------------------------- physical

Arena& Physical::arena() const
{
    auto& space = AddressSpace::get();
    return is_host() ? space.pinned() : space.device(properties_.location.id);
}

CUresult Physical::create(size_t size, const CUmemAllocationProp& properties, CUmemGenericAllocationHandle* out)
{
    auto memory = std::make_shared<Physical>();
    memory->properties_ = properties;
    memory->size_ = size;
    if (!memory->arena().charge(size))
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory->charged_ = size;
    MemoryNote note;
    note.kind = MemoryNote::Kind::physical;
    note.location = properties.location;
    note.size = size;
    memory->file_ = make_memory_file("emulator-memory", &note);
    if (memory->file_ < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memory->references_ = 1;
    auto* raw = memory.get();
    raw->handle_ = reinterpret_cast<CUmemGenericAllocationHandle>(physicals().add(std::move(memory)));
    *out = raw->handle_;
    return CUDA_SUCCESS;
}

namespace {

// For kernels, which do not map other devices' memory themselves.
unsigned find_places(uint64_t address, size_t bytes, void** places)
{
    auto object = virtual_memory::memory_at(address);
    auto allocation = virtual_memory::allocation_at(address);
    if (!object || !object->multicast() || !allocation)
        return 0;
    return object->multicast()->find(address - allocation->base, bytes, places);
}

} // namespace

// The object has no memory of its own: the file reserves the mapped size, and begins with the team.
CUresult Physical::create_multicast(const CUmulticastObjectProp_st& properties, CUmemGenericAllocationHandle* out)
{
    auto object = std::make_shared<Physical>();
    object->properties_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    object->properties_.requestedHandleTypes = CUmemAllocationHandleType(properties.handleTypes);
    object->size_ = properties.size;
    MemoryNote note;
    note.kind = MemoryNote::Kind::multicast;
    note.size = properties.size;
    object->file_ = make_memory_file("emulator-multicast", &note);
    if (object->file_ < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    object->multicast_ = Multicast::create(object->file_, properties);
    if (!object->multicast_)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec::set_multicast_finder(find_places);
    object->references_ = 1;
    auto* raw = object.get();
    raw->handle_ = reinterpret_cast<CUmemGenericAllocationHandle>(physicals().add(std::move(object)));
    *out = raw->handle_;
    return CUDA_SUCCESS;
}

// Memory counts against the limit in the process that created it.
CUresult Physical::import(int file, CUmemGenericAllocationHandle* out)
{
    MemoryNote note;
    bool is_ours = read_memory_note(file, &note);
    bool is_multicast = note.kind == MemoryNote::Kind::multicast;
    if (!is_ours || (!is_multicast && note.kind != MemoryNote::Kind::physical))
        return CUDA_ERROR_UNKNOWN; // like hardware drivers
    if (note.location.type == CU_MEM_LOCATION_TYPE_DEVICE && !device_at(note.location.id))
        return CUDA_ERROR_INVALID_DEVICE;
    auto memory = std::make_shared<Physical>();
    memory->properties_.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    memory->properties_.location = note.location;
    memory->size_ = note.size;
    memory->file_ = fcntl(file, F_DUPFD_CLOEXEC, 3);
    if (memory->file_ < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (is_multicast) {
        memory->properties_.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        memory->properties_.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        memory->multicast_ = Multicast::open(memory->file_);
        if (!memory->multicast_)
            return CUDA_ERROR_OUT_OF_MEMORY;
        exec::set_multicast_finder(find_places);
    }
    memory->references_ = 1;
    auto* raw = memory.get();
    raw->handle_ = reinterpret_cast<CUmemGenericAllocationHandle>(physicals().add(std::move(memory)));
    *out = raw->handle_;
    return CUDA_SUCCESS;
}

Physical::~Physical()
{
    if (charged_)
        arena().discharge(charged_);
    if (file_ >= 0)
        close(file_);
}

std::shared_ptr<Physical> Physical::find(CUmemGenericAllocationHandle handle)
{
    return physicals().find(key_of(handle));
}

CUresult Physical::release(CUmemGenericAllocationHandle handle)
{
    std::shared_ptr<Physical> last; // destroyed after the lock is released
    std::lock_guard lock(all_memory().mutex);
    auto memory = find(handle);
    if (!memory)
        return CUDA_ERROR_INVALID_VALUE;
    if (--memory->references_ == 0)
        last = physicals().remove(key_of(handle));
    return CUDA_SUCCESS;
}

CUmemGenericAllocationHandle Physical::retain(const std::shared_ptr<Physical>& memory)
{
    std::lock_guard lock(all_memory().mutex);
    if (memory->references_++ == 0)
        physicals().put(key_of(memory->handle_), memory);
    return memory->handle_;
}

std::vector<std::pair<std::shared_ptr<Physical>, Origin>> Physical::all()
{
    return physicals().all();
}

CUresult Physical::export_file(int* out) const
{
    int file = fcntl(file_, F_DUPFD_CLOEXEC, 3);
    if (file < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *out = file;
    return CUDA_SUCCESS;
}

// --------------------------------------------------------------------------- addresses

namespace virtual_memory {

CUresult reserve(size_t size, size_t alignment, CUdeviceptr wanted, CUdeviceptr* out)
{
    if (!size || size % unit || (alignment & (alignment - 1)) || wanted % 4096)
        return CUDA_ERROR_INVALID_VALUE;
    All& all = all_memory();
    std::lock_guard lock(all.mutex);
    CUdeviceptr address = 0;
    if (!VirtualSpace::get().take(size, alignment, wanted, &address))
        return CUDA_ERROR_OUT_OF_MEMORY;
    all.reserved[address] = {size, origin};
    *out = address;
    return CUDA_SUCCESS;
}

CUresult free(CUdeviceptr address, size_t size)
{
    All& all = all_memory();
    std::lock_guard lock(all.mutex);
    auto row = all.reserved.find(address);
    if (row == all.reserved.end() || row->second.size != size)
        return CUDA_ERROR_INVALID_VALUE;
    auto next = all.mapped.lower_bound(address);
    if (all.mapping_at(address) != all.mapped.end() || (next != all.mapped.end() && next->first < address + size))
        return CUDA_ERROR_INVALID_VALUE;
    all.reserved.erase(row);
    VirtualSpace::get().give(address, size);
    return CUDA_SUCCESS;
}

CUresult map(CUdeviceptr address, size_t size, std::shared_ptr<Physical> memory)
{
    if (!is_range(address, size))
        return CUDA_ERROR_INVALID_VALUE;
    if (size != memory->size())
        return CUDA_ERROR_NOT_SUPPORTED; // a part of a reservation, as on a GPU
    All& all = all_memory();
    std::lock_guard lock(all.mutex);
    auto next = all.mapped.lower_bound(address);
    if (!all.is_reserved(address, size) || all.mapping_at(address) != all.mapped.end() ||
        (next != all.mapped.end() && next->first < address + size))
        return CUDA_ERROR_INVALID_VALUE;
    auto& space = VirtualSpace::get();
    if (!space.map(address, size, memory->file(), 0, PROT_NONE, memory->is_host()))
        return CUDA_ERROR_OUT_OF_MEMORY;
    auto allocation = std::make_shared<Allocation>();
    allocation->id = arena_detail::new_id();
    allocation->base = address;
    allocation->size = allocation->room = size;
    allocation->kind = MemoryKind::mapped;
    allocation->device = memory->is_host() ? -1 : memory->properties().location.id;
    allocation->host = space.mirror(address);
    allocation->made_by = origin;
    all.mapped[address] = {std::move(memory), std::move(allocation), {}, false};
    return CUDA_SUCCESS;
}

CUresult unmap(CUdeviceptr address, size_t size)
{
    if (!is_range(address, size))
        return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::shared_ptr<Physical>> ended; // destroyed after the lock is released
    All& all = all_memory();
    std::lock_guard lock(all.mutex);
    if (!all.is_reserved(address, size) || !all.holds_whole(address, size, false))
        return CUDA_ERROR_INVALID_VALUE;
    auto row = all.mapped.lower_bound(address);
    while (row != all.mapped.end() && row->first < address + size) {
        row->second.access.clear();
        apply_access(row->first, row->second);
        VirtualSpace::get().unmap(row->first);
        ended.push_back(std::move(row->second.memory));
        row = all.mapped.erase(row);
    }
    return CUDA_SUCCESS;
}

namespace {

CUresult check_access(const Physical& memory, const CUmemAccessDesc& row)
{
    switch (row.location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        if (!device_at(row.location.id))
            return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        if (!memory.is_host())
            return CUDA_ERROR_NOT_SUPPORTED;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    bool known = row.flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || row.flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                 row.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

} // namespace

CUresult set_access(CUdeviceptr address, size_t size, const CUmemAccessDesc* rows, size_t count)
{
    if (!is_range(address, size) || !count)
        return CUDA_ERROR_INVALID_VALUE;
    All& all = all_memory();
    std::lock_guard lock(all.mutex);
    if (!all.holds_whole(address, size, true))
        return CUDA_ERROR_INVALID_VALUE;
    auto first = all.mapped.find(address), last = all.mapped.lower_bound(address + size);
    for (auto row = first; row != last; ++row)
        for (size_t i = 0; i < count; ++i)
            if (CUresult failed = check_access(*row->second.memory, rows[i]))
                return failed;
    for (auto row = first; row != last; ++row) {
        for (size_t i = 0; i < count; ++i) {
            bool device = rows[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE;
            row->second.access[device ? rows[i].location.id : -1] = rows[i].flags;
        }
        apply_access(row->first, row->second);
    }
    return CUDA_SUCCESS;
}

CUresult access(const CUmemLocation& location, CUdeviceptr address, CUmemAccess_flags* flags)
{
    bool device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    if (device && !device_at(location.id))
        return CUDA_ERROR_INVALID_VALUE;
    All& all = all_memory();
    std::lock_guard lock(all.mutex);
    auto row = all.mapping_at(address);
    if (row == all.mapped.end())
        return CUDA_ERROR_INVALID_VALUE;
    auto given = row->second.access.find(device ? location.id : -1);
    *flags = given == row->second.access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : given->second;
    return CUDA_SUCCESS;
}

std::shared_ptr<Physical> memory_at(CUdeviceptr address)
{
    All& all = all_memory();
    std::lock_guard lock(all.mutex);
    auto row = all.mapping_at(address);
    return row == all.mapped.end() ? nullptr : row->second.memory;
}

std::shared_ptr<Allocation> allocation_at(CUdeviceptr address)
{
    All& all = all_memory();
    std::lock_guard lock(all.mutex);
    auto row = all.mapping_at(address);
    return row == all.mapped.end() ? nullptr : row->second.allocation;
}

bool reservation_of(CUdeviceptr address, CUdeviceptr* base, size_t* size)
{
    All& all = all_memory();
    std::lock_guard lock(all.mutex);
    auto row = all.reservation_at(address);
    if (row == all.reserved.end())
        return false;
    *base = row->first;
    *size = row->second.size;
    return true;
}

std::vector<std::pair<std::pair<CUdeviceptr, size_t>, Origin>> reservations()
{
    All& all = all_memory();
    std::lock_guard lock(all.mutex);
    std::vector<std::pair<std::pair<CUdeviceptr, size_t>, Origin>> out;
    for (const auto& row : all.reserved)
        out.push_back({{row.first, row.second.size}, row.second.made_by});
    return out;
}

} // namespace virtual_memory
} // namespace emu::state
