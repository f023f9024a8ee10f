// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "graph_run.hpp"

#include <algorithm>
#include <condition_variable>
#include <random>
#include <utility>

#include "../../config.hpp"
#include "../../exec/checks/races.hpp"
#include "../streams/event_sharing.hpp"

namespace emu::state {
namespace {

constexpr size_t most_threads = 8;

// The values that cudaGraphLaunch() accepts as its stream, and the limit on pending launches.
constexpr uint64_t as_tail = 1ull << 56, as_child = 2ull << 56, as_sibling = 3ull << 56;
constexpr size_t most_launched = 120, most_tails = 255;

std::shared_ptr<Queue> plain_queue(int priority)
{
    auto queue = std::make_shared<Queue>(true, priority);
    queue->execute = [](Operation& operation) {
        if (operation.work)
            operation.work();
        return true;
    };
    return queue;
}

// Runs the nodes of one graph, on the calling thread and on helpers.
class Pass : public std::enable_shared_from_this<Pass> {
public:
    Pass(const ExecGraph& graph, GraphRun& run) : graph_(graph), run_(run), generation_(run.generation()), turn_(exec::current_turn())
    {
        if (turn_)
            ancestors_.resize(graph.nodes.size());
        for (size_t i = 0; i < graph.nodes.size(); ++i) {
            left_.push_back(graph.nodes[i].before);
            if (!left_.back())
                ready_.push_back(unsigned(i));
        }
    }

    // Returns when every node has run.
    void run()
    {
        std::unique_lock lock(mutex_);
        while (done_ < graph_.nodes.size() || running_)
            if (!run_one(lock))
                changed_.wait(lock);
    }

private:
    // Takes a ready node: the newest one, or a random one in shuffle mode, so that a missing edge becomes visible.
    unsigned take()
    {
        size_t index = ready_.size() - 1;
        if (config().mode == Mode::deterministic)
            index = 0;
        else if (is_shuffled())
            index = random_() % ready_.size();
        unsigned node = ready_[index];
        ready_.erase(ready_.begin() + long(index));
        return node;
    }

    bool run_one(std::unique_lock<std::mutex>& lock)
    {
        if (ready_.empty())
            return false;
        unsigned index = take();
        ++running_;
        call_help();
        lock.unlock();
        const ExecNode& node = graph_.nodes[index];
        if (node.enabled) {
            exec::TurnScope scope(turn_of(index));
            node.work->run(node, run_);
            run_.fail(exec::take_transfer_race());
        }
        lock.lock();
        --running_;
        ++done_;
        for (unsigned next : node.next) {
            pass_order(index, next);
            if (--left_[next] == 0)
                ready_.push_back(next);
        }
        changed_.notify_all();
        return true;
    }

    // For the races check: a node follows its ancestors. Nodes in a body count as the node that owns the body.
    std::shared_ptr<const exec::Turn> turn_of(unsigned index) const
    {
        if (!turn_ || turn_->node)
            return turn_;
        auto turn = std::make_shared<exec::Turn>(*turn_);
        turn->node = turn->earlier_nodes + index + 1;
        turn->ancestors = ancestors_[index];
        return turn;
    }

    void pass_order(unsigned from, unsigned to)
    {
        if (!turn_)
            return;
        ancestors_[to].resize(graph_.nodes.size() + 1);
        ancestors_[to][from + 1] = true;
        for (size_t i = 0; i < ancestors_[from].size(); ++i)
            if (ancestors_[from][i])
                ancestors_[to][i] = true;
    }

    // Called under the lock. Starts a helper for each node that could run now.
    void call_help()
    {
        if (config().mode == Mode::deterministic)
            return;
        while (helpers_ < std::min(ready_.size(), most_threads - 1)) {
            ++helpers_;
            auto queue = plain_queue(run_.priority());
            queue->add({Operation::Kind::host_function, "cuGraphLaunch",
                        [self = shared_from_this()] {
                            self->help();
                            return CUDA_SUCCESS;
                        }},
                       {});
        }
    }

    void help()
    {
        GenerationScope scope(generation_);
        std::unique_lock lock(mutex_);
        while (run_one(lock)) {}
        --helpers_;
        changed_.notify_all();
    }

    const ExecGraph& graph_;
    GraphRun& run_; // like graph_, gone once every node has run: a helper may begin later
    const uint64_t generation_;
    std::shared_ptr<const exec::Turn> turn_; // the launch's turn
    std::vector<std::vector<bool>> ancestors_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<unsigned> left_, ready_;
    size_t running_ = 0, done_ = 0, helpers_ = 0;
    std::minstd_rand random_{unsigned(is_shuffled() ? next_choice() : 1)};
};

// For the races check: the turn of a graph that runs after others in the same item of a queue.
std::shared_ptr<const exec::Turn> turn_after(size_t nodes)
{
    auto current = exec::current_turn();
    if (!current || current->node)
        return current;
    auto turn = std::make_shared<exec::Turn>(*current);
    turn->earlier_nodes = unsigned(nodes);
    return turn;
}

} // namespace

// ------------------------------------------------------------------------------ conditions

void ConditionValues::define(CUgraphConditionalHandle handle, unsigned value, bool assign)
{
    std::lock_guard lock(mutex_);
    rows_[handle] = {value, value, assign};
}

void ConditionValues::begin_run()
{
    std::lock_guard lock(mutex_);
    for (auto& row : rows_)
        if (row.second.assign)
            row.second.value = row.second.initial;
}

void ConditionValues::set(uint64_t handle, uint32_t value)
{
    std::lock_guard lock(mutex_);
    auto row = rows_.find(handle);
    if (row != rows_.end())
        row->second.value = value;
}

unsigned ConditionValues::get(CUgraphConditionalHandle handle) const
{
    std::lock_guard lock(mutex_);
    auto row = rows_.find(handle);
    return row == rows_.end() ? 0 : row->second.value;
}

// ------------------------------------------------------------------------------------ runs

GraphRun::GraphRun(std::shared_ptr<const ExecGraph> graph, const UserObjects& objects,
                   std::shared_ptr<ConditionValues> conditions, std::shared_ptr<Context> context, int priority)
    : graph_(std::move(graph)),
      objects_(objects),
      conditions_(std::move(conditions)),
      context_(std::move(context)),
      priority_(priority),
      generation_(context_ ? context_->generation() : 0)
{
}

// Waits for an event see records made before the launch. The graph itself orders the records and waits inside it.
void GraphRun::announce()
{
    announce(*graph_);
    for (auto& row : points_)
        work_as<EventWork>(row.first->work)->event->publish(row.second);
}

void GraphRun::announce(const ExecGraph& graph)
{
    for (const ExecNode& node : graph.nodes) {
        for (const auto& inner : node.graphs)
            announce(*inner);
        auto event = node.enabled ? work_as<EventWork>(node.work) : nullptr;
        if (!event)
            continue;
        if (event->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT) {
            if (auto point = event->event->last(); point && !point->captured)
                places_[&node] = point->place;
            continue;
        }
        auto point = event->event->new_point();
        point->context = context_;
        if (auto shared = event->event->shared())
            point->shared = shared->begin();
        point->place = {plain_queue(priority_), 1};
        points_[&node] = std::move(point);
    }
}

CUresult GraphRun::run()
{
    run_alone();
    size_t nodes = graph_->nodes.size();
    // Tail launches of a tail run before the next tail. A graph that launches itself as a tail does not recurse.
    for (Runs later = take_tails(); !later.empty();) {
        auto next = later.front();
        later.pop_front();
        next->parent_ = parent_;
        next->vacate();
        exec::TurnScope scope(turn_after(nodes));
        next->run_alone();
        nodes += next->graph_->nodes.size();
        Runs own = next->take_tails();
        later.insert(later.begin(), own.begin(), own.end());
    }
    vacate();
    return CUDA_SUCCESS;
}

// Runs the graph, and the graphs that its kernels launch alongside it.
void GraphRun::run_alone()
{
    GenerationScope scope(generation_);
    conditions_->begin_run();
    run_graph(*graph_);
    wait_for_launched();
    objects_ = UserObjects();
}

// -------------------------------------------------------------------- launches by kernels

void GraphRun::allow_launches(uint64_t executable, MakeRun make)
{
    executable_ = executable;
    make_ = make;
}

int GraphRun::launch(uint64_t graph, uint64_t way)
{
    if (way == as_sibling && parent_)
        return parent_->start(graph);
    if (way == as_child || way == as_sibling)
        return start(graph);
    if (way != as_tail)
        return EMU_ERROR_INVALID_VALUE;
    std::lock_guard lock(mutex_);
    if (tails_.size() >= most_tails)
        return EMU_ERROR_LAUNCH_PENDING_COUNT_EXCEEDED;
    auto made = make_ ? make_(graph, *this, true) : nullptr;
    if (!made)
        return EMU_ERROR_INVALID_VALUE;
    tails_.push_back(std::move(made));
    return 0;
}

int GraphRun::start(uint64_t graph)
{
    std::lock_guard lock(mutex_);
    if (started_ >= most_launched)
        return EMU_ERROR_LAUNCH_PENDING_COUNT_EXCEEDED;
    auto made = make_ ? make_(graph, *this, false) : nullptr;
    if (!made)
        return EMU_ERROR_INVALID_VALUE;
    made->parent_ = this;
    ++started_;
    if (config().mode == Mode::deterministic) {
        launched_.push_back({std::move(made), nullptr});
        return 0;
    }
    auto queue = plain_queue(priority_);
    queue->add({Operation::Kind::host_function, "cudaGraphLaunch", [made] { return made->run(); }}, {});
    launched_.push_back({std::move(made), std::move(queue)});
    return 0;
}

// More siblings may be launched while this waits.
void GraphRun::wait_for_launched()
{
    std::unique_lock lock(mutex_);
    while (!launched_.empty()) {
        Launched next = std::move(launched_.front());
        launched_.erase(launched_.begin());
        lock.unlock();
        if (next.queue)
            next.queue->wait(1);
        else
            next.run->run();
        lock.lock();
        --started_;
    }
}

GraphRun::Runs GraphRun::take_tails()
{
    std::lock_guard lock(mutex_);
    return std::exchange(tails_, Runs());
}

void GraphRun::vacate()
{
    if (auto place = std::exchange(place_, nullptr))
        *place = false;
}

void GraphRun::run_inner(const ExecNode& node, size_t index)
{
    if (index < node.graphs.size())
        run_graph(*node.graphs[index]);
}

unsigned GraphRun::condition(CUgraphConditionalHandle handle) const
{
    return conditions_->get(handle);
}

void GraphRun::run_graph(const ExecGraph& graph)
{
    if (!graph.nodes.empty())
        std::make_shared<Pass>(graph, *this)->run();
}

bool GraphRun::is_stopped() const
{
    return context_ && (context_->sticky() != CUDA_SUCCESS || context_->is_interrupted());
}

void GraphRun::fail(CUresult result, const char* what)
{
    if (result != CUDA_SUCCESS && context_)
        context_->fail(result, std::string(what) + " of a graph failed while it ran");
}

void GraphRun::fail(const std::string& race)
{
    if (!race.empty() && context_)
        context_->fail(CUDA_ERROR_LAUNCH_FAILED, race);
}

void GraphRun::reach(const ExecNode& node)
{
    auto row = points_.find(&node);
    if (row == points_.end())
        return; // graphs with such nodes in bodies are not instantiated
    auto point = row->second;
    auto shared = work_as<EventWork>(node.work)->event->shared();
    point->time = std::chrono::steady_clock::now();
    if (shared)
        shared->finish(point->shared);
    auto queue = point->place.queue;
    queue->add({Operation::Kind::record, "cuEventRecord", nullptr}, {}, false);
    queue->wait(1, true);
}

void GraphRun::wait(const ExecNode& node)
{
    auto row = places_.find(&node);
    if (row != places_.end() && !row->second.reached())
        row->second.queue->wait(row->second.number);
}

} // namespace emu::state
