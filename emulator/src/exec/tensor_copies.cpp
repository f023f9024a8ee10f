// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Bulk copies of tensor tiles and im2col columns, and changes of tensor maps.
#include <algorithm>
#include <cstring>
#include <vector>

#include "bulk_copies.hpp"
#include "tensor_map.hpp"

namespace emu::exec {
namespace {

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
            fail(site,
                 "a bulk copy of " + std::to_string(axes) + " axes uses a tensor map of " + std::to_string(map_.rank));
        if (map_.kind == TensorMapKind::im2col_wide)
            fail(site, "a wide im2col tensor map is for the modes im2col::w and im2col::w::128, which need compute "
                       "capability 10.0; the software device has 9.0");
        item_ = first_axis_unit(map_);
    }

    // Lets tile() update elements of global memory instead of storing them.
    void update_with(void (*update)(emu_u32, emu_u64, const void*)) { update_ = update; }
    // Lets tile() and columns() check the accesses to global memory, or copy.
    void only_check(bool checks) { checks_ = checks, copied_ = 0; }
    bool is_tiled() const { return map_.kind == TensorMapKind::tiled; }

    // The copy engine moves chunks of 16 bytes along the first axis, and needs an aligned start.
    void check_start(emu_i32 first)
    {
        int64_t byte = int64_t(first) * item_;
        if (byte % 16) // interleaved maps never get here
            fail(site_,
                 "a tensor copy begins at coordinate " + std::to_string(first) +
                     " of the contiguous axis, which is byte " + std::to_string(byte) + " and must be a multiple of 16",
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
        if (checks_ && size && !update_)
            check(uintptr_t(global), size, store, site_, store ? EMU_ACCESS_LATER : 0);
        if (checks_) {
            copied_ += whole;
            return;
        }
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
    bool checks_ = false;
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
    check(address, size_of(*reinterpret_cast<const TensorMap*>(map)), !store, site, store ? 0 : EMU_ACCESS_LATER);
    return address;
}

using Place = std::vector<emu_i32>;

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

// Checks the store of a tile, and returns the copy to start or, for a reduction, to finish.
BulkCopy store_tile(TensorCopy& copy, uint32_t axes, emu_u64 map, const emu_i32* place, emu_u64 from, const Site& site)
{
    if (!copy.is_tiled())
        fail(site, "only tiles can be stored, but this is an im2col tensor map");
    for (uint32_t axis = 0; axis < axes; ++axis)
        if (place[axis] < 0)
            fail(site, "a tile is stored at a negative coordinate; only loads may begin outside the tensor there",
                 FaultKind::illegal_instruction);
    copy.check_start(place[0]);
    BulkCopy made;
    made.shared = tile_memory(from, map, true, site);
    made.site = site;
    copy.only_check(true);
    copy.tile(made.shared, place, true);
    made.size = copy.bytes();
    copy.only_check(false);
    made.move = [copy, shared = made.shared, at = Place(place, place + axes)]() mutable {
        copy.tile(shared, at.data(), true);
    };
    return made;
}

} // namespace
} // namespace emu::exec

using namespace emu::exec;

extern "C" {

void emu_tensor_load(emu_u32 axes, emu_u64 to, emu_u64 map, const emu_i32* place, emu_u64 barrier,
                     const emu_i32* offsets, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    TensorCopy copy(map, axes, site);
    if (copy.is_tiled() == (offsets != nullptr))
        fail(site,
             copy.is_tiled() ? "an im2col copy uses a tiled tensor map" : "a tile copy uses an im2col tensor map");
    copy.check_start(place[0]);
    uintptr_t shared = tile_memory(to, map, false, site);
    Place at(place, place + axes), beside;
    if (offsets)
        beside.assign(offsets, offsets + axes - 2);
    auto run = [shared, at, beside](TensorCopy& copy, bool checks) {
        copy.only_check(checks);
        if (beside.empty())
            copy.tile(shared, at.data(), false);
        else
            copy.columns(shared, at.data(), beside.data());
    };
    run(copy, true);
    BulkCopy started;
    started.shared = shared;
    started.size = copy.bytes();
    started.barrier = aligned_shared(barrier, 8, "an mbarrier", site);
    started.site = site;
    started.move = [run, copy]() mutable { run(copy, false); };
    start(std::move(started));
}

void emu_tensor_store(emu_u32 axes, emu_u64 map, const emu_i32* place, emu_u64 from, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    TensorCopy copy(map, axes, site);
    start(store_tile(copy, axes, map, place, from, site));
}

void emu_tensor_reduce(emu_u32 axes, emu_u64 map, const emu_i32* place, emu_u64 from,
                       void (*update)(emu_u32, emu_u64, const void*), const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    TensorCopy copy(map, axes, site);
    copy.update_with(update);
    finish(store_tile(copy, axes, map, place, from, site));
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

} // extern "C"
