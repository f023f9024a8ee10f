// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "virtual_space.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

#include "../../config.hpp"
#include "../thread.hpp"

namespace emu::state {
namespace {

constexpr int unbacked = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// Replaces a mapping with empty pages. If that fails, the addresses stay reserved.
void cover(void* address, size_t size, int protection)
{
    (void)mmap(address, size, protection, unbacked | MAP_FIXED, -1, 0);
}
constexpr uint64_t note_magic = 0x656d756e6f746531; // "emunote1"
constexpr size_t note_room = 4096;

void* at(CUdeviceptr address)
{
    return reinterpret_cast<void*>(address);
}

} // namespace

VirtualSpace& VirtualSpace::get()
{
    static auto* space = new VirtualSpace;
    return *space;
}

bool VirtualSpace::start(std::byte* window, size_t range)
{
    void* mirror = mmap(nullptr, range, PROT_NONE, unbacked, -1, 0);
    if (mirror == MAP_FAILED)
        return false;
    std::lock_guard lock(mutex_);
    mirror_ = static_cast<std::byte*>(mirror);
    window_ = window;
    range_ = range;
    auto base = (reinterpret_cast<CUdeviceptr>(window) + unit - 1) / unit * unit;
    free_[base] = (reinterpret_cast<CUdeviceptr>(window) + range - base) / unit * unit;
    return true;
}

bool VirtualSpace::contains(CUdeviceptr address) const
{
    return address - reinterpret_cast<CUdeviceptr>(window_) < range_;
}

std::byte* VirtualSpace::mirror(CUdeviceptr address) const
{
    return mirror_ + (address - reinterpret_cast<CUdeviceptr>(window_));
}

bool VirtualSpace::take(size_t size, size_t alignment, CUdeviceptr wanted, CUdeviceptr* out)
{
    std::lock_guard lock(mutex_);
    alignment = alignment > unit ? alignment : unit;
    auto fits = [&](CUdeviceptr begin, const auto& row) {
        return begin >= row.first && begin - row.first <= row.second && size <= row.second - (begin - row.first);
    };
    auto found = free_.end();
    CUdeviceptr begin = wanted;
    if (wanted && wanted % alignment == 0) {
        auto row = free_.upper_bound(wanted);
        if (row != free_.begin() && fits(wanted, *std::prev(row)))
            found = std::prev(row);
    }
    for (auto row = free_.begin(); found == free_.end() && row != free_.end(); ++row) {
        begin = (row->first + alignment - 1) / alignment * alignment;
        if (fits(begin, *row))
            found = row;
    }
    if (found == free_.end())
        return false;
    CUdeviceptr low = found->first, high = low + found->second;
    free_.erase(found);
    if (low < begin)
        free_[low] = begin - low;
    if (begin + size < high)
        free_[begin + size] = high - begin - size;
    *out = begin;
    return true;
}

void VirtualSpace::give(CUdeviceptr address, size_t size)
{
    std::lock_guard lock(mutex_);
    auto next = free_.lower_bound(address);
    if (next != free_.end() && address + size == next->first) {
        size += next->second;
        next = free_.erase(next);
    }
    if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == address)
        std::prev(next)->second += size;
    else
        free_[address] = size;
}

// Called under the lock.
void VirtualSpace::protect(CUdeviceptr address, const Piece& piece) const
{
    bool open = piece.host_too || open_ || !config().checks.any();
    mprotect(at(address), piece.size, open ? piece.access : PROT_NONE);
}

bool VirtualSpace::map(CUdeviceptr address, size_t size, int file, size_t offset, int access, bool host_too)
{
    std::lock_guard lock(mutex_);
    const int fixed = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
    if (mmap(mirror(address), size, PROT_READ | PROT_WRITE, fixed, file, off_t(offset)) == MAP_FAILED)
        return false;
    if (mmap(at(address), size, PROT_NONE, fixed, file, off_t(offset)) == MAP_FAILED) {
        cover(mirror(address), size, PROT_READ | PROT_WRITE);
        return false;
    }
    pieces_[address] = {size, access, host_too};
    ++count_;
    protect(address, pieces_[address]);
    return true;
}

void VirtualSpace::set_access(CUdeviceptr address, int access)
{
    std::lock_guard lock(mutex_);
    auto row = pieces_.find(address);
    if (row == pieces_.end() || row->second.access == access)
        return;
    row->second.access = access;
    protect(address, row->second);
}

void VirtualSpace::unmap(CUdeviceptr address)
{
    std::lock_guard lock(mutex_);
    auto row = pieces_.find(address);
    if (row == pieces_.end())
        return;
    size_t size = row->second.size;
    cover(at(address), size, PROT_NONE);
    cover(mirror(address), size, PROT_READ | PROT_WRITE);
    pieces_.erase(row);
    --count_;
}

void VirtualSpace::begin_kernels()
{
    std::lock_guard lock(mutex_);
    ++kernels_;
    ++uses_;
    if (open_ || !count_ || !config().checks.any())
        return;
    open_ = true;
    for (const auto& row : pieces_)
        protect(row.first, row.second);
    auto body = [](void* self) -> void* {
        static_cast<VirtualSpace*>(self)->watch();
        return nullptr;
    };
    start_thread("emu-memory", body, this);
}

void VirtualSpace::end_kernels()
{
    std::lock_guard lock(mutex_);
    --kernels_;
}

// Closes the memory to host code once no kernel has used it for 2 ms. Runs only while it is open.
void VirtualSpace::watch()
{
    uint64_t seen = 0;
    for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        std::lock_guard lock(mutex_);
        if (kernels_ == 0 && uses_ == seen) {
            open_ = false;
            for (const auto& row : pieces_)
                protect(row.first, row.second);
            return;
        }
        seen = uses_;
    }
}

// ------------------------------------------------------------------------------- files

uint64_t random_number()
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
        number = uint64_t(std::chrono::steady_clock::now().time_since_epoch().count()) ^ uint64_t(getpid()) << 40;
    return number;
}

int memory_file_of(const char* name, size_t size)
{
    if (size > file_size_limit()) {
        explain("the file size limit (ulimit -f) of " + std::to_string(file_size_limit()) +
                " bytes is smaller than a memory file of " + std::to_string(size));
        return -1;
    }
    int file = int(syscall(SYS_memfd_create, name, 1u /* close on exec */));
    if (file >= 0 && ftruncate(file, off_t(size)) == 0)
        return file;
    explain(std::string("no memory file can be made: ") + std::strerror(errno));
    if (file >= 0)
        close(file);
    return -1;
}

int make_memory_file(const char* name, MemoryNote* note)
{
    note->magic = note_magic;
    note->number = random_number();
    int file = memory_file_of(name, note->size + note_room);
    if (file < 0)
        return -1;
    if (pwrite(file, note, sizeof *note, off_t(note->size)) == sizeof *note)
        return file;
    close(file);
    return -1;
}

bool read_memory_note(int file, MemoryNote* note)
{
    struct stat status;
    if (file < 0 || fstat(file, &status) || !S_ISREG(status.st_mode) || status.st_size < off_t(note_room))
        return false;
    off_t size = status.st_size - off_t(note_room);
    return pread(file, note, sizeof *note, size) == sizeof *note && note->magic == note_magic &&
           note->size == uint64_t(size);
}

} // namespace emu::state
