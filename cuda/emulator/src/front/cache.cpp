// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "cache.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

#include "../../device_include/emulator_abi.h"
#include "process.hpp"

namespace emu::front {
namespace {

constexpr uint64_t magic = 0x31454843414d4555u; // "UEMACHE1"
constexpr uint64_t size_limit = uint64_t(512) << 20;

std::atomic<uint64_t> hits{0}, misses{0}, failures{0};

std::string default_folder()
{
    const std::string& wanted = config().cache_dir;
    if (!wanted.empty())
        return wanted == "none" ? "" : wanted;
    const char* base = std::getenv("XDG_CACHE_HOME");
    if (base && *base == '/')
        return std::string(base) + "/cuda-emulator";
    base = std::getenv("HOME");
    return base && *base == '/' ? std::string(base) + "/.cache/cuda-emulator" : "";
}

// Empty when there is no usable folder.
const std::string& folder()
{
    static const std::string value = [] {
        std::string path = default_folder();
        if (path.empty())
            return path;
        if (make_folders(path) && access(path.c_str(), W_OK | X_OK) == 0)
            return path;
        if (!config().cache_dir.empty())
            say("the cache folder " + path + " cannot be written; compiling without a cache");
        return std::string();
    }();
    return value;
}

uint64_t checksum(const Bytes& bytes, size_t from)
{
    uint64_t sum = bytes.size(), word = 0;
    size_t i = from;
    for (; i + 8 <= bytes.size(); i += 8) {
        std::memcpy(&word, bytes.data() + i, 8);
        sum = (sum ^ word) * 0x9fb21c651e98df25u;
        sum ^= sum >> 32;
    }
    for (; i < bytes.size(); ++i)
        sum = (sum ^ uint64_t(bytes[i])) * 0x100000001b3u;
    return sum;
}

struct Entry {
    std::string path;
    uint64_t size;
    time_t used;
};

// Removes the entries used longest ago when the folder has grown too large.
void prune()
{
    std::vector<Entry> entries;
    uint64_t total = 0;
    DIR* listing = opendir(folder().c_str());
    if (!listing)
        return;
    while (dirent* row = readdir(listing)) {
        std::string path = folder() + "/" + row->d_name;
        struct stat info{};
        if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
            entries.push_back({path, uint64_t(info.st_size), std::max(info.st_atime, info.st_mtime)});
            total += uint64_t(info.st_size);
        }
    }
    closedir(listing);
    if (total <= size_limit)
        return;
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
    for (const Entry& entry : entries) {
        if (total <= size_limit / 2)
            break;
        unlink(entry.path.c_str());
        total -= entry.size;
    }
}

} // namespace

std::optional<Bytes> cache_get(const std::string& key)
{
    Bytes bytes;
    if (folder().empty() || !read_file(folder() + "/" + key, &bytes) || bytes.size() < 16)
        return std::nullopt;
    uint64_t head[2];
    std::memcpy(head, bytes.data(), sizeof head);
    if (head[0] != magic || head[1] != checksum(bytes, 16)) {
        failures.fetch_add(1, std::memory_order_relaxed);
        unlink((folder() + "/" + key).c_str());
        return std::nullopt;
    }
    hits.fetch_add(1, std::memory_order_relaxed);
    bytes.erase(bytes.begin(), bytes.begin() + 16);
    return bytes;
}

void cache_put(const std::string& key, const Bytes& blob)
{
    if (folder().empty())
        return;
    Bytes bytes(16);
    bytes.insert(bytes.end(), blob.begin(), blob.end());
    uint64_t head[2] = {magic, checksum(bytes, 16)};
    std::memcpy(bytes.data(), head, sizeof head);
    static std::atomic<unsigned> serial{0};
    std::string path = folder() + "/" + key;
    std::string beside = path + "." + std::to_string(getpid()) + "-" + std::to_string(++serial);
    if (!write_file(beside, bytes.data(), bytes.size()) || rename(beside.c_str(), path.c_str())) {
        failures.fetch_add(1, std::memory_order_relaxed);
        unlink(beside.c_str());
        return;
    }
    if (serial % 64 == 1)
        prune();
}

void cache_count_miss()
{
    misses.fetch_add(1, std::memory_order_relaxed);
}

void cache_count_failure()
{
    failures.fetch_add(1, std::memory_order_relaxed);
}

CacheStatistics cache_statistics()
{
    return {hits.load(), misses.load(), failures.load(), folder()};
}

const std::byte* Reader::take(uint64_t size)
{
    if (!good_ || size > bytes_.size() - at_) {
        good_ = false;
        return nullptr;
    }
    const std::byte* here = bytes_.data() + at_;
    at_ += size_t(size);
    return here;
}

uint64_t Reader::number()
{
    uint64_t value = 0;
    if (const std::byte* at = take(sizeof value))
        std::memcpy(&value, at, sizeof value);
    return value;
}

std::string Reader::text()
{
    uint64_t size = number();
    const std::byte* at = take(size);
    return at ? std::string(reinterpret_cast<const char*>(at), size_t(size)) : std::string();
}

Bytes Reader::bytes()
{
    uint64_t size = number();
    const std::byte* at = take(size);
    return at ? Bytes(at, at + size) : Bytes();
}

const std::string& build_identity()
{
    static const std::string value = [] {
        Hash hash;
        hash.add(uint64_t(EMU_ABI_VERSION));
        std::vector<std::string> files;
        for (std::string part : {"", "/cooperative_groups", "/cuda", "/cuda/std"}) {
            std::string path = home() + "/device_include" + part;
            if (DIR* listing = opendir(path.c_str())) {
                while (dirent* row = readdir(listing))
                    if (row->d_name[0] != '.')
                        files.push_back(path + "/" + row->d_name);
                closedir(listing);
            }
        }
        std::sort(files.begin(), files.end());
        files.push_back(home() + "/_emulator.so");
        for (const std::string& path : files) {
            struct stat info{};
            hash.add(path);
            if (stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
                hash.add(uint64_t(info.st_size));
                hash.add(&info.st_mtim, sizeof info.st_mtim);
            }
        }
        return hash.hex();
    }();
    return value;
}

} // namespace emu::front
