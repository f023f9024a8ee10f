// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "host_sources.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "../../config.hpp"
#include "../../exec/checks/races.hpp"
#include "../../exec/checks/report.hpp"

namespace emu::state {

struct HostBytes {
    const char* name = "";
    std::weak_ptr<Allocation> allocation;
    const std::byte* at = nullptr;
    Bytes kept;
    uint32_t block = 0;  // device work with smaller numbers had begun
    uint64_t callbacks = 0;
    std::weak_ptr<Context> context;
    Place place;
};

namespace {

constexpr size_t most_bytes = 1 << 20; // longer copies are not watched

struct Watched {
    std::mutex mutex;
    std::vector<std::shared_ptr<HostBytes>> rows;
};

Watched& watched()
{
    static auto& value = *new Watched; // never destroyed, because programs wait at exit
    return value;
}

// Returns the first byte that the host has changed, or the end. The device may have changed others.
size_t first_change(const HostBytes& row)
{
    size_t size = row.kept.size();
    auto allocation = row.allocation.lock();
    if (!allocation || AddressSpace::get().find(allocation->base) != allocation || row.callbacks != callbacks_made())
        return size;
    auto [now, then] = std::mismatch(row.at, row.at + size, row.kept.begin());
    auto offset = size_t(then - row.kept.begin());
    (void)now;
    return offset < size && exec::stored_since(reinterpret_cast<uintptr_t>(row.at) + offset, row.block) ? size : offset;
}

void check(const HostBytes& row)
{
    size_t offset = first_change(row);
    auto context = row.context.lock();
    if (offset == row.kept.size() || !context)
        return;
    auto address = reinterpret_cast<uintptr_t>(row.at) + offset;
    context->fail(CUDA_ERROR_LAUNCH_FAILED, std::string(row.name) + ": " + exec::title_of(exec::FaultKind::race) +
                                                ": the host changed the source before it waited for the copy: " +
                                                exec::describe_address(address, 1, true) +
                                                exec::see(exec::FaultKind::race));
}

} // namespace

HostSource::HostSource(const char* name, const Side& source, const Box& box)
{
    bool is_row = box.height == 1 && box.depth == 1;
    bool pinned = source.allocation && source.allocation->kind == MemoryKind::pinned;
    if (!config().checks.races || !pinned || !is_row || box.width > most_bytes)
        return;
    bytes_ = std::make_shared<HostBytes>();
    bytes_->name = name;
    bytes_->allocation = source.allocation;
    bytes_->at = source.at;
    bytes_->kept.assign(source.at, source.at + box.width);
    bytes_->block = exec::next_block();
    bytes_->callbacks = callbacks_made();
}

void HostSource::watch(Stream& stream)
{
    if (!bytes_)
        return;
    bytes_->context = stream.context();
    bytes_->place = {stream.queue(), stream.queue()->submitted()};
    std::lock_guard lock(watched().mutex);
    watched().rows.push_back(std::move(bytes_));
}

void check_host_sources()
{
    if (!config().checks.races)
        return;
    std::vector<std::shared_ptr<HostBytes>> rows;
    {
        std::lock_guard lock(watched().mutex);
        rows.swap(watched().rows);
    }
    if (rows.empty())
        return;
    auto is_over = [](const std::shared_ptr<HostBytes>& row) { return row->place.is_seen(); };
    rows.erase(std::remove_if(rows.begin(), rows.end(), is_over), rows.end());
    for (const auto& row : rows)
        check(*row);
    std::lock_guard lock(watched().mutex);
    watched().rows.insert(watched().rows.end(), rows.begin(), rows.end());
}

} // namespace emu::state
