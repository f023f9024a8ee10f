// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "textures.hpp"

#include <atomic>
#include <map>
#include <mutex>

namespace emu::exec {
namespace {

struct TextureTable {
    std::mutex mutex;
    std::map<uint64_t, std::shared_ptr<const Texture>> rows;
    uint64_t next = 1;
    std::atomic<uint64_t> version{0};
};

TextureTable& texture_table()
{
    static auto* value = new TextureTable;
    return *value;
}

} // namespace

uint64_t add_texture(std::shared_ptr<const Texture> texture)
{
    std::lock_guard lock(texture_table().mutex);
    uint64_t number = texture_table().next++;
    texture_table().rows[number] = std::move(texture);
    return number;
}

void remove_texture(uint64_t number)
{
    std::shared_ptr<const Texture> ended; // destroyed after the lock is released
    std::lock_guard lock(texture_table().mutex);
    auto row = texture_table().rows.find(number);
    if (row != texture_table().rows.end()) {
        ended = std::move(row->second);
        texture_table().rows.erase(row);
        ++texture_table().version;
    }
}

std::shared_ptr<const Texture> find_texture(uint64_t number)
{
    std::lock_guard lock(texture_table().mutex);
    auto row = texture_table().rows.find(number);
    return row == texture_table().rows.end() ? nullptr : row->second;
}

uint64_t texture_version()
{
    return texture_table().version.load(std::memory_order_acquire);
}

} // namespace emu::exec
