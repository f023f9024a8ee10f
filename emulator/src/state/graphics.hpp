// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for OpenGL buffers, because this device has no OpenGL: named memory that the device can access while it is
// mapped, and the program (in place of OpenGL) while it is not. There are no images.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "handles.hpp"
#include "memory/arena.hpp"

namespace emu::state {

class GraphicsBuffer {
public:
    // Returns the name, or 0 if there is no memory.
    static unsigned create(Arena& memory, size_t size);
    static bool remove(unsigned name); // registered buffers live on
    static std::shared_ptr<GraphicsBuffer> find(unsigned name);
    static bool has_any();
    GraphicsBuffer(Arena& memory, std::shared_ptr<Allocation> allocation);
    ~GraphicsBuffer();
    GraphicsBuffer(const GraphicsBuffer&) = delete;

    size_t size() const { return allocation_->size; }
    CUdeviceptr address() const { return allocation_->base; }
    void show(); // makes it accessible to the device
    void hide();
    // Access in place of OpenGL. Returns false if out of range, or mapped.
    bool read(size_t offset, void* out, size_t size);
    bool write(size_t offset, const void* data, size_t size);

private:
    std::byte* at(size_t offset, size_t size); // null while it is mapped
    Arena& memory_;
    const std::shared_ptr<Allocation> allocation_;
    std::mutex mutex_;
    bool visible_ = false;
};

class GraphicsResource {
public:
    static CUresult create(std::shared_ptr<GraphicsBuffer> buffer, CUcontext context, CUgraphicsResource* out);
    static CUresult destroy(CUgraphicsResource handle);
    static std::shared_ptr<GraphicsResource> find(CUgraphicsResource handle);
    static void forget_context(CUcontext context);
    static std::vector<std::pair<std::shared_ptr<GraphicsResource>, Origin>> all();

    CUgraphicsResource handle() const { return handle_; }
    GraphicsBuffer& buffer() const { return *buffer_; }
    bool is_mapped() const { return mapped_; }
    CUresult map();
    // Ends the mapping. The caller hides the returned buffer in stream order. Returns null if it is not mapped.
    std::shared_ptr<GraphicsBuffer> unmap();

private:
    CUgraphicsResource handle_ = nullptr;
    CUcontext context_ = nullptr;
    std::shared_ptr<GraphicsBuffer> buffer_;
    std::atomic<bool> mapped_{false};
};

} // namespace emu::state
