// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies between global and shared memory (bytes, tensor tiles and im2col columns), and the mbarriers that signal
// their completion. Here a copy has completed when its call returns.
#include <algorithm>
#include <cstring>

#include "device_include/emulator_bulk_copies.h"
#include "../config.hpp"
#include "spin_state.hpp"
#include "tensor_map.hpp"
#include "worker.hpp"

namespace emu::exec {
namespace {

[[noreturn]] void fail(const Site& site, const std::string& text, FaultKind kind = FaultKind::trap)
{
    Trouble trouble;
    trouble.kind = kind;
    trouble.at(site);
    trouble.text = text;
    raise_fault(std::move(trouble));
}

uintptr_t shared_address(emu_u64 address)
{
    return address >> 32 ? uintptr_t(address) : this_worker()->widen_shared(uint32_t(address));
}

// `kind`: EMU_ACCESS_ATOMIC for mbarriers, which order threads.
void check(uintptr_t address, size_t size, bool store, const Site& site, emu_u32 kind = 0)
{
    emu_u32 access = kind | (store ? EMU_ACCESS_STORE : EMU_ACCESS_LOAD);
    auto* pc = reinterpret_cast<void*>(site.pc);
    emu_check_slow(address, size, access, pc);
    if (this_worker()->state->checks & ~emu_u32(EMU_CHECK_MEMORY))
        emu_watch(address, size, access, pc);
}

uintptr_t aligned_shared(emu_u64 given, uint32_t alignment, const char* what, const Site& site)
{
    uintptr_t address = shared_address(given);
    if (address % alignment)
        fail(site, std::string(what) + " must begin at a multiple of " + std::to_string(alignment) + " bytes");
    return address;
}

// Completes a copy (async_copies.hpp).
void complete_copy(const AsyncCopy& copy)
{
    check(copy.to, copy.size, true, copy.site);
    std::memcpy(reinterpret_cast<void*>(copy.to), copy.value, copy.size);
}

// ------------------------------------------------------------------------ mbarriers

// The layout in shared memory. Bytes may complete before the barrier expects them.
struct Mbarrier {
    uint64_t phase : 1, expected : 20, pending : 20, live : 1;
    int64_t bytes : 22;
};
static_assert(sizeof(Mbarrier) == 8, "an mbarrier has 8 bytes");

Mbarrier* mbarrier(emu_u64 given, const Site& site)
{
    uintptr_t address = aligned_shared(given, 8, "an mbarrier", site);
    check(address, 8, true, site, EMU_ACCESS_ATOMIC);
    return reinterpret_cast<Mbarrier*>(address);
}

Mbarrier* live_mbarrier(emu_u64 given, const Site& site)
{
    Mbarrier* found = mbarrier(given, site);
    if (!found->live)
        fail(site, "an mbarrier is used before it is initialized");
    return found;
}

// Changes an mbarrier atomically, because another block of the cluster may arrive at the same time, and returns its
// previous state. `change` may call fail().
template <class F> Mbarrier update(Mbarrier* barrier, F change)
{
    auto* word = reinterpret_cast<uint64_t*>(barrier);
    uint64_t bits = __atomic_load_n(word, __ATOMIC_ACQUIRE), next = 0;
    Mbarrier before, after;
    do {
        std::memcpy(&before, &bits, 8);
        after = before;
        change(after);
        if (!after.pending && !after.bytes && (before.pending || before.bytes)) { // the phase is complete
            after.pending = after.expected;
            after.phase ^= 1;
        }
        std::memcpy(&next, &after, 8);
    } while (!__atomic_compare_exchange_n(word, &bits, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return before;
}

void tell(emu_u64 given, size_t bytes, const Site& site)
{
    update(live_mbarrier(given, site), [&](Mbarrier& barrier) { barrier.bytes -= int64_t(bytes); });
}

// ------------------------------------------------------------------------ tensors

// Returns the size of one unit of the first coordinate: an element, or a channel slice of an interleaved map.
uint32_t first_axis_unit(const TensorMap& map)
{
    return map.interleave ? 16u * map.interleave : item_size(map.data_type);
}

// Returns a tile's number of elements along an axis, given its element stride. Interleaved maps also have a stride
// along the first axis. Their last axis but one counts channel slices, and a copy takes one.
uint32_t tile_count(const TensorMap& map, int axis)
{
    if (axis >= map.rank || (map.interleave && axis == map.rank - 2))
        return 1;
    uint32_t step = axis || map.interleave ? map.steps[axis] : 1u;
    return (map.tile[axis] + step - 1u) / step;
}

bool is_tfloat32(const TensorMap& map)
{
    return map.data_type > 10;
}

// Copies a tile or im2col columns row by row, along the axis `first`.
class TensorCopy {
public:
    TensorCopy(emu_u64 map, emu_u32 axes, const Site& site) : site_(site)
    {
        if (map % 64)
            fail(site, "the address of a tensor map must be a multiple of 64 bytes: is the parameter a CUtensorMap?");
        check(uintptr_t(map), 128, false, site);
        std::memcpy(&map_, reinterpret_cast<const void*>(map), sizeof map_);
        if (map_.mark != TensorMap::right_mark)
            fail(site, "a tensor copy uses memory that does not contain a CUtensorMap");
        if (map_.rank != axes)
            fail(site, "a bulk copy of " + std::to_string(axes) + " axes uses a tensor map of " +
                           std::to_string(map_.rank));
        if (map_.kind == TensorMapKind::im2col_wide)
            fail(site,
                 "a wide im2col tensor map is for the modes im2col::w and im2col::w::128, which need compute "
                 "capability 10.0; the software device has 9.0");
        item_ = first_axis_unit(map_);
    }

    // Lets tile() update elements of global memory instead of storing them.
    void update_with(void (*update)(emu_u32, emu_u64, const void*)) { update_ = update; }
    bool is_tiled() const { return map_.kind == TensorMapKind::tiled; }

    // The copy engine moves chunks of 16 bytes along the first axis, and needs an aligned start.
    void check_start(emu_i32 first)
    {
        int64_t byte = int64_t(first) * item_;
        if (byte % 16) // interleaved maps never get here
            fail(site_,
                 "a tensor copy begins at coordinate " + std::to_string(first) +
                     " of the contiguous axis, which is byte " + std::to_string(byte) +
                     " and must be a multiple of 16",
                 FaultKind::illegal_instruction);
    }

    void tile(uintptr_t shared, const emu_i32* place, bool store)
    {
        uint32_t counts[5];
        for (int axis = 0; axis < 5; ++axis)
            counts[axis] = tile_count(map_, axis);
        // Adjacent elements are copied together, slices of interleaved maps one by one.
        uint32_t together = map_.interleave ? 1 : counts[0];
        shared_ = shared;
        for (uint32_t e = 0; e < counts[4]; ++e)
            for (uint32_t d = 0; d < counts[3]; ++d)
                for (uint32_t c = 0; c < counts[2]; ++c)
                    for (uint32_t b = 0; b < counts[1]; ++b)
                        for (uint32_t a = 0; a < counts[0]; a += together) {
                            uint32_t at[5] = {a, b, c, d, e};
                            int64_t corner[5];
                            for (int axis = 0; axis < map_.rank; ++axis)
                                corner[axis] = int64_t(place[axis]) + int64_t(at[axis]) * map_.steps[axis];
                            row(corner, together, store);
                        }
    }

    // Copies the pixels of an im2col box in the order W, H, D, N, each with its channels. The channels are the first
    // axis, or the last but one in an interleaved map.
    void columns(uintptr_t shared, const emu_i32* place, const emu_i32* offsets)
    {
        int last = map_.rank - 1, shift = map_.interleave ? 0 : 1;
        int64_t base[5], corner[5];
        shared_ = shared;
        std::copy(place, place + map_.rank, base);
        for (uint32_t pixel = 0; pixel < map_.pixels; ++pixel) {
            std::copy(base, base + map_.rank, corner);
            for (int i = 0; i < map_.rank - 2; ++i)
                corner[i + shift] += offsets[i];
            row(corner, map_.interleave ? 1 : map_.channels, false);
            int i = 0;
            for (; i < map_.rank - 2; ++i) {
                base[i + shift] += map_.steps[i + shift];
                if (base[i + shift] <= int64_t(map_.last[i + shift]) + map_.upper[i])
                    break;
                base[i + shift] = map_.lower[i];
            }
            if (i == map_.rank - 2)
                ++base[last];
        }
    }

    size_t bytes() const { return copied_; }

private:
    // Copies `count` adjacent elements, starting at `corner`, to or from the next bytes of shared memory.
    void row(const int64_t* corner, uint32_t count, bool store)
    {
        uint64_t address = map_.address;
        bool inside = true;
        for (int axis = 1; axis < map_.rank; ++axis) {
            inside = inside && corner[axis] >= 0 && corner[axis] <= int64_t(map_.last[axis]);
            address += map_.pitches[axis - 1] * uint64_t(corner[axis]);
        }
        int64_t first = std::max<int64_t>(corner[0], 0);
        int64_t end = std::min<int64_t>(corner[0] + int64_t(count), int64_t(map_.last[0]) + 1);
        if (!inside || end < first)
            end = first;
        size_t before = size_t(inside ? std::min<int64_t>(first - corner[0], count) : 0) * item_;
        size_t size = size_t(end - first) * item_;
        size_t whole = size_t(count) * item_;
        char* global = reinterpret_cast<char*>(address + uint64_t(first) * item_);
        if (size && !update_)
            check(uintptr_t(global), size, store, site_);
        if (!store)
            fill(before, size, whole);
        for (size_t done = 0; done < size;) {
            size_t part = 0;
            char* there = chunk(before + done, size - done, &part);
            for (size_t i = 0; update_ && i < part; i += item_)
                update_(map_.data_type, emu_u64(global + done + i), there + i);
            if (!update_)
                std::memcpy(store ? global + done : there, store ? there : global + done, part);
            if (!store && is_tfloat32(map_))
                round_to_tfloat32(there, part);
            done += part;
        }
        copied_ += whole;
    }

    void fill(size_t before, size_t size, size_t whole)
    {
        for (size_t at = 0; at < whole;) {
            size_t part = 0;
            if (at == before && size) {
                at += size;
                continue;
            }
            char* there = chunk(at, (at < before ? before : whole) - at, &part);
            for (size_t i = 0; i < part; ++i)
                there[i] = map_.fill ? nan_bytes[i % 2] : 0;
            at += part;
        }
    }

    // Returns the shared memory address of byte `at` of the current row, and how many bytes are contiguous there,
    // because swizzling permutes 16-byte chunks.
    char* chunk(size_t at, size_t most, size_t* part)
    {
        uintptr_t address = shared_ + copied_ + at;
        *part = std::min(most, 16 - address % 16);
        uintptr_t bits = address >> 7; // the address bits that the swizzle pattern combines
        if (map_.swizzle)
            address ^= (bits & ((1u << map_.swizzle) - 1)) << 4;
        return reinterpret_cast<char*>(address);
    }

    // Rounds float32 to tfloat32's 10 fraction bits, to nearest even. Every NaN becomes the same NaN.
    static void round_to_tfloat32(char* bytes, size_t size)
    {
        for (; size >= 4; bytes += 4, size -= 4) {
            uint32_t word;
            std::memcpy(&word, bytes, 4);
            if ((word & 0x7fffffffu) > 0x7f800000u)
                word = 0x7fffe000u;
            else
                word = (word + 0x0fffu + (word >> 13 & 1)) & ~0x1fffu;
            std::memcpy(bytes, &word, 4);
        }
    }

    // Fill bytes for FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA. Repeated, they form a NaN in every floating-point type, which
    // FMA instructions can be told to treat as zero.
    static constexpr char nan_bytes[2] = {char(0xf7), char(0x7f)};

    TensorMap map_;
    void (*update_)(emu_u32, emu_u64, const void*) = nullptr;
    Site site_;
    uint32_t item_ = 0;
    uintptr_t shared_ = 0;
    size_t copied_ = 0;
};

// Returns the size of a tile or of im2col columns in bytes.
size_t size_of(const TensorMap& map)
{
    size_t unit = first_axis_unit(map);
    if (map.kind != TensorMapKind::tiled)
        return size_t(map.pixels) * (map.interleave ? 1 : map.channels) * unit;
    size_t count = 1;
    for (int axis = 0; axis < map.rank; ++axis)
        count *= tile_count(map, axis);
    return count * unit;
}

uintptr_t tile_memory(emu_u64 given, emu_u64 map, bool store, const Site& site)
{
    uintptr_t address = aligned_shared(given, 128, "a tile in shared memory", site);
    check(address, size_of(*reinterpret_cast<const TensorMap*>(map)), !store, site);
    return address;
}

// Changes a field of a tensor map. Returns false for a value that no map can have.
bool replace(TensorMap& map, uint32_t field, uint32_t axis, uint64_t value)
{
    // The numbers of types in PTX differ from those of CUtensorMapDataType.
    constexpr uint8_t types[] = {0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12};
    switch (field) {
    case EMU_MAP_ADDRESS: map.address = value; return value % 16 == 0;
    case EMU_MAP_RANK: map.rank = uint8_t(value + 1); return value < 5;
    case EMU_MAP_TILE: map.tile[axis] = uint16_t(value); return value >= 1 && value <= 256;
    case EMU_MAP_EXTENT: map.last[axis] = uint32_t(value) - 1; return uint32_t(value);
    case EMU_MAP_PITCH: map.pitches[axis] = value; return value % 16 == 0;
    case EMU_MAP_STEP: map.steps[axis] = uint8_t(value); return value >= 1 && value <= 8;
    case EMU_MAP_TYPE: map.data_type = value < sizeof types ? types[value] : 0; return value < sizeof types;
    case EMU_MAP_INTERLEAVE: map.interleave = uint8_t(value); return value <= 2;
    case EMU_MAP_SWIZZLE: map.swizzle = uint8_t(value); return value <= 3;
    case EMU_MAP_FILL: map.fill = uint8_t(value); return value <= 1;
    default: return false;
    }
}

void store_tile(TensorCopy& copy, uint32_t axes, emu_u64 map, const emu_i32* place, emu_u64 from, const Site& site)
{
    if (!copy.is_tiled())
        fail(site, "only tiles can be stored, but this is an im2col tensor map");
    for (uint32_t axis = 0; axis < axes; ++axis)
        if (place[axis] < 0)
            fail(site, "a tile is stored at a negative coordinate; only loads may begin outside the tensor there",
                 FaultKind::illegal_instruction);
    copy.check_start(place[0]);
    copy.tile(tile_memory(from, map, true, site), place, true);
}

} // namespace

std::string describe_mbarrier(uintptr_t address)
{
    Mbarrier now;
    std::memcpy(&now, reinterpret_cast<const void*>(address), sizeof now);
    std::string text = "an mbarrier in phase " + std::to_string(now.phase) + ", which expects ";
    if (now.pending)
        text += std::to_string(now.pending) + (now.pending == 1 ? " more arrival" : " more arrivals");
    if (now.bytes)
        text += std::string(now.pending ? " and " : "") + std::to_string(std::abs(int64_t(now.bytes))) +
                (now.bytes > 0 ? " more bytes" : " bytes fewer than were copied");
    return text;
}

} // namespace emu::exec

using namespace emu::exec;

#define EMU_SITE {EMU_CALLER, file, line}

extern "C" {

void emu_mbarrier_init(emu_u64 barrier, emu_u32 count, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    if (!count || count >= 1u << 20)
        fail(site, "the arrival count of an mbarrier must be from 1 to 2**20 - 1");
    *mbarrier(barrier, site) = {0, count, count, 1, 0};
}

void emu_mbarrier_end(emu_u64 barrier, const char* file, emu_u32 line)
{
    live_mbarrier(barrier, EMU_SITE)->live = 0;
}

emu_u64 emu_mbarrier_arrive(emu_u64 given, emu_u32 count, emu_u32 bytes, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    Mbarrier before = update(live_mbarrier(given, site), [&](Mbarrier& barrier) {
        if (count > barrier.pending)
            fail(site, "more threads arrive at an mbarrier than it was initialized for");
        barrier.bytes += bytes;
        barrier.pending -= count;
    });
    return before.phase | emu_u64(before.pending) << 1;
}

emu_u64 emu_mbarrier_drop(emu_u64 given, emu_u32 count, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    update(live_mbarrier(given, site), [&](Mbarrier& barrier) {
        if (count > barrier.expected)
            fail(site, "more threads leave an mbarrier than it was initialized for");
        barrier.expected -= count;
    });
    return emu_mbarrier_arrive(given, count, 0, file, line);
}

int emu_mbarrier_test(emu_u64 barrier, emu_u64 parity, const char* file, emu_u32 line)
{
    SpinState state = EMU_SPIN_STATE;
    Site site = EMU_SITE;
    auto* word = reinterpret_cast<uint64_t*>(live_mbarrier(barrier, site));
    if ((__atomic_load_n(word, __ATOMIC_ACQUIRE) & 1) != (parity & 1)) // the lowest bit is the phase
        return 1;
    state.note(*this_worker()->current, reinterpret_cast<uintptr_t>(word));
    this_worker()->repeats.store(true, std::memory_order_relaxed);
    this_worker()->block.yield(this_worker()->current, site);
    return 0;
}

void emu_bulk_copy(emu_u64 to, emu_u64 from, emu_u32 bytes, emu_u64 barrier, int is_to_shared, const char* file,
                   emu_u32 line)
{
    Site site = EMU_SITE;
    const char* what = "each side of a bulk copy";
    uintptr_t target = is_to_shared ? aligned_shared(to, 16, what, site) : uintptr_t(to);
    uintptr_t source = is_to_shared ? uintptr_t(from) : aligned_shared(from, 16, what, site);
    if (target % 16 || source % 16 || bytes % 16)
        fail(site, "the size and both addresses of a bulk copy must be multiples of 16 bytes");
    check(source, bytes, false, site);
    check(target, bytes, true, site);
    std::memcpy(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), bytes);
    if (barrier)
        tell(barrier, bytes, site);
}

void emu_tensor_load(emu_u32 axes, emu_u64 to, emu_u64 map, const emu_i32* place, emu_u64 barrier,
                     const emu_i32* offsets, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    TensorCopy copy(map, axes, site);
    if (copy.is_tiled() == (offsets != nullptr))
        fail(site, copy.is_tiled() ? "an im2col copy uses a tiled tensor map"
                                   : "a tile copy uses an im2col tensor map");
    copy.check_start(place[0]);
    uintptr_t shared = tile_memory(to, map, false, site);
    if (offsets)
        copy.columns(shared, place, offsets);
    else
        copy.tile(shared, place, false);
    tell(barrier, copy.bytes(), site);
}

void emu_tensor_store(emu_u32 axes, emu_u64 map, const emu_i32* place, emu_u64 from, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    TensorCopy copy(map, axes, site);
    store_tile(copy, axes, map, place, from, site);
}

void emu_tensor_reduce(emu_u32 axes, emu_u64 map, const emu_i32* place, emu_u64 from,
                       void (*update)(emu_u32, emu_u64, const void*), const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    TensorCopy copy(map, axes, site);
    copy.update_with(update);
    store_tile(copy, axes, map, place, from, site);
}

void emu_mbarrier_complete(emu_u64 barrier, emu_u32 bytes, const char* file, emu_u32 line)
{
    tell(barrier, bytes, EMU_SITE);
}

void emu_tensor_map_replace(emu_u64 at, emu_u32 field, emu_u32 axis, emu_u64 value, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    if (at % 64)
        fail(site, "the address of a tensor map must be a multiple of 64 bytes");
    check(uintptr_t(at), 128, true, site);
    TensorMap map;
    std::memcpy(&map, reinterpret_cast<const void*>(at), sizeof map);
    if (map.mark == 0)
        map.mark = TensorMap::right_mark, map.kind = TensorMapKind::tiled;
    if (map.mark != TensorMap::right_mark)
        fail(site, "tensormap.replace changes memory that does not contain a CUtensorMap");
    if (axis >= (field == EMU_MAP_PITCH ? 4 : 5) || !replace(map, field, axis, value))
        fail(site, "tensormap.replace with a value that no tensor map can have");
    std::memcpy(reinterpret_cast<void*>(at), &map, sizeof map);
}

emu_u64 emu_matrix_address(emu_u32 low)
{
    return this_worker()->widen_shared(low, (1u << 18) - 1);
}

void emu_async_copy(emu_u64 to, emu_u64 from, emu_u32 size, emu_u32 bytes, const char* file, emu_u32 line)
{
    Worker& worker = *this_worker();
    AsyncCopy copy;
    copy.site = EMU_SITE;
    copy.to = shared_address(to);
    copy.size = size;
    bytes = std::min(bytes, size);
    if (bytes) {
        check(uintptr_t(from), bytes, false, copy.site);
        std::memcpy(copy.value, reinterpret_cast<const void*>(from), bytes);
    }
    emu_check_slow(copy.to, size, EMU_ACCESS_STORE, reinterpret_cast<void*>(copy.site.pc));
    bool is_early = worker.launch->request.seed && emu::next_choice() % 2; // a seed chooses which copies are fast
    if (is_early || worker.shared_index(copy.to, size) == Worker::not_shared)
        complete_copy(copy);
    else
        worker.copies.add(worker.state->linear, copy);
}

void emu_async_commit()
{
    this_worker()->copies.commit(this_worker()->state->linear);
}

void emu_async_wait(emu_u32 groups, int all)
{
    Worker& worker = *this_worker();
    for (const AsyncCopy& copy : worker.copies.take(worker.state->linear, groups, all))
        complete_copy(copy);
}

void* emu_shared_address(emu_u64 low)
{
    return reinterpret_cast<void*>(shared_address(low));
}

} // extern "C"
