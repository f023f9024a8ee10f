// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What all chapters of the API use: finding the objects of a call.
#pragma once

#include <functional>
#include <memory>

#include "../state/context.hpp"
#include "../state/device.hpp"
#include "../state/streams/event.hpp"
#include "../state/streams/stream.hpp"
#include "abi.hpp"

// These are whole statements: an `else` behind one belongs to the statement around it.
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

// The current context; fails with its sticky error.
CUresult need_context(std::shared_ptr<state::Context>* out);
// The current context, whatever error it has: for calls that release resources.
CUresult need_any_context(std::shared_ptr<state::Context>* out);
// The context of a handle; null means the current one.
CUresult need_context(CUcontext handle, std::shared_ptr<state::Context>* out);

// The device that needs access for a copy: that of the current context, as on an H200; -1: that of the stream.
int copying_device();
// The stream of a handle; the null, legacy and per-thread handles mean streams of the current context.
CUresult need_stream(CUstream handle, std::shared_ptr<state::Stream>* out);
// The same for batches, which refuse the legacy stream.
CUresult need_own_stream(CUstream handle, std::shared_ptr<state::Stream>* out);
CUresult need_event(CUevent handle, std::shared_ptr<state::Event>* out);
// Fails for a launch attribute that is newer than the version of the driver.
CUresult need_attribute(CUlaunchAttributeID id);
// A copy between two contexts that is not queued: it follows all work of both, which later work of both follows.
CUresult copy_alone(CUcontext target, CUcontext source, const std::function<CUresult()>& copy);

inline bool is_access_order(CUmemcpySrcAccessOrder order)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

inline CUdeviceptr address_of(const void* pointer)
{
    return reinterpret_cast<CUdeviceptr>(pointer);
}

} // namespace emu::abi
