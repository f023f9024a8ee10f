// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cooperative_groups/reduce.h>

namespace cooperative_groups {

template <class Group, class T, class Operation> inline T inclusive_scan(const Group& group, T value, Operation operation)
{
    T sum = value;
    for (unsigned step = 1; step < group.size(); step *= 2) {
        T other = group.shfl_up(sum, step);
        if (group.thread_rank() >= step)
            sum = operation(other, sum);
    }
    return sum;
}
template <class Group, class T> inline T inclusive_scan(const Group& group, T value)
{
    return inclusive_scan(group, value, plus<T>());
}
template <class Group, class T, class Operation> inline T exclusive_scan(const Group& group, T value, Operation operation)
{
    T sum = group.shfl_up(inclusive_scan(group, value, operation), 1);
    return group.thread_rank() ? sum : T();
}
template <class Group, class T> inline T exclusive_scan(const Group& group, T value)
{
    return exclusive_scan(group, value, plus<T>());
}

} // namespace cooperative_groups
