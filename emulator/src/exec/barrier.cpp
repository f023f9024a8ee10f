// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Block, cluster and grid barriers: the functions that kernels call.
#include "spin_state.hpp"
#include "worker.hpp"

using namespace emu::exec;

namespace {

[[noreturn]] void fail(const Site& site, const char* text)
{
    Trouble trouble;
    trouble.kind = FaultKind::trap;
    trouble.at(site);
    trouble.text = text;
    raise_fault(std::move(trouble));
}

void check_named(emu_u32 id, emu_u32 count, const Site& site)
{
    if (id > 15)
        fail(site, "the barrier number must be from 0 to 15");
    if (count % 32)
        fail(site, "the barrier's thread count must be a multiple of the warp size");
}

} // namespace

#define EMU_SITE {EMU_CALLER, file, line}

extern "C" {

void emu_barrier(const char* file, emu_u32 line)
{
    this_worker()->block.wait_for_all(EMU_CALLER, file, line);
}

int emu_barrier_reduce(int op, int predicate, emu_u32 id, emu_u32 count, const char* file, emu_u32 line)
{
    Block& block = this_worker()->block;
    Site site = EMU_SITE;
    check_named(id, count, site);
    block.wait_at(this_worker()->current, id, count, predicate != 0, site);
    const Barrier& barrier = block.barrier(id);
    if (op == EMU_REDUCE_AND)
        return barrier.last_ones == barrier.last_arrived;
    return op == EMU_REDUCE_OR ? barrier.last_ones != 0 : int(barrier.last_ones);
}

void emu_barrier_named(emu_u32 id, emu_u32 count, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    check_named(id, count, site);
    this_worker()->block.wait_at(this_worker()->current, id, count, false, site);
}

void emu_barrier_arrive(emu_u32 id, emu_u32 count, const char* file, emu_u32 line)
{
    Site site = EMU_SITE;
    check_named(id, count, site);
    this_worker()->block.arrive_at(id, count, site);
}

emu_u32 emu_block_arrive(const char* file, emu_u32 line)
{
    Block& block = this_worker()->block;
    emu_u32 token = block.barrier(split_barrier).generation;
    block.arrive_at(split_barrier, 0, EMU_SITE);
    return token;
}

void emu_block_wait(emu_u32 token, const char* file, emu_u32 line)
{
    this_worker()->block.wait_for(this_worker()->current, split_barrier, token, EMU_SITE);
}

void emu_tile_barrier(emu_u32 size, const char* file, emu_u32 line)
{
    if (size < 64 || size > 1024 || (size & (size - 1)))
        fail(EMU_SITE, "a tile of several warps must have 64 to 1024 threads, a power of two");
    Worker* worker = this_worker();
    emu_u32 thread = worker->state->linear, left = worker->state->threads - thread / size * size;
    worker->block.wait_at(worker->current, Block::tile_barrier(size, thread), left < size ? left : size, false,
                          EMU_SITE);
}

void** emu_tile_slots()
{
    return this_worker()->tile_slots;
}

void emu_grid_barrier(const char* file, emu_u32 line)
{
    if (!this_worker()->launch->request.cooperative)
        fail(EMU_SITE, "a grid barrier needs a cooperative launch");
    this_worker()->block.wait_at(this_worker()->current, grid_barrier, 0, false, EMU_SITE);
}

int emu_grid_is_cooperative()
{
    return this_worker()->launch->request.cooperative;
}

emu_u32 emu_cluster_arrive(const char* file, emu_u32 line)
{
    Worker* worker = this_worker();
    emu_u32 token = worker->block.barrier(cluster_barrier).generation;
    worker->cluster_tokens[worker->state->linear] = token;
    worker->block.arrive_at(cluster_barrier, 0, EMU_SITE);
    return token;
}

emu_u32 emu_cluster_token()
{
    return this_worker()->cluster_tokens[this_worker()->state->linear];
}

void emu_cluster_wait(emu_u32 token, const char* file, emu_u32 line)
{
    this_worker()->block.wait_for_cluster(this_worker()->current, token, EMU_SITE);
}

void* emu_cluster_map(const void* shared_address, emu_u32 rank)
{
    Worker* worker = this_worker();
    const Cluster* cluster = worker->cluster.get();
    if (rank >= (cluster ? cluster->blocks : 1))
        fail({EMU_CALLER, nullptr, 0}, "a block maps shared memory of a rank outside its cluster");
    if (!cluster || rank == worker->cluster_rank)
        return const_cast<void*>(shared_address);
    worker->repeats = true; // the other block may not have begun, so let the monitor start threads for it
    if (!worker->launch->wait_for(cluster->places[rank]))
        worker->leave();
    uintptr_t there = worker->map_shared(reinterpret_cast<uintptr_t>(shared_address), rank);
    if (!there)
        fail({EMU_CALLER, nullptr, 0}, "a block maps an address outside its shared memory");
    return reinterpret_cast<void*>(there);
}

void emu_step(emu_uptr address, void* pc)
{
    SpinState state = EMU_SPIN_STATE;
    Worker* worker = this_worker();
    if (worker && worker->current && worker->gives_way_at(reinterpret_cast<uintptr_t>(pc)))
        emu_preempt();
    auto* at = reinterpret_cast<void*>(address);
    if (!worker || !worker->current || emu_is_local(at) || !emu_is_shared(at, false))
        return;
    if (worker->block.stepped_at(*worker->current, reinterpret_cast<uintptr_t>(pc)))
        state.note(*worker->current, 0);
    worker->block.step(worker->current, {reinterpret_cast<uintptr_t>(pc), nullptr, 0});
}

int emu_is_shared(const void* address, int in_cluster)
{
    Worker* worker = this_worker();
    auto at = reinterpret_cast<uintptr_t>(address);
    if (at - reinterpret_cast<uintptr_t>(worker->state->dynamic_shared) < worker->state->dynamic_shared_size)
        return 1;
    auto nearest = worker->shared_around(at).nearest;
    EmuRange range;
    return (nearest.second && at - nearest.first.low < nearest.second->size) ||
           (in_cluster && worker->in_cluster(at, &range));
}

int emu_is_local(const void* address)
{
    const Fiber& fiber = *this_worker()->current;
    auto at = reinterpret_cast<uintptr_t>(address);
    return at >= fiber.stack_low && at < fiber.stack_high;
}

int emu_is_constant(const void* address)
{
    return is_constant(reinterpret_cast<uintptr_t>(address));
}

emu_u32 emu_cluster_rank_of(const void* shared_address)
{
    Worker* worker = this_worker();
    if (!worker->cluster)
        return 0;
    EmuRange range;
    emu_u32 rank = 0;
    if (!worker->in_cluster(reinterpret_cast<uintptr_t>(shared_address), &range, &rank))
        fail({EMU_CALLER, nullptr, 0},
             "a block requests the rank of an address outside its cluster's shared memory");
    return rank;
}

} // extern "C"
