// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The on-disk cache: data by key. Entries are written under another name and renamed, and verified when read. An
// unusable directory means no cache, and is not an error.
#pragma once

#include <map>
#include <optional>

#include "../common.hpp"
#include "front.hpp"

namespace emu::front {

std::optional<Bytes> cache_get(const std::string& key);
void cache_put(const std::string& key, const Bytes& blob);
void cache_count_miss();
void cache_count_failure();

// Writes fields sequentially, each with its length.
class Writer {
public:
    void add(uint64_t value) { raw(&value, sizeof value); }
    void add(const std::string& text)
    {
        add(uint64_t(text.size()));
        raw(text.data(), text.size());
    }
    void add(const Bytes& bytes)
    {
        add(uint64_t(bytes.size()));
        raw(bytes.data(), bytes.size());
    }
    Bytes take() { return std::move(out_); }

private:
    void raw(const void* data, size_t size)
    {
        auto* at = static_cast<const std::byte*>(data);
        out_.insert(out_.end(), at, at + size);
    }
    Bytes out_;
};

// Reads a Writer's output; good() is false after a field that did not fit.
class Reader {
public:
    explicit Reader(const Bytes& bytes) : bytes_(bytes) {}
    uint64_t number();
    std::string text();
    Bytes bytes();
    bool good() const { return good_; }

private:
    const std::byte* take(uint64_t size);
    const Bytes& bytes_;
    size_t at_ = 0;
    bool good_ = true;
};

// Identifies this build of the library and its headers; part of every key.
const std::string& build_identity();

} // namespace emu::front
