// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "primary_context.hpp"

#include <deque>

#include "context.hpp"

namespace emu::state {

PrimaryContext& PrimaryContext::of(const Device& device)
{
    static auto* all = [] {
        auto* list = new std::deque<PrimaryContext>;
        for (int i = 0; i < device_count(); ++i)
            list->emplace_back(i);
        return list;
    }();
    return (*all)[size_t(device.ordinal())];
}

CUresult PrimaryContext::retain(CUcontext* out)
{
    std::lock_guard lock(mutex_);
    if (!active_) {
        Device& device = *device_at(ordinal_);
        CUresult failed =
            handle_ ? Context::revive(device, flags_, handle_) : Context::create(device, flags_, true, &handle_);
        if (failed)
            return failed;
        active_ = true;
    }
    ++references_;
    *out = handle_;
    return CUDA_SUCCESS;
}

CUresult PrimaryContext::release()
{
    std::lock_guard lock(mutex_);
    if (references_ == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--references_)
        return CUDA_SUCCESS;
    flags_ = 0;
    if (!active_)
        return CUDA_SUCCESS;
    active_ = false;
    return Context::destroy(handle_);
}

CUresult PrimaryContext::reset()
{
    std::lock_guard lock(mutex_);
    if (!active_)
        return CUDA_SUCCESS;
    active_ = false;
    flags_ = 0;
    return Context::destroy(handle_);
}

CUresult PrimaryContext::set_flags(unsigned flags)
{
    std::lock_guard lock(mutex_);
    flags_ = flags;
    if (auto context = active_ ? Context::find(handle_) : nullptr)
        context->set_flags(flags);
    return CUDA_SUCCESS;
}

void PrimaryContext::state(unsigned* flags, int* active) const
{
    std::lock_guard lock(mutex_);
    *flags = flags_;
    *active = active_;
}

} // namespace emu::state
