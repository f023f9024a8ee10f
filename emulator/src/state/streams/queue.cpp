// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "queue.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "../../config.hpp"
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
    uint64_t helped = 0; // how often a waiting thread has run items

    // Called under the lock.
    void list(std::shared_ptr<Queue> queue)
    {
        ready_[queue->priority_].push_back(std::move(queue));
        ++listed_;
        ++changes_;
        call_help();
    }

    // For a thread that cannot continue before listed queues have run; also callable without the lock.
    void hurry()
    {
        if (listed_ > 0 && looking_.exchange(false))
            wake_.notify_one();
    }

    // For a waiting thread, in shuffled order: runs the first item of a randomly chosen queue. Returns false if no
    // queue was ready, or if only workers may run its item.
    bool run_any(std::unique_lock<std::mutex>& lock, bool all_kinds)
    {
        turn_ended_.wait_for(lock, std::chrono::milliseconds(100), [&] { return !chosen_; });
        // Sorted, because the order in which queues became ready depends on timing.
        std::vector<std::shared_ptr<Queue>> ready;
        for (const auto& row : ready_)
            ready.insert(ready.end(), row.second.begin(), row.second.end());
        if (ready.empty())
            return false;
        std::sort(ready.begin(), ready.end(), [](const auto& a, const auto& b) { return a->id_ < b->id_; });
        auto queue = ready[next_choice() % ready.size()];
        ready.clear();
        if (queue->items_.empty() || all_kinds || !queue->items_.front().operation.calls_host()) {
            auto& row = ready_[queue->priority_];
            row.erase(std::find(row.begin(), row.end(), queue));
            --listed_;
            queue->listed_ = false;
            ++changes_;
            ++chosen_;
            if (!queue->running_ && !queue->items_.empty())
                queue->drain(lock, queue->items_.front().number, false, true);
            --chosen_;
            turn_ended_.notify_all();
            lock.unlock();
            queue.reset(); // may be the last reference
            lock.lock();
            return true;
        }
        let_worker_choose(lock);
        return false;
    }

    // For a querying thread, in shuffled order: a worker runs one item while this waits, because the order would
    // otherwise depend on timing. The wait is short, because the kernel may itself wait for the host.
    void let_worker_choose(std::unique_lock<std::mutex>& lock)
    {
        if (listed_ && !chosen_) {
            urgent_ = true;
            call_help();
        }
        turn_ended_.wait_for(lock, std::chrono::milliseconds(100), [&] { return !urgent_ && !chosen_; });
    }

private:
    // In shuffled order, workers leave the choice to the waiting thread, unless none has chosen for a while: the host
    // may be waiting for a kernel without a driver call.
    bool leaves_choice(std::unique_lock<std::mutex>& lock)
    {
        uint64_t seen = changes_;
        ++idle_;
        const bool asked = wake_.wait_for(lock, std::chrono::milliseconds(400), [&] { return urgent_; });
        --idle_;
        urgent_ = false;
        turn_ended_.notify_all();
        return !asked && seen != changes_;
    }

    // One thread is always on its way to a listed queue, so an operation that waits for the host never holds up another
    // stream. One is enough, because most operations are short. A worker that polls is not woken, because that would
    // take longer than a small kernel.
    void call_help()
    {
        if (looking_)
            return;
        if (idle_ > 0)
            wake_.notify_one();
        else if (!starting_)
            starting_ = start();
    }

    // Waits for a listed queue. A worker that was woken in vain, because waiting threads run their items themselves,
    // polls after 0.1 ms instead.
    void rest(std::unique_lock<std::mutex>& lock)
    {
        ++idle_;
        if (looking_ || helped_seen_ == helped || is_shuffled()) {
            wake_.wait(lock);
        } else {
            helped_seen_ = helped;
            looking_ = true;
            wake_.wait_for(lock, std::chrono::microseconds(100));
            looking_ = false;
        }
        --idle_;
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
            while (listed_ == 0)
                rest(lock);
            if (is_shuffled()) {
                if (!leaves_choice(lock))
                    run_any(lock, true);
                continue;
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
    std::condition_variable wake_, turn_ended_;
    int idle_ = 0;
    std::atomic<int> listed_{0};
    uint64_t changes_ = 0; // counts changes of the ready queues
    int chosen_ = 0;       // items that run_any() runs
    uint64_t helped_seen_ = 0;
    std::atomic<bool> looking_{false}; // a worker polls the queues
    bool starting_ = false, urgent_ = false;
};

bool Place::reached() const
{
    return !queue || queue->completed() >= number;
}

namespace {

std::atomic<uint64_t> next_queue{1};

} // namespace

Queue::Queue(bool part, int priority) : id_(next_queue++), part_(part), priority_(priority) {}

// Called under the lock. Returns true if the first item waits for another queue, which then calls back.
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
        bool whole;
        {
            exec::TurnScope scope(std::move(item.turn));
            whole = execute(item.operation);
        }
        item.operation.work = nullptr; // destroys its captures outside the lock
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

// ------------------------------------------------------------------------ order, for the check of races

namespace {

constexpr size_t orders_remembered = 4096;
exec::Order& host_order = *new exec::Order; // what the host has waited for; protected by the lock
exec::Order& before_frees = *new exec::Order; // see Queue::frees_follow(); protected by the lock

} // namespace

// Adds the items that come before an item of this queue, and the item itself. Called under the lock.
void Queue::add_order(exec::Order* order, uint64_t number) const
{
    auto after = orders_.upper_bound(number);
    if (after != orders_.begin())
        exec::join(*order, *std::prev(after)->second);
    else if (part_ && number) // an event in a graph that has not run, so its predecessors are not known yet
        exec::join(*order, exec::everything);
    exec::join(*order, {{id_, number}});
}

// Called under the lock, for a new item.
std::shared_ptr<const exec::Turn> Queue::turn_after(uint64_t number, const Operation& operation,
                                                    const std::vector<Place>& places)
{
    exec::Order order = host_order;
    add_order(&order, number - 1);
    for (const Place& place : places)
        if (place.queue)
            place.queue->add_order(&order, place.number);
    if (operation.follows_unknown())
        exec::join(order, exec::everything);
    auto& last = orders_.empty() ? orders_[number] : std::prev(orders_.end())->second;
    auto turn = std::make_shared<exec::Turn>();
    turn->queue = id_, turn->number = number;
    turn->name = operation.name;
    auto before = std::make_shared<exec::Order>(order);
    if (operation.kind == Operation::Kind::release)
        exec::join(*before, before_frees);
    turn->before = std::move(before);
    order.erase(id_);
    if (!last || *last != order)
        orders_[number] = std::make_shared<exec::Order>(std::move(order));
    if (orders_.size() > orders_remembered)
        orders_.erase(orders_.begin());
    return turn;
}

// Called under the lock, for a new item that is part of the running operation.
std::shared_ptr<const exec::Turn> Queue::turn_within(uint64_t number)
{
    auto turn = exec::current_turn();
    if (turn) {
        auto order = std::make_shared<exec::Order>(*turn->before);
        exec::join(*order, {{turn->queue, turn->number}});
        orders_[number] = std::move(order);
    }
    return turn;
}

bool Place::can_be_ignored() const
{
    return reached() && !config().checks.races;
}

bool Place::is_seen() const
{
    std::lock_guard lock(Workers::get().mutex);
    auto row = queue ? host_order.find(queue->id_) : host_order.end();
    return row != host_order.end() && row->second >= number;
}

void Place::seen() const
{
    if (!queue || !config().checks.races)
        return;
    std::lock_guard lock(Workers::get().mutex);
    queue->add_order(&host_order, number);
}

void Queue::frees_follow(const exec::Order& items)
{
    std::lock_guard lock(Workers::get().mutex);
    exec::join(before_frees, items);
}

// Of a node in a graph, everything in the graph.
void Queue::host_follows(const exec::Turn& turn)
{
    std::lock_guard lock(Workers::get().mutex);
    exec::join(host_order, *turn.before);
    exec::join(host_order, {{turn.queue, turn.number}});
}

uint64_t Queue::add(Operation operation, std::vector<Place> places, bool wake)
{
    std::vector<Place> all;
    if (config().checks.races)
        all = places;
    places.erase(std::remove_if(places.begin(), places.end(), [](const Place& place) { return place.reached(); }),
                 places.end());
    std::lock_guard lock(Workers::get().mutex);
    uint64_t number = submitted_.load(std::memory_order_relaxed) + 1;
    submitted_.store(number, std::memory_order_release);
    std::shared_ptr<const exec::Turn> turn;
    if (config().checks.races)
        turn = part_ ? turn_within(number) : turn_after(number, operation, all);
    if (!operation.work && places.empty() && items_.empty() && !running_) {
        finish(number); // a wait for nothing, which is only needed for the order
        return number;
    }
    items_.push_back({number, std::move(places), std::move(operation), std::move(turn)});
    if (wake && items_.size() == 1 && !running_ && !is_blocked())
        make_ready();
    return number;
}

std::atomic<int> waiting_threads{0};

void Queue::wait(uint64_t number, bool all_kinds)
{
    check_host_sources();
    if (completed() >= number)
        return;
    auto self = shared_from_this();
    struct Waits {
        Waits() { ++waiting_threads; }
        ~Waits() { --waiting_threads; }
    } waits;
    std::unique_lock lock(Workers::get().mutex);
    if (is_shuffled() && !running_ && !listed_ && !items_.empty() && !is_blocked())
        make_ready();
    while (completed() < number) {
        if (is_shuffled()) {
            if (!Workers::get().run_any(lock, all_kinds)) {
                ++sleepers_;
                done_.wait_for(lock, std::chrono::milliseconds(1));
                --sleepers_;
            }
            continue;
        }
        if (!running_ && !items_.empty() && items_.front().number <= number) {
            size_t before = items_.size();
            uint64_t done = completed();
            ++Workers::get().helped;
            drain(lock, number, true, all_kinds);
            if (completed() != done || items_.size() != before)
                continue;
        }
        if (completed() >= number)
            break;
        Workers::get().hurry();
        ++sleepers_;
        done_.wait(lock);
        --sleepers_;
    }
    lock.unlock();
    check_host_sources();
}

void Queue::let_run()
{
    Workers& workers = Workers::get();
    if (!is_shuffled())
        return workers.hurry();
    std::unique_lock lock(workers.mutex);
    workers.let_worker_choose(lock);
}

void Queue::wait_until(uint64_t number, std::chrono::steady_clock::time_point end)
{
    std::unique_lock lock(Workers::get().mutex);
    Workers::get().hurry();
    ++sleepers_;
    done_.wait_until(lock, end, [&] { return completed() >= number; });
    --sleepers_;
}

namespace {

std::atomic<bool> reports_kept{false};

} // namespace

void Queue::keep_reports()
{
    reports_kept = true;
}

bool Queue::report_dropped(uint64_t before)
{
    uint64_t now = dropped();
    uint64_t reported = reports_kept ? reported_.load() : reported_.exchange(now);
    bool reports = reported != now || now != before;
    if (reports)
        explain("running kernels were ended, and the work queued after them was dropped; the context stays usable");
    return reports;
}

CUresult wait_for(const std::vector<Place>& places)
{
    std::vector<uint64_t> before;
    for (const Place& place : places)
        before.push_back(place.queue->dropped());
    bool whole = true;
    for (size_t i = 0; i < places.size(); ++i) {
        places[i].queue->wait(places[i].number);
        places[i].seen();
        whole &= !places[i].queue->report_dropped(before[i]);
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
    std::atomic<uint64_t> made{0}, values{0};
};
Callbacks& callbacks = *new Callbacks;

} // namespace

void Queue::forget_threads()
{
    new (&Workers::get().mutex) std::mutex;
    new (&callbacks) Callbacks;
}

uint64_t host_orders()
{
    return callbacks.made + callbacks.values;
}

void count_value_operation()
{
    ++callbacks.values;
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
    ++callbacks.made;
    calling_back = true;
    if (auto turn = exec::current_turn(); turn && turn->before)
        Queue::host_follows(*turn);
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
