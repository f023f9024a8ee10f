// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

#include <algorithm>
#include <condition_variable>
#include <cxxabi.h>
#include <set>
#include <unordered_map>
#include <utility>

#include "../exec/checks/races.hpp"
#include "core_dumps.hpp"
#include "device.hpp"
#include "device_heap.hpp"
#include "graphics.hpp"
#include "limits.hpp"
#include "memory/arena.hpp"
#include "textures/image_object.hpp"

namespace emu::state {

std::atomic<uint64_t> context_epoch{1};

namespace {

HandleTable<Context, CUcontext>& contexts()
{
    static auto* rows = new HandleTable<Context, CUcontext>;
    return *rows;
}

std::atomic<uint64_t> next_context_id{1};

using EndAction = void (*)(const Context&);
std::vector<EndAction>& end_actions() // all are added before the first driver call
{
    static auto* actions = new std::vector<EndAction>;
    return *actions;
}

std::mutex ended_mutex;
std::unordered_map<CUcontext, int>& ended() // the device of each destroyed context
{
    static auto* rows = new std::unordered_map<CUcontext, int>;
    return *rows;
}

// Returns true if an operation has an effect visible to the program. After a context error or an interruption, such
// operations are skipped. The others still run to keep the order: events are reached, and memory is returned.
bool has_effect(Operation::Kind kind)
{
    using Kind = Operation::Kind;
    return kind == Kind::kernel || kind == Kind::copy || kind == Kind::fill || kind == Kind::host_function ||
           kind == Kind::outside_wait;
}

bool execute(const std::weak_ptr<Context>& weak, Operation& operation)
{
    auto context = weak.lock();
    if (!operation.work)
        return true;
    GenerationScope scope(operation.generation);
    if (context && has_effect(operation.kind)) {
        if (context->sticky() != CUDA_SUCCESS)
            return true;
        if (context->is_interrupted())
            return false;
    }
    CUresult result = CUDA_ERROR_UNKNOWN;
    try {
        result = operation.work();
    } catch (const std::bad_alloc&) {
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } catch (const abi::__forced_unwind&) {
        throw; // at exit, the interpreter ends threads that call into it
    } catch (...) {
    }
    if (std::string race = exec::take_transfer_race(); !race.empty() && context)
        context->fail(CUDA_ERROR_LAUNCH_FAILED, race);
    if (result != CUDA_SUCCESS && context)
        context->fail(result, std::string(operation.name) + " failed while it ran");
    bool can_miss = has_effect(operation.kind) || operation.kind == Operation::Kind::graph;
    return !context || !can_miss || !context->is_interrupted();
}

} // namespace

struct Context::State {
    Device* device = nullptr;
    CUcontext handle = nullptr;
    uint64_t id = 0;
    std::atomic<unsigned> flags{0};
    bool primary = false;
    std::atomic<CUresult> sticky{CUDA_SUCCESS};
    std::string report; // describes the failure
    bool reported = false; // a driver call has returned the failure
    std::shared_ptr<Queue> legacy_queue;
    std::once_flag legacy_made;
    std::shared_ptr<Stream> legacy;
    mutable std::mutex mutex;
    std::vector<StreamRow> streams;
    size_t streams_to_search = 0; // this many rows are searched for streams that no longer exist
    std::set<uint64_t> peers; // ids of contexts whose memory this context's kernels may access
    std::vector<int> peer_devices;
    std::set<uint64_t> launches; // ids of running launches
    std::condition_variable launch_ended;
    std::atomic<uint32_t> generation{0};
    LimitTable limits;
    bool has_heap = false, heap_tried = false;
};

Context::Context(Device& device, unsigned flags, bool primary) : state_(new State)
{
    state_->device = &device;
    state_->id = next_context_id++;
    state_->flags = flags;
    state_->primary = primary;
}

Context::~Context() = default;

CUresult Context::create(Device& device, unsigned flags, bool primary, CUcontext* out)
{
    auto context = std::make_shared<Context>(device, flags, primary);
    context->state_->legacy_queue = context->make_queue(0);
    *out = contexts().add(context);
    context->state_->handle = *out;
    ++context_epoch;
    return CUDA_SUCCESS;
}

CUresult Context::revive(Device& device, unsigned flags, CUcontext handle)
{
    auto context = std::make_shared<Context>(device, flags, true);
    context->state_->legacy_queue = context->make_queue(0);
    context->state_->handle = handle;
    contexts().put(handle, context);
    ++context_epoch;
    return CUDA_SUCCESS;
}

CUresult Context::destroy(CUcontext handle)
{
    auto context = contexts().find(handle);
    if (!context)
        return error_for(handle);
    {
        std::lock_guard lock(ended_mutex);
        ended()[handle] = context->device().ordinal();
    }
    context->fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "");
    if (!contexts().remove(handle))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    ++context_epoch;
    context->end();
    return CUDA_SUCCESS;
}

// Ends the context and everything that belongs to it.
void Context::end()
{
    State& s = *state_;
    interrupt();
    wait_idle();
    exec::flush_output();
    for (EndAction action : end_actions())
        action(*this);
    {
        std::lock_guard lock(s.mutex);
        s.streams.clear();
    }
    if (s.has_heap)
        DeviceHeap::release(device());
    for (int peer : peer_devices())
        exec::set_peer_access(device().ordinal(), peer, false);
    GraphicsResource::forget_context(s.handle);
    ImageObject::forget_context(s.handle);
    MipmappedArray::forget_context(s.handle);
    Array::forget_context(s.handle);
    AddressSpace::get().release_context(s.handle);
}

std::shared_ptr<Context> Context::find(CUcontext handle)
{
    return contexts().find(handle);
}

CUresult Context::error_for(CUcontext handle)
{
    return handle && contexts().state_of(handle) == HandleState::destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                                           : CUDA_ERROR_INVALID_CONTEXT;
}

Device* Context::device_of_destroyed(CUcontext handle)
{
    std::lock_guard lock(ended_mutex);
    auto row = ended().find(handle);
    return row == ended().end() ? nullptr : device_at(row->second);
}

std::vector<std::pair<std::shared_ptr<Context>, Origin>> Context::all()
{
    auto rows = contexts().all();
    std::set<const Context*> seen;
    rows.erase(
        std::remove_if(rows.begin(), rows.end(), [&](const auto& row) { return !seen.insert(row.first.get()).second; }),
        rows.end());
    return rows;
}

CUcontext Context::add_alias()
{
    CUcontext handle = contexts().add(shared_from_this());
    ++context_epoch;
    return handle;
}

AtContextEnd::AtContextEnd(void (*action)(const Context&))
{
    end_actions().push_back(action);
}

void Context::remove_alias(CUcontext handle)
{
    contexts().remove(handle);
    ++context_epoch;
}

CUcontext Context::handle() const
{
    return state_->handle;
}
Device& Context::device() const
{
    return *state_->device;
}
uint64_t Context::id() const
{
    return state_->id;
}
unsigned Context::flags() const
{
    return state_->flags;
}
bool Context::is_primary() const
{
    return state_->primary;
}

CUresult Context::set_flags(unsigned flags)
{
    state_->flags = flags;
    return CUDA_SUCCESS;
}

CUresult Context::sticky() const
{
    return state_->sticky.load(std::memory_order_relaxed);
}

bool Context::fail(CUresult code, const std::string& text)
{
    std::lock_guard lock(state_->mutex);
    if (state_->sticky != CUDA_SUCCESS)
        return false;
    state_->report = text;
    state_->sticky = code;
    return true;
}

// `is_first`: no noticed call has returned it before.
std::string Context::report_of(CUresult code, bool noticed, bool* is_first)
{
    std::vector<std::shared_ptr<Context>> candidates{current()};
    for (const auto& row : contexts().all())
        candidates.push_back(row.first);
    for (const auto& context : candidates) {
        if (!context || context->sticky() != code)
            continue;
        std::lock_guard lock(context->state_->mutex);
        *is_first = noticed && !context->state_->reported && !context->state_->report.empty();
        context->state_->reported |= noticed;
        return context->state_->report;
    }
    return {};
}

std::string Context::take_unreported_fault()
{
    std::lock_guard lock(state_->mutex);
    bool known = state_->sticky == CUDA_SUCCESS || std::exchange(state_->reported, true);
    return known ? std::string() : state_->report + "\n";
}

void Context::recover()
{
    std::lock_guard lock(state_->mutex);
    if (state_->sticky == CUDA_ERROR_CONTEXT_IS_DESTROYED)
        return;
    if (state_->sticky != CUDA_SUCCESS && !state_->reported && !state_->report.empty())
        say(state_->report);
    state_->sticky = CUDA_SUCCESS;
    state_->report.clear();
    state_->reported = false;
}

void Context::fail(const exec::Fault& fault)
{
    if (fail(fault.code == CUDA_SUCCESS ? exec::result_of(fault.kind) : fault.code, fault.text))
        core_dumps::write(device().ordinal(), fault.text);
}

std::shared_ptr<Queue> Context::make_queue(int priority)
{
    auto queue = std::make_shared<Queue>(false, priority);
    queue->execute = [weak = weak_from_this()](Operation& operation) { return execute(weak, operation); };
    return queue;
}

const std::shared_ptr<Queue>& Context::legacy_queue() const
{
    return state_->legacy_queue;
}

std::shared_ptr<Stream> Context::legacy_stream(std::shared_ptr<Stream> (*make)(Context&))
{
    std::call_once(state_->legacy_made, [&] { state_->legacy = make(*this); });
    return state_->legacy;
}

std::vector<std::shared_ptr<Stream>> Context::streams(uint64_t green) const
{
    std::lock_guard lock(state_->mutex);
    std::vector<std::shared_ptr<Stream>> out;
    for (const auto& row : state_->streams)
        if (auto stream = row.stream.lock(); stream && (!green || row.green == green))
            out.push_back(std::move(stream));
    return out;
}

// Returns true if no operation has to follow the stream's work.
static bool is_past(const StreamRow& row)
{
    return Place{row.queue, row.queue->submitted()}.can_be_ignored();
}

void Context::add_stream(StreamRow added)
{
    std::lock_guard lock(state_->mutex);
    auto& rows = state_->streams;
    if (rows.size() >= state_->streams_to_search) {
        rows.erase(std::remove_if(rows.begin(), rows.end(),
                                  [](const StreamRow& row) { return row.stream.expired() && is_past(row); }),
                   rows.end());
        state_->streams_to_search = std::max<size_t>(64, 2 * rows.size());
    }
    rows.push_back(std::move(added));
}

// A destroyed stream with pending work stays in the list, because operations of other streams may have to follow that
// work.
void Context::remove_stream(const Stream* stream)
{
    std::lock_guard lock(state_->mutex);
    auto& rows = state_->streams;
    rows.erase(std::remove_if(rows.begin(), rows.end(),
                              [&](const StreamRow& row) { return row.key == stream && is_past(row); }),
               rows.end());
}

std::vector<Place> Context::blocking_ends(uint64_t green) const
{
    std::lock_guard lock(state_->mutex);
    std::vector<Place> places;
    for (const auto& row : state_->streams)
        if (row.blocking && row.green == green && !is_past(row))
            places.push_back({row.queue, row.queue->submitted()});
    return places;
}

std::vector<Place> Context::ends(uint64_t green) const
{
    std::vector<Place> places;
    if (!green)
        places.push_back({state_->legacy_queue, state_->legacy_queue->submitted()});
    std::lock_guard lock(state_->mutex);
    for (const auto& row : state_->streams)
        if (!green || row.green == green)
            places.push_back({row.queue, row.queue->submitted()});
    return places;
}

void Context::wait_idle()
{
    for (const auto& place : ends()) {
        place.queue->wait(place.number);
        place.seen();
    }
}

void Context::wait_idle(std::chrono::steady_clock::time_point end)
{
    for (const auto& place : ends())
        place.queue->wait_until(place.number, end);
}

CUresult Context::synchronize(uint64_t green)
{
    CUresult result = wait_for(ends(green));
    exec::flush_output();
    count_synchronization();
    return sticky() ? sticky() : result;
}

CUresult Context::limit(CUlimit limit, size_t* value) const
{
    std::lock_guard lock(state_->mutex);
    return state_->limits.get(limit, value);
}

CUresult Context::set_limit(CUlimit limit, size_t value)
{
    std::lock_guard lock(state_->mutex);
    if (limit == CU_LIMIT_MALLOC_HEAP_SIZE && state_->heap_tried)
        return CUDA_ERROR_INVALID_VALUE; // the first launch fixes it
    return state_->limits.set(limit, value);
}

exec::Limits Context::limits() const
{
    std::lock_guard lock(state_->mutex);
    return state_->limits.for_launch();
}

void Context::prepare_heap()
{
    size_t size = 0;
    {
        std::lock_guard lock(state_->mutex);
        if (state_->heap_tried)
            return;
        state_->heap_tried = true;
        state_->limits.get(CU_LIMIT_MALLOC_HEAP_SIZE, &size);
    }
    state_->has_heap = DeviceHeap::retain(device(), size);
}

CUresult Context::enable_peer(Context& other)
{
    int from = device().ordinal(), to = other.device().ordinal();
    if (from == to || !can_access_peer(from, to))
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    std::lock_guard lock(state_->mutex);
    if (!state_->peers.insert(other.id()).second)
        return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    state_->peer_devices.push_back(to);
    exec::set_peer_access(from, to, true);
    return CUDA_SUCCESS;
}

CUresult Context::disable_peer(Context& other)
{
    int from = device().ordinal(), to = other.device().ordinal();
    std::lock_guard lock(state_->mutex);
    if (!state_->peers.erase(other.id()))
        return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
    auto& devices = state_->peer_devices;
    devices.erase(std::find(devices.begin(), devices.end(), to));
    exec::set_peer_access(from, to, false);
    return CUDA_SUCCESS;
}

bool Context::is_peer(const Context& other) const
{
    std::lock_guard lock(state_->mutex);
    return state_->peers.count(other.id()) != 0;
}

std::vector<int> Context::peer_devices() const
{
    std::lock_guard lock(state_->mutex);
    return state_->peer_devices;
}

bool Context::begin_launch(uint64_t id)
{
    std::lock_guard lock(state_->mutex);
    return !is_interrupted() && state_->launches.insert(id).second;
}

void Context::end_launch(uint64_t id)
{
    std::lock_guard lock(state_->mutex);
    state_->launches.erase(id);
    state_->launch_ended.notify_all();
}

// Cancels the running launches. A launch between begin_launch() and its registration with the executor cannot be
// canceled yet, so this repeats until none of the earlier launches is left.
void Context::interrupt()
{
    constexpr int most_rounds = 100;
    std::unique_lock lock(state_->mutex);
    ++state_->generation;
    auto launches = state_->launches;
    for (int round = 0; round < most_rounds && !launches.empty(); ++round) {
        lock.unlock();
        for (uint64_t id : launches)
            exec::cancel(id);
        lock.lock();
        state_->launch_ended.wait_for(lock, std::chrono::milliseconds(10));
        for (auto row = launches.begin(); row != launches.end();)
            row = state_->launches.count(*row) ? std::next(row) : launches.erase(row);
    }
}

uint32_t Context::generation() const
{
    return state_->generation.load(std::memory_order_acquire);
}

namespace {

thread_local uint32_t generation_of_work = 0;

} // namespace

bool Context::is_interrupted() const
{
    return generation() != generation_of_work;
}

GenerationScope::GenerationScope(uint32_t generation) : outer_(generation_of_work)
{
    generation_of_work = generation;
}

GenerationScope::~GenerationScope()
{
    generation_of_work = outer_;
}

bool owner_is_interrupted(const std::weak_ptr<Context>& weak)
{
    auto context = weak.lock();
    return !context || context->is_interrupted();
}

} // namespace emu::state
