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

#include <map>
#include <memory>
#include <mutex>

#include "../common.hpp"
#include "../exec/memory.hpp"

namespace emu::state {

enum class MemoryKind { device, managed, pinned, registered, heap, physical };

// How host code is kept out of device memory, the best that the machine offers:
//   keys  a protection key that only threads of the block pool may open;
//   idle  PROT_NONE while no kernel of the device runs: opened by the first launch, closed
//         by the monitor after 2 ms without one;
//   open  never closed (CUDA_EMULATOR_CHECK=none).
enum class HostAccess { keys, idle, open };

struct Allocation {
    uint64_t id = 0;
    CUdeviceptr base = 0;      // as kernels see it; also the host's for pinned and managed
    size_t size = 0;           // as asked for
    size_t room = 0;
    MemoryKind kind = MemoryKind::device;
    int device = -1;           // -1: pinned by no device in particular
    CUcontext context = nullptr;
    CUmemoryPool pool = nullptr;
    void* host = nullptr;      // where the library reads and writes it
    unsigned flags = 0;        // of cuMemHostAlloc, cuMemAllocManaged, ...
    uint64_t buffer_id = 0;    // CU_POINTER_ATTRIBUTE_BUFFER_ID
    bool sync_memops = false;
    std::string made_by;
};

// A contiguous part of the window with its memfd: first fit with red zones, freed ranges
// kept back (quarantine) until a quarter of the memory is held there.
class Arena {
public:
    Arena(MemoryKind kind, int device, size_t limit);
    ~Arena();
    // Zero size or no room: CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY.
    CUresult allocate(size_t size, size_t alignment, std::shared_ptr<Allocation>* out);
    CUresult release(CUdeviceptr base);      // INVALID_VALUE: not the start of a live one
    void* host_window(CUdeviceptr address) const;
    int descriptor() const;                  // the memfd, for IPC
    size_t used() const;
    size_t limit() const;
    void begin_kernels();                    // HostAccess::idle: counts running kernels
    void end_kernels();

private:
    struct State;
    std::unique_ptr<State> state_;
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
    // The live allocation that holds the address; null: plain host memory or nothing.
    std::shared_ptr<Allocation> find(CUdeviceptr address) const;
    std::shared_ptr<Allocation> find_range(CUdeviceptr address, size_t size) const;
    bool in_window(CUdeviceptr address) const;
    // Where the library itself may read and write `address`: host windows for device
    // memory, the address itself for the rest. Null when a part of the range is not live.
    void* reach(CUdeviceptr address, size_t size) const;
    HostAccess host_access() const;
    template <class Visit> void each(Visit visit) const; // for leak reports

private:
    AddressSpace();
};

// A rectangle or box of a copy, already validated; either side may be host memory.
struct CopyBox {
    std::byte* target = nullptr;
    const std::byte* source = nullptr;
    size_t width = 0, height = 1, depth = 1; // bytes, rows, slices
    size_t target_pitch = 0, target_slice = 0;
    size_t source_pitch = 0, source_slice = 0;
};
void copy_box(const CopyBox& box);
void fill_box(std::byte* target, uint32_t value, unsigned bytes, size_t width, size_t height,
              size_t pitch);

} // namespace emu::state
