// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Group copies. Each thread has copied its part when the call returns, so waiting is a barrier.
#pragma once
#include <cooperative_groups.h>

namespace cooperative_groups {
namespace __v1 {
namespace emu_details {

template <class Word, class Group> inline void copy_words(const Group& group, void* to, const void* from, size_t bytes)
{
    Word* target = static_cast<Word*>(to);
    const Word* source = static_cast<const Word*>(from);
    for (size_t i = group.thread_rank(); i < bytes / sizeof(Word); i += group.size())
        target[i] = source[i];
}
template <class Group> inline void copy(const Group& group, void* to, const void* from, size_t bytes)
{
    size_t all = size_t(to) | size_t(from) | bytes;
    if (all % 8 == 0)
        copy_words<unsigned long long>(group, to, from, bytes);
    else if (all % 4 == 0)
        copy_words<unsigned int>(group, to, from, bytes);
    else
        copy_words<unsigned char>(group, to, from, bytes);
}

} // namespace emu_details

// `bytes` is a number or converts to one, like cuda::aligned_size_t.
template <class Group, class T, class Shape>
inline void memcpy_async(const Group& group, T* to, const T* from, const Shape& bytes)
{
    emu_details::copy(group, to, from, size_t(bytes));
}
// Both layouts specify a number of elements; the smaller one is copied.
template <class Group, class T, class ToLayout, class FromLayout>
inline void memcpy_async(const Group& group, T* to, const ToLayout& room, const T* from, const FromLayout& given)
{
    size_t count = size_t(room) < size_t(given) ? size_t(room) : size_t(given);
    emu_details::copy(group, to, from, count * sizeof(T));
}

template <class Group> inline void wait(const Group& group, EMU_LOCATION) { thread_group(group).sync(file, line); }
template <unsigned Stages, class Group> inline void wait_prior(const Group& group, EMU_LOCATION)
{
    thread_group(group).sync(file, line);
}

} // namespace __v1
} // namespace cooperative_groups
