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
#include "streams/queue.hpp"

namespace emu::state {

class Device;
class Stream;

// A stream as its context lists it.
struct StreamRow {
    const Stream* key = nullptr;
    std::weak_ptr<Stream> stream;
    std::shared_ptr<Queue> queue;
    bool blocking = false;
    uint64_t green = 0;                                  // the id of its green context, or 0
};

class Context : public std::enable_shared_from_this<Context> {
public:
    Context(Device& device, unsigned flags, bool primary);
    ~Context();
    static CUresult create(Device& device, unsigned flags, bool primary, CUcontext* out);
    // A primary context that comes back has the handle that it had.
    static CUresult revive(Device& device, unsigned flags, CUcontext handle);
    static CUresult destroy(CUcontext handle);           // cancels what runs, ends streams
    static std::shared_ptr<Context> find(CUcontext handle);
    // INVALID_CONTEXT or CONTEXT_IS_DESTROYED for a handle that find() does not know.
    static CUresult why_not(CUcontext handle);
    static Device* device_of_destroyed(CUcontext handle);
    static std::vector<std::pair<std::shared_ptr<Context>, Origin>> all();
    // Another handle of this context, as green contexts have: it does not end it.
    CUcontext add_alias();
    static void remove_alias(CUcontext handle);

    CUcontext handle() const;
    Device& device() const;
    uint64_t id() const;
    unsigned flags() const;
    CUresult set_flags(unsigned flags);
    bool is_primary() const;
    unsigned api_version = 3020;

    // Sticky errors: after a fault every call in the context gives this code.
    CUresult sticky() const;
    void fail(const exec::Fault& fault);                 // the first one stays
    void fail(CUresult code, const std::string& text);
    static std::string report_of(CUresult code);         // that a context failed with; empty: none did

    // A queue whose work this context judges: skipped after its error, dropped after an interruption.
    std::shared_ptr<Queue> make_queue(int priority);
    const std::shared_ptr<Queue>& legacy_queue() const;
    // The legacy stream, which `make` makes of that queue at the first call.
    std::shared_ptr<Stream> legacy_stream(std::shared_ptr<Stream> (*make)(Context&));
    // Of a green context, by its id; 0: all.
    std::vector<std::shared_ptr<Stream>> streams(uint64_t green = 0) const;
    void add_stream(StreamRow row);
    void remove_stream(const Stream* stream);
    // What an operation of a legacy stream follows: the ends of all blocking streams, of one green
    // context or of none.
    std::vector<Place> blocking_ends(uint64_t green) const;
    CUresult synchronize(uint64_t green = 0);
    void wait_idle();                                    // without the effects of a call
    void wait_idle(std::chrono::steady_clock::time_point end);

    CUresult limit(CUlimit limit, size_t* value) const;
    CUresult set_limit(CUlimit limit, size_t value);
    exec::Limits limits() const;
    void prepare_heap();                                 // before the first launch

    CUresult enable_peer(Context& other);
    CUresult disable_peer(Context& other);
    bool is_peer(const Context& other) const;
    std::vector<int> peer_devices() const;

    // Ends the kernels that run, and drops what is queued: work of earlier generations. The
    // context can be used on.
    void interrupt();
    uint32_t generation() const;
    bool is_interrupted() const;                         // since the work of this thread was submitted
    // Around a launch, for ending it. False: it must not begin.
    bool begin_launch(uint64_t id);
    void end_launch(uint64_t id);

private:
    void end();
    std::vector<Place> ends(uint64_t green = 0) const;   // of all streams
    struct State;
    std::unique_ptr<State> state_;
};

// Has a function called whenever a context ends, while it still can be asked: for units above, which make
// one of these when the library is loaded.
struct AtContextEnd {
    explicit AtContextEnd(void (*action)(const Context&));
};

// The generation of the work that the calling thread does.
class GenerationScope {
public:
    explicit GenerationScope(uint32_t generation);
    ~GenerationScope();
    GenerationScope(const GenerationScope&) = delete;

private:
    uint32_t outer_;
};
bool owner_is_interrupted(const std::weak_ptr<Context>& context); // or destroyed

// The calling thread's stack of contexts.
CUcontext current_handle();                              // null: none
std::shared_ptr<Context> current();
CUresult push_current(CUcontext handle);
CUresult pop_current(CUcontext* handle);
CUresult set_current(CUcontext handle);

} // namespace emu::state
