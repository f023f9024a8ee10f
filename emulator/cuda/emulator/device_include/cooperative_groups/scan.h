// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Prefix sums by tiles and coalesced groups, in rank order.
#pragma once
#include <cooperative_groups/reduce.h>

namespace cooperative_groups {
namespace __v1 {
namespace emu_details {

template <class Group, class T, class Operation>
inline T scan(const in_warp<Group>& warp, T value, Operation& operation, bool inclusive)
{
    const Group& group = static_cast<const Group&>(warp);
    const unsigned rank = group.thread_rank(), count = unsigned(__popc(group.emu_mask()));
    for (unsigned step = 1; step < count; step *= 2) {
        T other = group.shfl_up(value, step);
        if (rank >= step)
            value = operation(other, value);
    }
    if (inclusive)
        return value;
    value = group.shfl_up(value, 1);
    return rank ? value : T();
}
template <unsigned Size, class T, class Operation>
inline T scan(const large_tile<Size>& group, T value, Operation& operation, bool inclusive)
{
    return group.collect(value, [&operation, inclusive](const Values<T>& all) {
        T sum = all.get(0);
        if (!inclusive)
            all.set(0, T());
        for (unsigned i = 1; i < all.count; ++i) {
            T next = operation(sum, all.get(i));
            all.set(i, inclusive ? next : sum);
            sum = next;
        }
    });
}

} // namespace emu_details

template <class Group, class T, class Operation>
inline auto inclusive_scan(const Group& group, T&& value, Operation&& operation) -> typename emu_details::value_of<T>::type
{
    typedef typename emu_details::value_of<T>::type Value;
    return emu_details::scan(group, Value(value), operation, true);
}
template <class Group, class T>
inline auto inclusive_scan(const Group& group, T&& value) -> typename emu_details::value_of<T>::type
{
    return inclusive_scan(group, value, plus<typename emu_details::value_of<T>::type>());
}
// In an exclusive scan the first thread gets a value-initialized result.
template <class Group, class T, class Operation>
inline auto exclusive_scan(const Group& group, T&& value, Operation&& operation) -> typename emu_details::value_of<T>::type
{
    typedef typename emu_details::value_of<T>::type Value;
    return emu_details::scan(group, Value(value), operation, false);
}
template <class Group, class T>
inline auto exclusive_scan(const Group& group, T&& value) -> typename emu_details::value_of<T>::type
{
    return exclusive_scan(group, value, plus<typename emu_details::value_of<T>::type>());
}

namespace emu_details {

// The last thread combines the group's result with an atomic object. All results begin with its previous value.
template <class Group, class Atomic, class T, class Operation>
inline T scan_update(const Group& group, Atomic& atomic, T value, Operation& operation, bool inclusive)
{
    T sum = scan(group, value, operation, true), old = T();
    const unsigned last = unsigned(group.size()) - 1u, rank = unsigned(group.thread_rank());
    if (rank == last)
        old = update(atomic, sum, operation);
    old = group.shfl(old, last);
    if (!inclusive)
        sum = group.shfl_up(sum, 1);
    return inclusive || rank ? operation(old, sum) : old;
}

} // namespace emu_details

template <class Group, class Atomic, class T, class Operation>
inline auto inclusive_scan_update(const Group& group, Atomic& atomic, T&& value, Operation&& operation) ->
    typename Atomic::value_type
{
    return emu_details::scan_update(group, atomic, typename Atomic::value_type(value), operation, true);
}
template <class Group, class Atomic, class T>
inline auto inclusive_scan_update(const Group& group, Atomic& atomic, T&& value) -> typename Atomic::value_type
{
    return inclusive_scan_update(group, atomic, value, plus<typename Atomic::value_type>());
}
template <class Group, class Atomic, class T, class Operation>
inline auto exclusive_scan_update(const Group& group, Atomic& atomic, T&& value, Operation&& operation) ->
    typename Atomic::value_type
{
    return emu_details::scan_update(group, atomic, typename Atomic::value_type(value), operation, false);
}
template <class Group, class Atomic, class T>
inline auto exclusive_scan_update(const Group& group, Atomic& atomic, T&& value) -> typename Atomic::value_type
{
    return exclusive_scan_update(group, atomic, value, plus<typename Atomic::value_type>());
}

} // namespace __v1
} // namespace cooperative_groups
