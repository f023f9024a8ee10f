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

#include "device_include/emulator_abi.h"
#include "process.hpp"

namespace emu::front {
namespace {

constexpr uint64_t magic = 0x32454843414d4555u; // "UEMACHE2"
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

// Empty if no directory can be used.
const std::string& folder()
{
    static const auto& value = *new std::string([] {
        std::string path = default_folder();
        if (path.empty())
            return path;
        if (make_private_folders(path) && access(path.c_str(), W_OK | X_OK) == 0)
            return path;
        if (!config().cache_dir.empty())
            say("the cache directory " + path + " cannot be written; compiling without a cache");
        return std::string();
    }());
    return value;
}

// The header of a cache file.
struct Head {
    uint64_t magic, size, sum; // of all bytes after it, and of the key: a file of another key is not a hit
};

uint64_t checksum(const std::string& key, const std::byte* data, size_t size)
{
    uint64_t sum = size, word = 0;
    for (char letter : key)
        sum = (sum ^ uint64_t(static_cast<unsigned char>(letter))) * 0x100000001b3u;
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        std::memcpy(&word, data + i, 8);
        sum = (sum ^ word) * 0x9fb21c651e98df25u;
        sum ^= sum >> 32;
    }
    for (; i < size; ++i)
        sum = (sum ^ uint64_t(data[i])) * 0x100000001b3u;
    return sum;
}

bool is_folder_at(const std::string& path)
{
    struct stat info{};
    return lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

struct Entry {
    std::string path;
    uint64_t size;
    time_t used;
};

// Removes the least recently used entries when the directory has grown too large.
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
        if (lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
            uint64_t size = uint64_t(info.st_blocks) * 512; // size on disk: files may have holes
            entries.push_back({path, size, std::max(info.st_atime, info.st_mtime)});
            total += size;
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
    if (folder().empty())
        return std::nullopt;
    std::string path = folder() + "/" + key;
    Head head{};
    Bytes bytes;
    bool is_read = read_private_file(
        path, sizeof head,
        [&head](const std::byte* first, uint64_t size) {
            std::memcpy(&head, first, sizeof head);
            return head.magic == magic && size == head.size + sizeof head && size <= size_limit;
        },
        &bytes);
    if (!is_read || head.sum != checksum(key, bytes.data() + sizeof head, size_t(head.size))) {
        struct stat info{};
        if (lstat(path.c_str(), &info) == 0) {
            failures.fetch_add(1, std::memory_order_relaxed);
            unlink(path.c_str()); // fails for a directory, which the next entry replaces
        }
        return std::nullopt;
    }
    hits.fetch_add(1, std::memory_order_relaxed);
    bytes.erase(bytes.begin(), bytes.begin() + sizeof head);
    return bytes;
}

void cache_put(const std::string& key, const Bytes& blob)
{
    if (folder().empty())
        return;
    Head head{magic, blob.size(), checksum(key, blob.data(), blob.size())};
    Bytes bytes(sizeof head);
    std::memcpy(bytes.data(), &head, sizeof head);
    bytes.insert(bytes.end(), blob.begin(), blob.end());
    static std::atomic<unsigned> serial{0};
    std::string path = folder() + "/" + key;
    std::string beside = path + "." + std::to_string(getpid()) + "-" + std::to_string(++serial);
    bool is_written = write_private_file(beside, bytes.data(), bytes.size());
    if (is_written && is_folder_at(path))
        remove_folder(path);
    if (!is_written || rename(beside.c_str(), path.c_str())) {
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
    static const auto& value = *new std::string([] {
        Hash hash;
        hash.add(uint64_t(EMU_ABI_VERSION));
        std::vector<std::string> files;
        for (std::string part : {"", "/cooperative_groups", "/crt", "/without_cccl/cuda", "/without_cccl/cuda/std"}) {
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
    }());
    return value;
}

} // namespace emu::front
