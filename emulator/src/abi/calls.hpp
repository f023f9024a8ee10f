// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Functions shared by all chapters of the API, which find the objects of a call.
#pragma once

#include <functional>
#include <memory>

#include "../state/context.hpp"
#include "../state/device.hpp"
#include "../state/streams/event.hpp"
#include "../state/streams/stream.hpp"
#include "abi.hpp"

// These are whole statements: an `else` after one belongs to the enclosing statement.
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

exec::HostActivity host_activity(); // in gate.cpp, which counts the calls
// Finds the current context. Fails with its sticky error.
CUresult need_context(std::shared_ptr<state::Context>* out);
// Finds the current context despite any error, for calls that release resources.
CUresult need_any_context(std::shared_ptr<state::Context>* out);
// Finds the context of a handle; null means the current one.
CUresult need_context(CUcontext handle, std::shared_ptr<state::Context>* out);

// Returns the device that needs access for a copy: the current context's, as on an H200, or -1 for the stream's.
int copying_device();
// Finds the stream of a handle. The null, legacy and per-thread handles mean streams of the current context.
CUresult need_stream(CUstream handle, std::shared_ptr<state::Stream>* out);
// Like need_stream(), but for batches, which reject the legacy stream.
CUresult need_own_stream(CUstream handle, std::shared_ptr<state::Stream>* out);
CUresult need_event(CUevent handle, std::shared_ptr<state::Event>* out);
// Fails for a launch attribute newer than the driver version.
CUresult need_attribute(CUlaunchAttributeID id);
// Runs an unqueued copy between two contexts: it follows all work of both, and later work of both follows it.
CUresult copy_alone(CUcontext target, CUcontext source, const std::function<CUresult()>& copy);

// Replaces the locality domain of a device, which has only one, by the device. Fails for other domains, and with a
// driver version that has none.
CUresult merge_domains(CUmemLocation* location);

inline bool is_access_order(CUmemcpySrcAccessOrder order)
{
    return order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
}

inline CUdeviceptr address_of(const void* pointer)
{
    return reinterpret_cast<CUdeviceptr>(pointer);
}

} // namespace emu::abi
