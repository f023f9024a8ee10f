// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Free and used pieces are recorded outside the heap, so kernels cannot corrupt the records, and host code accesses no
// device memory.
#include "heap.hpp"

#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <pthread.h>
#include <utility>

#include "../../config.hpp"
#include "../code_images.hpp"
#include "accesses.hpp"
#include "initialized.hpp"
#include "shadow.hpp"

namespace emu::exec {
namespace {

constexpr size_t unit = 16; // alignment, and the smallest red zone after a piece

class Heap {
public:
    void reset(int device, uintptr_t base, size_t size)
    {
        std::lock_guard<std::mutex> lock(mutex);
        device_ = device, base_ = base, size_ = size;
        free_.clear(), used_.clear(), kept_.clear();
        kept_bytes_ = 0;
        if (size) {
            free_[base] = size / unit * unit;
            shadow_close(device, base, size, EMU_SHADOW_UNMAPPED);
        }
    }

    uintptr_t allocate(size_t bytes, const std::string& kernel)
    {
        if (bytes > size_)
            return 0;
        size_t room = (bytes + unit - 1) / unit * unit + unit;
        std::lock_guard<std::mutex> lock(mutex);
        uintptr_t at = carve(room);
        while (!at && !kept_.empty()) {
            release_oldest();
            at = carve(room);
        }
        if (!at)
            return 0;
        used_[at] = {bytes, room, config().leaks ? kernel : std::string()};
        shadow_open(device_, at, bytes);
        forget_contents(at, bytes);
        forget_accesses(at, bytes);
        std::memset(reinterpret_cast<void*>(at), config().fill, bytes);
        shadow_close(device_, at + bytes, room - bytes, EMU_SHADOW_REDZONE);
        return at;
    }

    bool release(uintptr_t at, std::string* why)
    {
        std::lock_guard<std::mutex> lock(mutex);
        auto found = used_.find(at);
        if (found == used_.end()) {
            *why = describe(at, 1);
            if (why->empty())
                *why = "the pointer does not come from malloc() in a kernel";
            return false;
        }
        shadow_close(device_, at, found->second.room, EMU_SHADOW_FREED);
        kept_.push_back({at, found->second});
        kept_bytes_ += found->second.room;
        used_.erase(found);
        while (kept_bytes_ > size_ / 4)
            release_oldest();
        return true;
    }

    // Called under the lock.
    std::string describe(uintptr_t address, size_t size) const
    {
        if (address - base_ >= size_)
            return {};
        for (const auto& kept : kept_)
            if (address - kept.first < kept.second.room)
                return describe_offset(address, size, kept.first, kept.second.bytes, "a malloc() in a kernel") +
                       ", which was freed";
        auto after = used_.upper_bound(address);
        if (after != used_.begin()) {
            --after;
            return describe_offset(address, size, after->first, after->second.bytes, "a malloc() in a kernel");
        }
        // Until a kernel has used the heap, an address there is one that missed an allocation.
        return kept_.empty() ? "" : "in the free part of the device heap";
    }

    // Called under the lock: the number of pieces and of bytes that each kernel has not freed.
    std::map<std::string, std::pair<size_t, size_t>> left() const
    {
        std::map<std::string, std::pair<size_t, size_t>> out;
        for (const auto& piece : used_) {
            auto& row = out[piece.second.kernel];
            ++row.first;
            row.second += piece.second.bytes;
        }
        return out;
    }

    std::mutex mutex;

private:
    struct Piece {
        size_t bytes, room;
        std::string kernel; // that called malloc(), if leaks are reported
    };

    uintptr_t carve(size_t room)
    {
        for (auto at = free_.begin(); at != free_.end(); ++at)
            if (at->second >= room) {
                uintptr_t base = at->first;
                size_t rest = at->second - room;
                free_.erase(at);
                if (rest)
                    free_[base + room] = rest;
                return base;
            }
        return 0;
    }

    void release_oldest()
    {
        uintptr_t base = kept_.front().first;
        size_t room = kept_.front().second.room;
        kept_.pop_front();
        kept_bytes_ -= room;
        auto after = free_.lower_bound(base);
        if (after != free_.end() && after->first == base + room) {
            room += after->second;
            after = free_.erase(after);
        }
        if (after != free_.begin()) {
            auto before = std::prev(after);
            if (before->first + before->second == base) {
                before->second += room;
                return;
            }
        }
        free_[base] = room;
    }

    int device_ = 0;
    uintptr_t base_ = 0;
    size_t size_ = 0;
    std::map<uintptr_t, size_t> free_;
    std::map<uintptr_t, Piece> used_;
    // Freed pieces, held back from reuse so that use after free is detected.
    std::deque<std::pair<uintptr_t, Piece>> kept_;
    size_t kept_bytes_ = 0;
};

Heap* heaps()
{
    static Heap* value = [] {
        static Heap* made = new Heap[most_devices];
        pthread_atfork(
            [] {
                for (int i = 0; i < most_devices; ++i)
                    made[i].mutex.lock();
            },
            [] {
                for (int i = 0; i < most_devices; ++i)
                    made[i].mutex.unlock();
            },
            [] {
                for (int i = 0; i < most_devices; ++i)
                    new (&made[i].mutex) std::mutex;
            });
        return made;
    }();
    return value;
}

} // namespace

void set_heap(int device, uintptr_t base, size_t size)
{
    if (device >= 0 && device < most_devices)
        heaps()[device].reset(device, base, size);
}

uintptr_t heap_allocate(int device, size_t bytes, const std::string& kernel)
{
    return heaps()[device].allocate(bytes, kernel);
}

std::string heap_leaks()
{
    std::string text;
    for (int device = 0; device < most_devices; ++device) {
        Heap& heap = heaps()[device];
        std::lock_guard<std::mutex> lock(heap.mutex);
        for (const auto& row : heap.left())
            text += std::to_string(row.second.second) + " bytes of the heap of device " + std::to_string(device) + " (" +
                    std::to_string(row.second.first) + (row.second.first == 1 ? " call" : " calls") +
                    " of malloc() in kernel " + row.first + ")\n";
    }
    return text;
}

bool heap_release(int device, uintptr_t base, std::string* why)
{
    return heaps()[device].release(base, why);
}

std::string describe_heap_address(uintptr_t address, size_t size)
{
    for (int device = 0; device < most_devices; ++device) {
        Heap& heap = heaps()[device];
        std::lock_guard<std::mutex> lock(heap.mutex);
        std::string text = heap.describe(address, size);
        if (!text.empty())
            return text;
    }
    return {};
}

} // namespace emu::exec
