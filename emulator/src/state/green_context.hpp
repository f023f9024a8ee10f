// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Green contexts: subsets of a device's SMs, with streams that run kernels on them. Everything else belongs to the
// primary context; a green context has a second handle for it, which can be made current.
#pragma once

#include <memory>
#include <optional>

#include "context.hpp"
#include "multiprocessors.hpp"
#include "streams/stream.hpp"

namespace emu::state {

class Event;

// The resources that a green context is created from.
struct ResourceDescription {
    std::optional<MultiprocessorResource> multiprocessors; // none: all SMs
    std::optional<CUdevWorkqueueConfigResource> workqueues;
    int device = 0;

    static CUresult make(const CUdevResource* resources, unsigned count, CUdevResourceDesc* out);
    static std::shared_ptr<ResourceDescription> find(CUdevResourceDesc handle);
};

MultiprocessorResource all_multiprocessors(const Device& device);

class GreenContext : public std::enable_shared_from_this<GreenContext> {
public:
    static CUresult create(Device& device, const ResourceDescription& description, CUgreenCtx* out);
    static CUresult destroy(CUgreenCtx handle);
    static std::shared_ptr<GreenContext> find(CUgreenCtx handle);
    static void forget_context(const Context& context); // the primary context has ended
    static CUresult error_for(CUgreenCtx handle);
    static std::shared_ptr<GreenContext> of(CUcontext handle); // null: not a green context
    static std::shared_ptr<GreenContext> current(); // current in the calling thread; null if none is

    CUgreenCtx handle() const { return handle_; }
    CUcontext context_handle() const { return alias_; }
    std::shared_ptr<Context> context() const { return context_.lock(); } // the primary context
    uint64_t id() const { return id_; } // never 0
    const std::shared_ptr<const exec::Partition>& partition() const { return partition_; }
    const std::shared_ptr<Stream>& legacy_stream() const { return legacy_; }

    CUresult resource(CUdevResourceType type, CUdevResource* out) const;
    CUresult create_stream(unsigned flags, int priority, CUstream* out);
    CUresult synchronize();
    // Records an event after all earlier work of its streams. Later work of its streams can be made to wait for an
    // event.
    CUresult record(const std::shared_ptr<Event>& event);
    CUresult wait(const std::shared_ptr<Event>& event);

private:
    GreenHome home();
    void end();
    std::vector<std::shared_ptr<Stream>> streams() const;

    CUgreenCtx handle_ = nullptr;
    CUcontext alias_ = nullptr;
    std::weak_ptr<Context> context_;
    uint64_t id_ = 0;
    MultiprocessorResource multiprocessors_;
    CUdevWorkqueueConfigResource workqueues_{};
    std::shared_ptr<const exec::Partition> partition_;
    std::shared_ptr<Stream> legacy_;
    std::shared_ptr<Stream> marks_; // the stream for events of the whole green context
};

} // namespace emu::state
