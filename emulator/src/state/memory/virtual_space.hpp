// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The part of the window whose addresses and memory are combined at run time: virtual memory, pools shared between
// processes, and imported memory.
//
// Every address also has a place in the mirror, through which the library reads and writes. Once an address is
// unmapped, spare memory takes its place in the mirror, so late work does no harm.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "../../common.hpp"

namespace emu::state {

class VirtualSpace {
public:
    static constexpr size_t unit = 2 << 20; // of addresses and memory
    static VirtualSpace& get();
    bool start(std::byte* window, size_t range); // called by the address space
    // Reserves free addresses: `wanted` if free, otherwise others. Returns false if there are none.
    bool take(size_t size, size_t alignment, CUdeviceptr wanted, CUdeviceptr* out);
    void give(CUdeviceptr address, size_t size);
    bool contains(CUdeviceptr address) const;
    std::byte* mirror(CUdeviceptr address) const;

    // Maps part of a file. `access`, as for mmap(), applies to kernels while they run; with `host_too` it applies to
    // all code, always.
    bool map(CUdeviceptr address, size_t size, int file, size_t offset, int access, bool host_too);
    void set_access(CUdeviceptr address, int access);
    void unmap(CUdeviceptr address); // undoes one map()
    void begin_kernels();
    void end_kernels();

private:
    struct Piece {
        size_t size;
        int access;
        bool host_too;
    };
    void protect(CUdeviceptr address, const Piece& piece) const;
    void watch();

    std::byte* window_ = nullptr;
    std::byte* mirror_ = nullptr;
    size_t range_ = 0;
    std::mutex mutex_;
    std::map<CUdeviceptr, size_t> free_;
    std::map<CUdeviceptr, Piece> pieces_;
    std::atomic<int> count_{0};
    int kernels_ = 0;
    uint64_t uses_ = 0;
    bool open_ = false;
};

// A memory file ends with a note that identifies it, because its descriptor is passed to other processes.
struct MemoryNote {
    enum class Kind : uint32_t { none, physical, pool, event, memory, multicast };
    uint64_t magic = 0;
    Kind kind = Kind::none;
    CUmemLocation location{};
    uint64_t size = 0; // excluding the note
    uint64_t number = 0; // unique
    int handle_types = 0;
};

// The contents of a handle that another process opens: a memory file, by its descriptor in the process that created it.
struct HandleData {
    uint64_t magic, number;
    int process, file;
};

constexpr size_t page_bytes = 4096;

// Returns the descriptor, or -1.
int make_memory_file(const char* name, MemoryNote* note);
// Returns the descriptor of a memory file, which reads as zero, or -1 after explaining why there is none.
int memory_file_of(const char* name, size_t size);
// Reads the note of a descriptor from another process. Returns false if the file is not one of ours.
bool read_memory_note(int file, MemoryNote* note);
uint64_t random_number();

} // namespace emu::state
