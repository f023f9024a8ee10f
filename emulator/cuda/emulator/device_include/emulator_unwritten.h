// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// With the `initialized` check, local variables without an initializer begin with a value that is reported when it has
// been stored to global memory (Worker::check_stored). The floating-point value is a NaN, whose bits survive arithmetic
// and conversions. Until it is stored, it may be copied and computed with: idle lanes of correct kernels do that.
#pragma once
#pragma GCC system_header

#if EMU_CHECKS & 2
#define EMU_UNWRITTEN(name) ::emu::set_unwritten(name);
#define EMU_MARKS_UNWRITTEN extern "C" __attribute__((weak, visibility("hidden"))) const char emu_marks_unwritten = 1;
namespace emu {
#define EMU_SET_UNWRITTEN(T, bits)                                                                \
    constexpr EMU_INLINE void set_unwritten(T& value)                                             \
    {                                                                                             \
        auto unwritten = bits;                                                                    \
        if (!__builtin_is_constant_evaluated())                                                   \
            __builtin_memcpy(&value, &unwritten, sizeof value);                                   \
    }
EMU_SET_UNWRITTEN(float, EMU_UNWRITTEN_FLOAT)
EMU_SET_UNWRITTEN(double, EMU_UNWRITTEN_DOUBLE)
EMU_SET_UNWRITTEN(long, EMU_UNWRITTEN_LONG)
EMU_SET_UNWRITTEN(unsigned long, EMU_UNWRITTEN_LONG)
EMU_SET_UNWRITTEN(long long, EMU_UNWRITTEN_LONG)
EMU_SET_UNWRITTEN(unsigned long long, EMU_UNWRITTEN_LONG)
#undef EMU_SET_UNWRITTEN
// Integers of 32 bits and less can be equal by chance. Copies of classes may have unused members.
template <class T> constexpr EMU_INLINE void set_unwritten(T&) {}
} // namespace emu
#else
#define EMU_UNWRITTEN(name)
#define EMU_MARKS_UNWRITTEN
#endif
