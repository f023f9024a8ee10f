// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The SIGINT handler calls the earlier handler, and wakes a library thread, which consults the policy.
#include "interruption.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>
#include <semaphore.h>
#include <thread>

#include "context.hpp"
#include "streams/queue.hpp"
#include "thread.hpp"

namespace emu::state {
namespace {

std::atomic<InterruptPolicy> policy{nullptr};
sem_t arrived; // posted by the handler
std::atomic<uint64_t> arrivals{0}, handled{0};
std::atomic<bool> has_ended_work{false}; // true if the latest handled SIGINT ended work
struct sigaction first = {};             // the handler before ours was installed
struct sigaction earlier = {};           // the one that we call: the first, or one that has replaced ours since
thread_local bool passing_on __attribute__((tls_model("initial-exec"))) = false;

void call(const struct sigaction& action, int signal, siginfo_t* info, void* context)
{
    if (action.sa_flags & SA_SIGINFO)
        action.sa_sigaction(signal, info, context);
    else
        action.sa_handler(signal);
}

// A handler that was installed after ours may call ours as its predecessor.
void on_interrupt(int signal, siginfo_t* info, void* context)
{
    int saved = errno;
    if (passing_on) {
        call(first, signal, info, context);
    } else {
        ++arrivals;
        sem_post(&arrived);
        passing_on = true;
        call(earlier, signal, info, context);
        passing_on = false;
    }
    errno = saved;
}

void* wait_for_interrupts(void*)
{
    for (;;) {
        if (sem_wait(&arrived) != 0)
            continue;
        int wanted = 0;
        InterruptPolicy ask = policy.load();
        if (CallbackScope scope; scope && ask)
            wanted = ask();
        if (wanted)
            end_work(std::chrono::milliseconds(0));
        has_ended_work = wanted != 0;
        ++handled;
    }
    return nullptr;
}

bool start_watching(const struct sigaction& now)
{
    sem_init(&arrived, 0, 0);
    first = now;
    return start_thread("emu-interrupt", wait_for_interrupts, nullptr);
}

} // namespace

void set_interrupt_policy(InterruptPolicy given)
{
    policy = given;
}

void watch_interrupts()
{
    static std::mutex& mutex = *new std::mutex;
    struct sigaction now = {};
    if (!policy.load() || sigaction(SIGINT, nullptr, &now) != 0)
        return;
    bool is_ours = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_interrupt;
    bool has_function = (now.sa_flags & SA_SIGINFO) || (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN);
    if (is_ours || !has_function)
        return;
    std::lock_guard lock(mutex);
    static bool watching = start_watching(now);
    if (!watching)
        return;
    earlier = now;
    now.sa_flags |= SA_SIGINFO;
    now.sa_sigaction = on_interrupt;
    sigaction(SIGINT, &now, nullptr);
}

bool settle_interrupts(std::chrono::milliseconds patience)
{
    const uint64_t wanted = arrivals;
    for (auto until = std::chrono::steady_clock::now() + patience; handled < wanted;) {
        if (std::chrono::steady_clock::now() > until)
            return false;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return has_ended_work.exchange(false);
}

void end_work(std::chrono::milliseconds patience)
{
    auto until = std::chrono::steady_clock::now() + patience;
    auto contexts = Context::all();
    for (const auto& row : contexts)
        row.first->wait_idle(until);
    for (const auto& row : contexts)
        row.first->interrupt();
}

} // namespace emu::state
