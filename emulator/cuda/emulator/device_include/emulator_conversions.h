// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// On a GPU, conversions from floating point to integers saturate, and NaN becomes 0 (from double to 64 bits: the lowest
// value). In all these cases x86-64 returns one fixed value, so assembler macros replace the compiler's conversion
// instructions. They preserve the flags, and use only registers that the compiler does not use (-ffixed-xmm14
// -ffixed-xmm15). Conversions to unsigned 32-bit integers wrap around, because the compiler emits the signed 64-bit
// conversion for them.
#pragma once

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
// Copies x or 0 to xmm15, converts, and flips all bits of the result if x is at least the limit.
#define EMU_CONVERT(name, type, suffix, number, move, limit)                                      \
    ".macro emu_" name suffix " source, target\n"                                                 \
    "movs" type " \\source, %xmm15\n" number name " %xmm15, \\target\n"                           \
    "movs" type " " limit "(%rip), %xmm14\n"                                                      \
    "cmples" type " %xmm15, %xmm14\npshufd $0, %xmm14, %xmm14\n" move " \\target, %xmm15\n"                                  \
    "pxor %xmm14, %xmm15\n" move " %xmm15, \\target\n.endm\n"                                     \
    ".macro " name suffix " a, b, c, d\n"                                                         \
    ".ifnb \\d\nemu_" name suffix " \"\\a,\\b,\\c\", \\d\n.else\n"                                \
    ".ifnb \\c\nemu_" name suffix " \"\\a,\\b\", \\c\n.else\n"                                    \
    "emu_" name suffix " \\a, \\b\n.endif\n.endif\n.endm\n"
#define EMU_NUMBER(type)                                                                          \
    "movaps %xmm15, %xmm14\ncmpords" type " %xmm15, %xmm15\nandps %xmm14, %xmm15\n"
#define EMU_CONVERSIONS                                                                           \
    __asm__(EMU_CONVERT("cvttss2si", "s", "l", EMU_NUMBER("s"), "movd", ".Lemu_float31")          \
            EMU_CONVERT("cvttss2si", "s", "q", EMU_NUMBER("s"), "movq", ".Lemu_float63")          \
            EMU_CONVERT("cvttsd2si", "d", "l", EMU_NUMBER("d"), "movd", ".Lemu_double31")         \
            EMU_CONVERT("cvttsd2si", "d", "q", "", "movq", ".Lemu_double63")                      \
            ".pushsection .rodata\n.balign 8\n"                                                   \
            ".Lemu_double31: .quad 0x41e0000000000000\n.Lemu_double63: .quad 0x43e0000000000000\n" \
            ".Lemu_float31: .long 0x4f000000\n.Lemu_float63: .long 0x5f000000\n.popsection\n");
#else
#define EMU_CONVERSIONS
#endif
