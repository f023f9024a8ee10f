// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "races.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <iterator>
#include <mutex>
#include <numeric>
#include <utility>

#include "../fiber.hpp"
#include "regions.hpp"
#include "shadow.hpp"

namespace emu::exec {
namespace {

// Keys of Knowledge: a block's threads, then its warps, then the whole block.
constexpr uint64_t warp_keys = 1 << 10, block_key = 1 << 11;
constexpr size_t most_rows = 4096;

// Most values have four bytes, for which these functions need no call.
inline void copy_value(void* to, const void* from, size_t size)
{
    size == 4 ? __builtin_memcpy(to, from, 4) : std::memcpy(to, from, size);
}

inline bool is_same(const unsigned char* a, const unsigned char* b, size_t size)
{
    if (size != 4)
        return std::memcmp(a, b, size) == 0;
    uint32_t words[2];
    std::memcpy(words, a, 4);
    std::memcpy(words + 1, b, 4);
    return words[0] == words[1];
}

uint64_t key_of(uint32_t block, uint64_t part)
{
    return uint64_t(block) << 16 | part;
}

// The latest time of a key comes first.
bool is_before(const Knowledge::Row& a, const Knowledge::Row& b)
{
    return a.first != b.first ? a.first < b.first : a.second > b.second;
}

void drop_repeated(std::vector<Knowledge::Row>* rows)
{
    auto same_key = [](const Knowledge::Row& a, const Knowledge::Row& b) { return a.first == b.first; };
    rows->erase(std::unique(rows->begin(), rows->end(), same_key), rows->end());
}

void keep_latest(std::vector<uint32_t>* times, const std::vector<uint32_t>& others)
{
    uint32_t* to = times->data();
    const uint32_t* from = others.data();
    for (size_t i = 0, count = times->size(); i < count; ++i)
        to[i] = std::max(to[i], from[i]);
}

// What blocks tell each other through an address in global memory.
struct Published {
    KnowledgePtr device, near;
    uint32_t near_block = 0; // the block whose threads `near` is for
};

struct GlobalAtomics {
    std::mutex mutex;
    std::unordered_map<uintptr_t, Published> rows;
    std::atomic<bool> used{false};
};
// The race checks of all workers.
struct AllRaces {
    std::mutex mutex;
    std::vector<Races*> rows;
};
AllRaces& all_races = *new AllRaces;

GlobalAtomics& global_atomics = *new GlobalAtomics; // never destroyed, because kernels run at exit

} // namespace

// ------------------------------------------------------------------------ knowledge

bool Knowledge::knows(const Access& access) const
{
    if (complete || (access.block == block && access.thread() < times.size() && times[access.thread()] > access.time))
        return true;
    if (rows.empty())
        return false;
    for (uint64_t part : {uint64_t(access.thread()), warp_keys | access.thread() / 32, block_key}) {
        uint64_t key = key_of(access.block, part);
        auto row = std::lower_bound(rows.begin(), rows.end(), Row(key, 0));
        if (row != rows.end() && row->first == key && row->second > access.time)
            return true;
    }
    return false;
}

void Knowledge::add_rows(const std::vector<Row>& more)
{
    if (rows.empty() || more.empty()) {
        if (rows.empty())
            rows = more;
        return;
    }
    std::vector<Row> both;
    both.reserve(rows.size() + more.size());
    std::merge(rows.begin(), rows.end(), more.begin(), more.end(), std::back_inserter(both), is_before);
    drop_repeated(&both);
    rows = std::move(both);
    complete = rows.size() > most_rows;
}

std::vector<Knowledge::Row> Knowledge::rows_of_times() const
{
    std::vector<Row> made;
    uint32_t all = *std::min_element(times.begin(), times.end());
    for (uint32_t i = 0; i < times.size(); ++i)
        if (times[i] > all)
            made.emplace_back(key_of(block, i), times[i]);
    made.emplace_back(key_of(block, block_key), all);
    return made;
}

void Knowledge::add(const Knowledge& other)
{
    complete = complete || other.complete;
    if (complete)
        return;
    add_rows(other.rows);
    if (other.times.empty())
        return;
    if (times.empty()) {
        block = other.block;
        times = other.times;
    } else if (block != other.block) {
        add_rows(other.rows_of_times());
    } else {
        keep_latest(&times, other.times);
    }
}

void add(KnowledgePtr* to, const KnowledgePtr& more)
{
    if (!*to || *to == more || (more && more->complete)) {
        if (more)
            *to = more;
        return;
    }
    if (!more || (*to)->complete)
        return;
    if (to->use_count() > 1)
        *to = std::make_shared<Knowledge>(**to);
    (*to)->add(*more);
}

bool stored_since(uintptr_t address, uint32_t block)
{
    const Cell* cells = known_cells_around(address);
    return cells && cells[address % cells_span / cell_bytes].store.block >= block;
}

Access loaded_by(uintptr_t address, uint64_t queue, uint64_t number)
{
    const Cell* cells = known_cells_around(address);
    if (!cells)
        return {};
    Cell cell;
    {
        CellLock lock(address, false);
        cell = cells[address % cells_span / cell_bytes];
    }
    for (const Access& load : cell.loads) {
        auto era = load.block && load.bytes() >> address % cell_bytes & 1 ? find_era(load.block) : nullptr;
        if (era && era->is_kernel && era->turn && era->turn->queue == queue && era->turn->number == number)
            return load;
    }
    return {};
}

KnowledgePtr Races::snapshot(uint32_t thread, const Known& known, uint32_t time) const
{
    auto made = std::make_shared<Knowledge>();
    made->rows = {{key_of(block_, thread), time},
                  {key_of(block_, warp_keys | thread / 32), known.warp},
                  {key_of(block_, block_key), known.block}};
    if (known.more)
        made->add(*known.more);
    return made;
}

// Leaves at an address in shared memory what a thread knows now, which includes what was there.
void Races::publish_near(KnowledgePtr* to, uint32_t thread) const
{
    const Thread& self = threads_[thread];
    const Knowledge* more = self.known.more.get();
    bool dense = more && !more->times.empty() && more->block == block_;
    if (!*to || to->use_count() > 1)
        *to = std::make_shared<Knowledge>();
    Knowledge& made = **to;
    made.complete = more && more->complete;
    made.block = block_;
    made.times.assign(threads_.size(), self.known.block);
    size_t first = thread / 32 * 32, last = std::min(first + 32, made.times.size());
    std::fill(made.times.begin() + first, made.times.begin() + last, std::max(self.known.warp, self.known.block));
    if (dense)
        keep_latest(&made.times, more->times);
    made.times[thread] = std::max(made.times[thread], self.time + 1);
    made.rows.clear();
    if (dense)
        made.rows = more->rows;
    else if (more)
        made.add(*more);
}

// ------------------------------------------------------------------------ accesses

void Races::begin(std::shared_ptr<const Era> era, uint64_t number, uint32_t threads)
{
    if (!era_ || era_->launch != era->launch) {
        std::fill(std::begin(answers_), std::end(answers_), Answer());
        std::fill(std::begin(allocations_), std::end(allocations_), Allocation());
    }
    number_ = number;
    continue_in(std::move(era));
    clock_ = 1;
    in_cluster_ = era_->order.cluster_blocks > 1;
    threads_.assign(threads, Thread());
    barriers_.assign(barrier_count, Meeting());
    loads_.clear();
    shared_atomics_.clear();
    last_.size = 0;
    atomic_ = 0;
    pending_ = 0;
}

void Races::continue_in(std::shared_ptr<const Era> era)
{
    era_ = std::move(era);
    block_ = era_->first + uint32_t(number_);
}

Access Races::access_of(uint32_t thread, uintptr_t pc, bool store, bool atomic, bool narrow) const
{
    const Thread& self = threads_[thread];
    Access access;
    access.block = block_;
    access.time = self.time;
    // A thread that learns what came before a fence, from the atomic access after it, also knows this access. Otherwise
    // the last block could not reset a counter if its own update was noted before another one that came first.
    if (atomic && store && self.time == self.after_fence)
        access.time = self.fenced[int(Scope::block)].time - 1;
    access.what = (pc >> 1 & ((uint64_t(1) << Access::thread_shift) - 1)) |
                  uint64_t(thread & 1023) << Access::thread_shift |
                  uint64_t(atomic) * Access::is_atomic | uint64_t(narrow) * Access::is_narrow |
                  uint64_t(store) * Access::is_stored;
    return access;
}

// Returns true if this launch comes after all of another one, or after an earlier part of itself.
inline bool Races::follows(uint32_t block)
{
    for (const Answer& answer : answers_)
        if (block - answer.first < answer.blocks)
            return answer.follows;
    return look_up_order(block);
}

bool Races::look_up_order(uint32_t block)
{
    auto other = find_era(block);
    if (!other)
        return true;
    Answer answer{other->first, other->blocks, true};
    if (other->launch != era_->launch && era_->turn && other->turn)
        answer.follows = era_->turn->follows(*other->turn);
    answers_[next_answer_++ % 4] = answer;
    return answer.follows;
}

__attribute__((always_inline)) inline bool Races::is_ordered(const Access& earlier, const Access& now, bool shared)
{
    const Known& known = threads_[now.thread()].known;
    if (earlier.block == block_)
        return earlier.thread() == now.thread() || earlier.time < known.block ||
               (earlier.thread() / 32 == now.thread() / 32 && earlier.time < known.warp) ||
               (known.more && known.more->knows(earlier));
    if (shared) // by a block that used the memory before
        return true;
    if (earlier.block - era_->first < era_->blocks) {
        return known.more && known.more->knows(earlier);
    }
    return follows(earlier.block);
}

__attribute__((always_inline)) inline bool Races::conflicts(const Access& earlier, const Access& now, bool shared)
{
    if (!earlier.block || !(earlier.bytes() & now.bytes()))
        return false;
    if (earlier.silent() && !now.stored())
        return false;
    if (earlier.atomic() && now.atomic() && (earlier.block == block_ || !(earlier.narrow() || now.narrow())))
        return false;
    // Programs load the value with which they start a loop around compare and swap, which verifies it.
    auto is_plain_load = [](const Access& access) { return !access.stored() && !access.atomic(); };
    bool is_guess = (earlier.swap() && is_plain_load(now)) || (now.swap() && is_plain_load(earlier));
    if (is_guess && earlier.block - era_->first < era_->blocks)
        return false;
    return !is_ordered(earlier, now, shared);
}

void Races::remember_load(const Access& access, uintptr_t address, size_t size)
{
    if (loads_.empty())
        loads_.resize(threads_.size());
    Loads& loads = loads_[access.thread()];
    loads.rows[loads.next++ % std::size(loads.rows)] = {address, size, access.half_pc()};
}

// Compilers of blocks, such as Triton, let several threads compute the same value. In PTX modules two accesses of a
// block are therefore no race if
// - both are the same store by lanes of a warp, one of which wins, or
// - the thread that stores has loaded the old value with the same instruction as the thread that loads.
bool Races::is_harmless(const Access& earlier, const Access& now, uintptr_t address) const
{
    if (!together_ || earlier.block != block_ || earlier.atomic() || now.atomic())
        return false;
    if (earlier.stored() && now.stored())
        return earlier.half_pc() == now.half_pc() && earlier.thread() / 32 == now.thread() / 32;
    const Access& load = earlier.stored() ? now : earlier;
    const Access& store = earlier.stored() ? earlier : now;
    if (loads_.empty())
        return false;
    const auto& rows = loads_[store.thread()].rows;
    return std::any_of(std::begin(rows), std::end(rows), [&](const Loads::Row& row) {
        return row.half_pc == load.half_pc() && address - row.address < row.size;
    });
}

// Returns the allocation of the memory, which counts as its first store.
const Access& Races::allocation_at(uintptr_t address)
{
    static const Access none;
    if (!in_window(address, 1))
        return none;
    for (const Allocation& known : allocations_)
        if (address - known.range.low < known.range.high - known.range.low)
            return known.access;
    Allocation& found = allocations_[next_allocation_++ % std::size(allocations_)];
    found.access = Access();
    if ((found.access.block = order_of_region(address, &found.range))) {
        found.access.what = Access::is_stored;
        found.access.set_bytes(0, cell_bytes);
    }
    return found.access;
}

// Records an access to a cell. Returns true, and the earlier access, if they conflict.
__attribute__((always_inline)) inline bool Races::note(Cell& cell, uintptr_t address, const Access& access, bool shared,
                                                       Access* earlier)
{
    const Access& store = __builtin_expect(cell.store.block != 0, 1) ? cell.store : allocation_at(address);
    bool found = conflicts(store, access, shared);
    if (found)
        *earlier = store;
    if (!access.stored()) {
        bool second = cell.loads[0].block && !cell.loads[0].is_of(access) &&
                      (!cell.loads[1].block || cell.loads[1].is_of(access) || !is_ordered(cell.loads[0], access, shared));
        cell.loads[second] = access;
        return found;
    }
    for (Access& load : cell.loads) {
        if (!found && conflicts(load, access, shared)) {
            *earlier = load;
            found = true;
        }
        if (!(load.bytes() & ~access.bytes()))
            load = Access();
    }
    cell.store = access;
    return found;
}

inline Cell* Races::cell(uintptr_t address)
{
    uintptr_t number = address / cells_span;
    Chunk& chunk = chunks_[(number ^ number >> 4 ^ number >> 8) % std::size(chunks_)];
    if (__builtin_expect(chunk.number != number, 0))
        chunk = {number, cells_around(address)};
    return chunk.cells ? chunk.cells + address % cells_span / cell_bytes : nullptr;
}

Access Races::check(uintptr_t address, size_t size, Access access, bool shared)
{
    uintptr_t first = address % cell_bytes;
    if (access.stored() || first + size > cell_bytes)
        return look_until_settled(address, size, access, shared);
    // Most accesses are loads of one cell without a conflict.
    Cell* place = cell(address);
    if (!place)
        return {};
    access.set_bytes(first, size);
    Access earlier;
    {
        CellLock lock(address, shared);
        if (!note(*place, address, access, shared, &earlier))
            return {};
    }
    return look_until_settled(address, size, access, shared);
}

Access Races::look_until_settled(uintptr_t address, size_t size, const Access& access, bool shared)
{
    Access earlier;
    do {
        settled_ = true;
        earlier = check_cells(address, size, access, shared, false);
    } while (!settled_ && wait_for_stores(address, size));
    return earlier;
}

Access Races::check_cells(uintptr_t address, size_t size, Access access, bool shared, bool done)
{
    bool kept = !done && access.stored() && size <= sizeof last_.value;
    if (kept)
        begin_store(address, size, access, shared);
    Access earlier;
    for (uintptr_t at = address, end = address + size; at < end;) {
        uintptr_t first = at % cell_bytes;
        Cell* place = cell(at);
        if (!place)
            return {};
        size_t bytes = std::min<size_t>(end - at, cell_bytes - first);
        access.set_bytes(first, bytes);
        CellLock lock(at, shared);
        size_t index = at / cell_bytes - address / cell_bytes;
        if (kept && index < 4)
            last_.previous[index] = place->store;
        Access other;
        if (note(*place, at, access, shared, &other) && !earlier.block && !is_harmless(other, access, at)) {
            earlier = other;
            // The store may leave the value unchanged, which is known only when it is settled.
            if (!access.stored() && !shared && earlier.block != block_)
                settled_ = !is_stored_elsewhere(at, bytes);
        }
        at += bytes;
    }
    if (access.stored() && !access.atomic() && !shared && (!in_cluster_ || in_window(address, size)))
        threads_[access.thread()].unfenced = true;
    if (!kept)
        return earlier;
    last_.conflict = earlier;
    if (earlier.block && !shared) {
        wait_for_stores(address, size);
        std::memcpy(last_.value, reinterpret_cast<const void*>(address), size);
    }
    return {};
}

// Returns true if a block on another OS thread has an unsettled store there.
bool Races::is_stored_elsewhere(uintptr_t address, size_t size)
{
    std::lock_guard lock(all_races.mutex);
    return std::any_of(all_races.rows.begin(), all_races.rows.end(),
                       [&](Races* other) { return other != this && other->is_storing(address, size); });
}

// Waits until blocks on other OS threads have settled their stores there. Returns false if that takes too long. If two
// stores wait for each other, the second one judges, because it also sees the conflict.
bool Races::wait_for_stores(uintptr_t address, size_t size)
{
    bool busy = true;
    waiting_ = true;
    for (int times = 0; busy && times < 4000; ++times) {
        if (times) {
            struct timespec moment = {0, 50000};
            nanosleep(&moment, nullptr);
        }
        busy = false;
        {
            std::lock_guard lock(all_races.mutex);
            for (Races* other : all_races.rows)
                if (other != this && other->is_storing(address, size)) {
                    if (pending_ && other->waiting_ && this < other)
                        last_.conflict = Access();
                    else
                        busy = true;
                }
        }
    }
    waiting_ = false;
    return !busy;
}

Races::Races()
{
    std::lock_guard lock(all_races.mutex);
    all_races.rows.push_back(this);
}

Races::~Races()
{
    std::lock_guard lock(all_races.mutex);
    all_races.rows.erase(std::find(all_races.rows.begin(), all_races.rows.end(), this));
}

void Races::begin_store(uintptr_t address, size_t size, const Access& access, bool shared)
{
    last_.access = access;
    last_.address = address;
    last_.size = size;
    last_.shared = shared;
    copy_value(last_.value, reinterpret_cast<const void*>(address), size);
    // Makes the store visible before the access; the cell's lock, taken next, orders them.
    pending_.store(shared ? 0 : address, std::memory_order_release);
}

// Called if the last store did not change a cell. The store then counts as a load, or not at all if it hides another
// thread's store. Its record is in the cell, or held by a block on another OS thread that stored next and has not
// settled.
void Races::silence(uintptr_t address, const Access& previous)
{
    CellLock lock(address, last_.shared);
    bool hides = previous.block && !previous.silent() && !is_ordered(previous, last_.access, last_.shared);
    auto silence_record = [&](Access& record) {
        if (!record.is_of(last_.access) || record.time != last_.access.time)
            return false;
        if (hides)
            record = previous;
        else
            record.what |= Access::is_silent;
        return true;
    };
    if (silence_record(cell(address)->store) || last_.shared)
        return;
    std::lock_guard rows(all_races.mutex);
    for (Races* other : all_races.rows) {
        size_t index = address / cell_bytes - other->last_.address / cell_bytes;
        if (other != this && index < 4 && silence_record(other->last_.previous[index]))
            return;
    }
}

Access Races::settle()
{
    size_t size = std::exchange(last_.size, 0);
    auto* now = reinterpret_cast<const unsigned char*>(last_.address);
    bool changed = false;
    for (uintptr_t at = last_.address, end = at + size; at < end;) {
        uintptr_t next = std::min<uintptr_t>(end, (at / cell_bytes + 1) * cell_bytes), offset = at - last_.address;
        size_t index = at / cell_bytes - last_.address / cell_bytes;
        // In memory that nobody has written, and in shared memory left by other blocks, the value is equal by chance.
        bool written = index >= 4 || (last_.shared ? last_.previous[index].block == block_ : last_.previous[index].block);
        if (!written || !is_same(now + offset, last_.value + offset, next - at)) {
            changed = true;
        } else if (index < 4) {
            silence(at, last_.previous[index]);
        }
        at = next;
    }
    pending_.store(0, std::memory_order_release);
    return changed ? last_.conflict : Access();
}

// ------------------------------------------------------------------------ order

// Gives every thread what any of them knows. A fence by any of them then counts for all of them.
void Races::gather(const std::vector<uint32_t>& threads, bool whole_block, bool whole_warp)
{
    uint32_t block = 0;
    bool fenced = true;
    KnowledgePtr more, fenced_more;
    std::vector<KnowledgePtr> seen;
    auto made = std::make_shared<Knowledge>();
    for (uint32_t i : threads) {
        Thread& thread = threads_[i];
        block = std::max(block, thread.known.block);
        fenced = fenced && !thread.unfenced;
        if (thread.known.more != more)
            add(&more, thread.known.more);
        if (!whole_block && !whole_warp) {
            made->rows.emplace_back(key_of(block_, warp_keys | i / 32), thread.known.warp);
            made->rows.emplace_back(key_of(block_, i), thread.time + 1);
        }
    }
    if (!made->rows.empty()) {
        std::sort(made->rows.begin(), made->rows.end(), is_before);
        drop_repeated(&made->rows);
        add(&more, made);
    }
    if (whole_block && more && more->block == block_ && more->rows.empty() && !more->complete)
        more = nullptr; // known.block says more
    uint32_t now = ++clock_;
    for (uint32_t i : threads) {
        Thread& thread = threads_[i];
        thread.time = now;
        thread.known.block = whole_block ? now : block;
        if (whole_block || whole_warp)
            thread.known.warp = now;
        thread.known.more = more;
        if (fenced)
            for (Fenced& row : thread.fenced)
                row = {thread.known, now};
    }
}

void Races::arrive(uint32_t thread, uint32_t barrier, bool waits)
{
    Meeting& meeting = barriers_[barrier];
    if (waits)
        return meeting.waiting.push_back(thread);
    Thread& arriving = threads_[thread];
    meeting.split = true;
    add(&meeting.arrived, snapshot(thread, arriving.known, arriving.time + 1));
    arriving.time = ++clock_;
}

void Races::complete(uint32_t barrier)
{
    Meeting& meeting = barriers_[barrier];
    for (uint32_t i : meeting.waiting)
        if (meeting.split)
            add(&threads_[i].known.more, meeting.arrived);
    if (!meeting.waiting.empty())
        gather(meeting.waiting, meeting.waiting.size() == threads_.size(), false);
    meeting.released = std::move(meeting.arrived);
    meeting.arrived = nullptr;
    meeting.waiting.clear();
    meeting.split = false;
}

// One row for the block in place of the rows of its threads that it covers.
KnowledgePtr Races::released(uint32_t barrier) const
{
    const KnowledgePtr& all = barriers_[barrier].released;
    if (!all || all->complete)
        return all;
    auto is_own = [&](const Knowledge::Row& row) { return row.first >> 16 == block_; };
    uint32_t least = ~0u;
    for (const Knowledge::Row& row : all->rows)
        if (is_own(row) && (row.first & 0xffff) < warp_keys)
            least = std::min(least, row.second);
    auto made = std::make_shared<Knowledge>();
    made->block = all->block;
    made->times = all->times;
    made->rows.emplace_back(key_of(block_, block_key), least == ~0u ? 0 : least);
    for (const Knowledge::Row& row : all->rows)
        if (!is_own(row) || row.second > least)
            made->rows.push_back(row);
    std::sort(made->rows.begin(), made->rows.end(), is_before);
    drop_repeated(&made->rows);
    return made;
}

Access Races::end(uintptr_t address, size_t size)
{
    std::vector<uint32_t> all(threads_.size());
    std::iota(all.begin(), all.end(), 0u);
    gather(all, true, false);
    Access access = access_of(0, 0, true, false, false);
    for (uintptr_t at = address, end = address + size; at < end;) {
        size_t part = std::min(end, (at / cells_span + 1) * cells_span) - at;
        if (known_cells_around(at))
            if (Access earlier = check_cells(at, part, access, false, true); earlier.block)
                return earlier;
        at += part;
    }
    return {};
}

Access Races::stored_in_launch(uintptr_t address, size_t size)
{
    for (uintptr_t at = address & ~(cell_bytes - 1); at < address + size; at += cell_bytes) {
        CellLock lock(at, false);
        Cell* place = cell(at);
        if (place && place->store.block && place->store.block - era_->first < era_->blocks)
            return place->store;
    }
    return {};
}

void Races::pass(uint32_t thread, uint32_t barrier)
{
    add(&threads_[thread].known.more, barriers_[barrier].released);
}

void Races::meet(uint32_t warp, uint32_t lanes)
{
    std::vector<uint32_t> threads;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        threads.push_back(warp * 32 + uint32_t(__builtin_ctz(rest)));
    gather(threads, false, threads.size() == std::min<size_t>(32, threads_.size() - warp * 32));
}

void Races::fence(uint32_t thread, Scope scope)
{
    acquire_again();
    Thread& self = threads_[thread];
    Fenced made{self.known, self.time + 1};
    self.fenced[int(Scope::block)] = made;
    if (scope == Scope::device) {
        self.fenced[int(Scope::device)] = made;
        self.unfenced = false;
    }
    self.time = self.after_fence = ++clock_;
}

void Races::order_by_atomic(uint32_t thread, uintptr_t address, bool shared, bool store, bool release, Scope scope)
{
    Thread& self = threads_[thread];
    if (shared) {
        KnowledgePtr& published = shared_atomics_[address];
        add(&self.known.more, published);
        if (store)
            publish_near(&published, thread);
        self.time = ++clock_;
        return;
    }
    atomic_ = address;
    atomic_thread_ = thread;
    auto tell = [&](Scope reach) -> KnowledgePtr {
        if (!store)
            return nullptr;
        if (release && scope >= reach)
            return snapshot(thread, self.known, self.time + 1);
        const Fenced& fenced = self.fenced[int(reach)];
        return fenced.time ? snapshot(thread, fenced.known, fenced.time) : nullptr;
    };
    KnowledgePtr near = tell(Scope::block), device = tell(Scope::device);
    if (!near && !global_atomics.used.load(std::memory_order_relaxed))
        return;
    std::lock_guard lock(global_atomics.mutex);
    global_atomics.used = true;
    auto row = global_atomics.rows.find(address);
    if (row == global_atomics.rows.end()) {
        if (!near)
            return;
        row = global_atomics.rows.emplace(address, Published()).first;
    }
    Published& published = row->second;
    if (published.near_block != block_)
        published.near = nullptr, published.near_block = block_;
    add(&self.known.more, published.device);
    add(&self.known.more, published.near);
    add(&published.near, near);
    add(&published.device, device);
    if (near)
        self.time = ++clock_;
}

void Races::acquire_again()
{
    uintptr_t address = std::exchange(atomic_, 0);
    if (!address)
        return;
    KnowledgePtr& known = threads_[atomic_thread_].known.more;
    if (!global_atomics.used.load(std::memory_order_relaxed))
        return;
    std::lock_guard lock(global_atomics.mutex);
    auto row = global_atomics.rows.find(address);
    if (row == global_atomics.rows.end())
        return;
    add(&known, row->second.device);
    if (row->second.near_block == block_)
        add(&known, row->second.near);
}

} // namespace emu::exec
