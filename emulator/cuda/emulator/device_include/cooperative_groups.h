// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Cooperative groups: block, grid, cluster, tiles of 1 to 1024 threads, coalesced threads.
#pragma once

namespace cooperative_groups {
namespace __v1 { // where other headers declare these types

namespace emu_details {
inline unsigned rank_in_block() { return emu_thread.linear; }
inline unsigned lane() { return EMU_LANE; }
inline unsigned long long volume(dim3 d) { return (unsigned long long)d.x * d.y * d.z; }
inline unsigned position(dim3 at, dim3 size) { return at.x + size.x * (at.y + size.y * at.z); }
inline unsigned ranks_below(unsigned mask) { return unsigned(__popc(mask & ((1u << lane()) - 1u))); }
} // namespace emu_details

// --------------------------------------------------------------------------- the block

// Scratch memory that CUDA needs for tiles larger than a warp. Not used here.
template <unsigned int MaxBlockSize = 1024> struct block_tile_memory {
    unsigned char unused[16];
};

class thread_block {
public:
    class arrival_token {
        friend class thread_block;
        emu_u32 generation_;
        explicit arrival_token(emu_u32 generation) : generation_(generation) {}
    };
    static void sync(EMU_LOCATION) { __syncthreads(file, line); }
    static arrival_token barrier_arrive(EMU_LOCATION) { return arrival_token(emu_block_arrive(file, line)); }
    static void barrier_wait(arrival_token&& token, EMU_LOCATION) { emu_block_wait(token.generation_, file, line); }
    static unsigned int thread_rank() { return emu_details::rank_in_block(); }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 dim_threads() { return blockDim; }
    static dim3 group_dim() { return blockDim; }
    static unsigned int num_threads() { return emu_thread.threads; }
    static unsigned int size() { return emu_thread.threads; }
};
inline thread_block this_thread_block() { return thread_block(); }
template <unsigned int MaxBlockSize> inline thread_block this_thread_block(block_tile_memory<MaxBlockSize>&)
{
    return thread_block();
}

// ---------------------------------------------------------------------------- the grid

class grid_group {
public:
    struct arrival_token {};
    static bool is_valid() { return emu_grid_is_cooperative() != 0; }
    static void sync(EMU_LOCATION) { emu_grid_barrier(file, line); }
    static arrival_token barrier_arrive() { return {}; }
    static void barrier_wait(arrival_token&&, EMU_LOCATION) { emu_grid_barrier(file, line); }
    static unsigned long long block_rank()
    {
        return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    }
    static unsigned long long num_blocks() { return emu_details::volume(gridDim); }
    static unsigned long long thread_rank() { return block_rank() * emu_thread.threads + emu_thread.linear; }
    static unsigned long long num_threads() { return num_blocks() * emu_thread.threads; }
    static unsigned long long size() { return num_threads(); }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 dim_threads()
    {
        return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
    }
    static dim3 group_dim() { return gridDim; }
    static dim3 thread_index()
    {
        return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                    blockIdx.z * blockDim.z + threadIdx.z);
    }
    static dim3 block_index() { return dim3(blockIdx); }
    static dim3 cluster_index() { return __clusterIdx(); }
    static dim3 dim_clusters() { return __clusterGridDimInClusters(); }
    static unsigned long long num_clusters() { return emu_details::volume(dim_clusters()); }
    static unsigned long long cluster_rank() { return emu_details::position(cluster_index(), dim_clusters()); }
};
inline grid_group this_grid() { return grid_group(); }

// ------------------------------------------------------------------------- the cluster

class cluster_group {
public:
    typedef unsigned int arrival_token;
    static void sync(EMU_LOCATION) { emu_cluster_wait(emu_cluster_arrive(file, line), file, line); }
    static arrival_token barrier_arrive(EMU_LOCATION) { return emu_cluster_arrive(file, line); }
    static void barrier_wait(arrival_token token, EMU_LOCATION) { emu_cluster_wait(token, file, line); }
    static void barrier_wait(EMU_LOCATION) { emu_cluster_wait(emu_cluster_token(), file, line); }
    template <class T> static T* map_shared_rank(T* address, int rank)
    {
        return static_cast<T*>(emu_cluster_map(address, unsigned(rank)));
    }
    static unsigned int query_shared_rank(const void* address) { return emu_cluster_rank_of(address); }
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

// Exchanges a value of any size between lanes, in pieces.
template <class T> EMU_NO_CHECK inline T shuffle(emu_u32 op, unsigned mask, T value, unsigned argument, int width)
{
    static_assert(__is_trivially_copyable(T), "only trivially copyable values are exchanged between threads");
    constexpr unsigned words = (sizeof(T) + 7) / 8;
    emu_u64 pieces[words] = {};
    __builtin_memcpy(pieces, __builtin_addressof(value), sizeof(T));
    for (unsigned i = 0; i < words; ++i)
        pieces[i] = emu::shuffle(op, mask, pieces[i], argument, width);
    __builtin_memcpy(__builtin_addressof(value), pieces, sizeof(T));
    return value;
}

// The operations shared by tiles and coalesced groups, implemented by lane mask.
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
    template <class T> T shfl(T value, unsigned source) const
    {
        return shuffle(EMU_WARP_SHUFFLE_INDEX, self().emu_mask(), value, self().emu_lane_of(source), 32);
    }
    template <class T> T shfl_up(T value, unsigned delta) const
    {
        unsigned rank = self().thread_rank();
        return shfl(value, delta > rank ? rank : rank - delta);
    }
    template <class T> T shfl_down(T value, unsigned delta) const
    {
        unsigned rank = self().thread_rank();
        return shfl(value, delta >= self().size() - rank ? rank : rank + delta);
    }
};

// A tile of at most one warp.
template <unsigned Size> class small_tile : public in_warp<small_tile<Size>> {
public:
    static unsigned int thread_rank() { return lane() % Size; }
    static constexpr unsigned int size() { return Size; }
    static constexpr unsigned int num_threads() { return Size; }
    template <class T> T shfl_xor(T value, unsigned lanes) const
    {
        return shuffle(EMU_WARP_SHUFFLE_XOR, emu_mask(), value, lanes, Size);
    }
    static unsigned emu_first() { return lane() / Size * Size; }
    // If the block's last warp is not full, its missing lanes do not participate.
    static unsigned emu_mask()
    {
        unsigned all = (Size == 32 ? 0xffffffffu : (1u << (Size & 31)) - 1u) << emu_first();
        unsigned left = emu_thread.threads - EMU_WARP * 32;
        return left >= 32 ? all : all & ((1u << left) - 1u);
    }
    static unsigned emu_packed(unsigned lanes) { return lanes >> emu_first(); }
    static unsigned emu_lane_of(unsigned rank) { return emu_first() + rank % Size; }
};

// Where a tile exchanges values. They are on its threads' stacks, where the checks would reject access by other
// threads.
template <class T> struct Values {
    T** place;
    unsigned count;
    EMU_NO_CHECK __attribute__((noinline)) T get(unsigned i) const { return *place[i]; }
    EMU_NO_CHECK __attribute__((noinline)) void set(unsigned i, T value) const { *place[i] = value; }
    void set_all(T value) const
    {
        for (unsigned i = 0; i < count; ++i)
            set(i, value);
    }
};

// A tile of several warps. Each thread publishes the address of its value, and one thread works on all the values.
template <unsigned Size> class large_tile {
public:
    static unsigned int thread_rank() { return rank_in_block() % Size; }
    static constexpr unsigned int size() { return Size; }
    static constexpr unsigned int num_threads() { return Size; }
    static void sync(EMU_LOCATION) { emu_tile_barrier(Size, file, line); }
    int any(int predicate) const
    {
        return collect(predicate, [](const Values<int>& all) {
            int found = 0;
            for (unsigned i = 0; i < all.count; ++i)
                found |= all.get(i) != 0;
            all.set_all(found);
        });
    }
    int all(int predicate) const { return !any(!predicate); }
    template <class T> T shfl(T value, unsigned source) const
    {
        return collect(value, [source](const Values<T>& all) { all.set_all(all.get(source % all.count)); });
    }
    // Calls work(values) with the values of all threads in rank order, and replaces them.
    template <class T, class Work> EMU_NO_CHECK static T collect(T value, Work work)
    {
        unsigned first = rank_in_block() / Size * Size, left = emu_thread.threads - first;
        T** all = reinterpret_cast<T**>(emu_tile_slots()) + first;
        all[thread_rank()] = __builtin_addressof(value);
        sync();
        if (thread_rank() == 0)
            work(Values<T>{all, left < Size ? left : Size});
        sync();
        return value;
    }
};

template <unsigned Size, bool Small = (Size <= 32)> struct tile_kind {
    typedef small_tile<Size> type;
};
template <unsigned Size> struct tile_kind<Size, false> {
    typedef large_tile<Size> type;
};

} // namespace emu_details

template <unsigned int Size, class Parent = void> class thread_block_tile : public emu_details::tile_kind<Size>::type {
    static_assert(Size >= 1 && Size <= 1024 && (Size & (Size - 1)) == 0,
                  "the size of a tile is a power of two from 1 to 1024");

public:
    static unsigned int meta_group_rank() { return Parent::thread_rank() / Size; }
    static unsigned int meta_group_size() { return (Parent::size() + Size - 1) / Size; }
};

// The type without its parent group.
template <unsigned int Size> class thread_block_tile<Size, void> : public emu_details::tile_kind<Size>::type {
    unsigned int rank_, groups_;

public:
    template <class Parent>
    thread_block_tile(const thread_block_tile<Size, Parent>& tile)
        : rank_(tile.meta_group_rank()), groups_(tile.meta_group_size())
    {
    }
    thread_block_tile(const thread_block_tile&) = default;
    thread_block_tile& operator=(const thread_block_tile&) = default;
    unsigned int meta_group_rank() const { return rank_; }
    unsigned int meta_group_size() const { return groups_; }

private:
    friend thread_block_tile<1, void> this_thread();
    thread_block_tile(unsigned int rank, unsigned int groups) : rank_(rank), groups_(groups) {}
};
inline thread_block_tile<1, void> this_thread() { return thread_block_tile<1, void>(0, 1); }

class coalesced_group : public emu_details::in_warp<coalesced_group> {
    unsigned mask_, rank_, groups_;

public:
    explicit coalesced_group(unsigned mask, unsigned rank = 0, unsigned groups = 1)
        : mask_(mask), rank_(rank), groups_(groups)
    {
    }
    unsigned int thread_rank() const { return emu_details::ranks_below(mask_); }
    unsigned int size() const { return unsigned(__popc(mask_)); }
    unsigned int num_threads() const { return size(); }
    unsigned int meta_group_rank() const { return rank_; }
    unsigned int meta_group_size() const { return groups_; }
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
    // The lanes of this thread's part when the group is divided into parts of `size` ranks.
    coalesced_group emu_part(unsigned size) const
    {
        unsigned own = thread_rank() / size, part = 0, rank = 0;
        for (unsigned i = 0; i < 32; ++i)
            if (mask_ >> i & 1)
                part |= (rank++ / size == own ? 1u : 0u) << i;
        return coalesced_group(part, own, (this->size() + size - 1) / size);
    }
};
EMU_INLINE coalesced_group coalesced_threads(EMU_LOCATION) { return coalesced_group(emu_meet(file, line)); }

// ------------------------------------------------------- groups whose kind is known at run time

class thread_group {
    enum { block, grid, cluster, tile, warp } kind_;
    unsigned mask_; // warp: its lanes; tile: its size

public:
    thread_group(const thread_block&) : kind_(block), mask_(0) {}
    thread_group(const grid_group&) : kind_(grid), mask_(0) {}
    thread_group(const cluster_group&) : kind_(cluster), mask_(0) {}
    thread_group(const coalesced_group& group) : kind_(warp), mask_(group.emu_mask()) {}
    template <unsigned Size> thread_group(const emu_details::small_tile<Size>& group) : kind_(warp), mask_(group.emu_mask()) {}
    template <unsigned Size> thread_group(const emu_details::large_tile<Size>&) : kind_(tile), mask_(Size) {}
    void sync(EMU_LOCATION) const
    {
        switch (kind_) {
        case block: return thread_block::sync(file, line);
        case grid: return grid_group::sync(file, line);
        case cluster: return cluster_group::sync(file, line);
        case tile: return emu_tile_barrier(mask_, file, line);
        default: return __syncwarp(mask_);
        }
    }
    unsigned long long size() const
    {
        switch (kind_) {
        case block: return thread_block::size();
        case grid: return grid_group::size();
        case cluster: return cluster_group::size();
        case tile: return mask_;
        default: return unsigned(__popc(mask_));
        }
    }
    unsigned long long num_threads() const { return size(); }
    unsigned long long thread_rank() const
    {
        switch (kind_) {
        case block: return thread_block::thread_rank();
        case grid: return grid_group::thread_rank();
        case cluster: return cluster_group::thread_rank();
        case tile: return emu_details::rank_in_block() % mask_;
        default: return emu_details::ranks_below(mask_);
        }
    }
    bool is_valid() const { return kind_ != grid || grid_group::is_valid(); }
    // Only for parts of at most one warp: a block is divided like its warps.
    thread_group emu_part(unsigned size) const
    {
        unsigned left = emu_thread.threads - EMU_WARP * 32;
        unsigned all = left >= 32 ? 0xffffffffu : (1u << left) - 1u;
        return coalesced_group(kind_ == warp ? mask_ : all).emu_part(size);
    }
};

// ----------------------------------------------------------------------------- partitions

template <unsigned int Size> inline thread_block_tile<Size, thread_block> tiled_partition(const thread_block&)
{
    return thread_block_tile<Size, thread_block>();
}
template <unsigned int Size, unsigned int ParentSize, class Parent>
inline auto tiled_partition(const thread_block_tile<ParentSize, Parent>&)
    -> thread_block_tile<Size, thread_block_tile<ParentSize, Parent>>
{
    static_assert(Size <= ParentSize, "a tile is not larger than the tile that it is a part of");
    return thread_block_tile<Size, thread_block_tile<ParentSize, Parent>>();
}
inline thread_group tiled_partition(const thread_group& parent, unsigned int size) { return parent.emu_part(size); }
inline thread_group tiled_partition(const thread_block& parent, unsigned int size)
{
    return thread_group(parent).emu_part(size);
}
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size) { return parent.emu_part(size); }

// Divides a tile or coalesced group by label.
template <class Group, class Label> inline coalesced_group labeled_partition(const Group& group, Label label)
{
    unsigned mask = __match_any_sync(group.emu_mask(), label), first = mask & (0u - mask);
    unsigned firsts = __ballot_sync(group.emu_mask(), first == 1u << emu_details::lane());
    return coalesced_group(mask, unsigned(__popc(firsts & (first - 1u))), unsigned(__popc(firsts)));
}
template <class Group> inline coalesced_group binary_partition(const Group& group, bool predicate)
{
    return labeled_partition(group, unsigned(predicate));
}

// ------------------------------------------------------------------------------- functions

template <class Group> inline void sync(const Group& group, EMU_LOCATION) { thread_group(group).sync(file, line); }
template <class Group> inline unsigned long long thread_rank(const Group& group) { return group.thread_rank(); }
template <class Group> inline unsigned long long group_size(const Group& group) { return group.size(); }
template <class Group> inline bool is_valid(const Group& group) { return thread_group(group).is_valid(); }

// One thread calls the function; the second form returns its result to all threads.
template <class Group, class Function, class... Arguments>
inline void invoke_one(const Group& group, Function&& function, Arguments&&... arguments)
{
    if (group.thread_rank() == 0)
        static_cast<Function&&>(function)(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class Function, class... Arguments>
inline auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments)
    -> decltype(function(static_cast<Arguments&&>(arguments)...))
{
    typedef decltype(function(static_cast<Arguments&&>(arguments)...)) Result;
    alignas(Result) unsigned char bytes[sizeof(Result)] = {};
    if (group.thread_rank() == 0)
        ::new (static_cast<void*>(bytes)) Result(static_cast<Function&&>(function)(static_cast<Arguments&&>(arguments)...));
    return group.shfl(*reinterpret_cast<Result*>(bytes), 0);
}

} // namespace __v1
using namespace __v1;
} // namespace cooperative_groups
