// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Copies to shared memory that a thread submits in batches. They complete when it waits for them.
#pragma once

// Copies all but the last `zeros` bytes, which become zero.
EMU_INLINE void __pipeline_memcpy_async(void* to, const void* from, size_t size, size_t zeros = 0, EMU_LOCATION)
{
    assert((size == 4 || size == 8 || size == 16) && zeros <= size);
    assert((size_t(to) | size_t(from)) % size == 0);
    emu_async_copy((emu_u64)to, (emu_u64)from, emu_u32(size), emu_u32(size - zeros), file, line);
}
EMU_INLINE void __pipeline_commit() { emu_async_commit(); }
EMU_INLINE void __pipeline_wait_prior(size_t groups) { emu_async_wait(emu_u32(groups), 0); }
