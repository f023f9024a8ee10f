// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "host_sources.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <mutex>

#include "../../config.hpp"
#include "../../exec/checks/races.hpp"
#include "../../exec/checks/report.hpp"

namespace emu::state {

static std::atomic<size_t> bytes_kept{0};

struct HostBytes {
    HostBytes(const std::byte* at, size_t size) : at(at), kept(at, at + size) { bytes_kept += size; }
    ~HostBytes() { bytes_kept -= kept.size(); }
    HostBytes(const HostBytes&) = delete;
    HostBytes& operator=(const HostBytes&) = delete;

    std::string name;
    std::weak_ptr<Allocation> allocation;
    const std::byte* at;
    Bytes kept;
    uint32_t block = 0; // device work with smaller numbers had ended
    uint64_t orders = 0;
    std::shared_ptr<const std::atomic<bool>> polls; // of a kernel: it waits for the host; null: a copy
    std::weak_ptr<Context> context;
    Place place;
    std::vector<std::pair<size_t, size_t>> changed; // by the host: from and to

    uintptr_t address(size_t offset) const { return reinterpret_cast<uintptr_t>(at) + offset; }
};

namespace {

using Row = std::shared_ptr<HostBytes>;
constexpr size_t most_bytes = 1 << 20; // longer copies and allocations are not watched
constexpr size_t most_kept = 64 << 20; // nor what a program enqueues without ever waiting

struct Watched {
    std::mutex mutex;
    std::vector<Row> rows;
};

Watched& watched()
{
    static auto& value = *new Watched; // never destroyed, because programs wait at exit
    return value;
}

Row keep(std::string name, const std::shared_ptr<Allocation>& allocation, const std::byte* at, size_t size)
{
    uint32_t block = exec::first_running_block(); // before the bytes are read
    auto row = std::make_shared<HostBytes>(at, size);
    row->name = std::move(name);
    row->allocation = allocation;
    row->block = block;
    row->orders = host_orders();
    return row;
}

bool is_watchable(size_t size)
{
    return config().checks.races && size <= most_bytes && bytes_kept + size <= most_kept;
}

// Returns false if the memory was freed, or something else may have ordered the host and the work.
bool is_comparable(const HostBytes& row)
{
    auto allocation = row.allocation.lock();
    return allocation && AddressSpace::get().find(allocation->base) == allocation && row.orders == host_orders() &&
           !(row.polls && *row.polls);
}

// Finds the bytes that the host has changed. The device may have changed others.
void compare(HostBytes& row)
{
    decltype(row.changed) found;
    for (size_t i = 0, size = row.kept.size(); i < size; ++i) {
        auto now = std::mismatch(row.at + i, row.at + size, row.kept.begin() + long(i)).second;
        i = size_t(now - row.kept.begin());
        if (i == size || exec::stored_since(row.address(i), row.block))
            continue;
        if (!found.empty() && found.back().second == i)
            ++found.back().second;
        else
            found.emplace_back(i, i + 1);
    }
    if (!found.empty() && !row.place.is_seen()) // not even while they were compared
        row.changed = std::move(found);
}

// Returns the report, or an empty string if a kernel has not loaded these bytes.
std::string judge(const HostBytes& row)
{
    const std::string race = row.name + ": " + exec::title_of(exec::FaultKind::race);
    std::string end = exec::see(exec::FaultKind::race);
    if (!row.polls)
        return race + ": the host changed the source before it waited for the copy: " +
               exec::describe_address(row.address(row.changed[0].first), 1, true) + end;
    for (const auto& range : row.changed)
        for (size_t i = range.first; i < range.second; ++i) {
            exec::Access load = exec::loaded_by(row.address(i), row.place.queue->id(), row.place.number);
            if (!load.block || load.atomic())
                continue;
            auto era = exec::find_era(load.block);
            std::string where =
                exec::describe_place(era ? era->image.lock().get() : nullptr, uintptr_t(load.half_pc()) << 1);
            return race + ": the host changed memory that the kernel loads before it waited for the kernel: " +
                   exec::describe_address(row.address(i), 1, true) + "\n  at " + where + end;
        }
    return {};
}

} // namespace

HostSource::HostSource(const char* name, const Side& source, const Box& box)
{
    bool is_row = box.height == 1 && box.depth == 1;
    bool pinned = source.allocation && source.allocation->kind == MemoryKind::pinned;
    if (pinned && is_row && is_watchable(box.width))
        rows_.push_back(keep(name, source.allocation, source.at, box.width));
}

HostSource::HostSource(exec::LaunchRequest& request)
{
    if (!config().checks.races)
        return;
    const Bytes& parameters = request.parameters;
    for (size_t i = 0; i + sizeof(CUdeviceptr) <= parameters.size(); i += sizeof(CUdeviceptr)) {
        CUdeviceptr address;
        std::memcpy(&address, parameters.data() + i, sizeof address);
        auto found = AddressSpace::get().find(address);
        bool is_watched = found && is_watchable(found->size) &&
                          (found->kind == MemoryKind::pinned || found->kind == MemoryKind::managed);
        if (!is_watched ||
            std::any_of(rows_.begin(), rows_.end(), [&](const Row& row) { return row->allocation.lock() == found; }))
            continue;
        if (!request.polls_host)
            request.polls_host = std::make_shared<std::atomic<bool>>(false);
        auto* at = reinterpret_cast<const std::byte*>(found->base);
        rows_.push_back(keep("kernel " + request.name, found, at, found->size));
        rows_.back()->polls = request.polls_host;
    }
}

void HostSource::watch(Stream& stream)
{
    if (rows_.empty())
        return;
    for (const Row& row : rows_) {
        row->context = stream.context();
        row->place = {stream.queue(), stream.queue()->submitted()};
    }
    std::lock_guard lock(watched().mutex);
    std::move(rows_.begin(), rows_.end(), std::back_inserter(watched().rows));
}

void check_host_sources()
{
    if (!config().checks.races)
        return;
    std::vector<Row> rows;
    {
        std::lock_guard lock(watched().mutex);
        rows.swap(watched().rows);
    }
    auto is_over = [](const Row& row) {
        if (!is_comparable(*row))
            return true;
        if (row->changed.empty() && !row->place.is_seen())
            compare(*row);
        if (row->changed.empty())
            return row->place.is_seen();
        if (!row->place.reached()) // what it loads is not known yet
            return false;
        auto context = row->context.lock();
        std::string report = context ? judge(*row) : std::string();
        if (!report.empty())
            context->fail(CUDA_ERROR_LAUNCH_FAILED, report);
        return true;
    };
    rows.erase(std::remove_if(rows.begin(), rows.end(), is_over), rows.end());
    std::lock_guard lock(watched().mutex);
    watched().rows.insert(watched().rows.end(), rows.begin(), rows.end());
}

} // namespace emu::state
