// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// The state that exists once per process. It is never destroyed, because threads can outlive the interpreter.
#include "native.hpp"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arguments.hpp"
#include "locks.hpp"
#include "registry.hpp"
#include "retire.hpp"
#include "wait.hpp"

namespace cuda_core {

std::atomic<std::uint32_t> fork_count{0};
std::atomic<bool> has_work_at_exit{false};
std::atomic<bool> needs_driver_waits{false};
std::atomic<void*> idle_context{nullptr};
std::atomic<bool> RetirementList::any_{false};

namespace {

template <class T>
T* immortal() {
    static T* const object = new T;
    return object;
}

// A forked child begins all of it anew: objects of one process compare their own generation with this count.
const int registered = (launch_list(), pthread_atfork(nullptr, nullptr, [] {
    fork_count.fetch_add(1);
    launch_list()->forget_all();
}));

}  // namespace

bool is_main_thread() noexcept {
    static thread_local signed char known = 0;  // a constant initializer, so that reads need no guard
    if (__builtin_expect(known == 0, 0)) known = syscall(SYS_gettid) == getpid() ? 1 : -1;
    return known > 0;
}

Registry<CUcontext>* context_registry() noexcept { return immortal<Registry<CUcontext>>(); }
Registry<Green>* green_registry() noexcept { return immortal<Registry<Green>>(); }
Registry<CUstream>* stream_registry() noexcept { return immortal<Registry<CUstream>>(); }
Registry<CUkernel>* kernel_registry() noexcept { return immortal<Registry<CUkernel>>(); }
LaunchList* launch_list() noexcept { return immortal<LaunchList>(); }

std::mutex& pool_lock() { return immortal<PerProcess<std::mutex>>()->current(); }
std::mutex& capture_lock() {
    static auto* const lock = new PerProcess<std::mutex>;  // immortal() has one object per type
    return lock->current();
}
std::recursive_mutex& GraphLock::current() { return immortal<PerProcess<std::recursive_mutex>>()->current(); }
RetirementList& RetirementList::current() { return immortal<PerProcess<RetirementList>>()->current(); }
ForeignFrees& ForeignFrees::current() { return immortal<PerProcess<ForeignFrees>>()->current(); }

ThreadState& ThreadState::current() noexcept {
    static thread_local ThreadState state;
    return state;
}

}  // namespace cuda_core
