// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The part of the window whose addresses and memory are put together while the program
// runs: virtual memory, pools that are shared with other processes, imported memory.
//
// Every address has its place in the mirror, through which the library reads and writes;
// where nothing is mapped any more the mirror has memory of no meaning, so that work which
// comes too late does no harm.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "../../common.hpp"

namespace emu::state {

class VirtualSpace {
public:
    static constexpr size_t unit = 2 << 20; // of addresses and of memory
    static VirtualSpace& get();
    bool start(std::byte* window, size_t range); // by the address space
    // Addresses that nobody has; `wanted` if it is free, else anywhere. False: none left.
    bool take(size_t size, size_t alignment, CUdeviceptr wanted, CUdeviceptr* out);
    void give(CUdeviceptr address, size_t size);
    bool contains(CUdeviceptr address) const;
    std::byte* mirror(CUdeviceptr address) const;

    // Puts a part of a file there. `access`: as mmap takes it, for kernels while they run.
    // `host_too`: for everybody, always.
    bool map(CUdeviceptr address, size_t size, int file, size_t offset, int access, bool host_too);
    void set_access(CUdeviceptr address, int access);
    void unmap(CUdeviceptr address);         // what one map() put there
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

// A file of memory with a note at its end that says what it is. Descriptors of it go to
// other processes.
struct MemoryNote {
    enum class Kind : uint32_t { none, physical, pool, event, memory };
    uint64_t magic = 0;
    Kind kind = Kind::none;
    CUmemLocation location{};
    uint64_t size = 0;                       // before the note
    uint64_t number = 0;                     // like no other
    int handle_types = 0;
};

// The descriptor, or -1.
int make_memory_file(const char* name, MemoryNote* note);
// What a descriptor of anybody is: false if it is none of ours.
bool read_memory_note(int file, MemoryNote* note);
uint64_t random_number();

} // namespace emu::state
