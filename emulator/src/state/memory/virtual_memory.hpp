// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Virtual memory: reserved addresses, physical memory without an address, and mappings between them, with access per
// device.
#pragma once

#include <memory>
#include <vector>

#include "../../common.hpp"
#include "arena.hpp"

namespace emu::state {

class Multicast;

// Physical memory, which has no address. It lives until its handle is released and all its mappings are gone.
class Physical {
public:
    static CUresult create(size_t size, const CUmemAllocationProp& properties, CUmemGenericAllocationHandle* out);
    static CUresult create_multicast(const CUmulticastObjectProp_st& properties, CUmemGenericAllocationHandle* out);
    static CUresult import(int file, CUmemGenericAllocationHandle* out);
    static std::shared_ptr<Physical> find(CUmemGenericAllocationHandle handle);
    static CUresult release(CUmemGenericAllocationHandle handle);
    static std::vector<std::pair<std::shared_ptr<Physical>, Origin>> all();
    ~Physical();

    CUmemGenericAllocationHandle handle() const { return handle_; }
    size_t size() const { return size_; }
    int file() const { return file_; }
    const CUmemAllocationProp& properties() const { return properties_; }
    bool is_host() const { return properties_.location.type != CU_MEM_LOCATION_TYPE_DEVICE; }
    Multicast* multicast() const { return multicast_.get(); } // null: memory
    CUresult export_file(int* out) const;
    // Adds a reference to the handle, which becomes valid again if it was released.
    static CUmemGenericAllocationHandle retain(const std::shared_ptr<Physical>& memory);

private:
    Arena& arena() const;
    CUmemGenericAllocationHandle handle_ = 0;
    CUmemAllocationProp properties_{};
    size_t size_ = 0, charged_ = 0;
    int file_ = -1;
    std::shared_ptr<Multicast> multicast_;
    int references_ = 0; // protected by the table's lock
};

namespace virtual_memory {

CUresult reserve(size_t size, size_t alignment, CUdeviceptr wanted, CUdeviceptr* out);
CUresult free(CUdeviceptr address, size_t size);
CUresult map(CUdeviceptr address, size_t size, std::shared_ptr<Physical> memory);
CUresult unmap(CUdeviceptr address, size_t size);
CUresult set_access(CUdeviceptr address, size_t size, const CUmemAccessDesc* rows, size_t count);
CUresult access(const CUmemLocation& location, CUdeviceptr address, CUmemAccess_flags* flags);
std::shared_ptr<Physical> memory_at(CUdeviceptr address); // null if nothing is mapped there
// Returns the allocation record at a mapped address, for pointer attributes, even before any access is granted. Returns
// null if nothing is mapped.
std::shared_ptr<Allocation> allocation_at(CUdeviceptr address);
// Finds the reservation that contains a mapped address.
bool reservation_of(CUdeviceptr address, CUdeviceptr* base, size_t* size);
// Returns the reservations that were not freed.
std::vector<std::pair<std::pair<CUdeviceptr, size_t>, Origin>> reservations();

} // namespace virtual_memory
} // namespace emu::state
