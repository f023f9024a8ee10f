// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Addresses. One window of address space holds every device's memory, managed and pinned
// memory, so one shadow serves them all and a pointer's owner follows from its value.
//
// A device address (CUdeviceptr) is the address kernels use: pointers stored inside device
// memory must work. The memory behind is a memfd, mapped twice: at the device address,
// closed to host code (see HostAccess), and at the host window, through which copies, fills
// and checks of the library itself go, never through the device address.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "../../common.hpp"
#include "../../exec/checks/regions.hpp"
#include "../origin.hpp"

namespace emu::state {

class GraphMemory;
class Pool;

// mapped: addresses and memory were made apart (virtual_memory.hpp). opened: of another process (memory_sharing.hpp).
enum class MemoryKind { device, managed, pinned, registered, heap, variable, mapped, opened };

// How host code is kept out of device memory, the best that the machine offers:
//   idle  PROT_NONE while no kernel of the device runs: opened by the first launch, closed
//         by a monitor after 2 ms without one;
//   open  never closed (CUDA_EMULATOR_CHECK=none).
// A protection key that only threads of the block pool may open has its place here.
enum class HostAccess { idle, open };

struct Allocation {
    uint64_t id = 0;           // CU_POINTER_ATTRIBUTE_BUFFER_ID too: never reused
    CUdeviceptr base = 0;      // as kernels see it; also the host's for pinned and managed
    size_t size = 0;           // as asked for
    size_t room = 0;           // taken from the arena
    size_t charged = 0;        // counted against the arena's limit; 0: by its pool
    MemoryKind kind = MemoryKind::device;
    bool is_managed_variable = false;
    int device = -1;           // -1: pinned by no device in particular
    CUcontext context = nullptr;
    CUmemoryPool pool = nullptr;
    std::shared_ptr<Pool> owner; // keeps a destroyed pool until its last block is free
    GraphMemory* graph = nullptr; // whose address this is; it outlives the allocation
    std::byte* host = nullptr; // where the library reads and writes it
    unsigned flags = 0;        // of cuMemHostAlloc, cuMemAllocManaged, ...
    std::atomic<bool> sync_memops{false};
    std::atomic<bool> read_only{false}; // to everybody, of virtual memory
    std::atomic<bool> released{false}; // a stream-ordered free is on its way
    std::atomic<int> file{-1}; // by which other processes find it, until it is freed
    Origin made_by;

    bool is_host() const
    {
        return kind == MemoryKind::pinned || kind == MemoryKind::registered ||
               (kind == MemoryKind::mapped && device < 0);
    }
    bool is_managed() const { return kind == MemoryKind::managed || is_managed_variable; }
    // What a copy or fill of `address` reads or writes.
    std::byte* at(CUdeviceptr address) const { return host + (address - base); }
};

// A contiguous part of the window with its memory: first fit with red zones, freed ranges
// kept back (quarantine) for a while when accesses are checked.
class Arena {
public:
    Arena(MemoryKind kind, int device, size_t limit, size_t range);
    bool map(std::byte* window);
    // In memory that somebody else has mapped and gives back, after end().
    void place(std::byte* window, std::byte* host, int descriptor);
    void end();
    void forget_descriptor();                // it is about to be closed
    // Zero size or no room: CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY. Without
    // `charged` the caller counts the bytes with charge().
    CUresult allocate(size_t size, size_t alignment, MemoryKind kind, bool charged, std::shared_ptr<Allocation>* out);
    CUresult release(CUdeviceptr base);      // INVALID_VALUE: not the start of a live one
    // Addresses without memory that anybody sees; release() gives them back.
    CUresult set_aside(size_t size, std::shared_ptr<Allocation>* out);
    void show(const std::shared_ptr<Allocation>& allocation);
    void hide(const Allocation& allocation);
    bool place_of(const Allocation& allocation, int* file, uint64_t* offset) const; // false: in no file
    bool charge(size_t bytes);               // false: over the limit
    void discharge(size_t bytes);
    bool contains(CUdeviceptr address) const;
    size_t range() const;
    size_t used() const;
    size_t limit() const;
    void begin_kernels();                    // opens the memory to kernels
    void end_kernels();

private:
    struct State;
    State* state_; // of an arena that is mapped it never ends
};

// Everything that has an address, of all devices.
class AddressSpace {
public:
    static AddressSpace& get();
    bool reserve();                          // the window and its shadow, once
    Arena& device(int ordinal);
    Arena& managed();
    Arena& pinned();
    CUresult register_host(void* base, size_t size, unsigned flags, CUcontext context);
    CUresult unregister_host(void* base);
    void add_variable(void* address, size_t size, bool managed, int device, CUcontext context);
    void remove_variable(void* address);
    // Plain allocation and release, by whatever way: gives the memory back to its arena.
    CUresult allocate(Arena& arena, size_t size, CUcontext context, unsigned flags, CUdeviceptr* out);
    CUresult release(CUdeviceptr base);
    void release_context(CUcontext context);
    // The live allocation that holds the address; null: plain host memory or nothing.
    std::shared_ptr<Allocation> find(CUdeviceptr address) const;
    std::shared_ptr<Allocation> find_range(CUdeviceptr address, size_t size) const;
    // Bytes from `address` to the end of its allocation, and of those that follow it closely
    // in virtual memory.
    size_t extent(CUdeviceptr address) const;
    bool in_window(CUdeviceptr address) const;
    // Where the library itself may read and write `address`: host windows for device
    // memory, the address itself for the rest. Null when a part of the range is not live.
    std::byte* reach(CUdeviceptr address, size_t size) const;
    HostAccess host_access() const;
    std::vector<std::shared_ptr<Allocation>> all() const; // for leak reports

    void publish(const std::shared_ptr<Allocation>& allocation); // by arenas
    void withdraw(CUdeviceptr base);

private:
    AddressSpace();
    struct State;
    State* state_;
};

} // namespace emu::state
