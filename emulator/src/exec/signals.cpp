// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Kernel faults and preemption. The handler only records a fault in the carrier; the thread then continues where it
// entered the block's fibers.
#include "signals.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <mutex>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../config.hpp"
#include "carrier.hpp"
#include "checks/poison.hpp"
#include "checks/shadow.hpp"
#include "machine.hpp"

namespace emu::exec {
namespace {

constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGURG};
struct sigaction earlier[NSIG];
std::atomic<bool> installed{false};
// The stack address at which an earlier handler was called. That handler may leave by longjmp; the next fault then
// finds the signal stack no deeper than this.
__thread uintptr_t passing_on __attribute__((tls_model("initial-exec"))) = 0;

// Calls the handler installed before ours. If that handler calls ours again, it means the default action.
void pass_on(int signal, siginfo_t* info, void* context)
{
    const struct sigaction& action = earlier[signal];
    bool own_function =
        (action.sa_flags & SA_SIGINFO) || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
    if (signal == SIGURG && !own_function)
        return;
    auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    bool calls_back = here < passing_on && passing_on - here < 65536;
    if (!own_function || calls_back) {
        struct sigaction reset = {};
        reset.sa_handler = SIG_DFL;
        sigaction(signal, &reset, nullptr);
        if (info->si_code <= 0) // sent by kill(), so returning would not raise it again
            raise(signal);
        return;
    }
    passing_on = here;
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(signal, info, context);
    else
        action.sa_handler(signal);
    passing_on = 0;
}

// Finds words on the stack that point into the kernel's code, which are probably return addresses.
void find_callers(const Carrier& carrier, const Registers& r, Trouble* trouble)
{
    const Fiber& fiber = *carrier.current;
    size_t found = 0;
    auto add = [&](uintptr_t word) {
        if (found < trouble->callers.size() && carrier.image->has_code(word))
            trouble->callers[found++] = word;
    };
    if (!carrier.image->has_code(r.pc()))
        add(r.link());
    auto from = std::max(r.sp() & ~uintptr_t(7), fiber.stack_low);
    for (uintptr_t at = from; at < fiber.stack_high && at < from + 8192; at += 8)
        add(*reinterpret_cast<const uintptr_t*>(at));
}

uintptr_t find_caller(const Carrier& carrier, const Registers& r)
{
    Trouble place;
    find_callers(carrier, r, &place);
    return place.callers[0];
}

// Finds the faulting instruction in the kernel, or the place where the kernel called the library function that faulted.
void find_place(const Carrier& carrier, const Registers& r, Trouble* trouble)
{
    trouble->pc = r.pc();
    trouble->exact = true;
    if (!carrier.image)
        return;
    find_callers(carrier, r, trouble);
    if (!carrier.image->has_code(trouble->pc)) {
        trouble->pc = trouble->callers[0];
        trouble->exact = false;
    }
}

bool is_canonical(uintptr_t address)
{
    return address >> 47 == 0 || address >> 47 == 0x1ffff;
}

// A general protection fault has no address; a register whose value is not a valid address may explain it.
void explain_protection(const Registers& r, Trouble* trouble)
{
    uintptr_t wild = 0;
    r.for_each([&](uintptr_t value) { wild = wild || is_canonical(value) ? wild : value; });
    trouble->kind = wild ? FaultKind::illegal_address : FaultKind::misaligned_address;
    trouble->address = wild ? wild : trouble->address;
}

void describe_signal(int signal, const siginfo_t* info, const Registers& r, Carrier& carrier)
{
    Trouble& trouble = carrier.trouble;
    const Fiber& fiber = *carrier.current;
    auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    find_place(carrier, r, &trouble);
    trouble.store = r.is_store();
    trouble.address = address;
    if (signal == SIGFPE)
        trouble.kind = FaultKind::arithmetic;
    else if (signal == SIGILL || signal == SIGTRAP)
        trouble.kind = FaultKind::illegal_instruction;
    else if (r.sp() < fiber.stack_low + 4096 || (address < fiber.stack_low && carrier.stacks.is_guard(address)))
        trouble.kind = FaultKind::stack_overflow;
    else if (info->si_code == SI_KERNEL)
        explain_protection(r, &trouble);
    else
        trouble.kind = FaultKind::illegal_address;
}

// A kernel may read inline the shadow of an address that no process can have, and that has no shadow. This makes it
// read the shadow of address 0 instead, which is closed, so it reports the access.
bool replace_wild_shadow(Registers& r)
{
    bool done = false;
#if defined(__x86_64__)
    if (config().checks.reads_shadow())
        r.for_each([&](uintptr_t address) {
            done = done || (address >> 47 && (r.replace(address / 8, 0) ||
                                              r.replace(address / 8 + EMU_FIXED_SHADOW, EMU_FIXED_SHADOW)));
        });
#endif
    return done;
}

bool in_kernel(const Carrier* carrier)
{
    // The stack pointer does not matter, because a large frame may extend far below the stack.
    return carrier && carrier->on_fiber && !carrier->locked;
}

// Says why the program is about to end, if its host code accessed device memory.
void explain_host_access(const siginfo_t& info)
{
    if (!is_device_memory(reinterpret_cast<uintptr_t>(info.si_addr)))
        return;
    char text[160];
    const char* format = "cuda.emulator: the host accessed device memory at %p, which only kernels and copies reach\n";
    int size = std::snprintf(text, sizeof text, format, info.si_addr);
    if (::write(2, text, size_t(size)) < 0) // the program ends anyway
        return;
}

void on_fault(int signal, siginfo_t* info, void* context)
{
    Registers r(context);
    int saved = errno;
    if (signal == SIGSEGV && info->si_code > 0 && info->si_code != SI_KERNEL &&
        fill_shadow(reinterpret_cast<uintptr_t>(info->si_addr))) {
        errno = saved;
        return;
    }
    Carrier* carrier = this_carrier;
    if (signal == SIGSEGV && info->si_code == SEGV_ACCERR && carrier && carrier->current &&
        fill_on_fault(reinterpret_cast<uintptr_t>(info->si_addr))) {
        errno = saved;
        return;
    }
    if (info->si_code <= 0 || !in_kernel(carrier)) {
        if (signal == SIGSEGV && info->si_code == SEGV_ACCERR)
            explain_host_access(*info);
        pass_on(signal, info, context);
        errno = saved;
        return;
    }
    if (signal == SIGSEGV && replace_wild_shadow(r)) {
        errno = saved;
        return;
    }
    describe_signal(signal, info, r, *carrier);
    emulator_fault(title_of(carrier->trouble.kind));
    r.call(&emu_fiber_resume, carrier->thread_sp);
    errno = saved;
}

// Runs on the fiber's own stack (without SA_ONSTACK), so it can switch to another fiber and return later.
void on_preempt(int signal, siginfo_t* info, void* context)
{
    Registers r(context);
    Carrier* carrier = this_carrier;
    if (!carrier || info->si_code != SI_TKILL || info->si_pid != getpid())
        return pass_on(signal, info, context);
    if (!in_kernel(carrier) || !carrier->is_on_fiber(r.sp()) || !carrier->image || emu_thread.no_preempt ||
        carrier->has_ended())
        return;
    // A second signal finds a thread that has made no check since the first.
    bool checks = carrier->races || carrier->runs_in_step;
    bool later = checks && !carrier->is_signaled && !carrier->launch->stopping;
    carrier->is_signaled = later || !carrier->image->has_code(r.pc());
    if (carrier->is_signaled)
        return;
    int saved = errno;
    if (carrier->launch->stopping) {
        Trouble trouble;
        find_place(*carrier, r, &trouble);
        carrier->leave(std::move(trouble));
    }
    uint64_t hash = 0;
    r.for_each([&](uintptr_t value) { hash = mixed(hash, value); });
    carrier->give_way({r.pc() + 1, nullptr, 0, find_caller(*carrier, r)}, carrier->current->notes().note_sample(hash));
    errno = saved;
}

void install(int signal)
{
    struct sigaction action = {};
    action.sa_sigaction = signal == SIGURG ? on_preempt : on_fault;
    // Without SA_NODEFER, switching fibers inside the handler would leave the signal blocked.
    action.sa_flags = SA_SIGINFO | SA_RESTART | (signal == SIGURG ? SA_NODEFER : SA_ONSTACK);
    sigemptyset(&action.sa_mask);
    sigaction(signal, nullptr, &earlier[signal]);
    sigaction(signal, &action, nullptr);
}

std::mutex& lock()
{
    static std::mutex* value = new std::mutex;
    return *value;
}

} // namespace

void install_handlers()
{
    std::lock_guard<std::mutex> guard(lock());
    if (installed.exchange(true))
        return;
    for (int signal : signals)
        install(signal);
}

void install_handlers_again()
{
    struct sigaction now = {};
    sigaction(SIGSEGV, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault)
        return;
    std::lock_guard<std::mutex> guard(lock());
    for (int signal : signals) {
        auto* ours = signal == SIGURG ? on_preempt : on_fault;
        sigaction(signal, nullptr, &now);
        if (!(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != ours)
            install(signal);
    }
}

void* prepare_thread_for_faults()
{
    sigset_t needed;
    sigemptyset(&needed);
    for (int signal : signals)
        sigaddset(&needed, signal);
    pthread_sigmask(SIG_UNBLOCK, &needed, nullptr);
    size_t frame = std::max<size_t>(getauxval(AT_MINSIGSTKSZ), 4096);
    stack_t stack = {};
    if (sigaltstack(nullptr, &stack) == 0 && !(stack.ss_flags & SS_DISABLE) && stack.ss_size >= frame + 4096)
        return nullptr;
    size_t size = frame + (32 << 10);
    void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return nullptr;
    stack = {};
    stack.ss_sp = base;
    stack.ss_size = size;
    sigaltstack(&stack, nullptr);
    return base;
}

void release_thread_from_faults(void* base)
{
    stack_t stack = {};
    if (!base || sigaltstack(nullptr, &stack) != 0 || stack.ss_sp != base)
        return; // not ours, or replaced by another one
    size_t size = stack.ss_size;
    stack = {};
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, nullptr);
    munmap(base, size);
}

} // namespace emu::exec
