// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "context.hpp"

namespace emu::state {
namespace {

struct Stack {
    std::vector<CUcontext> handles;
    std::shared_ptr<Context> top; // as found when context_epoch had the value `epoch`
    uint64_t epoch = 0;
};
thread_local Stack here;

} // namespace

CUcontext current_handle()
{
    return here.handles.empty() ? nullptr : here.handles.back();
}

std::shared_ptr<Context> current()
{
    Stack& c = here;
    if (c.handles.empty())
        return nullptr;
    uint64_t now = context_epoch.load(std::memory_order_acquire);
    if (c.epoch != now) {
        c.top = Context::find(c.handles.back());
        c.epoch = now;
    }
    return c.top;
}

CUresult push_current(CUcontext handle)
{
    if (!Context::find(handle))
        return Context::error_for(handle);
    here.handles.push_back(handle);
    here.epoch = 0;
    return CUDA_SUCCESS;
}

CUresult pop_current(CUcontext* handle)
{
    if (here.handles.empty())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (handle)
        *handle = here.handles.back();
    here.handles.pop_back();
    here.epoch = 0;
    return CUDA_SUCCESS;
}

// Replaces the top of the stack. A null handle pops it.
CUresult set_current(CUcontext handle)
{
    if (handle && !Context::find(handle))
        return Context::error_for(handle);
    if (!here.handles.empty())
        here.handles.pop_back();
    if (handle)
        here.handles.push_back(handle);
    here.epoch = 0;
    return CUDA_SUCCESS;
}

} // namespace emu::state
