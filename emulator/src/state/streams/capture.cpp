// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "capture.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "capture_calls.hpp"
#include "event.hpp"

namespace emu::state {
namespace {

struct Captures {
    std::mutex mutex;
    std::vector<std::shared_ptr<Capture>> active;
    std::atomic<int> count{0}; // read without the lock: 0 when nothing captures
    uint64_t next_id = 1, next_thread = 1;
};

Captures& captures()
{
    static auto* all = new Captures;
    return *all;
}

thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

// Called under the lock.
uint64_t thread_number()
{
    thread_local uint64_t number = captures().next_thread++;
    return number;
}

void add_once(std::vector<GraphNode*>& nodes, const std::vector<GraphNode*>& more)
{
    for (GraphNode* node : more)
        if (std::find(nodes.begin(), nodes.end(), node) == nodes.end())
            nodes.push_back(node);
}

} // namespace

// ------------------------------------------------------------------ begin, end, state

CUresult Capture::begin(Stream& stream, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
                        std::vector<GraphNode*> after, std::shared_ptr<Recapture> recapture)
{
    if (stream.is_legacy())
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    Captures& all = captures();
    std::lock_guard lock(all.mutex);
    if (stream.capture_)
        return CUDA_ERROR_ILLEGAL_STATE;
    auto capture = std::make_shared<Capture>();
    capture->id_ = all.next_id++;
    capture->mode_ = mode;
    capture->thread_ = thread_number();
    capture->origin_ = stream.weak_from_this();
    capture->own_graph_ = !graph;
    capture->graph_ = graph ? std::move(graph) : Graph::make();
    capture->recapture_ = std::move(recapture);
    capture->streams_.push_back(stream.weak_from_this());
    stream.frontier_ = std::move(after);
    stream.capture_ = capture;
    stream.capturing_ = true;
    all.active.push_back(std::move(capture));
    ++all.count;
    return CUDA_SUCCESS;
}

// Called under the lock, like the functions that follow. The streams execute work again.
void Capture::finish()
{
    if (std::exchange(ended_, true))
        return;
    for (auto& row : streams_)
        if (auto stream = row.lock()) {
            stream->capturing_ = false;
            stream->capture_.reset();
            stream->frontier_.clear();
        }
    auto& active = captures().active;
    active.erase(std::remove_if(active.begin(), active.end(), [&](const auto& row) { return row.get() == this; }),
                 active.end());
    --captures().count;
}

void Capture::fail()
{
    invalid_ = true;
}

// The nodes that precede one of `ends`, and `ends`.
static std::set<const GraphNode*> nodes_before(const std::vector<GraphNode*>& ends)
{
    std::set<const GraphNode*> seen(ends.begin(), ends.end());
    std::vector<const GraphNode*> next(ends.begin(), ends.end());
    while (!next.empty()) {
        const GraphNode* node = next.back();
        next.pop_back();
        for (const GraphNode* from : node->from)
            if (seen.insert(from).second)
                next.push_back(from);
    }
    return seen;
}

// Returns true if every node added by the streams precedes one of `ends`. Nodes added by hand need not.
bool Capture::is_joined(const std::vector<GraphNode*>& ends) const
{
    const auto seen = nodes_before(ends);
    const auto& nodes = graph_->nodes();
    return std::all_of(nodes.begin(), nodes.end(),
                       [&](const auto& node) { return seen.count(node.get()) || !nodes_.count(node->handle); });
}

// Returns true if the last nodes of a stream precede what its other streams add next.
bool Capture::is_followed(const Stream& stream) const
{
    std::vector<GraphNode*> others;
    for (const auto& row : streams_)
        if (auto other = row.lock(); other && other.get() != &stream)
            others.insert(others.end(), other->frontier_.begin(), other->frontier_.end());
    const auto seen = nodes_before(others);
    const auto& ends = stream.frontier_;
    return std::all_of(ends.begin(), ends.end(), [&](const GraphNode* end) { return seen.count(end); });
}

// Returns false if a recapture has not repeated all nodes, or the program has added some.
bool Capture::is_complete() const
{
    return !recapture_ ||
           (recapture_->reached == recapture_->nodes.size() && graph_->nodes().size() == recapture_->nodes.size());
}

CUresult Capture::end(Stream& stream, CUgraph* out)
{
    *out = nullptr;
    Captures& all = captures();
    std::shared_ptr<Capture> capture; // destroyed after the lock is released
    std::lock_guard lock(all.mutex);
    capture = stream.capture_;
    if (!capture)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin_.lock().get() != &stream) {
        capture->fail();
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    CUresult result = CUDA_SUCCESS;
    if (capture->mode_ != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread_ != thread_number())
        result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    else if (capture->invalid_)
        result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (!capture->is_joined(stream.frontier_))
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    else if (!capture->is_complete())
        result = CUDA_ERROR_GRAPH_RECAPTURE_FAILURE;
    if (result && capture->own_graph_)
        Graph::destroy(capture->graph_->handle());
    else if (!result)
        *out = capture->graph_->handle();
    capture->finish();
    return result;
}

CUresult Capture::info(const Stream& stream, CaptureInfo* out)
{
    Captures& all = captures();
    if (stream.is_legacy()) {
        auto context = stream.context();
        return context ? reject_in(*context, true, false) : CUDA_SUCCESS;
    }
    std::lock_guard lock(all.mutex);
    if (!stream.capture_)
        return CUDA_SUCCESS;
    const Capture& capture = *stream.capture_;
    out->id = capture.id_;
    out->status = capture.invalid_ ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    if (capture.invalid_)
        return CUDA_SUCCESS;
    out->graph = capture.graph_->handle();
    for (const GraphNode* node : stream.frontier_)
        out->dependencies.push_back(node->handle);
    return CUDA_SUCCESS;
}

CUresult Capture::set_dependencies(Stream& stream, const std::vector<GraphNode*>& nodes, bool replace)
{
    std::lock_guard lock(captures().mutex);
    if (!stream.capture_)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (stream.capture_->invalid_)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    for (GraphNode* node : nodes)
        if (node->graph.lock() != stream.capture_->graph_)
            return CUDA_ERROR_INVALID_VALUE;
    if (replace) {
        for (const GraphNode* node : stream.frontier_)
            stream.capture_->nodes_.erase(node->handle); // it then need not be joined, as documented
        stream.frontier_.clear();
    }
    add_once(stream.frontier_, nodes);
    return CUDA_SUCCESS;
}

void Capture::leave(Stream& stream)
{
    Captures& all = captures();
    if (!all.count)
        return;
    std::shared_ptr<Capture> capture; // destroyed after the lock is released
    std::lock_guard lock(all.mutex);
    capture = stream.capture_;
    if (!capture)
        return;
    auto origin = capture->origin_.lock();
    if (origin && origin.get() != &stream && capture->is_followed(stream))
        return;
    capture->fail();
    if (origin.get() == &stream) {
        if (capture->own_graph_)
            Graph::destroy(capture->graph_->handle());
        capture->finish();
    }
}

// ------------------------------------------------------------------------------- nodes

CUresult Capture::add(Stream& stream, Work work)
{
    std::shared_ptr<Capture> capture;
    std::shared_ptr<GraphNode> node;
    {
        std::lock_guard lock(captures().mutex);
        capture = stream.capture_;
        if (!capture) // it has ended in the meantime
            return CUDA_ERROR_ILLEGAL_STATE;
        if (capture->invalid_)
            return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        if (!capture->recapture_) {
            auto made = capture->graph_->add(std::move(work), stream.frontier_);
            capture->nodes_.insert(made->handle);
            stream.frontier_ = {made.get()};
            return CUDA_SUCCESS;
        }
        if (!(node = capture->expected(stream, *work))) {
            capture->fail();
            return CUDA_ERROR_GRAPH_RECAPTURE_FAILURE;
        }
        ++capture->recapture_->reached;
        capture->nodes_.insert(node->handle);
        stream.frontier_ = {node.get()};
    }
    return capture->renew(node, std::move(work));
}

// Returns the node of a recapture that comes next, or null if it has another type or other predecessors.
std::shared_ptr<GraphNode> Capture::expected(const Stream& stream, const NodeWork& work) const
{
    if (recapture_->reached == recapture_->nodes.size())
        return nullptr;
    const auto& node = recapture_->nodes[recapture_->reached];
    auto now = work_as<FreeWork>(node->work);
    auto next = dynamic_cast<const FreeWork*>(&work);
    const NodeSet from(stream.frontier_.begin(), stream.frontier_.end());
    bool same = node->work->type == work.type && node->from == from;
    if (now && next)
        same = same && now->memory == next->memory;
    else if (work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        same = same && node->work.get() == &work;
    return same ? node : nullptr;
}

CUresult Capture::renew(const std::shared_ptr<GraphNode>& node, Work work)
{
    if (recapture_->change(*node, node->work, work) == CUDA_SUCCESS)
        return node->work == work ? CUDA_SUCCESS : graph_->set_work(*node, std::move(work));
    std::lock_guard lock(captures().mutex);
    fail();
    return CUDA_ERROR_GRAPH_RECAPTURE_FAILURE;
}

// For a recapture: returns the record of the allocation that comes next, or null if that differs. Returns false if the
// stream captures new nodes.
bool Capture::reallocate(const Stream& stream, int device, size_t size, CUmemoryPool pool, Work* out)
{
    std::lock_guard lock(captures().mutex);
    auto recapture = stream.capture_ ? stream.capture_->recapture_ : nullptr;
    if (!recapture)
        return false;
    auto known = recapture->reached < recapture->nodes.size()
                     ? work_as<AllocationWork>(recapture->nodes[recapture->reached]->work)
                     : nullptr;
    if (known && known->parameters.bytesize == size && known->parameters.poolProps.location.id == device &&
        known->memory->allocation()->pool == pool)
        *out = known;
    else
        stream.capture_->fail();
    return true;
}

std::shared_ptr<Graph> Capture::graph_of(const Stream& stream)
{
    std::lock_guard lock(captures().mutex);
    return stream.capture_ ? stream.capture_->graph_ : nullptr;
}

bool Capture::recaptures(const Stream& stream)
{
    std::lock_guard lock(captures().mutex);
    return stream.capture_ && stream.capture_->recapture_;
}

CUresult Capture::record(Stream& stream, Event& event)
{
    std::lock_guard lock(captures().mutex);
    if (!stream.capture_)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (stream.capture_->invalid_)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    auto point = event.new_point();
    point->context = stream.context();
    point->capture = stream.capture_;
    point->captured = true;
    point->nodes = stream.frontier_;
    event.publish(std::move(point));
    return CUDA_SUCCESS;
}

CUresult Capture::wait(Stream& stream, const std::shared_ptr<Event>& event, bool external)
{
    auto point = event->last();
    if (external || !point) {
        if (!external || !stream.is_capturing())
            return CUDA_SUCCESS;
        return add(stream, std::make_shared<EventWork>(CU_GRAPH_NODE_TYPE_WAIT_EVENT, event));
    }
    std::lock_guard lock(captures().mutex);
    if (stream.capture_ && stream.capture_->invalid_)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!point->captured) {
        if (!stream.capture_)
            return CUDA_SUCCESS;
        stream.capture_->fail();
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    auto capture = point->capture.lock();
    if (!capture || capture->ended_ || capture->invalid_)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream.capture_ && stream.capture_ != capture) {
        capture->fail();
        stream.capture_->fail();
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (stream.is_legacy()) {
        capture->fail();
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    if (!stream.capture_) {
        capture->streams_.push_back(stream.weak_from_this());
        stream.frontier_.clear();
        stream.capture_ = capture;
        stream.capturing_ = true;
    }
    add_once(stream.frontier_, point->nodes);
    return CUDA_SUCCESS;
}

CUresult Capture::allocate(Stream& stream, int device, size_t size, CUmemoryPool pool, CUdeviceptr* out)
{
    CUDA_MEM_ALLOC_NODE_PARAMS_v1 parameters{};
    parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    parameters.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device}};
    parameters.bytesize = size;
    Work work;
    if (reallocate(stream, device, size, pool, &work)) {
        if (!work)
            return CUDA_ERROR_GRAPH_RECAPTURE_FAILURE;
        *out = work_as<AllocationWork>(work)->parameters.dptr;
        return add(stream, std::move(work));
    }
    if (CUresult failed = AllocationWork::make(parameters, &work))
        return failed;
    work_as<AllocationWork>(work)->memory->allocation()->pool = pool;
    if (CUresult failed = add(stream, std::move(work)))
        return failed;
    *out = parameters.dptr;
    return CUDA_SUCCESS;
}

// Frees graph memory, of this graph or another, once.
CUresult Capture::free(Stream& stream, CUdeviceptr base)
{
    auto memory = GraphMemory::find(base);
    if (!memory)
        return CUDA_ERROR_INVALID_VALUE;
    auto graph = graph_of(stream);
    if (!graph)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (!recaptures(stream) && graph->frees(*memory))
        return CUDA_ERROR_INVALID_VALUE;
    return add(stream, std::make_shared<FreeWork>(std::move(memory)));
}

// ---------------------------------------------------------------------------- rejections

CUresult Capture::reject(Stream& stream)
{
    std::lock_guard lock(captures().mutex);
    if (!stream.capture_)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (stream.capture_->invalid_)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    stream.capture_->fail();
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

void Capture::spoil(Stream& stream)
{
    std::lock_guard lock(captures().mutex);
    if (stream.capture_)
        stream.capture_->fail();
}

CUresult Capture::reject(const Event& event)
{
    auto point = event.last();
    if (!point || !point->captured)
        return CUDA_SUCCESS;
    std::lock_guard lock(captures().mutex);
    auto capture = point->capture.lock();
    if (!capture || capture->ended_ || capture->invalid_)
        return CUDA_ERROR_INVALID_VALUE;
    capture->fail();
    return CUDA_ERROR_CAPTURED_EVENT;
}

bool Capture::is_any()
{
    return captures().count.load(std::memory_order_relaxed) != 0;
}

CUresult Capture::reject_unsafe()
{
    Captures& all = captures();
    if (!all.count.load(std::memory_order_relaxed) || thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    std::lock_guard lock(all.mutex);
    CUresult result = CUDA_SUCCESS;
    for (const auto& capture : all.active) {
        if (capture->origin_.expired())
            continue; // the stream of an exited thread
        bool mine = capture->thread_ == thread_number() && capture->mode_ != CU_STREAM_CAPTURE_MODE_RELAXED;
        bool global = capture->mode_ == CU_STREAM_CAPTURE_MODE_GLOBAL && thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
        if (mine || global) {
            capture->fail();
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return result;
}

CUresult Capture::reject_in(const Context& context, bool legacy, bool ends_it)
{
    Captures& all = captures();
    if (!all.count.load(std::memory_order_relaxed))
        return CUDA_SUCCESS;
    std::lock_guard lock(all.mutex);
    CUresult result = CUDA_SUCCESS;
    for (const auto& capture : all.active)
        for (const auto& row : capture->streams_) {
            auto stream = row.lock();
            if (!stream || stream->context().get() != &context || (legacy && !stream->is_blocking()))
                continue;
            if (ends_it)
                capture->fail();
            result = legacy ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    return result;
}

CUstreamCaptureMode Capture::exchange_mode(CUstreamCaptureMode mode)
{
    return std::exchange(thread_mode, mode);
}

// -------------------------------------------------------------- what units below may ask

namespace {

class Calls final : public CaptureCalls {
    CUresult record(Stream& stream, Event& event) override { return Capture::record(stream, event); }
    CUresult record_external(Stream& stream, const std::shared_ptr<Event>& event) override
    {
        return Capture::add(stream, std::make_shared<EventWork>(CU_GRAPH_NODE_TYPE_EVENT_RECORD, event));
    }
    CUresult wait(Stream& stream, const std::shared_ptr<Event>& event, bool external) override
    {
        return Capture::wait(stream, event, external);
    }
    CUresult allocate(Stream& stream, int device, size_t size, CUmemoryPool pool, CUdeviceptr* out) override
    {
        return Capture::allocate(stream, device, size, pool, out);
    }
    CUresult free(Stream& stream, CUdeviceptr base) override { return Capture::free(stream, base); }
    CUresult reject(Stream& stream) override { return Capture::reject(stream); }
    CUresult reject(const Event& event) override { return Capture::reject(event); }
    CUresult reject_legacy(const Context& context) override { return Capture::reject_in(context, true); }
    void leave(Stream& stream) override { Capture::leave(stream); }
};

Calls calls;

} // namespace

} // namespace emu::state
