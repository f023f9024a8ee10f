// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Copies to shared memory that a thread submits in batches. A copy has completed when its call returns.
#pragma once

// Copies all but the last `zeros` bytes, which become zero.
EMU_INLINE void __pipeline_memcpy_async(void* to, const void* from, size_t size, size_t zeros = 0)
{
    assert((size == 4 || size == 8 || size == 16) && zeros <= size);
    assert((size_t(to) | size_t(from)) % size == 0);
    __builtin_memcpy(to, from, size - zeros);
    __builtin_memset(static_cast<char*>(to) + (size - zeros), 0, zeros);
}
EMU_INLINE void __pipeline_commit() {}
EMU_INLINE void __pipeline_wait_prior(size_t) {}
