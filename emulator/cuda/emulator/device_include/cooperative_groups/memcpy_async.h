// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Group copies. Each thread copies its part, as by cp.async, and waits for it before the group's barrier.
#pragma once
#include <cooperative_groups.h>

namespace cooperative_groups {
namespace __v1 {
namespace emu_details {

template <class Word, class Group>
inline void copy_words(const Group& group, void* to, const void* from, size_t bytes, EMU_LOCATION)
{
    Word* target = static_cast<Word*>(to);
    const Word* source = static_cast<const Word*>(from);
    for (size_t i = group.thread_rank(); i < bytes / sizeof(Word); i += group.size())
        if (sizeof(Word) < 4)
            target[i] = source[i];
        else
            emu_async_copy((emu_u64)(target + i), (emu_u64)(source + i), sizeof(Word), sizeof(Word), file, line);
    emu_async_commit();
}
template <class Group>
inline void copy(const Group& group, void* to, const void* from, size_t bytes, EMU_LOCATION)
{
    size_t all = size_t(to) | size_t(from) | bytes;
    if (all % 8 == 0)
        copy_words<unsigned long long>(group, to, from, bytes, file, line);
    else if (all % 4 == 0)
        copy_words<unsigned int>(group, to, from, bytes, file, line);
    else
        copy_words<unsigned char>(group, to, from, bytes, file, line);
}

} // namespace emu_details

// `bytes` is a number or converts to one, like cuda::aligned_size_t.
template <class Group, class T, class Shape>
inline void memcpy_async(const Group& group, T* to, const T* from, const Shape& bytes, EMU_LOCATION)
{
    emu_details::copy(group, to, from, size_t(bytes), file, line);
}
// Both layouts specify a number of elements; the smaller one is copied.
template <class Group, class T, class ToLayout, class FromLayout>
inline void memcpy_async(const Group& group, T* to, const ToLayout& room, const T* from, const FromLayout& given,
                         EMU_LOCATION)
{
    size_t count = size_t(room) < size_t(given) ? size_t(room) : size_t(given);
    emu_details::copy(group, to, from, count * sizeof(T), file, line);
}

template <class Group> inline void wait(const Group& group, EMU_LOCATION)
{
    emu_async_wait(0, 1);
    thread_group(group).sync(file, line);
}
template <unsigned Stages, class Group> inline void wait_prior(const Group& group, EMU_LOCATION)
{
    emu_async_wait(Stages, 0);
    thread_group(group).sync(file, line);
}

} // namespace __v1
} // namespace cooperative_groups
