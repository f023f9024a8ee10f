// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Processor differences other than the fiber switch (fiber_*.S): the registers in a signal, and floating-point
// control. Each is a function, defined once per processor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <ucontext.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif !defined(__aarch64__)
#error "the software device runs on x86-64 and AArch64"
#endif

namespace emu::exec {

#if defined(__x86_64__)

constexpr int saved_count = 5;
// The registers that a called function preserves. Works at the beginning of a function.
#define EMU_SAVED_REGISTERS(out) \
    __asm__ volatile("movq %%rbx, 0(%0)\n\tmovq %%r12, 8(%0)\n\tmovq %%r13, 16(%0)\n\tmovq %%r14, 24(%0)\n\t" \
                     "movq %%r15, 32(%0)" : : "r"(out) : "memory")

inline void relax() { _mm_pause(); }
inline uint64_t ticks() { return __builtin_ia32_rdtsc(); }

// Masks all exceptions and rounds to nearest. Returns the earlier state.
inline uint64_t begin_float_control()
{
    unsigned before = _mm_getcsr();
    _mm_setcsr(0x1f80);
    return before;
}
inline void end_float_control(uint64_t before) { _mm_setcsr(unsigned(before)); }

// The registers of an interrupted thread.
class Registers {
public:
    explicit Registers(void* context) : r_(static_cast<ucontext_t*>(context)->uc_mcontext.gregs) {}
    uintptr_t pc() const { return uintptr_t(r_[REG_RIP]); }
    uintptr_t sp() const { return uintptr_t(r_[REG_RSP]); }
    // The return address if it is in a register, otherwise 0.
    uintptr_t link() const { return 0; }
    bool is_store() const { return r_[REG_ERR] & 2; }
    template <class F> void for_each(F f) const
    {
        for (int i : {REG_RIP, REG_RSP, REG_RBP, REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_R8, REG_R9,
                      REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15})
            f(uintptr_t(r_[i]));
    }
    // Returns false if no register has the value.
    bool replace(uintptr_t value, uintptr_t by)
    {
        auto* found = std::find(r_, r_ + REG_RIP, greg_t(value));
        if (found == r_ + REG_RIP)
            return false;
        *found = greg_t(by);
        return true;
    }
    // Makes the thread continue with a call of `function`.
    void call(void (*function)(void*), void* argument)
    {
        r_[REG_RIP] = greg_t(reinterpret_cast<uintptr_t>(function));
        r_[REG_RDI] = greg_t(reinterpret_cast<uintptr_t>(argument));
        r_[REG_EFL] &= ~greg_t(0x400 | 0x40000); // clear the direction and the alignment check flags
    }

private:
    greg_t* r_;
};

#else

constexpr int saved_count = 10;
#define EMU_SAVED_REGISTERS(out) \
    __asm__ volatile("stp x19, x20, [%0]\n\tstp x21, x22, [%0, #16]\n\tstp x23, x24, [%0, #32]\n\t" \
                     "stp x25, x26, [%0, #48]\n\tstp x27, x28, [%0, #64]" : : "r"(out) : "memory")

inline void relax() { __asm__ volatile("yield"); }
// About a billion per second, like a GPU's clock; the processor's own counter is much slower.
inline uint64_t ticks()
{
    struct timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return uint64_t(time.tv_sec) * 1000000000 + uint64_t(time.tv_nsec);
}

inline uint64_t begin_float_control()
{
    uint64_t before;
    __asm__ volatile("mrs %0, fpcr" : "=r"(before));
    __asm__ volatile("msr fpcr, %0" : : "r"(uint64_t(0)));
    return before;
}
inline void end_float_control(uint64_t before) { __asm__ volatile("msr fpcr, %0" : : "r"(before)); }

// Returns true if a memory access instruction is a store. The Linux kernel's own record of that (ESR) is optional.
inline bool is_store_instruction(uint32_t code)
{
    if ((code & 0x3f000000) == 0x08000000)                     // exclusive, ordered, compare and swap
        return (code & 0x00a00000) == 0x00a00000 || !(code & 0x00400000);
    if ((code & 0x3f200c00) == 0x38200000)                     // atomic
        return true;
    if ((code & 0x3a000000) == 0x28000000)                     // pairs
        return !(code & 0x00400000);
    if ((code & 0x3a000000) == 0x38000000)                     // single registers; with bit 26: floating point
        return !(code & 0x00c00000) || (code & 0x04c00000) == 0x04800000;
    if ((code & 0xbe000000) == 0x0c000000)                     // structures of vectors
        return !(code & 0x00400000);
    return (code & 0xffffffe0) == 0xd50b7420;                  // dc zva, which memset uses
}

class Registers {
public:
    explicit Registers(void* context) : r_(static_cast<ucontext_t*>(context)->uc_mcontext) {}
    uintptr_t pc() const { return r_.pc; }
    uintptr_t sp() const { return r_.sp; }
    uintptr_t link() const { return r_.regs[30]; }
    // Called after a fault in an access: the processor fetched the instruction, so it can be read here.
    bool is_store() const
    {
        uint32_t code;
        std::memcpy(&code, reinterpret_cast<const void*>(r_.pc), sizeof code);
        return is_store_instruction(code);
    }
    template <class F> void for_each(F f) const
    {
        f(uintptr_t(r_.pc)), f(uintptr_t(r_.sp));
        std::for_each(r_.regs, r_.regs + 31, [&](auto value) { f(uintptr_t(value)); });
    }
    void call(void (*function)(void*), void* argument)
    {
        r_.pc = reinterpret_cast<uintptr_t>(function);
        r_.regs[0] = reinterpret_cast<uintptr_t>(argument);
    }

private:
    mcontext_t& r_;
};

#endif

} // namespace emu::exec
