// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The callbacks of -fsanitize=kernel-address in their simplest form, as emulator_abi.h requires
// them, so that tests of the executor do not need the front end.
#pragma once

EMU_NO_CHECK static inline bool is_allowed(emu_uptr address, emu_size size)
{
    const EmuSpace& space = emu_module.space;
    emu_uptr offset = address - space.base;
    if (offset < space.size) {
        emu_u8 value = space.shadow[offset >> 3];
        if (size > 8 && space.shadow[(offset + size - 1) >> 3])
            return false;
        return value == 0 || (value < 8 && (offset & 7) + size <= value);
    }
    const EmuThread& thread = emu_thread;
    if (address - thread.stack_low < thread.stack_high - thread.stack_low)
        return true;
    for (const EmuRange& range : thread.recent)
        if (address >= range.low && address + size <= range.high)
            return true;
    return false;
}

EMU_NO_CHECK static inline void check(emu_uptr address, emu_size size, emu_u32 access, void* pc)
{
    if (__builtin_expect(size <= 16 && (address & (size - 1)), 0))
        access |= EMU_ACCESS_MISALIGNED;
    else if (__builtin_expect(is_allowed(address, size), 1))
        return;
    emu_check_slow(address, size, access, pc);
}

#define CALLBACKS(size)                                                                           \
    EMU_HIDDEN EMU_NO_CHECK void __asan_load##size##_noabort(emu_uptr address)                    \
    {                                                                                             \
        check(address, size, EMU_ACCESS_LOAD, __builtin_return_address(0));                       \
    }                                                                                             \
    EMU_HIDDEN EMU_NO_CHECK void __asan_store##size##_noabort(emu_uptr address)                   \
    {                                                                                             \
        check(address, size, EMU_ACCESS_STORE, __builtin_return_address(0));                      \
    }

extern "C" {
CALLBACKS(1)
CALLBACKS(2)
CALLBACKS(4)
CALLBACKS(8)
CALLBACKS(16)
EMU_HIDDEN EMU_NO_CHECK void __asan_handle_no_return() {}
}
