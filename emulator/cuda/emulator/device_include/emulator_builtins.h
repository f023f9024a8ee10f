// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Built-in variables, barriers, fences, clocks, and device services.
#pragma once

namespace emu {
// The compiler must not treat threadIdx as a constant, because several threads run in one function. A mutable member in
// its type prevents that.
struct ThreadIndex : uint3 {
    mutable unsigned : 0;
    constexpr ThreadIndex& operator=(uint3 v) { return static_cast<uint3&>(*this) = v, *this; } // assigns to a copy
};
// The compiler treats other such variables as constants, unless their type has constructors, like dim3.
struct Extent : uint3 {
    constexpr Extent& operator=(dim3 v) { return static_cast<uint3&>(*this) = v, *this; }
};
}
extern const EMU_IMPORT EMU_TLS emu::ThreadIndex threadIdx __asm__("emu_thread_idx");
extern const EMU_IMPORT EMU_TLS uint3 blockIdx __asm__("emu_block_idx");
extern const EMU_IMPORT EMU_TLS emu::Extent blockDim __asm__("emu_block_dim");
extern const EMU_IMPORT EMU_TLS emu::Extent gridDim __asm__("emu_grid_dim");
static constexpr int warpSize = 32;

#define EMU_INLINE inline __attribute__((always_inline))

EMU_INLINE void __syncthreads(EMU_LOCATION) { emu_barrier(file, line); }
EMU_INLINE int __syncthreads_count(int predicate, EMU_LOCATION)
{
    return emu_barrier_reduce(EMU_REDUCE_COUNT, predicate, 0, 0, file, line);
}
EMU_INLINE int __syncthreads_and(int predicate, EMU_LOCATION)
{
    return emu_barrier_reduce(EMU_REDUCE_AND, predicate, 0, 0, file, line);
}
EMU_INLINE int __syncthreads_or(int predicate, EMU_LOCATION)
{
    return emu_barrier_reduce(EMU_REDUCE_OR, predicate, 0, 0, file, line);
}

EMU_INLINE void __threadfence_block()
{
#if EMU_CHECKS & 4
    emu_fence(EMU_SCOPE_BLOCK);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
EMU_INLINE void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
EMU_INLINE void __threadfence_cluster() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
EMU_INLINE void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

EMU_INLINE long long clock64() { return (long long)emu_clock(); }
EMU_INLINE clock_t clock() { return (clock_t)emu_clock(); }
// A template, so that a program can define its own.
template <int = 0> EMU_INLINE unsigned long long __globaltimer() { return emu_global_timer(); }
EMU_INLINE void __nanosleep(unsigned int nanoseconds) { emu_nanosleep(nanoseconds); }
EMU_INLINE void __trap() { emu_trap(nullptr); }
EMU_INLINE void __brkpt() { emu_trap("__brkpt() was reached"); }
EMU_INLINE void __exit() { emu_exit_thread(); }
EMU_INLINE void __prof_trigger(int) {}
EMU_INLINE void __pm0() {}
EMU_INLINE void __pm1() {}
EMU_INLINE void __pm2() {}
EMU_INLINE void __pm3() {}
EMU_INLINE unsigned int __isShared(const void* pointer) { return emu_is_shared(pointer, 0) != 0; }
EMU_INLINE unsigned int __isClusterShared(const void* pointer) { return emu_is_shared(pointer, 1) != 0; }
EMU_INLINE unsigned int __isGlobal(const void* pointer)
{
    return pointer && !emu_is_shared(pointer, 1) && !emu_is_local(pointer) && !emu_is_constant(pointer);
}
EMU_INLINE unsigned int __isConstant(const void* pointer) { return emu_is_constant(pointer) != 0; }
// Parameters are variables of the thread here.
__attribute__((error("__isGridConstant is not supported by the software device"))) unsigned int
__isGridConstant(const void* pointer);
EMU_INLINE unsigned int __isLocal(const void* pointer) { return emu_is_local(pointer) != 0; }
EMU_INLINE void __builtin_nv_yield() { emu_yield(); }

// Declared under their own names, because programs declare them and take their addresses; the assembler names map them
// to device functions.
extern "C" {
EMU_IMPORT int printf(const char* format, ...) __asm__("emu_printf") __attribute__((format(printf, 1, 2)));
EMU_IMPORT int vprintf(const char* format, va_list arguments) __asm__("emu_vprintf");
EMU_IMPORT void* malloc(size_t bytes) __asm__("emu_malloc");
EMU_IMPORT void free(void* pointer) __asm__("emu_free");
EMU_IMPORT void* memcpy(void* to, const void* from, size_t bytes);
EMU_IMPORT void* memset(void* to, int value, size_t bytes);
EMU_IMPORT void* memmove(void* to, const void* from, size_t bytes);
EMU_IMPORT int memcmp(const void* a, const void* b, size_t bytes);

// For conditional nodes. Programs may also declare it, with or without cuda_device_runtime_api.h.
typedef unsigned long long cudaGraphConditionalHandle;
EMU_IMPORT void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value)
    __asm__("emu_set_condition");

// For kernels that launch graphs. Programs may also declare these.
EMU_IMPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) __asm__("emu_launch_graph");
}

// With values, printf() compares their types with the format.
namespace emu {
template <class T> struct Printed {
    static constexpr emu_u8 kind = __is_class(T) || __is_union(T) || sizeof(T) > 8 ? EMU_PRINTED_OBJECT
                                   : sizeof(T) > 4                                 ? EMU_PRINTED_LONG
                                                                                   : EMU_PRINTED_INT;
};
template <class T> struct Printed<T*> {
    static constexpr emu_u8 kind = EMU_PRINTED_POINTER;
};
template <> struct Printed<decltype(nullptr)> : Printed<void*> {};
template <> struct Printed<double> {
    static constexpr emu_u8 kind = EMU_PRINTED_DOUBLE;
};
template <> struct Printed<float> : Printed<double> {};
template <> struct Printed<long double> : Printed<double> {};
}
template <class First, class... Rest> EMU_INLINE int printf(const char* format, First first, Rest... rest)
{
    const emu_u8 kinds[] = {emu::Printed<First>::kind, emu::Printed<Rest>::kind...};
    return emu_printf_of(kinds, sizeof kinds, format, first, rest...);
}

#define cudaStreamGraphTailLaunch ((cudaStream_t)0x0100000000000000)
#define cudaStreamGraphFireAndForget ((cudaStream_t)0x0200000000000000)
#define cudaStreamGraphFireAndForgetAsSibling ((cudaStream_t)0x0300000000000000)
EMU_INLINE cudaGraphExec_t cudaGetCurrentGraphExec() { return (cudaGraphExec_t)emu_current_graph(); }

inline void* operator new(size_t, void* place) noexcept { return place; }
inline void* operator new[](size_t, void* place) noexcept { return place; }

// Accesses with a cache hint. They check alignment themselves, with the caller's location.
#define EMU_HINTED EMU_INLINE __attribute__((no_sanitize("alignment")))
namespace emu {
template <class T> EMU_HINTED void require_alignment(const T* pointer, emu_u32 access, const char* file, emu_u32 line)
{
#if EMU_CHECKS & 1
    if (__builtin_expect(((emu_uptr)pointer & (alignof(T) - 1)) != 0, 0))
        emu_misaligned((emu_uptr)pointer, sizeof(T), access, file, line);
#endif
}
}
namespace emu {
template <int Size> struct Word;

// Volatile accesses to a number, and to a vector in words of its alignment.
template <bool IsClass> struct Volatile {
    template <class T> static EMU_HINTED T load(const T* from) { return *static_cast<const volatile T*>(from); }
    template <class T> static EMU_HINTED void store(T* to, T value) { *static_cast<volatile T*>(to) = value; }
};
template <> struct Volatile<true> {
    template <class T> static EMU_HINTED T load(const T* from)
    {
        typedef typename Word<(alignof(T) > 8 ? 8 : alignof(T))>::type W;
        T value;
        for (size_t i = 0; i < sizeof(T) / sizeof(W); ++i)
            reinterpret_cast<W*>(&value)[i] = reinterpret_cast<const volatile W*>(from)[i];
        return value;
    }
    template <class T> static EMU_HINTED void store(T* to, T value)
    {
        typedef typename Word<(alignof(T) > 8 ? 8 : alignof(T))>::type W;
        for (size_t i = 0; i < sizeof(T) / sizeof(W); ++i)
            reinterpret_cast<volatile W*>(to)[i] = reinterpret_cast<const W*>(&value)[i];
    }
};
}
#define EMU_HINTED_LOAD(name, value)                                                              \
    template <class T> EMU_HINTED T name(const T* pointer, EMU_LOCATION)                          \
    {                                                                                             \
        ::emu::require_alignment(pointer, EMU_ACCESS_LOAD, file, line);                           \
        return value;                                                                             \
    }
#define EMU_HINTED_STORE(name, store)                                                             \
    template <class T> EMU_HINTED void name(T* pointer, T value, EMU_LOCATION)                    \
    {                                                                                             \
        ::emu::require_alignment(pointer, EMU_ACCESS_STORE, file, line);                          \
        store;                                                                                    \
    }
namespace emu {
template <class T> EMU_HINTED T load_read_only(const T* pointer, const char* file, emu_u32 line)
{
#if EMU_CHECKS & 4
    emu_read_only((emu_uptr)pointer, sizeof(T), file, line);
#endif
    (void)file, (void)line;
    return *pointer;
}
}
EMU_HINTED_LOAD(__ldg, ::emu::load_read_only(pointer, file, line))
EMU_HINTED_LOAD(__ldca, *pointer)
EMU_HINTED_LOAD(__ldcg, *pointer)
EMU_HINTED_LOAD(__ldcs, *pointer)
EMU_HINTED_LOAD(__ldlu, *pointer)
EMU_HINTED_LOAD(__ldcv, ::emu::Volatile<__is_class(T)>::load(pointer))
EMU_HINTED_STORE(__stwb, *pointer = value)
EMU_HINTED_STORE(__stcg, *pointer = value)
EMU_HINTED_STORE(__stcs, *pointer = value)
EMU_HINTED_STORE(__stwt, ::emu::Volatile<__is_class(T)>::store(pointer, value))

EMU_INLINE size_t __cvta_generic_to_shared(const void* pointer) { return (size_t)pointer; }
EMU_INLINE size_t __cvta_generic_to_global(const void* pointer) { return (size_t)pointer; }
EMU_INLINE size_t __cvta_generic_to_local(const void* pointer) { return (size_t)pointer; }
EMU_INLINE size_t __cvta_generic_to_constant(const void* pointer) { return (size_t)pointer; }
EMU_INLINE void* __cvta_shared_to_generic(size_t address)
{
    return address >> 32 ? (void*)address : emu_shared_address(address);
}
EMU_INLINE void* __cvta_global_to_generic(size_t address) { return (void*)address; }
EMU_INLINE void* __cvta_local_to_generic(size_t address) { return (void*)address; }
EMU_INLINE void* __cvta_constant_to_generic(size_t address) { return (void*)address; }

namespace emu {
// Operands of inline PTX: the conversion between a value and the bits of its register.
template <class T> EMU_NO_CHECK EMU_INLINE emu_u64 ptx_bits(T value) { return (emu_u64)value; }
EMU_NO_CHECK EMU_INLINE emu_u64 ptx_bits(float value) { emu_u32 bits; __builtin_memcpy(&bits, &value, 4); return bits; }
EMU_NO_CHECK EMU_INLINE emu_u64 ptx_bits(double value) { emu_u64 bits; __builtin_memcpy(&bits, &value, 8); return bits; }
template <class T> EMU_INLINE void ptx_set(T& target, emu_u64 bits) { target = (T)bits; }
EMU_INLINE void ptx_set(float& target, emu_u64 bits) { emu_u32 word = (emu_u32)bits; __builtin_memcpy(&target, &word, 4); }
EMU_INLINE void ptx_set(double& target, emu_u64 bits) { __builtin_memcpy(&target, &bits, 8); }
}

EMU_INLINE emu_u32 emu_cluster_blocks()
{
    return emu_thread.cluster_dim.x * emu_thread.cluster_dim.y * emu_thread.cluster_dim.z;
}
EMU_INLINE emu_u32 emu_cluster_rank()
{
    const EmuDim3 &at = emu_thread.cluster_block, &size = emu_thread.cluster_dim;
    return at.x + size.x * (at.y + size.y * at.z);
}

EMU_INLINE dim3 __clusterDim() { return dim3(emu_thread.cluster_dim.x, emu_thread.cluster_dim.y, emu_thread.cluster_dim.z); }
EMU_INLINE dim3 __clusterRelativeBlockIdx()
{
    return dim3(emu_thread.cluster_block.x, emu_thread.cluster_block.y, emu_thread.cluster_block.z);
}
EMU_INLINE dim3 __clusterGridDimInClusters()
{
    dim3 size = __clusterDim();
    return dim3(gridDim.x / size.x, gridDim.y / size.y, gridDim.z / size.z);
}
EMU_INLINE dim3 __clusterIdx()
{
    dim3 size = __clusterDim();
    return dim3(blockIdx.x / size.x, blockIdx.y / size.y, blockIdx.z / size.z);
}
EMU_INLINE bool __clusterDimIsSpecified() { return emu_cluster_blocks() > 1; }
EMU_INLINE unsigned int __clusterRelativeBlockRank() { return emu_cluster_rank(); }
EMU_INLINE unsigned int __clusterSizeInBlocks() { return emu_cluster_blocks(); }
EMU_INLINE void __cluster_barrier_arrive(EMU_LOCATION) { emu_cluster_arrive(file, line); }
EMU_INLINE void __cluster_barrier_arrive_relaxed(EMU_LOCATION) { emu_cluster_arrive(file, line); }
EMU_INLINE void __cluster_barrier_wait(EMU_LOCATION) { emu_cluster_wait(emu_cluster_token(), file, line); }
EMU_INLINE unsigned int __cluster_query_shared_rank(const void* pointer) { return emu_cluster_rank_of(pointer); }
EMU_INLINE void* __cluster_map_shared_rank(const void* pointer, unsigned int rank) { return emu_cluster_map(pointer, rank); }

#define __builtin_assume(condition)                                                               \
    do {                                                                                          \
        if (!(condition))                                                                         \
            __builtin_unreachable();                                                              \
    } while (0)
EMU_INLINE void __assume(bool) {}
