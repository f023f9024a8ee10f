// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// NVML events: a kernel fault is a critical Xid error. Software devices appear and disappear with the process, so
// waiting for system events always times out.
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <thread>

#include "../state/device.hpp"
#include "../state/telemetry.hpp"
#include "nvml.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::nvml;

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned long long xid_critical_error = 8, bind_and_unbind = 3;

struct EventSet {
    std::mutex mutex;
    std::map<int, uint64_t> since; // by device: faults after this one are its events
    uint64_t seen = 0;
};

struct Sets {
    std::mutex mutex;
    uintptr_t next = 0x4e564d4d0010;
    std::map<uintptr_t, std::shared_ptr<EventSet>> events;
    std::map<uintptr_t, bool> system_events;
};

Sets* current = nullptr;

Sets& sets()
{
    static std::once_flag once;
    std::call_once(once, [] {
        current = new Sets; // never destroyed, because threads may wait while the process exits
        pthread_atfork(nullptr, nullptr, [] { current = new Sets; });
    });
    return *current;
}

std::shared_ptr<EventSet> find_set(nvmlEventSet_t handle)
{
    Sets& all = sets();
    std::lock_guard lock(all.mutex);
    auto found = all.events.find(reinterpret_cast<uintptr_t>(handle));
    return found == all.events.end() ? nullptr : found->second;
}

bool is_system_set(nvmlSystemEventSet_t handle)
{
    Sets& all = sets();
    std::lock_guard lock(all.mutex);
    return all.system_events.count(reinterpret_cast<uintptr_t>(handle)) != 0;
}

Clock::time_point deadline_of(unsigned milliseconds)
{
    return Clock::now() + std::chrono::milliseconds(milliseconds);
}

} // namespace

NVML_ENTRY(nvmlEventSetCreate)(nvmlEventSet_t* set)
{
    NVML_REQUIRE(set, NVML_ERROR_INVALID_ARGUMENT);
    Sets& all = sets();
    std::lock_guard lock(all.mutex);
    all.events[all.next] = std::make_shared<EventSet>();
    *set = reinterpret_cast<nvmlEventSet_t>(all.next++);
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlEventSetFree)(nvmlEventSet_t set)
{
    Sets& all = sets();
    std::lock_guard lock(all.mutex);
    return all.events.erase(reinterpret_cast<uintptr_t>(set)) ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

NVML_ENTRY(nvmlDeviceGetSupportedEventTypes)(nvmlDevice_t device, unsigned long long* eventTypes)
{
    Device* found;
    NVML_TRY(need_device(device, &found));
    return give(xid_critical_error, eventTypes);
}

NVML_ENTRY(nvmlDeviceRegisterEvents)(nvmlDevice_t device, unsigned long long eventTypes, nvmlEventSet_t set)
{
    Device* found;
    NVML_TRY(need_device(device, &found));
    auto events = find_set(set);
    NVML_REQUIRE(events, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(!(eventTypes & ~xid_critical_error), NVML_ERROR_NOT_SUPPORTED);
    if (eventTypes) {
        uint64_t now = last_fault();
        std::lock_guard lock(events->mutex);
        events->since.emplace(found->ordinal(), now);
    }
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlEventSetWait_v2)(nvmlEventSet_t set, nvmlEventData_t* data, unsigned int timeoutms)
{
    auto events = find_set(set);
    NVML_REQUIRE(events && data, NVML_ERROR_INVALID_ARGUMENT);
    auto wanted = [&](const DeviceFault& fault) {
        std::lock_guard lock(events->mutex);
        auto since = events->since.find(fault.device);
        if (since == events->since.end() || fault.number <= since->second || fault.number <= events->seen)
            return false;
        events->seen = fault.number; // one of several waiting threads gets it
        return true;
    };
    DeviceFault fault;
    NVML_REQUIRE(next_fault(0, wanted, deadline_of(timeoutms), &fault), NVML_ERROR_TIMEOUT);
    *data = nvmlEventData_t{};
    data->device = handle_of(device_at(fault.device)->number());
    data->eventType = xid_critical_error;
    data->eventData = fault.xid;
    data->gpuInstanceId = data->computeInstanceId = ~0u; // no MIG
    return NVML_SUCCESS;
}

// --------------------------------------------------------------------------- system events

NVML_ENTRY(nvmlSystemEventSetCreate)(nvmlSystemEventSetCreateRequest_t* request)
{
    NVML_REQUIRE(request, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(has_version(request, 1), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    Sets& all = sets();
    std::lock_guard lock(all.mutex);
    all.system_events[all.next] = true;
    request->set = reinterpret_cast<nvmlSystemEventSet_t>(all.next++);
    return NVML_SUCCESS;
}

NVML_ENTRY(nvmlSystemEventSetFree)(nvmlSystemEventSetFreeRequest_t* request)
{
    NVML_REQUIRE(request, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(has_version(request, 1), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    Sets& all = sets();
    std::lock_guard lock(all.mutex);
    bool known = all.system_events.erase(reinterpret_cast<uintptr_t>(request->set)) != 0;
    return known ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

NVML_ENTRY(nvmlSystemRegisterEvents)(nvmlSystemRegisterEventRequest_t* request)
{
    NVML_REQUIRE(request, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(has_version(request, 1), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    NVML_REQUIRE(is_system_set(request->set), NVML_ERROR_INVALID_ARGUMENT);
    return request->eventTypes & ~bind_and_unbind ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
}

NVML_ENTRY(nvmlSystemEventSetWait)(nvmlSystemEventSetWaitRequest_t* request)
{
    NVML_REQUIRE(request, NVML_ERROR_INVALID_ARGUMENT);
    NVML_REQUIRE(has_version(request, 1), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    NVML_REQUIRE(is_system_set(request->set), NVML_ERROR_INVALID_ARGUMENT);
    std::this_thread::sleep_until(deadline_of(request->timeoutms));
    request->numEvent = 0;
    return NVML_ERROR_TIMEOUT;
}
