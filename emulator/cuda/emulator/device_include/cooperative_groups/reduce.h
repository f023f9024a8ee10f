// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Reductions by tiles and coalesced groups. Values are combined in rank order, so every thread gets the same result.
#pragma once
#include <cooperative_groups.h>

namespace cooperative_groups {
namespace __v1 {

template <class T = void> struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <class T = void> struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T = void> struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T = void> struct bit_and {
    T operator()(T a, T b) const { return a & b; }
};
template <class T = void> struct bit_or {
    T operator()(T a, T b) const { return a | b; }
};
template <class T = void> struct bit_xor {
    T operator()(T a, T b) const { return a ^ b; }
};
template <> struct plus<void> {
    template <class T> T operator()(T a, T b) const { return a + b; }
};
template <> struct less<void> {
    template <class T> T operator()(T a, T b) const { return b < a ? b : a; }
};
template <> struct greater<void> {
    template <class T> T operator()(T a, T b) const { return a < b ? b : a; }
};
template <> struct bit_and<void> {
    template <class T> T operator()(T a, T b) const { return a & b; }
};
template <> struct bit_or<void> {
    template <class T> T operator()(T a, T b) const { return a | b; }
};
template <> struct bit_xor<void> {
    template <class T> T operator()(T a, T b) const { return a ^ b; }
};

namespace emu_details {

template <class Group, class T, class Operation>
inline T reduce(const in_warp<Group>& warp, T value, Operation& operation)
{
    const Group& group = static_cast<const Group&>(warp);
    const unsigned rank = group.thread_rank(), count = unsigned(__popc(group.emu_mask()));
    for (unsigned step = 1; step < count; step *= 2) {
        T other = group.shfl_down(value, step);
        if (rank + step < count)
            value = operation(value, other);
    }
    return group.shfl(value, 0);
}
template <unsigned Size, class T, class Operation>
inline T reduce(const large_tile<Size>& group, T value, Operation& operation)
{
    return group.collect(value, [&operation](const Values<T>& all) {
        T sum = all.get(0);
        for (unsigned i = 1; i < all.count; ++i)
            sum = operation(sum, all.get(i));
        all.set_all(sum);
    });
}

// Removes reference and const.
template <class T> struct value_of { typedef T type; };
template <class T> struct value_of<T&> : value_of<T> {};
template <class T> struct value_of<T&&> : value_of<T> {};
template <class T> struct value_of<const T> : value_of<T> {};
template <class T> struct value_of<volatile T> : value_of<T> {};
template <class T> struct value_of<const volatile T> : value_of<T> {};

} // namespace emu_details

template <class Group, class T, class Operation>
inline auto reduce(const Group& group, T&& value, Operation&& operation) -> typename emu_details::value_of<T>::type
{
    typedef typename emu_details::value_of<T>::type Value;
    return emu_details::reduce(group, Value(value), operation);
}

namespace emu_details {

// Combines a value with an atomic object, and returns its previous value.
template <class Atomic, class Operation>
inline auto update(Atomic& atomic, typename Atomic::value_type value, Operation& operation) -> typename Atomic::value_type
{
    typename Atomic::value_type old = atomic.load();
    while (!atomic.compare_exchange_weak(old, operation(old, value))) {
    }
    return old;
}

} // namespace emu_details

// The first thread stores the group's result in an atomic object, or combines it with the object's value.
template <class Group, class Atomic, class T, class Operation>
inline void reduce_store_async(const Group& group, Atomic& atomic, T&& value, Operation&& operation)
{
    typename Atomic::value_type result = reduce(group, typename Atomic::value_type(value), operation);
    if (group.thread_rank() == 0)
        atomic.store(result);
}
template <class Group, class Atomic, class T, class Operation>
inline void reduce_update_async(const Group& group, Atomic& atomic, T&& value, Operation&& operation)
{
    typename Atomic::value_type result = reduce(group, typename Atomic::value_type(value), operation);
    if (group.thread_rank() == 0)
        emu_details::update(atomic, result, operation);
}

} // namespace __v1
} // namespace cooperative_groups
