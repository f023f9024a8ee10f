// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The whole shadow is reserved, and filled in chunks. Reading a closed chunk faults, and the signal handler fills it,
// so memory that was never allocated costs nothing, and large allocations cost one system call.
#include "shadow.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>
#include <sys/mman.h>
#include <utility>

#include "../../config.hpp"
#include "../fork.hpp"
#include "../machine.hpp"
#include "initialized.hpp"

namespace emu::exec {
namespace {

constexpr size_t chunk_bytes = 64 << 10;

enum State : uint8_t { closed = 0, busy = 1, open = 2 };

struct Chunk {
    std::atomic<uint8_t> state;
    uint8_t value; // of all bytes of the chunk while it is closed; 0 means EMU_SHADOW_UNMAPPED
};

struct View {
    emu_u8* shadow = nullptr;
    Chunk* chunks = nullptr;
};

View views[most_devices + 1]; // the last one: fixed_shadow
constexpr size_t fixed_bytes = size_t(1) << 44; // of all addresses of a process
bool fixed_reserved = false;
void* closed_pages = nullptr;                   // a chunk with all memory closed
                                                // In the fixed shadow, all memory outside the window is closed except
                                                // shared memory. These are the numbers of the fixed shadow's chunks
                                                // that have their own pages, outside the window.
struct SharedChunks {
    std::mutex mutex;
    std::set<uintptr_t> numbers;
};

SharedChunks& shared_chunks()
{
    return only_object<SharedChunks>();
}

void* map_pages(size_t size, int protection)
{
    void* base = mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return base == MAP_FAILED ? nullptr : base;
}

// Takes exclusive use of the chunk and returns its previous state.
uint8_t take(Chunk& chunk)
{
    for (;;) {
        uint8_t state = chunk.state.load(std::memory_order_acquire);
        if (state != busy && chunk.state.compare_exchange_weak(state, busy))
            return state;
        relax();
    }
}

bool fill(View& view, size_t index)
{
    emu_u8* at = view.shadow + index * chunk_bytes;
    if (mprotect(at, chunk_bytes, PROT_READ | PROT_WRITE) != 0)
        return false;
    uint8_t value = view.chunks[index].value;
    std::memset(at, value ? value : int(EMU_SHADOW_UNMAPPED), chunk_bytes);
    return true;
}

void make_open(View& view, size_t index)
{
    Chunk& chunk = view.chunks[index];
    if (take(chunk) == closed && !fill(view, index)) {
        chunk.state = closed;
        return;
    }
    chunk.state = open;
}

// Sets whole chunks, [first, last), with all bytes accessible or all set to one inaccessible value.
void set_chunks(View& view, size_t first, size_t last, uint8_t value)
{
    if (first >= last)
        return;
    for (size_t i = first; i < last; ++i)
        take(view.chunks[i]);
    emu_u8* at = view.shadow + first * chunk_bytes;
    size_t size = (last - first) * chunk_bytes;
    madvise(at, size, MADV_DONTNEED); // all bytes are now zero, which means accessible
    bool done = mprotect(at, size, value ? PROT_NONE : PROT_READ | PROT_WRITE) == 0;
    for (size_t i = first; i < last; ++i) {
        view.chunks[i].value = value;
        view.chunks[i].state = value && done ? closed : open;
    }
    if (value && !done) // the process has too many mappings, so write the bytes instead
        std::memset(at, value, size);
}

// Sets the shadow bytes [first, last).
void set_bytes(View& view, size_t first, size_t last, uint8_t value)
{
    if (first >= last)
        return;
    size_t chunk = first / chunk_bytes, end = last / chunk_bytes;
    size_t whole = (first + chunk_bytes - 1) / chunk_bytes;
    if (whole < end)
        set_chunks(view, whole, end, value);
    while (first < last) {
        size_t stop = std::min(last, (chunk + 1) * chunk_bytes);
        if (chunk < whole || chunk >= end) {
            make_open(view, chunk);
            std::memset(view.shadow + first, value, stop - first);
        }
        first = stop;
        ++chunk;
    }
}

void reserve_fixed(uintptr_t base, size_t chunks)
{
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | 0x100000; // MAP_FIXED_NOREPLACE
    auto* place = reinterpret_cast<emu_u8*>(EMU_FIXED_SHADOW);
    View& view = views[fixed_shadow];
    view.chunks = static_cast<Chunk*>(map_pages(chunks * sizeof(Chunk), PROT_READ | PROT_WRITE));
    closed_pages = mmap(nullptr, chunk_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!view.chunks || closed_pages == MAP_FAILED)
        return;
    std::memset(closed_pages, EMU_SHADOW_UNMAPPED, chunk_bytes);
    mprotect(closed_pages, chunk_bytes, PROT_READ);
    if (mmap(place, fixed_bytes, PROT_NONE, flags, -1, 0) == place) {
        view.shadow = place + base / 8;
        fixed_reserved = true;
    } else if (errno == EEXIST) { // otherwise it is mapped in chunks
        say("the addresses starting at 0x200000000000 are in use, so memory checks may miss faults; "
            "CUDA_EMULATOR_CHECK=initialized does not need them");
    }
}

// Maps private pages for a chunk, with all memory closed. They replace the shared pages atomically, because kernels
// read the chunk at the same time.
bool add_shared_chunk(uintptr_t number)
{
    std::lock_guard<std::mutex> lock(shared_chunks().mutex);
    if (shared_chunks().numbers.count(number))
        return true;
    void* made = map_pages(chunk_bytes, PROT_READ | PROT_WRITE);
    if (!made)
        return false;
    std::memset(made, EMU_SHADOW_UNMAPPED, chunk_bytes);
    auto* at = reinterpret_cast<void*>(number * chunk_bytes);
    if (mremap(made, chunk_bytes, chunk_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at) {
        munmap(made, chunk_bytes);
        return false;
    }
    return shared_chunks().numbers.insert(number).second;
}

// Called by the signal handler.
bool fill_outside_window(uintptr_t number)
{
    std::lock_guard<std::mutex> lock(shared_chunks().mutex);
    auto* at = reinterpret_cast<void*>(number * chunk_bytes);
    // Size 0 means another mapping of the same pages.
    return shared_chunks().numbers.count(number) ||
           mremap(closed_pages, 0, chunk_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at;
}

// Returns false for addresses outside the window.
bool view_of(int device, uintptr_t base, size_t size, View** view)
{
    if (device < 0 || device > fixed_shadow || !in_window(base, size))
        return false;
    *view = &views[device];
    return (*view)->shadow != nullptr;
}

} // namespace

Window window;

bool reserve_shadow(uintptr_t base, size_t size)
{
    static std::mutex* mutex = new std::mutex;
    std::lock_guard<std::mutex> lock(*mutex);
    if (window.size)
        return window.base == base && window.size == size;
    constexpr size_t unit = chunk_bytes * 8;
    if (base % unit || size % unit || !size)
        return false;
    size_t chunks = size / unit;
    for (int device = 0; device < most_devices; ++device) {
        View& view = views[device];
        view.shadow = static_cast<emu_u8*>(map_pages(chunks * chunk_bytes, PROT_NONE));
        view.chunks = static_cast<Chunk*>(map_pages(chunks * sizeof(Chunk), PROT_READ | PROT_WRITE));
        if (!view.shadow || !view.chunks)
            return false;
    }
    if (config().checks.reads_shadow())
        reserve_fixed(base, chunks);
    window = {base, size};
    return true;
}

EmuSpace shadow_space(int device)
{
    View* view = nullptr;
    if (!view_of(device, window.base, 1, &view))
        return EmuSpace{};
    EmuSpace space{window.base, window.size, view->shadow, nullptr, 0};
    describe_contents(&space);
    return space;
}

bool fill_shadow(uintptr_t address)
{
    for (View& view : views) {
        uintptr_t offset = address - reinterpret_cast<uintptr_t>(view.shadow);
        if (view.shadow && offset < window.size / 8) {
            make_open(view, offset / chunk_bytes);
            return view.chunks[offset / chunk_bytes].state != closed;
        }
    }
    return config().checks.reads_shadow() && address - EMU_FIXED_SHADOW < fixed_bytes &&
           fill_outside_window(address / chunk_bytes);
}

void show_shared(uintptr_t base, size_t size, bool open)
{
    if (!size || !fixed_reserved)
        return;
    uintptr_t first = EMU_FIXED_SHADOW + base / 8, end = first + (size + 7) / 8;
    for (uintptr_t number = first / chunk_bytes; number * chunk_bytes < end; ++number)
        if (!add_shared_chunk(number))
            return; // kernels call a function for closed memory
    auto* at = reinterpret_cast<emu_u8*>(first);
    std::memset(at, open ? EMU_SHADOW_OPEN : EMU_SHADOW_UNMAPPED, end - first);
    if (open && size % 8)
        at[size / 8] = uint8_t(size % 8);
}

void close_fixed_shadow()
{
    if (emu_u8* at = std::exchange(views[fixed_shadow].shadow, nullptr))
        mmap(at, window.size / 8, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

bool shadow_allows(int device, uintptr_t address, size_t size)
{
    View* view = nullptr;
    if (!size || !view_of(device, address, size, &view))
        return size == 0;
    uintptr_t offset = address - window.base, end = offset + size;
    for (uintptr_t at = offset / 8; at * 8 < end; ++at) {
        emu_u8 value = view->shadow[at];
        uintptr_t last = std::min<uintptr_t>(end - at * 8, 8); // bytes of this granule that the access covers
        if (value && (value >= 0x80 || last > value))
            return false;
    }
    return true;
}

void shadow_open(int device, uintptr_t base, size_t size)
{
    View* view = nullptr;
    if (!view_of(device, base, size, &view))
        return;
    uintptr_t first = (base - window.base) / 8;
    set_bytes(*view, first, first + size / 8, EMU_SHADOW_OPEN);
    if (size % 8)
        set_bytes(*view, first + size / 8, first + size / 8 + 1, uint8_t(size % 8));
}

void shadow_close(int device, uintptr_t base, size_t size, emu_u8 value)
{
    View* view = nullptr;
    if (view_of(device, base, size, &view))
        set_bytes(*view, (base - window.base + 7) / 8, (base - window.base + size + 7) / 8, value);
}

} // namespace emu::exec
