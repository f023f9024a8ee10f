// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory pools and stream-ordered allocation. An allocation has its address when the call returns; its memory may be
// used from its place in stream order.
//
// A pool reserves device memory in steps of 32 MiB. The arena assigns the addresses, so freed ones are not reused
// immediately, and use after free is detected.
#pragma once

#include <memory>

#include "../../common.hpp"
#include "../streams/stream.hpp"
#include "arena.hpp"

namespace emu::state {

class Device;
struct PoolState;

class Pool : public std::enable_shared_from_this<Pool> {
public:
    explicit Pool(const CUmemPoolProps& properties);
    ~Pool();
    static CUresult create(const CUmemPoolProps& properties, CUmemoryPool* out);
    static CUresult destroy(CUmemoryPool handle); // lives on until its last block is freed
    static std::shared_ptr<Pool> find(CUmemoryPool handle);
    // The default pool of a device, and its current pool, which serves allocations. set_current() with null restores
    // the default.
    static std::shared_ptr<Pool> default_of(const Device& device);
    static std::shared_ptr<Pool> current_of(const Device& device);
    static void make_current(const Device& device, std::shared_ptr<Pool> pool);
    // Finds the default or current pool of a location other than a device.
    static CUresult host_pool(const CUmemLocation& location, CUmemAllocationType type, std::shared_ptr<Pool>* out);
    static std::vector<std::pair<std::shared_ptr<Pool>, Origin>> all();

    CUmemoryPool handle() const;
    bool is_default() const;
    const CUmemPoolProps& properties() const;
    CUresult attribute(CUmemPool_attribute attribute, void* value);
    CUresult set_attribute(CUmemPool_attribute attribute, const void* value);
    CUresult access(const CUmemLocation& location, CUmemAccess_flags* flags) const;
    CUresult set_access(const CUmemAccessDesc* rows, size_t count);
    // Returns true if a device may access the memory. Host pools that programs create give access to no device at first.
    bool allows_access(int device) const;
    // Returns the devices, as bits, whose pools kernels on `device` may access.
    static uint32_t sharing_with(int device);
    CUresult trim(size_t keep);
    CUresult allocate(size_t size, Stream& stream, CUdeviceptr* out);
    // Frees memory of any pool, or plain memory, after the stream's pending work.
    static CUresult release(CUdeviceptr base, Stream& stream);
    // Frees immediately, for cuMemFree; the caller has waited.
    static CUresult release_now(CUdeviceptr base);

    // Sharing between processes: a pool is passed by file descriptor, an allocation by a 64-byte handle. An imported
    // pool cannot allocate and has no attributes.
    bool is_imported() const;
    bool has_imports() const;
    CUresult export_file(int* out) const;
    static CUresult import_file(int file, CUmemoryPool* out);
    static CUresult export_pointer(CUdeviceptr base, CUmemPoolPtrExportData* out);
    CUresult import_pointer(const CUmemPoolPtrExportData& data, CUdeviceptr* out);

private:
    static std::shared_ptr<Pool> make_default(CUmemLocationType location, int id, CUmemAllocationType type);
    static void forget_current(const std::shared_ptr<Pool>& pool);
    static CUmemoryPool enter(std::shared_ptr<Pool> pool); // adds it to the handle table
    CUresult open_shared();
    void close_shared();
    void close_file();
    std::shared_ptr<Allocation> make_import(uint64_t offset, size_t size);
    void drop_import(const Allocation& allocation);
    void close_import(const Allocation& allocation);
    Arena& memory() const;
    Arena& arena() const;
    bool take(size_t size, CUdeviceptr* out);
    bool grow(size_t bytes);
    void shrink(size_t keep);
    void settle();
    static CUresult claim(CUdeviceptr base, std::shared_ptr<Allocation>* out);
    static CUresult return_memory(Allocation& allocation);
    void finish(const Allocation& allocation);
    std::unique_ptr<PoolState> state_;
};

} // namespace emu::state
