// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "queue.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "../origin.hpp"
#include "../thread.hpp"

namespace emu::state {

// The worker threads. Never destroyed, because they may run while the process exits.
class Workers {
public:
    static Workers& get()
    {
        static Workers* workers = new Workers;
        return *workers;
    }

    std::mutex mutex;

    // Called under the lock.
    void list(std::shared_ptr<Queue> queue)
    {
        ready_[queue->priority_].push_back(std::move(queue));
        ++listed_;
        call_help();
    }

private:
    // One thread is always on its way to a listed queue, so that an operation that waits for the host never holds up
    // another stream; one is enough, because most operations are short.
    void call_help()
    {
        if (idle_ > 0)
            wake_.notify_one();
        else if (!starting_)
            starting_ = start();
    }

    bool start()
    {
        auto body = [](void* self) -> void* {
            static_cast<Workers*>(self)->work();
            return nullptr;
        };
        return start_thread("emu-stream", body, this);
    }

    void work()
    {
        std::unique_lock lock(mutex);
        starting_ = false;
        for (;;) {
            while (listed_ == 0) {
                ++idle_;
                wake_.wait(lock);
                --idle_;
            }
            auto first =
                std::find_if(ready_.begin(), ready_.end(), [](const auto& row) { return !row.second.empty(); });
            auto queue = std::move(first->second.front());
            first->second.pop_front();
            --listed_;
            queue->listed_ = false;
            if (listed_ > 0)
                call_help();
            if (!queue->running_)
                queue->drain(lock, std::numeric_limits<uint64_t>::max(), false, true);
            lock.unlock();
            queue.reset(); // may be the last reference
            lock.lock();
        }
    }

    std::map<int, std::deque<std::shared_ptr<Queue>>> ready_; // by priority, the lowest number first
    std::condition_variable wake_;
    int idle_ = 0, listed_ = 0;
    bool starting_ = false;
};

bool Place::reached() const
{
    return !queue || queue->completed() >= number;
}

Queue::Queue(Context*, int priority) : priority_(priority) {}

// Called under the lock: whether the first item waits for another queue, which then calls back.
bool Queue::is_blocked()
{
    auto& places = items_.front().places;
    while (!places.empty()) {
        Place& place = places.back();
        if (!place.reached()) {
            place.queue->waiting_.emplace_back(place.number, weak_from_this());
            return true;
        }
        places.pop_back();
    }
    return false;
}

void Queue::make_ready()
{
    if (running_ || listed_ || items_.empty())
        return;
    listed_ = true;
    Workers::get().list(shared_from_this());
}

void Queue::finish(uint64_t number)
{
    completed_.store(number, std::memory_order_release);
    if (sleepers_)
        done_.notify_all();
    if (waiting_.empty())
        return;
    std::vector<std::shared_ptr<Queue>> woken;
    for (size_t i = 0; i < waiting_.size();) {
        if (waiting_[i].first > number) {
            ++i;
            continue;
        }
        if (auto queue = waiting_[i].second.lock())
            woken.push_back(std::move(queue));
        waiting_[i] = std::move(waiting_.back());
        waiting_.pop_back();
    }
    for (auto& queue : woken)
        queue->make_ready();
}

void Queue::drain(std::unique_lock<std::mutex>& lock, uint64_t last, bool helping, bool all_kinds)
{
    running_ = true;
    bool blocked = false;
    while (!items_.empty() && items_.front().number <= last) {
        if ((blocked = is_blocked()))
            break;
        if (helping && items_.front().operation.calls_host() && !all_kinds)
            break;
        Item item = std::move(items_.front());
        items_.pop_front();
        lock.unlock();
        bool whole = execute(item.operation);
        item.operation.work = nullptr; // destroys its captures outside of the lock
        lock.lock();
        dropped_ += !whole;
        finish(item.number);
    }
    running_ = false;
    if (!items_.empty() && !blocked)
        make_ready();
    if (helping && sleepers_)
        done_.notify_all();
}

uint64_t Queue::add(Operation operation, std::vector<Place> places, bool wake)
{
    places.erase(std::remove_if(places.begin(), places.end(), [](const Place& place) { return place.reached(); }),
                 places.end());
    std::lock_guard lock(Workers::get().mutex);
    uint64_t number = submitted_.load(std::memory_order_relaxed) + 1;
    submitted_.store(number, std::memory_order_release);
    items_.push_back({number, std::move(places), std::move(operation)});
    if (wake && items_.size() == 1 && !running_ && !is_blocked())
        make_ready();
    return number;
}

void Queue::wait(uint64_t number, bool all_kinds)
{
    if (completed() >= number)
        return;
    auto self = shared_from_this();
    std::unique_lock lock(Workers::get().mutex);
    while (completed() < number) {
        if (!running_ && !items_.empty() && items_.front().number <= number) {
            size_t before = items_.size();
            uint64_t done = completed();
            drain(lock, number, true, all_kinds);
            if (completed() != done || items_.size() != before)
                continue;
        }
        if (completed() >= number)
            break;
        ++sleepers_;
        done_.wait(lock);
        --sleepers_;
    }
}

void Queue::wait_until(uint64_t number, std::chrono::steady_clock::time_point end)
{
    std::unique_lock lock(Workers::get().mutex);
    ++sleepers_;
    done_.wait_until(lock, end, [&] { return completed() >= number; });
    --sleepers_;
}

bool Queue::tell_dropped(uint64_t before)
{
    uint64_t now = dropped();
    bool tells = told_.exchange(now) != now || now != before;
    if (tells)
        explain("running kernels were ended, and the work queued behind them was dropped; the context stays usable");
    return tells;
}

CUresult wait_for(const std::vector<Place>& places)
{
    std::vector<uint64_t> before;
    for (const Place& place : places)
        before.push_back(place.queue->dropped());
    bool whole = true;
    for (size_t i = 0; i < places.size(); ++i) {
        places[i].queue->wait(places[i].number);
        whole &= !places[i].queue->tell_dropped(before[i]);
    }
    return whole ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED;
}

namespace {

thread_local bool calling_back = false;

// Never destroyed, like the workers.
struct Callbacks {
    std::mutex mutex;
    std::condition_variable ended;
    int running = 0;
    bool stopped = false;
};
Callbacks& callbacks = *new Callbacks;

} // namespace

void Queue::forget_threads()
{
    new (&Workers::get().mutex) std::mutex;
    new (&callbacks) Callbacks;
}

bool in_callback()
{
    return calling_back;
}

CallbackScope::CallbackScope() : outer_(calling_back)
{
    std::lock_guard lock(callbacks.mutex);
    allowed_ = !callbacks.stopped;
    callbacks.running += allowed_;
    calling_back = true;
}

CallbackScope::~CallbackScope()
{
    calling_back = outer_;
    std::lock_guard lock(callbacks.mutex);
    callbacks.running -= allowed_;
    callbacks.ended.notify_all();
}

void stop_callbacks(std::chrono::milliseconds patience)
{
    std::unique_lock lock(callbacks.mutex);
    callbacks.stopped = true;
    callbacks.ended.wait_for(lock, patience, [] { return callbacks.running == 0; });
}

namespace {

std::atomic<uint64_t> counted{0};

} // namespace

uint64_t synchronizations()
{
    return counted.load(std::memory_order_relaxed);
}

void count_synchronization()
{
    counted.fetch_add(1, std::memory_order_relaxed);
}

} // namespace emu::state
