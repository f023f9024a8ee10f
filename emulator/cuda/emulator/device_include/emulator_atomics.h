// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Atomic functions. All scopes are the same here, because the machine's memory is coherent. The races check
// distinguishes them, and treats the relaxed order, which these functions have in CUDA, as relaxed.
#pragma once

#if EMU_CHECKS & 4
#define EMU_ATOMIC_ORDER __ATOMIC_RELAXED
#define EMU_BLOCK_SCOPE emu_next_scope(EMU_SCOPE_BLOCK);
#define EMU_SWAP emu_next_scope(EMU_SCOPE_SWAP);
#else
#define EMU_ATOMIC_ORDER __ATOMIC_SEQ_CST
#define EMU_BLOCK_SCOPE
#define EMU_SWAP
#endif

namespace emu {

template <int Size> struct Word;
template <> struct Word<1> { typedef unsigned char type; };
template <> struct Word<2> { typedef unsigned short type; };
template <> struct Word<4> { typedef unsigned int type; };
template <> struct Word<8> { typedef unsigned long long type; };

// Where kernels read the shadow inline, the compiler does not check the alignment of atomic operations. Elsewhere the
// callbacks do.
template <class T> EMU_INLINE T* aligned(T* p, emu_u32 access = EMU_ACCESS_STORE)
{
#ifdef EMU_READS_SHADOW
    if (__builtin_expect(((emu_uptr)p & (sizeof(T) - 1)) != 0, 0))
        emu_misaligned((emu_uptr)p, sizeof(T), access, "", 0);
#endif
    (void)access;
    return p;
}

// For an operation whose compiled code counts as a store alone, and that depends on the earlier value.
template <class T> EMU_INLINE T* updated(T* p)
{
#if EMU_CHECKS & 2
    emu_update((emu_uptr)p, sizeof(T));
#endif
    return aligned(p);
}

// Replaces *p by f(*p) atomically, and returns the old value.
template <class T, class F> EMU_INLINE T update(T* p, F f)
{
    typedef typename Word<sizeof(T)>::type W;
    W* word = reinterpret_cast<W*>(aligned(p));
    W old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, same_bits<W>(f(same_bits<T>(old))), true,
                                        EMU_ATOMIC_ORDER, __ATOMIC_RELAXED)) {
    }
    return same_bits<T>(old);
}

template <class T> EMU_INLINE T exchange(T* p, T value)
{
    typedef typename Word<sizeof(T)>::type W;
    return same_bits<T>(__atomic_exchange_n(reinterpret_cast<W*>(aligned(p)), same_bits<W>(value), EMU_ATOMIC_ORDER));
}

template <class T> EMU_INLINE T compare_and_swap(T* p, T expected, T value)
{
    typedef typename Word<sizeof(T)>::type W;
    W old = same_bits<W>(expected);
    EMU_SWAP
    __atomic_compare_exchange_n(reinterpret_cast<W*>(updated(p)), &old, same_bits<W>(value), false,
                                EMU_ATOMIC_ORDER, EMU_ATOMIC_ORDER);
    return same_bits<T>(old);
}

} // namespace emu

// Defines a function for the device, block and system scopes.
#define EMU_ATOMIC(name, type, parameters, arguments, ...)                                        \
    EMU_INLINE type name parameters { __VA_ARGS__ }                                               \
    EMU_INLINE type name##_block parameters { EMU_BLOCK_SCOPE return name arguments; }                            \
    EMU_INLINE type name##_system parameters { return name arguments; }

#define EMU_INTEGER_ATOMICS(T)                                                                    \
    EMU_ATOMIC(atomicAdd, T, (T * p, T v), (p, v), return __atomic_fetch_add(::emu::updated(p), v, EMU_ATOMIC_ORDER);)  \
    EMU_ATOMIC(atomicExch, T, (T * p, T v), (p, v), return __atomic_exchange_n(::emu::aligned(p), v, EMU_ATOMIC_ORDER);) \
    EMU_ATOMIC(atomicMin, T, (T * p, T v), (p, v),                                                \
               return ::emu::update(p, [v](T old) { return old < v ? old : v; });)                \
    EMU_ATOMIC(atomicMax, T, (T * p, T v), (p, v),                                                \
               return ::emu::update(p, [v](T old) { return old > v ? old : v; });)                \
    EMU_ATOMIC(atomicAnd, T, (T * p, T v), (p, v), return __atomic_fetch_and(::emu::updated(p), v, EMU_ATOMIC_ORDER);) \
    EMU_ATOMIC(atomicOr, T, (T * p, T v), (p, v), return __atomic_fetch_or(::emu::updated(p), v, EMU_ATOMIC_ORDER);) \
    EMU_ATOMIC(atomicXor, T, (T * p, T v), (p, v), return __atomic_fetch_xor(::emu::updated(p), v, EMU_ATOMIC_ORDER);) \
    EMU_ATOMIC(atomicCAS, T, (T * p, T expected, T v), (p, expected, v),                          \
               return ::emu::compare_and_swap(p, expected, v);)

EMU_INTEGER_ATOMICS(int)
EMU_INTEGER_ATOMICS(unsigned int)
EMU_INTEGER_ATOMICS(unsigned long long)
EMU_ATOMIC(atomicMin, long long, (long long* p, long long v), (p, v),
           return ::emu::update(p, [v](long long old) { return old < v ? old : v; });)
EMU_ATOMIC(atomicMax, long long, (long long* p, long long v), (p, v),
           return ::emu::update(p, [v](long long old) { return old > v ? old : v; });)
EMU_ATOMIC(atomicAnd, long long, (long long* p, long long v), (p, v),
           return __atomic_fetch_and(::emu::updated(p), v, EMU_ATOMIC_ORDER);)
EMU_ATOMIC(atomicOr, long long, (long long* p, long long v), (p, v),
           return __atomic_fetch_or(::emu::updated(p), v, EMU_ATOMIC_ORDER);)
EMU_ATOMIC(atomicXor, long long, (long long* p, long long v), (p, v),
           return __atomic_fetch_xor(::emu::updated(p), v, EMU_ATOMIC_ORDER);)
EMU_ATOMIC(atomicSub, int, (int* p, int v), (p, v), return __atomic_fetch_sub(::emu::updated(p), v, EMU_ATOMIC_ORDER);)
EMU_ATOMIC(atomicSub, unsigned int, (unsigned int* p, unsigned int v), (p, v),
           return __atomic_fetch_sub(::emu::updated(p), v, EMU_ATOMIC_ORDER);)
EMU_ATOMIC(atomicInc, unsigned int, (unsigned int* p, unsigned int v), (p, v),
           return ::emu::update(p, [v](unsigned int old) { return old >= v ? 0u : old + 1u; });)
EMU_ATOMIC(atomicDec, unsigned int, (unsigned int* p, unsigned int v), (p, v),
           return ::emu::update(p, [v](unsigned int old) { return old == 0 || old > v ? v : old - 1u; });)
EMU_ATOMIC(atomicAdd, float, (float* p, float v), (p, v),
           return ::emu::update(p, [v](float old) { return old + v; });)
EMU_ATOMIC(atomicAdd, double, (double* p, double v), (p, v),
           return ::emu::update(p, [v](double old) { return old + v; });)
EMU_ATOMIC(atomicExch, float, (float* p, float v), (p, v), return ::emu::exchange(p, v);)
EMU_ATOMIC(atomicCAS, unsigned short, (unsigned short* p, unsigned short expected, unsigned short v),
           (p, expected, v), return ::emu::compare_and_swap(p, expected, v);)

// Vectors: each element is updated atomically, the whole vector is not.
EMU_ATOMIC(atomicAdd, float2, (float2 * p, float2 v), (p, v),
           float2 old; old.x = atomicAdd(&p->x, v.x); old.y = atomicAdd(&p->y, v.y); return old;)
EMU_ATOMIC(atomicAdd, float4, (float4 * p, float4 v), (p, v),
           float4 old; old.x = atomicAdd(&p->x, v.x); old.y = atomicAdd(&p->y, v.y);
           old.z = atomicAdd(&p->z, v.z); old.w = atomicAdd(&p->w, v.w); return old;)
#undef EMU_INTEGER_ATOMICS
#undef EMU_ATOMIC

// 16-byte values use the processor's own instructions.
namespace emu {
struct Word16 {
    unsigned long long low, high;
};
EMU_NO_CHECK EMU_INLINE bool swap16(void* p, Word16* expected, Word16 value)
{
    bool done;
    if (emu_thread.checks > EMU_CHECK_MEMORY)
        while (emu_watch((emu_uptr)p, 16, EMU_ACCESS_STORE | EMU_ACCESS_ATOMIC, __builtin_return_address(0)))
            emu_preempt();
#if defined(__x86_64__)
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(done), "+m"(*static_cast<Word16*>(p)), "+a"(expected->low), "+d"(expected->high)
                     : "b"(value.low), "c"(value.high)
                     : "memory");
#else
    // Stores the old value if it is not the expected one, because only a store proves that both halves belong together.
    Word16 old;
    emu_u64 low, high, failed;
    __asm__ volatile("1: ldaxp %[old_low], %[old_high], [%[p]]\n"
                     "cmp %[old_low], %[expected_low]\n"
                     "ccmp %[old_high], %[expected_high], #0, eq\n"
                     "csel %[low], %[value_low], %[old_low], eq\n"
                     "csel %[high], %[value_high], %[old_high], eq\n"
                     "stlxp %w[failed], %[low], %[high], [%[p]]\n"
                     "cbnz %w[failed], 1b"
                     : [old_low] "=&r"(old.low), [old_high] "=&r"(old.high), [low] "=&r"(low), [high] "=&r"(high),
                       [failed] "=&r"(failed)
                     : [p] "r"(p), [expected_low] "r"(expected->low), [expected_high] "r"(expected->high),
                       [value_low] "r"(value.low), [value_high] "r"(value.high)
                     : "memory", "cc");
    done = old.low == expected->low && old.high == expected->high;
    *expected = old;
#endif
    return done;
}
template <bool Fits, class T> struct Only16;
template <class T> struct Only16<true, T> { typedef T type; };
} // namespace emu

template <class T> EMU_INLINE typename ::emu::Only16<sizeof(T) == 16, T>::type atomicCAS(T* p, T expected, T value)
{
    ::emu::Word16 old = ::emu::same_bits< ::emu::Word16>(expected);
    ::emu::swap16(p, &old, ::emu::same_bits< ::emu::Word16>(value));
    return ::emu::same_bits<T>(old);
}
template <class T> EMU_INLINE typename ::emu::Only16<sizeof(T) == 16, T>::type atomicExch(T* p, T value)
{
    ::emu::Word16 old = {0, 0};
    while (!::emu::swap16(p, &old, ::emu::same_bits< ::emu::Word16>(value))) {
    }
    return ::emu::same_bits<T>(old);
}

// The functions with a memory order and a scope.
enum { __NV_ATOMIC_RELAXED, __NV_ATOMIC_CONSUME, __NV_ATOMIC_ACQUIRE, __NV_ATOMIC_RELEASE, __NV_ATOMIC_ACQ_REL,
       __NV_ATOMIC_SEQ_CST };
enum { __NV_THREAD_SCOPE_THREAD, __NV_THREAD_SCOPE_BLOCK, __NV_THREAD_SCOPE_CLUSTER, __NV_THREAD_SCOPE_DEVICE,
       __NV_THREAD_SCOPE_SYSTEM };
#if EMU_CHECKS & 4
#define EMU_NV_SCOPE                                                                              \
    if (scope <= __NV_THREAD_SCOPE_BLOCK)                                                         \
        emu_next_scope(EMU_SCOPE_BLOCK);
#else
#define EMU_NV_SCOPE (void)scope;
#endif
#define EMU_NV_ATOMIC(result, name, parameters, ...)                                              \
    template <class T> EMU_INLINE result __nv_atomic_##name parameters { EMU_NV_SCOPE __VA_ARGS__ }
#define EMU_NV_ORDER int order, int scope = __NV_THREAD_SCOPE_SYSTEM
#define EMU_NV_WORD(...) reinterpret_cast<typename ::emu::Word<sizeof(T)>::type*>(::emu::aligned(__VA_ARGS__))
#define EMU_NV_BITS(value) ::emu::same_bits<typename ::emu::Word<sizeof(T)>::type>(value)
EMU_NV_ATOMIC(T, load_n, (T* p, EMU_NV_ORDER),
              return ::emu::same_bits<T>(__atomic_load_n(EMU_NV_WORD(p, EMU_ACCESS_LOAD), order));)
EMU_NV_ATOMIC(void, load, (T* p, T* out, EMU_NV_ORDER), *out = __nv_atomic_load_n(p, order);)
EMU_NV_ATOMIC(void, store_n, (T* p, T value, EMU_NV_ORDER), __atomic_store_n(EMU_NV_WORD(p), EMU_NV_BITS(value), order);)
EMU_NV_ATOMIC(void, store, (T* p, T* value, EMU_NV_ORDER), __nv_atomic_store_n(p, *value, order);)
EMU_NV_ATOMIC(T, exchange_n, (T* p, T value, EMU_NV_ORDER),
              return ::emu::same_bits<T>(__atomic_exchange_n(EMU_NV_WORD(p), EMU_NV_BITS(value), order));)
EMU_NV_ATOMIC(void, exchange, (T* p, T* value, T* old, EMU_NV_ORDER), *old = __nv_atomic_exchange_n(p, *value, order);)
EMU_NV_ATOMIC(bool, compare_exchange_n,
              (T* p, T* expected, T desired, bool, int order, int failure, int scope = __NV_THREAD_SCOPE_SYSTEM),
              auto old = EMU_NV_BITS(*expected);
              EMU_SWAP
              bool done = __atomic_compare_exchange_n(EMU_NV_WORD(::emu::updated(p)), &old, EMU_NV_BITS(desired), false, order, failure);
              *expected = ::emu::same_bits<T>(old); return done;)
EMU_NV_ATOMIC(bool, compare_exchange,
              (T* p, T* expected, T* desired, bool weak, int order, int failure, int scope = __NV_THREAD_SCOPE_SYSTEM),
              return __nv_atomic_compare_exchange_n(p, expected, *desired, weak, order, failure);)
#define EMU_NV_UPDATE(name, ...)                                                                  \
    EMU_NV_ATOMIC(T, fetch_##name, (T* p, T v, EMU_NV_ORDER),                                     \
                  (void)order; return ::emu::update(p, [v](T old) -> T { return __VA_ARGS__; });)        \
    EMU_NV_ATOMIC(void, name, (T* p, T v, EMU_NV_ORDER), __nv_atomic_fetch_##name(p, v, order);)
EMU_NV_UPDATE(add, old + v)
EMU_NV_UPDATE(sub, old - v)
EMU_NV_UPDATE(and, old & v)
EMU_NV_UPDATE(or, old | v)
EMU_NV_UPDATE(xor, old ^ v)
EMU_NV_UPDATE(min, old < v ? old : v)
EMU_NV_UPDATE(max, old > v ? old : v)
EMU_INLINE void __nv_atomic_thread_fence(int, int scope = __NV_THREAD_SCOPE_SYSTEM)
{
    emu_fence(scope <= __NV_THREAD_SCOPE_BLOCK ? EMU_SCOPE_BLOCK : EMU_SCOPE_DEVICE);
}
