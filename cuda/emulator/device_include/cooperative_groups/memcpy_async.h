// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Copies by a group. They are done when the call returns; waiting is a barrier.
#pragma once
#include <cooperative_groups.h>

namespace cooperative_groups {

template <class Group, class T> inline void memcpy_async(const Group& group, T* to, const T* from, size_t bytes)
{
    char* target = reinterpret_cast<char*>(to);
    const char* source = reinterpret_cast<const char*>(from);
    for (size_t i = group.thread_rank(); i < bytes; i += group.size())
        target[i] = source[i];
}
template <unsigned Stages, class Group> inline void wait_prior(const Group& group) { group.sync(); }

} // namespace cooperative_groups
