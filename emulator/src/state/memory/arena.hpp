// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Addresses. One window of address space contains the memory of all devices, managed memory and pinned memory, so one
// shadow serves them all, and a pointer's address identifies its owner.
//
// A device address (CUdeviceptr) is the address that kernels use, because pointers stored in device memory must work.
// Its memory is a memfd that is mapped twice: at the device address, which is closed to host code (see HostAccess), and
// in the host window, through which the library itself copies, fills and checks.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "../../common.hpp"
#include "../../exec/checks/regions.hpp"
#include "../origin.hpp"

namespace emu::state {

class GraphMemory;
class Pool;

// `mapped`: virtual memory, whose addresses and memory are created separately (virtual_memory.hpp). `opened`: memory of
// another process (memory_sharing.hpp).
enum class MemoryKind { device, managed, pinned, registered, heap, variable, mapped, opened, external };

// How host code is kept out of device memory:
// idle  PROT_NONE while no kernel of the device runs; the first launch opens the memory, and a monitor closes it after
// 2 ms without a kernel
// open  always accessible (CUDA_EMULATOR_CHECK=none)
enum class HostAccess { idle, open };

struct Allocation {
    uint64_t id = 0;      // also CU_POINTER_ATTRIBUTE_BUFFER_ID: never reused
    CUdeviceptr base = 0; // in kernel addresses; the same on the host for pinned and managed memory
    size_t size = 0;      // requested by the program
    size_t room = 0;      // taken from the arena
    size_t charged = 0;   // counted against the arena's limit; 0: its pool counts
    MemoryKind kind = MemoryKind::device;
    bool is_managed_variable = false;
    int device = -1; // -1: pinned memory, which belongs to no device
    CUcontext context = nullptr;
    CUmemoryPool pool = nullptr;
    std::shared_ptr<Pool> owner;  // keeps a destroyed pool until its last block is free
    GraphMemory* graph = nullptr; // the graph memory with this address, which outlives the allocation
    std::byte* host = nullptr;    // where the library itself reads and writes it
    unsigned flags = 0;           // from cuMemHostAlloc, cuMemAllocManaged and similar calls
    std::atomic<bool> sync_memops{false};
    std::atomic<bool> read_only{false}; // read-only virtual memory
    std::atomic<uint32_t> shared_with{0}; // of virtual memory: the devices with access, as bits
    std::atomic<bool> released{false};  // a stream-ordered free is queued
    std::atomic<int> file{-1};          // by which other processes find it, until it is freed
    Origin made_by;

    bool is_host() const
    {
        return kind == MemoryKind::pinned || kind == MemoryKind::registered ||
               (kind == MemoryKind::mapped && device < 0);
    }
    bool is_managed() const { return kind == MemoryKind::managed || is_managed_variable; }
    // Where the library reads or writes the memory at `address`.
    std::byte* at(CUdeviceptr address) const { return host + (address - base); }
};

// A contiguous part of the window, with memory. Allocates first fit, with red zones. If accesses are checked, freed
// ranges are not reused for a while (quarantine).
class Arena {
public:
    Arena(MemoryKind kind, int device, size_t limit, size_t range);
    bool map(std::byte* window);
    // Uses memory that the caller has mapped, and unmaps it after end().
    void place(std::byte* window, std::byte* host, int descriptor);
    void end();
    void forget_descriptor(); // called before the descriptor is closed
    // Returns CUDA_ERROR_INVALID_VALUE for size 0, or CUDA_ERROR_OUT_OF_MEMORY if there is no room. Without `charged`,
    // the caller counts the bytes with charge().
    CUresult allocate(size_t size, size_t alignment, MemoryKind kind, bool charged, std::shared_ptr<Allocation>* out);
    CUresult release(CUdeviceptr base); // INVALID_VALUE: not the start of a live allocation
    // Reserves addresses hidden from the program; release() returns them.
    CUresult set_aside(size_t size, std::shared_ptr<Allocation>* out);
    void show(const std::shared_ptr<Allocation>& allocation, bool is_fresh); // fresh: it keeps nothing
    void hide(const Allocation& allocation);
    // Returns the memory's file and offset, or false if it is in no file.
    bool place_of(const Allocation& allocation, int* file, uint64_t* offset) const;
    bool charge(size_t bytes); // false: over the limit
    void discharge(size_t bytes);
    bool contains(CUdeviceptr address) const;
    size_t range() const;
    size_t used() const;
    size_t limit() const;
    void begin_kernels(); // opens the memory to kernels
    void end_kernels();

private:
    struct State;
    State* state_; // never destroyed, because mappings may outlive the arena
};

// Calls of a program for each allocation that a device has no room for.
class OverBudget {
public:
    static uint64_t add(int device, std::function<void(uint64_t bytes)> call); // returns a number, never 0
    static bool remove(int device, uint64_t number);
    static void note(int device, uint64_t bytes);
};

// All allocations of all devices, by address.
class AddressSpace {
public:
    static AddressSpace& get();
    bool reserve(); // reserves the window and its shadow; called once
    Arena& device(int ordinal);
    Arena& managed();
    Arena& pinned();
    CUresult register_host(void* base, size_t size, unsigned flags, CUcontext context);
    CUresult unregister_host(void* base);
    void add_variable(void* address, size_t size, bool managed, int device, CUcontext context);
    void remove_variable(void* address);
    // Allocates and frees without stream order. The memory returns to its arena.
    CUresult allocate(Arena& arena, size_t size, CUcontext context, unsigned flags, CUdeviceptr* out);
    CUresult release(CUdeviceptr base);
    void release_context(CUcontext context);
    // Returns the live allocation that contains the address, or null for plain host memory and unknown addresses.
    std::shared_ptr<Allocation> find(CUdeviceptr address) const;
    std::shared_ptr<Allocation> find_range(CUdeviceptr address, size_t size) const;
    // Returns the bytes from `address` to the end of its allocation, and of adjacent virtual memory mappings.
    size_t extent(CUdeviceptr address) const;
    bool in_window(CUdeviceptr address) const;
    // Where the library itself may access `address`: the host window for device memory, the address itself for other
    // memory. Returns null if part of the range is not allocated.
    std::byte* reach(CUdeviceptr address, size_t size) const;
    HostAccess host_access() const;
    std::vector<std::shared_ptr<Allocation>> all() const; // for the leak report

    void publish(const std::shared_ptr<Allocation>& allocation); // called by arenas
    void withdraw(CUdeviceptr base);

private:
    AddressSpace();
    struct State;
    State* state_;
};

// For the units that create other kinds of memory.
namespace arena_detail {
exec::Region region(const Allocation& allocation);
uint64_t new_id();
} // namespace arena_detail

} // namespace emu::state
