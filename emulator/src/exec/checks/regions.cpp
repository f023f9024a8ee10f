// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The memory regions that the device model has described, and the sentences that name them in reports.
#include "regions.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "../../config.hpp"
#include "../code_images.hpp"
#include "../fork.hpp"
#include "accesses.hpp"
#include "initialized.hpp"
#include "heap.hpp"
#include "shadow.hpp"

namespace emu::exec {
namespace {

constexpr size_t freed_remembered = 1024;
// An address farther away than this is probably unrelated to the allocation.
constexpr uintptr_t near = 64 << 10;

using Regions = std::map<uintptr_t, Region>;

struct RegionTable {
    std::shared_mutex mutex;
    Regions live;             // inside the device address window
    Regions host;             // outside the window
    std::deque<Region> freed; // newest first
    bool peers[most_devices][most_devices] = {};

    bool may_access(int device, const Region& region) const
    {
        if (region.device < 0 || region.device == device)
            return true;
        return (region.shared_with >> device & 1) || (region.device < most_devices && peers[device][region.device]);
    }
};

RegionTable& region_table()
{
    return only_object<RegionTable>();
}

size_t room_of(const Region& region)
{
    return std::max(region.room, region.size);
}

// Called under the lock, like the following functions.
const Region* find_in(const Regions& regions, uintptr_t address)
{
    auto after = regions.upper_bound(address);
    if (after == regions.begin())
        return nullptr;
    const Region& region = std::prev(after)->second;
    return address - region.base < room_of(region) ? &region : nullptr;
}

void show_to(int device, const Region& region, bool allowed)
{
    size_t open = allowed ? region.size : 0;
    if (allowed)
        shadow_open(device, region.base, region.size);
    shadow_close(device, region.base + open, room_of(region) - open, allowed ? EMU_SHADOW_REDZONE : EMU_SHADOW_FOREIGN);
    // The device heap opens its own pieces.
    if (device == 0 && region.kind != RegionKind::heap)
        show_to(fixed_shadow, region, allowed);
}

void show_to_all(const RegionTable& t, const Region& region)
{
    for (int device = 0; device < config().devices; ++device)
        if (t.may_access(device, region))
            show_to(device, region, true);
}

void remember_freed(RegionTable& t, Region region)
{
    t.freed.push_front(std::move(region));
    if (t.freed.size() > freed_remembered)
        t.freed.pop_back();
}

const char* region_kind(RegionKind kind)
{
    switch (kind) {
    case RegionKind::device: return "device memory";
    case RegionKind::managed: return "managed memory";
    case RegionKind::pinned: return "pinned host memory";
    case RegionKind::registered: return "registered host memory";
    case RegionKind::heap: return "the device heap";
    case RegionKind::array: return "an array";
    }
    return "memory";
}

std::string title(const Region& region)
{
    std::string text = region_kind(region.kind);
    if (region.device >= 0)
        text += " of device " + std::to_string(region.device);
    if (!region.made_by.empty())
        text += " from " + region.made_by;
    return text;
}

// The allocations around an address. The device heap is described by its pieces.
struct Around {
    const Region *before = nullptr, *after = nullptr;
    uintptr_t past = UINTPTR_MAX, until = UINTPTR_MAX; // the distances to them in bytes
    bool adjacent = false;                            // separated by a red zone only
};

Around find_around(const Regions& regions, uintptr_t address)
{
    Around out;
    auto after = regions.upper_bound(address), before = after;
    while (after != regions.end() && after->second.kind == RegionKind::heap)
        ++after;
    while (before != regions.begin() && !out.before)
        if ((--before)->second.kind != RegionKind::heap)
            out.before = &before->second;
    if (after != regions.end()) {
        out.after = &after->second;
        out.until = after->first - address;
    }
    if (out.before) {
        uintptr_t offset = address - out.before->base;
        out.past = offset < out.before->size ? 0 : offset - out.before->size;
        out.adjacent = out.after && offset >= out.before->size &&
                       out.after->base == out.before->base + room_of(*out.before);
    }
    return out;
}

std::string describe_near(const Regions& regions, uintptr_t address, size_t size, uintptr_t most, bool accessible)
{
    Around around = find_around(regions, address);
    bool is_before = around.until < around.past;
    const Region* nearest = is_before ? around.after : around.before;
    const Region* other = is_before ? around.before : around.after;
    uintptr_t distance = std::min(around.past, around.until);
    if (!nearest || distance >= most)
        return {};
    std::string text = describe_offset(address, size, nearest->base, nearest->size, title(*nearest));
    bool inside = address >= nearest->base && address + size <= nearest->base + nearest->size;
    if (inside && nearest->device >= 0 && !accessible)
        return text + ", which this device cannot access";
    if (around.adjacent)
        return text + describe_red_zone(is_before ? "after" : "before", other->size, title(*other));
    return text + (distance < near ? "" : ", the nearest allocation");
}

std::atomic<void (*)()> range_closes{nullptr};

void forget_range()
{
    if (auto action = range_closes.load())
        action();
}

} // namespace

void when_range_closes(void (*action)())
{
    range_closes = action;
}

void open_region(const Region& region)
{
    RegionTable& t = region_table();
    std::unique_lock<std::shared_mutex> lock(t.mutex);
    t.live[region.base] = region;
    if (region.kind == RegionKind::device)
        forget_contents(region.base, region.size);
    if (config().checks.races)
        forget_accesses(region.base, region.size);
    show_to_all(t, region);
}

void close_region(uintptr_t base)
{
    {
        RegionTable& t = region_table();
        std::unique_lock<std::shared_mutex> lock(t.mutex);
        auto found = t.live.find(base);
        if (found == t.live.end())
            return;
        Region region = std::move(found->second);
        t.live.erase(found);
        for (int device = 0; device < config().devices; ++device)
            if (t.may_access(device, region))
                shadow_close(device, region.base, room_of(region), EMU_SHADOW_FREED);
        shadow_close(fixed_shadow, region.base, room_of(region), EMU_SHADOW_FREED);
        remember_freed(t, std::move(region));
    }
    if (!in_window(base, 1))
        forget_range();
}

void forget_region(uintptr_t base)
{
    RegionTable& t = region_table();
    std::unique_lock<std::shared_mutex> lock(t.mutex);
    auto last =
        std::remove_if(t.freed.begin(), t.freed.end(), [&](const Region& region) { return region.base == base; });
    t.freed.erase(last, t.freed.end());
}

void open_host_range(const Region& region)
{
    RegionTable& t = region_table();
    std::unique_lock<std::shared_mutex> lock(t.mutex);
    t.host[region.base] = region;
}

void close_host_range(uintptr_t base)
{
    {
        RegionTable& t = region_table();
        std::unique_lock<std::shared_mutex> lock(t.mutex);
        auto found = t.host.find(base);
        if (found == t.host.end())
            return;
        remember_freed(t, std::move(found->second));
        t.host.erase(found);
    }
    forget_range();
}

void set_peer_access(int from, int to, bool allowed)
{
    if (from < 0 || to < 0 || from >= most_devices || to >= most_devices || from == to)
        return;
    RegionTable& t = region_table();
    std::unique_lock<std::shared_mutex> lock(t.mutex);
    t.peers[from][to] = allowed;
    for (const auto& entry : t.live)
        if (entry.second.device == to)
            show_to(from, entry.second, t.may_access(from, entry.second));
}

void share_region(uintptr_t base, uint32_t shared_with)
{
    RegionTable& t = region_table();
    std::unique_lock<std::shared_mutex> lock(t.mutex);
    auto found = t.live.find(base);
    if (found == t.live.end())
        return;
    found->second.shared_with = shared_with;
    for (int device = 0; device < config().devices; ++device)
        show_to(device, found->second, t.may_access(device, found->second));
}

void order_region(uintptr_t base, uint32_t block)
{
    RegionTable& t = region_table();
    std::unique_lock<std::shared_mutex> lock(t.mutex);
    auto found = t.live.find(base);
    if (found != t.live.end())
        found->second.ordered = block;
}

uint32_t order_of_region(uintptr_t address, EmuRange* range)
{
    RegionTable& t = region_table();
    std::shared_lock<std::shared_mutex> lock(t.mutex);
    const Region* region = find_in(t.live, address);
    *range = region ? EmuRange{region->base, region->base + room_of(*region)} : EmuRange{address, address + 1};
    return region ? region->ordered : 0;
}

void begin_code_on(int device)
{
    RegionTable& t = region_table();
    std::unique_lock<std::shared_mutex> lock(t.mutex);
    if (device != 0) // until now, device 0 was the only one
        close_fixed_shadow();
}

bool find_region(uintptr_t address, size_t size, Region* found)
{
    RegionTable& t = region_table();
    std::shared_lock<std::shared_mutex> lock(t.mutex);
    for (const Regions* regions : {&t.live, &t.host}) {
        const Region* region = find_in(*regions, address);
        if (region && address - region->base <= region->size && size <= region->size - (address - region->base)) {
            if (found)
                *found = *region;
            return true;
        }
    }
    return false;
}

bool regions_allow(int device, uintptr_t address, size_t size, EmuRange* range)
{
    RegionTable& t = region_table();
    std::shared_lock<std::shared_mutex> lock(t.mutex);
    for (const Regions* regions : {&t.live, &t.host}) {
        const Region* region = find_in(*regions, address);
        if (region && t.may_access(device, *region) && address + size <= region->base + region->size) {
            *range = {region->base, region->base + region->size};
            return true;
        }
    }
    return false;
}

std::string describe_address(uintptr_t address, size_t size, bool accessible)
{
    if (address < 65536)
        return address == 0 ? "a null pointer" : "a null pointer, or close to one";
    std::string text = describe_heap_address(address, size);
    if (!text.empty())
        return text;
    {
        RegionTable& t = region_table();
        std::shared_lock<std::shared_mutex> lock(t.mutex);
        for (const Region& region : t.freed)
            if (address - region.base < region.size)
                return describe_offset(address, size, region.base, region.size, title(region)) + ", which was freed";
        text = describe_near(t.live, address, size, in_window(address, 1) ? UINTPTR_MAX : near, accessible);
        if (text.empty())
            text = describe_near(t.host, address, size, near, accessible);
        if (!text.empty())
            return text;
    }
    text = describe_image_address(address, size);
    if (!text.empty())
        return text;
    return in_window(address, 1) ? "no memory is allocated there" : "not device memory: host memory, or a wild pointer";
}

} // namespace emu::exec
