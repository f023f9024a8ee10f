// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Barriers in shared memory as plain functions; <cuda/barrier> has them as a class.
#pragma once

typedef unsigned long __mbarrier_t;
typedef unsigned long __mbarrier_token_t;

EMU_INLINE unsigned int __mbarrier_maximum_count() { return (1u << 20) - 1; }
EMU_INLINE void __mbarrier_init(__mbarrier_t* barrier, unsigned int count, EMU_LOCATION)
{
    emu_mbarrier_init((emu_u64)barrier, count, file, line);
}
EMU_INLINE void __mbarrier_inval(__mbarrier_t* barrier, EMU_LOCATION) { emu_mbarrier_end((emu_u64)barrier, file, line); }
EMU_INLINE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier, EMU_LOCATION)
{
    return emu_mbarrier_arrive((emu_u64)barrier, 1, 0, file, line);
}
EMU_INLINE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier, EMU_LOCATION)
{
    return emu_mbarrier_drop((emu_u64)barrier, 1, file, line);
}
EMU_INLINE bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token, EMU_LOCATION)
{
    return emu_mbarrier_test((emu_u64)barrier, token, file, line);
}
EMU_INLINE bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool parity, EMU_LOCATION)
{
    return emu_mbarrier_test((emu_u64)barrier, parity, file, line);
}
EMU_INLINE bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, unsigned int, EMU_LOCATION)
{
    return emu_mbarrier_test((emu_u64)barrier, token, file, line);
}
EMU_INLINE bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool parity, unsigned int, EMU_LOCATION)
{
    return emu_mbarrier_test((emu_u64)barrier, parity, file, line);
}
EMU_INLINE unsigned int __mbarrier_token_pending_count(__mbarrier_token_t token) { return (unsigned int)(token >> 1); }
