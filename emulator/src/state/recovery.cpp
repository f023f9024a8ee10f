// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "recovery.hpp"

#include <algorithm>

#include "context.hpp"
#include "streams/capture_calls.hpp"
#include "streams/stream.hpp"

namespace emu::state {

bool wait_for_work(std::chrono::milliseconds patience)
{
    auto until = std::chrono::steady_clock::now() + patience;
    bool idle = true;
    check_host_sources();
    for (const auto& row : Context::all()) {
        row.first->wait_idle(until);
        check_host_sources(); // now that kernels have loaded them, and before they count as waited for
        for (const Place& place : row.first->ends()) {
            idle = idle && place.reached();
            if (place.reached())
                place.seen();
        }
    }
    return idle;
}

std::string take_unreported_faults()
{
    std::string text;
    for (const auto& row : Context::all())
        text += row.first->take_unreported_fault();
    return text;
}

bool is_spoiled()
{
    auto contexts = Context::all();
    auto streams = Stream::all();
    return std::any_of(contexts.begin(), contexts.end(), [](const auto& row) { return row.first->sticky(); }) ||
           std::any_of(streams.begin(), streams.end(), [](const auto& row) { return row.first->is_capturing(); });
}

void recover(std::chrono::milliseconds patience)
{
    for (const auto& row : Stream::all())
        if (row.first->is_capturing())
            CaptureCalls::get().leave(*row.first);
    bool idle = wait_for_work(patience);
    for (const auto& row : Context::all()) {
        Context& context = *row.first;
        if (!idle) {
            context.interrupt();
            context.wait_idle();
        }
        for (const Place& place : context.ends())
            place.queue->forget_dropped();
        context.recover();
    }
}

} // namespace emu::state
