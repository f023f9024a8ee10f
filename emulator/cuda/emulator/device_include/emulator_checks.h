// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The compiler calls these functions before each access (-fsanitize=kernel-address). They first read the shadow, which
// emulator_abi.h describes.
#pragma once

extern "C" __attribute__((visibility("hidden"))) EmuModule emu_module;
// Only modules whose unwritten variables are marked define it, see emulator_unwritten.h.
extern "C" __attribute__((weak, visibility("hidden"))) const char emu_marks_unwritten;
#define EMU_CALLBACK EMU_NO_CHECK __attribute__((weak, visibility("hidden"), noinline)) void

#if EMU_CHECKS & 1

namespace emu {

static_assert(EMU_RECENT_RANGES == 4, "written out below");

EMU_NO_CHECK __attribute__((always_inline)) inline bool open_in_shadow(emu_uptr offset, emu_size size)
{
    const emu_u8* shadow = emu_module.space.shadow + (offset >> 3);
    if (size <= 8) {
        emu_u8 first = *shadow;
        return __builtin_expect(first == 0, 1) || (first < 8 && (offset & 7) + size <= first);
    }
    emu_uptr last = offset + size - 1;
    const emu_u8* end = emu_module.space.shadow + (last >> 3);
    while (shadow != end)
        if (*shadow++)
            return false;
    return *end == 0 || (*end < 8 && (last & 7) < *end);
}

EMU_NO_CHECK __attribute__((always_inline)) inline bool known_range(emu_uptr address, emu_size size, emu_u32 access)
{
    // Shared variables are in these ranges, which are checked first because loops use them.
    const EmuRange* recent = emu_thread.recent;
    emu_uptr end = address + size;
    if ((address >= recent[0].low && end <= recent[0].high) || (address >= recent[1].low && end <= recent[1].high) ||
        (address >= recent[2].low && end <= recent[2].high) ||
        (!(access & EMU_ACCESS_STORE) && address >= recent[3].low && end <= recent[3].high))
        return true;
    emu_uptr caller = (emu_uptr)__builtin_dwarf_cfa(); // below it are frames of functions that have returned
    if (address - caller >= emu_thread.stack_high - caller)
        return false;
#if EMU_CHECKS & 8
    const emu_u8* first = (const emu_u8*)(address >> 3) + EMU_FIXED_SHADOW;
    const emu_u8* last = (const emu_u8*)((end - 1) >> 3) + EMU_FIXED_SHADOW;
    while (first != last)
        if (*first++)
            return false;
    return *last == 0 || (*last < 8 && ((end - 1) & 7) < *last);
#else
    return true;
#endif
}

#if (EMU_CHECKS & 6) == 2
// Returns true if emu_watch would do nothing: one byte of a load, or every byte of a store, has been written.
EMU_NO_CHECK __attribute__((always_inline)) inline bool is_written(emu_uptr offset, emu_size size, emu_u32 access)
{
    if (offset >= emu_module.space.contents_size)
        return true;
    if (size > 8) // a vector or a copy
        return false;
    emu_u32 wanted = ((1u << size) - 1) << (offset & 7);
    emu_u32 found = emu_module.space.contents[offset >> 3] & wanted;
    return access & EMU_ACCESS_STORE ? found == wanted : found != 0;
}
#endif

EMU_NO_CHECK __attribute__((always_inline)) inline void check(emu_uptr address, emu_size size, emu_u32 access,
                                                              bool aligned, void* pc)
{
    if (aligned && __builtin_expect((address & (size - 1)) != 0, 0)) {
        emu_check_slow(address, size, access | EMU_ACCESS_MISALIGNED, pc);
        return;
    }
    emu_uptr offset = address - emu_module.space.base;
    bool inside = offset < emu_module.space.size && offset + size <= emu_module.space.size;
    if (__builtin_expect(!(inside ? open_in_shadow(offset, size) : known_range(address, size, access)), 0)) {
        bool below = address - emu_thread.stack_low < (emu_uptr)__builtin_dwarf_cfa() - emu_thread.stack_low;
        emu_check_slow(address, size, access | (below ? EMU_ACCESS_RETURNED : 0), pc);
    }
#if (EMU_CHECKS & 6) == 2
    // The address instrumentation omits a store to an address that was just loaded, so a load counts as well.
    if (emu_thread.checks == (EMU_CHECK_MEMORY | EMU_CHECK_INITIALIZED) && inside) {
        if ((size == 4 || size == 8) && &emu_marks_unwritten)
            access |= EMU_ACCESS_MARKED;
        else if (is_written(offset, size, access))
            return;
    }
#elif EMU_CHECKS & 2
    if (inside && access & EMU_ACCESS_STORE && (size == 4 || size == 8) && &emu_marks_unwritten)
        access |= EMU_ACCESS_MARKED;
#endif
    if (__builtin_expect(emu_thread.checks > EMU_CHECK_MEMORY, 0))
        while (__builtin_expect(emu_watch(address, size, access, pc), 0))
            emu_preempt();
}

} // namespace emu

#else
namespace emu {
EMU_NO_CHECK __attribute__((always_inline)) inline void check(emu_uptr, emu_size, emu_u32, bool, void*) {}
} // namespace emu
#endif

// For the races check, and for programs whose lanes run in step: -fsanitize=thread, which instruments each access, and
// distinguishes volatile ones.
#define EMU_TSAN_VOLATILE(name, bytes, access, aligned)                                           \
    EMU_CALLBACK __tsan_##name(emu_uptr address)                                                  \
    {                                                                                             \
        if (address - emu_module.space.base >= emu_module.space.size)                             \
            emu_step(address, __builtin_return_address(0));                                       \
        ::emu::check(address, bytes, access | EMU_ACCESS_VOLATILE, aligned, __builtin_return_address(0)); \
    }
#define EMU_TSAN(name, size, access, aligned)                                                     \
    EMU_CALLBACK __tsan_##name(emu_uptr address)                                                  \
    {                                                                                             \
        ::emu::check(address, size, access, aligned, __builtin_return_address(0));                \
    }
#define EMU_TSAN_SIZE(size)                                                                       \
    EMU_TSAN(read##size, size, EMU_ACCESS_LOAD, true)                                             \
    EMU_TSAN(write##size, size, EMU_ACCESS_STORE, true)                                           \
    EMU_TSAN(unaligned_read##size, size, EMU_ACCESS_LOAD, false)                                  \
    EMU_TSAN(unaligned_write##size, size, EMU_ACCESS_STORE, false)                                \
    EMU_TSAN(read_write##size, size, EMU_ACCESS_STORE, true)                                      \
    EMU_TSAN(unaligned_read_write##size, size, EMU_ACCESS_STORE, false)                           \
    EMU_TSAN_VOLATILE(volatile_read##size, size, EMU_ACCESS_LOAD, true)                           \
    EMU_TSAN_VOLATILE(volatile_write##size, size, EMU_ACCESS_STORE, true)                         \
    EMU_TSAN_VOLATILE(unaligned_volatile_read##size, size, EMU_ACCESS_LOAD, false)                \
    EMU_TSAN_VOLATILE(unaligned_volatile_write##size, size, EMU_ACCESS_STORE, false)
// The compiler replaces atomic operations with calls of these functions.
#define EMU_RELEASE(order) ((order) >= __ATOMIC_RELEASE ? EMU_ACCESS_RELEASE : 0)
#define EMU_TSAN_UPDATE(bits, T, name)                                                            \
    EMU_NO_CHECK __attribute__((weak, visibility("hidden"), noinline)) T                          \
        __tsan_atomic##bits##_##name(volatile T* p, T value, int order)                               \
    {                                                                                             \
        ::emu::check((emu_uptr)p, sizeof(T), EMU_ACCESS_STORE | EMU_ACCESS_ATOMIC | EMU_RELEASE(order), true,          \
                     __builtin_return_address(0));                                                \
        return __atomic_##name(p, value, __ATOMIC_SEQ_CST);                                       \
    }
#define EMU_TSAN_EXCHANGE(bits, T, name)                                                          \
    EMU_NO_CHECK __attribute__((weak, visibility("hidden"), noinline)) int                        \
        __tsan_atomic##bits##_##name(volatile T* p, T* expected, T value, int order, int)             \
    {                                                                                             \
        ::emu::check((emu_uptr)p, sizeof(T), EMU_ACCESS_STORE | EMU_ACCESS_ATOMIC | EMU_RELEASE(order), true,          \
                     __builtin_return_address(0));                                                \
        return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }
// clang's form of a compare and swap; it returns the earlier value.
#define EMU_TSAN_SWAP(bits, T)                                                                    \
    EMU_NO_CHECK __attribute__((weak, visibility("hidden"), noinline)) T                          \
        __tsan_atomic##bits##_compare_exchange_val(volatile T* p, T expected, T value, int order, int) \
    {                                                                                             \
        ::emu::check((emu_uptr)p, sizeof(T), EMU_ACCESS_STORE | EMU_ACCESS_ATOMIC | EMU_RELEASE(order), true,          \
                     __builtin_return_address(0));                                                \
        __atomic_compare_exchange_n(p, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        return expected;                                                                          \
    }
#define EMU_TSAN_ATOMICS(bits, T)                                                                 \
    EMU_NO_CHECK __attribute__((weak, visibility("hidden"), noinline)) T                          \
        __tsan_atomic##bits##_load(const volatile T* p, int)                                      \
    {                                                                                             \
        ::emu::check((emu_uptr)p, sizeof(T), EMU_ACCESS_LOAD | EMU_ACCESS_ATOMIC, true,           \
                     __builtin_return_address(0));                                                \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                              \
    }                                                                                             \
    EMU_CALLBACK __tsan_atomic##bits##_store(volatile T* p, T value, int order)                       \
    {                                                                                             \
        ::emu::check((emu_uptr)p, sizeof(T), EMU_ACCESS_STORE | EMU_ACCESS_ATOMIC | EMU_RELEASE(order), true,          \
                     __builtin_return_address(0));                                                \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                             \
    }                                                                                             \
    EMU_TSAN_UPDATE(bits, T, fetch_add)                                                           \
    EMU_TSAN_UPDATE(bits, T, fetch_sub)                                                           \
    EMU_TSAN_UPDATE(bits, T, fetch_and)                                                           \
    EMU_TSAN_UPDATE(bits, T, fetch_or)                                                            \
    EMU_TSAN_UPDATE(bits, T, fetch_xor)                                                           \
    EMU_TSAN_UPDATE(bits, T, fetch_nand)                                                          \
    EMU_TSAN_EXCHANGE(bits, T, compare_exchange_strong)                                           \
    EMU_TSAN_EXCHANGE(bits, T, compare_exchange_weak)                                             \
    EMU_TSAN_SWAP(bits, T)                                                                        \
    EMU_NO_CHECK __attribute__((weak, visibility("hidden"), noinline)) T                          \
        __tsan_atomic##bits##_exchange(volatile T* p, T value, int order)                             \
    {                                                                                             \
        ::emu::check((emu_uptr)p, sizeof(T), EMU_ACCESS_STORE | EMU_ACCESS_ATOMIC | EMU_RELEASE(order), true,          \
                     __builtin_return_address(0));                                                \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                   \
    }

extern "C" {
EMU_TSAN_SIZE(1)
EMU_TSAN_SIZE(2)
EMU_TSAN_SIZE(4)
EMU_TSAN_SIZE(8)
EMU_TSAN_SIZE(16)
EMU_TSAN_ATOMICS(8, emu_u8)
EMU_TSAN_ATOMICS(16, __UINT16_TYPE__)
EMU_TSAN_ATOMICS(32, emu_u32)
EMU_TSAN_ATOMICS(64, emu_u64)
EMU_CALLBACK __tsan_read_range(emu_uptr address, emu_size size)
{
    ::emu::check(address, size, EMU_ACCESS_LOAD, false, __builtin_return_address(0));
}
EMU_CALLBACK __tsan_write_range(emu_uptr address, emu_size size)
{
    ::emu::check(address, size, EMU_ACCESS_STORE, false, __builtin_return_address(0));
}
// Constructors and virtual calls access an object's vtable pointer.
EMU_CALLBACK __tsan_vptr_update(void** place, void*)
{
    ::emu::check((emu_uptr)place, sizeof *place, EMU_ACCESS_STORE, true, __builtin_return_address(0));
}
EMU_CALLBACK __tsan_vptr_read(void** place)
{
    ::emu::check((emu_uptr)place, sizeof *place, EMU_ACCESS_LOAD, true, __builtin_return_address(0));
}
EMU_CALLBACK __tsan_func_entry(void*) {}
EMU_CALLBACK __tsan_func_exit() {}
EMU_CALLBACK __tsan_init() {}
EMU_CALLBACK __tsan_atomic_thread_fence(int)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    emu_fence(EMU_SCOPE_DEVICE);
}
EMU_CALLBACK __tsan_atomic_signal_fence(int) {}
}

#if (EMU_CHECKS & 5) == 1
#define EMU_CALLBACKS(size)                                                                       \
    EMU_CALLBACK __asan_load##size##_noabort(emu_uptr address)                                    \
    {                                                                                             \
        ::emu::check(address, size, EMU_ACCESS_LOAD, true, __builtin_return_address(0));          \
    }                                                                                             \
    EMU_CALLBACK __asan_store##size##_noabort(emu_uptr address)                                   \
    {                                                                                             \
        ::emu::check(address, size, EMU_ACCESS_STORE, true, __builtin_return_address(0));         \
    }                                                                                             \
    EMU_SAME(__asan_report_load##size##_noabort, __asan_load##size##_noabort, (emu_uptr))         \
    EMU_SAME(__asan_report_store##size##_noabort, __asan_store##size##_noabort, (emu_uptr))
// Where kernels read the shadow inline, these decide about inaccessible memory.
#define EMU_SAME(name, other, parameters)                                                         \
    __attribute__((weak, visibility("hidden"), alias(#other))) void name parameters;

extern "C" {
EMU_CALLBACKS(1)
EMU_CALLBACKS(2)
EMU_CALLBACKS(4)
EMU_CALLBACKS(8)
EMU_CALLBACKS(16)
EMU_CALLBACK __asan_loadN_noabort(emu_uptr address, emu_size size)
{
    ::emu::check(address, size, EMU_ACCESS_LOAD, false, __builtin_return_address(0));
}
EMU_CALLBACK __asan_storeN_noabort(emu_uptr address, emu_size size)
{
    ::emu::check(address, size, EMU_ACCESS_STORE, false, __builtin_return_address(0));
}
EMU_SAME(__asan_report_load_n_noabort, __asan_loadN_noabort, (emu_uptr, emu_size))
EMU_SAME(__asan_report_store_n_noabort, __asan_storeN_noabort, (emu_uptr, emu_size))
EMU_CALLBACK __asan_handle_no_return(void)
{
#if EMU_CHECKS & 8
    // The following frames are left without their epilogues, which would open their red zones.
    for (emu_uptr at = (emu_uptr)__builtin_frame_address(0); at < emu_thread.stack_high; at += 8)
        *((emu_u8*)(at >> 3) + EMU_FIXED_SHADOW) = 0;
#endif
}
// The compiler puts a red zone after each variable, and emits a constructor that calls these functions.
EMU_CALLBACK __asan_register_globals(const EmuTable* tables, emu_uptr count)
{
    emu_name_tables(tables, count);
}
EMU_CALLBACK __asan_unregister_globals(void*, emu_uptr) {}
EMU_CALLBACK __asan_register_elf_globals(void*, const EmuTable* tables, const EmuTable* end)
{
    emu_name_tables(tables, end - tables);
}
EMU_CALLBACK __asan_unregister_elf_globals(void*, void*, void*) {}
EMU_CALLBACK __asan_init(void) {}
EMU_CALLBACK __asan_version_mismatch_check_v8(void) {}
}

#endif

#if EMU_CHECKS & 1
extern "C" {
// -fsanitize=alignment: the compiler calls this for an object whose address does not suit its type, even if the access
// is to a component with a suitable address. A GPU loads and stores whole vectors of up to 16 bytes where it can.
struct EmuMisaligned {
    const char* file;
    emu_u32 line, column;
    const void* type;
    emu_u8 log_alignment, access; // access 1: store
};
EMU_CALLBACK __ubsan_handle_type_mismatch_v1(const EmuMisaligned* data, emu_uptr address)
{
    if (data->log_alignment > 4 && !(address & 15))
        return;
    emu_u32 access = data->access == 1 ? EMU_ACCESS_STORE : EMU_ACCESS_LOAD;
    emu_check_slow(address, emu_size(1) << data->log_alignment, access | EMU_ACCESS_MISALIGNED,
                   __builtin_return_address(0));
}
}

#if !defined(__x86_64__)
// -fsanitize=integer-divide-by-zero, on processors that do not trap.
struct EmuDivided {
    const char* file;
    emu_u32 line, column;
};
extern "C" EMU_CALLBACK __ubsan_handle_divrem_overflow(const EmuDivided* data, emu_uptr, emu_uptr)
{
    emu_bad_division(data->file, data->line);
}
#endif

#if EMU_CHECKS & 16
struct EmuIndexed {
    const char* file;
    emu_u32 line, column;
    const char *array, *index; // type descriptors: two numbers of 16 bits, then the name
};
extern "C" EMU_CALLBACK __ubsan_handle_out_of_bounds(const EmuIndexed* data, emu_uptr index)
{
    emu_bad_index(index, data->array + 4, data->file, data->line);
}
#endif
#endif
