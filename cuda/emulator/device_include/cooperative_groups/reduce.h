// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cooperative_groups.h>

namespace cooperative_groups {

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

// In the order of ranks, so that every thread gets the same result.
template <class Group, class T, class Operation> inline T reduce(const Group& group, T value, Operation operation)
{
    T sum = group.shfl(value, 0);
    for (unsigned rank = 1; rank < group.size(); ++rank)
        sum = operation(sum, group.shfl(value, int(rank)));
    return sum;
}

} // namespace cooperative_groups
