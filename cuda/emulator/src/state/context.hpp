// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Contexts, and which is current in a thread.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "../common.hpp"
#include "../exec/exec.hpp"
#include "handles.hpp"

namespace emu::state {

class Device;
class Stream;
class Module;

class Context : public std::enable_shared_from_this<Context> {
public:
    static CUresult create(Device& device, unsigned flags, bool primary, CUcontext* out);
    static CUresult destroy(CUcontext handle);           // cancels what runs, ends streams
    static std::shared_ptr<Context> find(CUcontext handle);
    // INVALID_CONTEXT or CONTEXT_IS_DESTROYED for a handle that find() does not know.
    static CUresult why_not(CUcontext handle);

    CUcontext handle() const;
    Device& device() const;
    uint64_t id() const;
    unsigned flags() const;
    CUresult set_flags(unsigned flags);
    bool is_primary() const;

    // Sticky errors: after a fault every call in the context gives this code.
    CUresult sticky() const;
    void fail(const exec::Fault& fault);                 // the first one stays

    std::shared_ptr<Stream> legacy_stream();
    std::shared_ptr<Stream> per_thread_stream();         // of the calling thread
    // CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, null (by `per_thread`), or a handle. Null when
    // the handle is not one or belongs to another context.
    std::shared_ptr<Stream> stream(CUstream handle, bool per_thread);
    std::vector<std::shared_ptr<Stream>> streams() const;
    void add_stream(const std::shared_ptr<Stream>& stream);
    void remove_stream(const Stream* stream);
    CUresult synchronize();

    CUresult limit(CUlimit limit, size_t* value) const;
    CUresult set_limit(CUlimit limit, size_t value);
    exec::Limits limits() const;

    CUresult enable_peer(Context& other);
    CUresult disable_peer(Context& other);

    void add_module(const std::shared_ptr<Module>& module);
    void remove_module(const Module* module);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// The calling thread's stack of contexts.
CUcontext current_handle();                              // null: none
std::shared_ptr<Context> current();
CUresult push_current(CUcontext handle);
CUresult pop_current(CUcontext* handle);
CUresult set_current(CUcontext handle);

} // namespace emu::state
