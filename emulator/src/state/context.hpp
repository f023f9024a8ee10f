// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Contexts, and each thread's stack of them, whose top is the current context.
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

// A stream in its context's list.
struct StreamRow {
    const Stream* key = nullptr;
    std::weak_ptr<Stream> stream;
    std::shared_ptr<Queue> queue;
    bool blocking = false;
    uint64_t green = 0; // id of its green context, or 0
};

class Context : public std::enable_shared_from_this<Context> {
public:
    Context(Device& device, unsigned flags, bool primary);
    ~Context();
    static CUresult create(Device& device, unsigned flags, bool primary, CUcontext* out);
    // Creates a new primary context under the handle of the device's earlier one.
    static CUresult revive(Device& device, unsigned flags, CUcontext handle);
    static CUresult destroy(CUcontext handle); // cancels running kernels, destroys the streams
    static std::shared_ptr<Context> find(CUcontext handle);
    // Returns the error for a handle that find() does not recognize: INVALID_CONTEXT or CONTEXT_IS_DESTROYED.
    static CUresult error_for(CUcontext handle);
    static Device* device_of_destroyed(CUcontext handle);
    static std::vector<std::pair<std::shared_ptr<Context>, Origin>> all();
    // Adds another handle for this context, for a green context. The context does not end with that handle.
    CUcontext add_alias();
    static void remove_alias(CUcontext handle);

    CUcontext handle() const;
    Device& device() const;
    uint64_t id() const;
    unsigned flags() const;
    CUresult set_flags(unsigned flags);
    bool is_primary() const;
    unsigned api_version = 3020;

    // Sticky errors: after a fault every call in the context returns this code.
    CUresult sticky() const;
    void fail(const exec::Fault& fault); // the first failure is kept
    bool fail(CUresult code, const std::string& text); // returns true if there was no failure before
    // Returns the report of a context that failed with this code, or an empty string. `noticed` means that the program
    // notices the failure.
    static std::string report_of(CUresult code, bool noticed, bool* is_first);
    // Returns the report of a failure that the program has not noticed, or an empty string.
    std::string take_unreported_fault(); // that no call has returned
    void recover(); // makes a failed context usable again, unless it is destroyed

    // Creates a queue whose operations are skipped after an error of this context, and dropped after an interruption.
    std::shared_ptr<Queue> make_queue(int priority);
    const std::shared_ptr<Queue>& legacy_queue() const;
    // Returns the legacy stream. The first call creates it with `make`.
    std::shared_ptr<Stream> legacy_stream(std::shared_ptr<Stream> (*make)(Context&));
    // Returns the streams of one green context, or all streams for 0.
    std::vector<std::shared_ptr<Stream>> streams(uint64_t green = 0) const;
    void add_stream(StreamRow row);
    void remove_stream(const Stream* stream);
    // Returns the places that an operation of the legacy stream waits for: the ends of all blocking streams in the
    // given green context, or of the streams outside green contexts.
    std::vector<Place> blocking_ends(uint64_t green) const;
    std::vector<Place> ends(uint64_t green = 0) const; // of all streams
    CUresult synchronize(uint64_t green = 0);
    void wait_idle(); // without the checks that a driver call makes
    void wait_idle(std::chrono::steady_clock::time_point end);

    CUresult limit(CUlimit limit, size_t* value) const;
    CUresult set_limit(CUlimit limit, size_t value);
    exec::Limits limits() const;
    void prepare_heap(); // called before the first launch

    CUresult enable_peer(Context& other);
    CUresult disable_peer(Context& other);
    bool is_peer(const Context& other) const;
    std::vector<int> peer_devices() const;

    // Ends running kernels and drops queued work, which belongs to earlier generations. The context stays usable.
    void interrupt();
    uint32_t generation() const;
    bool is_interrupted() const; // since the calling thread's work was submitted
    // Encloses a launch so that it can be canceled. If false, the launch must not start.
    bool begin_launch(uint64_t id);
    void end_launch(uint64_t id);

private:
    void end();
    struct State;
    std::unique_ptr<State> state_;
};

// Registers a function that is called when a context ends, while it is still usable. Units of higher layers create one
// as a static object.
struct AtContextEnd {
    explicit AtContextEnd(void (*action)(const Context&));
};

// Sets the generation of the operation that the calling thread runs.
class GenerationScope {
public:
    explicit GenerationScope(uint32_t generation);
    ~GenerationScope();
    GenerationScope(const GenerationScope&) = delete;

private:
    uint32_t outer_;
};
bool owner_is_interrupted(const std::weak_ptr<Context>& context); // interrupted or destroyed

// Incremented whenever a handle gains or loses its context, so cached contexts are looked up again.
extern std::atomic<uint64_t> context_epoch __attribute__((visibility("hidden")));

// The stack of contexts of the calling thread (context_stack.cpp).
CUcontext current_handle(); // null: none
std::shared_ptr<Context> current();
CUresult push_current(CUcontext handle);
CUresult pop_current(CUcontext* handle);
CUresult set_current(CUcontext handle);

} // namespace emu::state
