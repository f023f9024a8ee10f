// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "telemetry.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <pthread.h>

namespace emu::state {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int max_devices = 8, slices = 20;
constexpr size_t kept_faults = 1024;
constexpr Clock::duration slice = std::chrono::milliseconds(50);

// The last second in slices, each with the time during which kernels ran.
struct Activity {
    int running = 0;
    Clock::time_point since; // when the first of the running kernels started
    struct Slice {
        Clock::rep number = -1;
        Clock::duration busy{};
    };
    std::array<Slice, slices> last;

    void add(Clock::time_point begin, Clock::time_point end)
    {
        begin = std::max(begin, end - slice * slices);
        while (begin < end) {
            Clock::rep number = begin.time_since_epoch() / slice;
            Clock::time_point next = std::min(end, Clock::time_point(slice * (number + 1)));
            Slice& at = last[size_t(number % slices)];
            if (at.number != number)
                at = {number, {}};
            at.busy += next - begin;
            begin = next;
        }
    }
};

struct Telemetry {
    std::mutex activity_mutex;
    std::array<Activity, max_devices> devices;

    std::mutex fault_mutex;
    std::condition_variable arrived;
    std::deque<DeviceFault> faults;
    uint64_t count = 0;
};

Telemetry* current = nullptr;

// In the child of a fork(), which has no device, the records are empty and the locks free.
Telemetry& telemetry()
{
    static std::once_flag once;
    std::call_once(once, [] {
        current = new Telemetry; // never destroyed, because kernels may end while the process exits
        pthread_atfork(nullptr, nullptr, [] { current = new Telemetry; });
    });
    return *current;
}

// Xid error numbers from NVIDIA's list.
unsigned xid_of(exec::FaultKind kind)
{
    switch (kind) {
    case exec::FaultKind::illegal_address: return 31; // GPU memory page fault
    case exec::FaultKind::assertion:
    case exec::FaultKind::trap: return 43;   // GPU stopped processing because of a program fault
    case exec::FaultKind::timeout: return 8; // channel timeout
    default: return 13;                      // graphics engine exception
    }
}

} // namespace

void kernel_begins(int device)
{
    Telemetry& all = telemetry();
    std::lock_guard lock(all.activity_mutex);
    Activity& activity = all.devices[size_t(device)];
    if (activity.running++ == 0)
        activity.since = Clock::now();
}

void kernel_ends(int device)
{
    Telemetry& all = telemetry();
    std::lock_guard lock(all.activity_mutex);
    Activity& activity = all.devices[size_t(device)];
    if (activity.running && --activity.running == 0)
        activity.add(activity.since, Clock::now());
}

unsigned busy_percent(int device)
{
    Telemetry& all = telemetry();
    std::lock_guard lock(all.activity_mutex);
    Activity& activity = all.devices[size_t(device)];
    Clock::time_point now = Clock::now();
    if (activity.running) {
        activity.add(activity.since, now);
        activity.since = now;
    }
    Clock::rep first = now.time_since_epoch() / slice - slices + 1;
    Clock::duration busy{}, whole = now - Clock::time_point(slice * first);
    for (const auto& at : activity.last)
        if (at.number >= first)
            busy += at.busy;
    return unsigned(std::min<Clock::rep>(100, (busy * 100 + whole / 2) / whole));
}

void report_fault(int device, const exec::Fault& fault)
{
    Telemetry& all = telemetry();
    std::lock_guard lock(all.fault_mutex);
    all.faults.push_back({++all.count, device, xid_of(fault.kind)});
    if (all.faults.size() > kept_faults)
        all.faults.pop_front();
    all.arrived.notify_all();
}

uint64_t last_fault()
{
    Telemetry& all = telemetry();
    std::lock_guard lock(all.fault_mutex);
    return all.count;
}

bool next_fault(uint64_t number, const std::function<bool(const DeviceFault&)>& wanted,
                std::chrono::steady_clock::time_point deadline, DeviceFault* out)
{
    Telemetry& all = telemetry();
    std::unique_lock lock(all.fault_mutex);
    for (;;) {
        for (const DeviceFault& fault : all.faults)
            if (fault.number > number && wanted(fault)) {
                *out = fault;
                return true;
            }
        if (all.arrived.wait_until(lock, deadline) == std::cv_status::timeout && Clock::now() >= deadline)
            return false;
    }
}

} // namespace emu::state
