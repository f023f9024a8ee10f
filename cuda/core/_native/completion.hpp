// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Completed stream callbacks on their way from the driver's threads, which must not run Python code, to a thread that
// does. docs/design/waiting.md has the reasons.
#pragma once

#include <cuda.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

namespace cuda_core {

class CompletionQueue;

// One callback in a stream. The driver owns it until the work before it has completed, then the queue does.
struct Completion {
    std::shared_ptr<CompletionQueue> queue;
    CUresult status = CUDA_SUCCESS;
    Completion* next = nullptr;
};

class CompletionQueue {
public:
    // Null if the process has no file descriptor left. Reading the descriptor blocks, or fails, until there is a completion.
    static std::shared_ptr<CompletionQueue> make(bool blocks) noexcept {
        const int descriptor = eventfd(0, blocks ? EFD_CLOEXEC : EFD_CLOEXEC | EFD_NONBLOCK);
        if (descriptor < 0) return nullptr;
        try {
            return std::shared_ptr<CompletionQueue>(new CompletionQueue(descriptor));
        } catch (const std::bad_alloc&) {
            close(descriptor);
            return nullptr;
        }
    }

    // The driver may call back after the reader is gone. So each completion keeps the queue, which the last one ends.
    ~CompletionQueue() {
        while (Completion* first = head_.load()) {
            head_ = first->next;
            delete first;
        }
        close(descriptor_);
    }
    CompletionQueue(const CompletionQueue&) = delete;
    CompletionQueue& operator=(const CompletionQueue&) = delete;

    int descriptor() const noexcept { return descriptor_; }

    static Completion* begin(const std::shared_ptr<CompletionQueue>& queue) noexcept {
        return new (std::nothrow) Completion{queue};
    }

    // The callback of cuStreamAddCallback.
    static void CUDA_CB deliver(CUstream, CUresult status, void* what) {
        auto* completion = static_cast<Completion*>(what);
        // A completion in the list keeps no reference: the queue would keep itself alive.
        const std::shared_ptr<CompletionQueue> queue = std::move(completion->queue);
        completion->status = status;
        queue->add(completion);
    }

    // Waits for completions if the descriptor blocks, and returns them, oldest first. The caller deletes them.
    Completion* take() noexcept {
        std::uint64_t count = 0;
        if (read(descriptor_, &count, sizeof count) < 0) count = 0;
        Completion* first = nullptr;
        for (Completion* newest = head_.exchange(nullptr); newest;) {
            Completion* older = std::exchange(newest->next, first);
            first = std::exchange(newest, older);
        }
        return first;
    }

private:
    explicit CompletionQueue(int descriptor) noexcept : descriptor_(descriptor) {}

    // Only the first of several completions wakes the reader.
    void add(Completion* completion) noexcept {
        Completion* head = head_.load();
        do completion->next = head;
        while (!head_.compare_exchange_weak(head, completion));
        const std::uint64_t one = 1;
        if (!head && write(descriptor_, &one, sizeof one) < 0) return;  // cannot fail: the count is far from its limit
    }

    const int descriptor_;
    std::atomic<Completion*> head_{nullptr};
};

}  // namespace cuda_core
