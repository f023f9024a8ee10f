// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Cooperative groups: the block, tiles of up to a warp, coalesced threads, the cluster and the grid.
#pragma once

namespace cooperative_groups {

namespace emu_details {
inline unsigned rank_in_block() { return emu_thread.linear; }
inline unsigned lane() { return emu_thread.lane; }
inline unsigned long long volume(dim3 d) { return (unsigned long long)d.x * d.y * d.z; }
} // namespace emu_details

// --------------------------------------------------------------------------- the block

class thread_block {
public:
    static void sync() { __syncthreads(); }
    void barrier_wait(unsigned = 0) const { __syncthreads(); }
    unsigned barrier_arrive() const { return 0; }
    static unsigned int thread_rank() { return emu_details::rank_in_block(); }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 dim_threads() { return blockDim; }
    static dim3 group_dim() { return blockDim; }
    static unsigned int num_threads() { return emu_thread.threads; }
    static unsigned int size() { return emu_thread.threads; }
};
inline thread_block this_thread_block() { return thread_block(); }

// ---------------------------------------------------------------------------- the grid

class grid_group {
public:
    bool is_valid() const { return emu_grid_is_cooperative() != 0; }
    void sync() const { emu_grid_barrier(); }
    static unsigned long long block_rank()
    {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    static unsigned long long num_blocks() { return emu_details::volume(gridDim); }
    static unsigned long long thread_rank() { return block_rank() * emu_thread.threads + emu_thread.linear; }
    static unsigned long long num_threads() { return num_blocks() * emu_thread.threads; }
    static unsigned long long size() { return num_threads(); }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 group_dim() { return gridDim; }
    static dim3 block_index() { return dim3(blockIdx); }
};
inline grid_group this_grid() { return grid_group(); }

// ------------------------------------------------------------------------- the cluster

class cluster_group {
public:
    typedef unsigned int arrival_token;
    static void sync() { emu_cluster_wait(emu_cluster_arrive()); }
    static arrival_token barrier_arrive() { return emu_cluster_arrive(); }
    static void barrier_wait(arrival_token token) { emu_cluster_wait(token); }
    template <class T> static T* map_shared_rank(T* address, int rank)
    {
        return static_cast<T*>(emu_cluster_map(address, unsigned(rank)));
    }
    static dim3 block_index() { return __clusterRelativeBlockIdx(); }
    static unsigned int block_rank() { return emu_cluster_rank(); }
    static unsigned int thread_rank() { return emu_cluster_rank() * emu_thread.threads + emu_thread.linear; }
    static dim3 thread_index()
    {
        dim3 at = block_index();
        return dim3(at.x * blockDim.x + threadIdx.x, at.y * blockDim.y + threadIdx.y, at.z * blockDim.z + threadIdx.z);
    }
    static dim3 dim_blocks() { return __clusterDim(); }
    static dim3 dim_threads()
    {
        dim3 size = __clusterDim();
        return dim3(size.x * blockDim.x, size.y * blockDim.y, size.z * blockDim.z);
    }
    static unsigned int num_blocks() { return emu_cluster_blocks(); }
    static unsigned int num_threads() { return emu_cluster_blocks() * emu_thread.threads; }
    static unsigned int size() { return num_threads(); }
};
inline cluster_group this_cluster() { return cluster_group(); }

// -------------------------------------------------------------- threads of one warp

namespace emu_details {

// The operations that tiles and coalesced groups share, by the mask of their lanes.
template <class Group> class in_warp {
    const Group& self() const { return static_cast<const Group&>(*this); }

public:
    void sync() const { __syncwarp(self().emu_mask()); }
    int any(int predicate) const { return __any_sync(self().emu_mask(), predicate); }
    int all(int predicate) const { return __all_sync(self().emu_mask(), predicate); }
    unsigned int ballot(int predicate) const { return self().emu_packed(__ballot_sync(self().emu_mask(), predicate)); }
    template <class T> unsigned int match_any(T value) const
    {
        return self().emu_packed(__match_any_sync(self().emu_mask(), value));
    }
    template <class T> unsigned int match_all(T value, int& predicate) const
    {
        return self().emu_packed(__match_all_sync(self().emu_mask(), value, &predicate));
    }
    unsigned int num_threads() const { return self().size(); }
    template <class T> T shfl(T value, int source) const
    {
        return emu::shuffle(EMU_WARP_SHUFFLE_INDEX, self().emu_mask(), value, self().emu_lane_of(unsigned(source)), 32);
    }
    template <class T> T shfl_up(T value, unsigned delta) const
    {
        unsigned rank = self().thread_rank();
        return shfl(value, int(delta > rank ? rank : rank - delta));
    }
    template <class T> T shfl_down(T value, unsigned delta) const
    {
        unsigned rank = self().thread_rank();
        return shfl(value, int(rank + delta >= self().size() ? rank : rank + delta));
    }
};

} // namespace emu_details

template <unsigned int Size, class Parent = void>
class thread_block_tile : public emu_details::in_warp<thread_block_tile<Size, Parent>> {
    static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                  "tiles of 1, 2, 4, 8, 16 or 32 threads are supported on the software device");

public:
    static unsigned int thread_rank() { return emu_details::lane() % Size; }
    static constexpr unsigned int size() { return Size; }
    static unsigned int meta_group_rank() { return emu_details::rank_in_block() / Size; }
    static unsigned int meta_group_size() { return (emu_thread.threads + Size - 1) / Size; }
    template <class T> T shfl_xor(T value, unsigned lanes) const
    {
        return emu::shuffle(EMU_WARP_SHUFFLE_XOR, emu_mask(), value, lanes, Size);
    }
    static unsigned emu_first() { return emu_details::lane() / Size * Size; }
    // Lanes that the last warp of a block does not have take no part.
    static unsigned emu_mask()
    {
        unsigned all = (Size == 32 ? 0xffffffffu : (1u << (Size & 31)) - 1u) << emu_first();
        unsigned left = emu_thread.threads - emu_thread.warp * 32;
        return left >= 32 ? all : all & ((1u << left) - 1u);
    }
    static unsigned emu_packed(unsigned lanes) { return lanes >> emu_first(); }
    static unsigned emu_lane_of(unsigned rank) { return emu_first() + rank % Size; }
};

class coalesced_group : public emu_details::in_warp<coalesced_group> {
    unsigned mask_;

public:
    explicit coalesced_group(unsigned mask) : mask_(mask) {}
    unsigned int thread_rank() const { return unsigned(__popc(mask_ & ((1u << emu_details::lane()) - 1u))); }
    unsigned int size() const { return unsigned(__popc(mask_)); }
    unsigned int meta_group_rank() const { return 0; }
    unsigned int meta_group_size() const { return 1; }
    unsigned emu_mask() const { return mask_; }
    unsigned emu_lane_of(unsigned rank) const { return __fns(mask_, 0, int(rank) + 1); }
    unsigned emu_packed(unsigned lanes) const
    {
        unsigned out = 0, rank = 0;
        for (unsigned i = 0; i < 32; ++i)
            if (mask_ >> i & 1)
                out |= (lanes >> i & 1) << rank++;
        return out;
    }
};
EMU_INLINE coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned int Size, class Parent> inline thread_block_tile<Size, Parent> tiled_partition(const Parent&)
{
    return thread_block_tile<Size, Parent>();
}

// Groups of equal labels within a tile or coalesced group.
template <class Group, class Label> inline coalesced_group labeled_partition(const Group& group, Label label)
{
    return coalesced_group(__match_any_sync(group.emu_mask(), label));
}
template <class Group> inline coalesced_group binary_partition(const Group& group, bool predicate)
{
    unsigned yes = __ballot_sync(group.emu_mask(), predicate);
    return coalesced_group(predicate ? yes : group.emu_mask() & ~yes);
}

// A group whose kind is known at run time only.
class thread_group {
    enum { block, warp } kind_;
    unsigned mask_;

public:
    thread_group(const thread_block&) : kind_(block), mask_(0) {}
    thread_group(const coalesced_group& group) : kind_(warp), mask_(group.emu_mask()) {}
    template <unsigned Size, class Parent> thread_group(const thread_block_tile<Size, Parent>& tile) : kind_(warp), mask_(tile.emu_mask()) {}
    void sync() const { kind_ == block ? __syncthreads() : __syncwarp(mask_); }
    unsigned long long size() const { return kind_ == block ? emu_thread.threads : unsigned(__popc(mask_)); }
    unsigned long long num_threads() const { return size(); }
    unsigned long long thread_rank() const
    {
        return kind_ == block ? emu_thread.linear : unsigned(__popc(mask_ & ((1u << emu_details::lane()) - 1u)));
    }
};
inline thread_group tiled_partition(const thread_block&, unsigned int size)
{
    unsigned first = emu_details::lane() / size * size;
    unsigned all = (size >= 32 ? 0xffffffffu : (1u << size) - 1u) << first;
    return coalesced_group(all);
}

template <class Group> inline void sync(const Group& group) { group.sync(); }
inline void wait(const thread_block&) { __syncthreads(); }
template <class Group> inline void wait(const Group& group) { group.sync(); }

} // namespace cooperative_groups
