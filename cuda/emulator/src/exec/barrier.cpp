// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Barriers of block, grid and cluster, as kernels call them.
#include "worker.hpp"

using namespace emu::exec;

namespace {

[[noreturn]] void refuse(uintptr_t pc, const char* text)
{
    Trouble trouble;
    trouble.kind = FaultKind::trap;
    trouble.pc = pc;
    trouble.text = text;
    raise_fault(std::move(trouble));
}

void check_named(emu_u32 id, emu_u32 count, uintptr_t pc)
{
    if (id > 15)
        refuse(pc, "a barrier has a number from 0 to 15");
    if (count % 32)
        refuse(pc, "the count of a barrier is a multiple of the warp size");
}

} // namespace

extern "C" {

void emu_barrier()
{
    this_worker->block.wait_for_all(this_worker->current, EMU_CALLER);
}

int emu_barrier_reduce(int op, int predicate)
{
    Block& block = this_worker->block;
    block.wait_at(this_worker->current, 0, 0, predicate != 0, EMU_CALLER);
    const Barrier& barrier = block.barrier(0);
    if (op == EMU_REDUCE_AND)
        return barrier.last_ones == barrier.last_arrived;
    return op == EMU_REDUCE_OR ? barrier.last_ones != 0 : int(barrier.last_ones);
}

void emu_barrier_named(emu_u32 id, emu_u32 count)
{
    check_named(id, count, EMU_CALLER);
    this_worker->block.wait_at(this_worker->current, id, count, false, EMU_CALLER);
}

void emu_barrier_arrive(emu_u32 id, emu_u32 count)
{
    check_named(id, count, EMU_CALLER);
    this_worker->block.arrive_at(id, count, EMU_CALLER);
}

void emu_grid_barrier()
{
    if (!this_worker->launch->request.cooperative)
        refuse(EMU_CALLER, "a grid barrier needs a cooperative launch");
    this_worker->block.wait_at(this_worker->current, Block::grid_barrier, 0, false, EMU_CALLER);
}

int emu_grid_is_cooperative()
{
    return this_worker->launch->request.cooperative;
}

emu_u32 emu_cluster_arrive()
{
    Block& block = this_worker->block;
    emu_u32 token = block.barrier(Block::cluster_barrier).generation;
    block.arrive_at(Block::cluster_barrier, 0, EMU_CALLER);
    return token;
}

void emu_cluster_wait(emu_u32 token)
{
    this_worker->block.wait_for_cluster(this_worker->current, token, EMU_CALLER);
}

void* emu_cluster_map(const void* shared_address, emu_u32 rank)
{
    Worker* worker = this_worker;
    const Cluster* cluster = worker->cluster.get();
    if (rank >= (cluster ? cluster->blocks : 1))
        refuse(EMU_CALLER, "a block maps shared memory of a rank that its cluster does not have");
    if (!cluster || rank == worker->cluster_rank)
        return const_cast<void*>(shared_address);
    worker->repeats = true; // that block may not have begun
    if (!worker->launch->wait_for(cluster->places[rank]))
        worker->leave({});
    uintptr_t there = worker->map_shared(reinterpret_cast<uintptr_t>(shared_address), rank);
    if (!there)
        refuse(EMU_CALLER, "a block maps an address that is not in its shared memory");
    return reinterpret_cast<void*>(there);
}

} // extern "C"
