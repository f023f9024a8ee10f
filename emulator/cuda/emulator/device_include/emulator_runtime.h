// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Compiled once and linked into every module: functions that the compiler calls implicitly. A module has its own new
// and delete, so the host process's are not affected.
#pragma once
#pragma GCC system_header

#include "emulator_abi.h"
#include "emulator_checks.h"

typedef __SIZE_TYPE__ size_t;

#define EMU_WEAK __attribute__((weak))
EMU_WEAK void* operator new(size_t bytes) { return emu_malloc(bytes); }
EMU_WEAK void* operator new[](size_t bytes) { return emu_malloc(bytes); }
EMU_WEAK void operator delete(void* pointer) noexcept { emu_free(pointer); }
EMU_WEAK void operator delete[](void* pointer) noexcept { emu_free(pointer); }
EMU_WEAK void operator delete(void* pointer, size_t) noexcept { emu_free(pointer); }
EMU_WEAK void operator delete[](void* pointer, size_t) noexcept { emu_free(pointer); }
extern "C" EMU_WEAK void __cxa_pure_virtual() { emu_trap("a pure virtual function was called"); }

// -fsanitize=unreachable,return: without them a function that has no code would be at the address of the next one.
struct EmuUnreachable {
    const char* file;
    emu_u32 line, column;
};
extern "C" EMU_NO_CHECK EMU_WEAK EMU_HIDDEN void __ubsan_handle_builtin_unreachable(const EmuUnreachable* data)
{
    emu_unreachable("__builtin_unreachable() or a false __builtin_assume()", data->file, data->line);
}
extern "C" EMU_NO_CHECK EMU_WEAK EMU_HIDDEN void __ubsan_handle_missing_return(const EmuUnreachable* data)
{
    emu_unreachable("the end of a function that returns a value", data->file, data->line);
}

#if EMU_CHECKS & 32
extern "C" EMU_NO_CHECK EMU_WEAK EMU_HIDDEN void __sanitizer_cov_trace_pc() { emu_cover(__builtin_return_address(0)); }
#endif

#if EMU_CHECKS & 1
// The compiler does not instrument calls of these functions, so they check their ranges. They are written in assembly,
// because a compiler turns such loops into calls of the same functions.
namespace emu {
#if defined(__x86_64__)
EMU_NO_CHECK static inline void copy_up(void* to, const void* from, size_t bytes)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
EMU_NO_CHECK static inline void copy_down(char* to, const char* from, size_t bytes)
{
    to += bytes - 1;
    from += bytes - 1;
    __asm__ volatile("std\n\trep movsb\n\tcld" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
EMU_NO_CHECK static inline void fill(void* to, int value, size_t bytes)
{
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(value) : "memory");
}
#else
EMU_NO_CHECK static inline void copy_up(void* to, const void* from, size_t bytes)
{
    emu_u64 word;
    for (; bytes >= 8; bytes -= 8)
        __asm__ volatile("ldr %0, [%2], #8\n\tstr %0, [%1], #8" : "=&r"(word), "+r"(to), "+r"(from) : : "memory");
    for (; bytes; --bytes)
        __asm__ volatile("ldrb %w0, [%2], #1\n\tstrb %w0, [%1], #1" : "=&r"(word), "+r"(to), "+r"(from) : : "memory");
}
EMU_NO_CHECK static inline void copy_down(char* to, const char* from, size_t bytes)
{
    emu_u64 word;
    to += bytes;
    from += bytes;
    for (; bytes; --bytes)
        __asm__ volatile("ldrb %w0, [%2, #-1]!\n\tstrb %w0, [%1, #-1]!" : "=&r"(word), "+r"(to), "+r"(from) : : "memory");
}
EMU_NO_CHECK static inline void fill(void* to, int value, size_t bytes)
{
    for (; bytes; --bytes)
        __asm__ volatile("strb %w1, [%0], #1" : "+r"(to) : "r"(value) : "memory");
}
#endif
} // namespace emu

extern "C" {
EMU_NO_CHECK EMU_WEAK EMU_HIDDEN void* memmove(void* to, const void* from, size_t bytes)
{
    if (!bytes)
        return to;
    ::emu::check((emu_uptr)from, bytes, EMU_ACCESS_LOAD, false, __builtin_return_address(0));
    ::emu::check((emu_uptr)to, bytes, EMU_ACCESS_STORE, false, __builtin_return_address(0));
    if ((emu_uptr)to - (emu_uptr)from >= bytes)
        ::emu::copy_up(to, from, bytes);
    else
        ::emu::copy_down(static_cast<char*>(to), static_cast<const char*>(from), bytes);
    return to;
}
EMU_NO_CHECK EMU_WEAK EMU_HIDDEN void* memcpy(void* to, const void* from, size_t bytes)
{
    if (!bytes)
        return to;
    ::emu::check((emu_uptr)from, bytes, EMU_ACCESS_LOAD, false, __builtin_return_address(0));
    ::emu::check((emu_uptr)to, bytes, EMU_ACCESS_STORE, false, __builtin_return_address(0));
    ::emu::copy_up(to, from, bytes);
    return to;
}
// Checks what is compared: the bytes up to the first that differ.
EMU_NO_CHECK EMU_WEAK EMU_HIDDEN int memcmp(const void* a, const void* b, size_t bytes)
{
    auto first = static_cast<const unsigned char*>(a), second = static_cast<const unsigned char*>(b);
    size_t same = 0;
    while (same < bytes && first[same] == second[same])
        ++same;
    size_t compared = same < bytes ? same + 1 : bytes;
    if (compared) {
        ::emu::check((emu_uptr)a, compared, EMU_ACCESS_LOAD, false, __builtin_return_address(0));
        ::emu::check((emu_uptr)b, compared, EMU_ACCESS_LOAD, false, __builtin_return_address(0));
    }
    return same < bytes ? first[same] - second[same] : 0;
}
EMU_NO_CHECK EMU_WEAK EMU_HIDDEN void* memset(void* to, int value, size_t bytes)
{
    if (!bytes)
        return to;
    ::emu::check((emu_uptr)to, bytes, EMU_ACCESS_STORE, false, __builtin_return_address(0));
    ::emu::fill(to, value, bytes);
    return to;
}
}
#endif

// Newer versions of clang call these instead. They jump to the functions above, so the kernel remains the caller.
extern "C" {
EMU_NO_CHECK EMU_WEAK EMU_HIDDEN void* __tsan_memmove(void* to, const void* from, size_t bytes)
{
    return __builtin_memmove(to, from, bytes);
}
EMU_NO_CHECK EMU_WEAK EMU_HIDDEN void* __tsan_memcpy(void* to, const void* from, size_t bytes)
{
    return __builtin_memcpy(to, from, bytes);
}
EMU_NO_CHECK EMU_WEAK EMU_HIDDEN void* __tsan_memset(void* to, int value, size_t bytes)
{
    return __builtin_memset(to, value, bytes);
}
}

// Finds the converged lanes of a warp, which execute one call together (__activemask). A call is identified by its
// return address, and by its line, because the compiler may merge two calls. If the compiler duplicates a call, the
// lanes of the duplicates count as diverged, as they may on a GPU. Lanes run in turn, so each yields here until the
// others have arrived, have exited, or wait elsewhere. The first lane that continues closes the meeting. A warp can
// have a few meetings, at different calls, at the same time.
namespace emu {
struct Meeting {
    void* call;
    emu_u32 line, mask, turn, result[4];
};
static __thread Meeting meetings[32][4];
} // namespace emu

extern "C" EMU_NO_CHECK __attribute__((weak, visibility("hidden"), noinline)) emu_u32 emu_meet(const char*,
                                                                                               emu_u32 line)
{
    void* call = __builtin_return_address(0);
    emu_u32 own = 1u << EMU_LANE;
    emu::Meeting* meeting = nullptr;
    ++emu_thread.no_preempt;
    for (emu::Meeting& row : emu::meetings[EMU_WARP & 31]) {
        if (row.mask && row.call == call && row.line == line) {
            meeting = &row;
            break;
        }
        if (!row.mask && !meeting)
            meeting = &row;
    }
    emu_u32 turn = meeting ? meeting->turn : 0;
    if (meeting) {
        meeting->call = call;
        meeting->line = line;
        meeting->mask |= own;
    }
    --emu_thread.no_preempt;
    if (!meeting)
        return own;
    emu_yield();
    if (meeting->turn == turn) {
        meeting->result[turn & 3] = meeting->mask;
        meeting->mask = 0;
        ++meeting->turn;
    }
    return meeting->result[turn & 3];
}
