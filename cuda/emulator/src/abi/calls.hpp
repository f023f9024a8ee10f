// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What the chapters of the API have in common: finding what a call is about.
#pragma once

#include <memory>

#include "../state/context.hpp"
#include "../state/device.hpp"
#include "../state/streams/event.hpp"
#include "../state/streams/stream.hpp"
#include "abi.hpp"

// Statements: an `else` behind one belongs to what stands around it.
#define REQUIRE(condition, code) \
    do { \
        if (!(condition)) \
            return code; \
    } while (false)
#define TRY(call) \
    do { \
        if (CUresult emu_failed = (call)) \
            return emu_failed; \
    } while (false)

namespace emu::abi {

// The current context, in working order.
CUresult need_context(std::shared_ptr<state::Context>* out);
// The same, whatever error it has: for calls that give something back.
CUresult need_any_context(std::shared_ptr<state::Context>* out);
// `handle` as contexts are given to calls: null means the current one.
CUresult need_context(CUcontext handle, std::shared_ptr<state::Context>* out);

// The device that a copy needs access for: that of the current context, as on an H200; -1: that of the stream.
int copying_device();
// A stream by its handle; null, legacy and per-thread ones are of the current context.
CUresult need_stream(CUstream handle, std::shared_ptr<state::Stream>* out);
// The same for batches, which the legacy stream does not take.
CUresult need_own_stream(CUstream handle, std::shared_ptr<state::Stream>* out);
CUresult need_event(CUevent handle, std::shared_ptr<state::Event>* out);

inline bool is_access_order(CUmemcpySrcAccessOrder order)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

inline CUdeviceptr address_of(const void* pointer)
{
    return reinterpret_cast<CUdeviceptr>(pointer);
}

} // namespace emu::abi
