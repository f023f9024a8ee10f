// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "graphics.hpp"

#include "../exec/checks/initialized.hpp"
#include <cstring>
#include <map>

namespace emu::state {
namespace {

struct Names {
    std::mutex mutex;
    std::map<unsigned, std::shared_ptr<GraphicsBuffer>> rows;
    unsigned next = 1;
};

Names& names()
{
    static auto* value = new Names;
    return *value;
}

HandleTable<GraphicsResource, CUgraphicsResource>& graphics_resources()
{
    static auto* rows = new HandleTable<GraphicsResource, CUgraphicsResource>;
    return *rows;
}

} // namespace

GraphicsBuffer::GraphicsBuffer(Arena& memory, std::shared_ptr<Allocation> allocation)
    : memory_(memory), allocation_(std::move(allocation))
{
}

GraphicsBuffer::~GraphicsBuffer()
{
    memory_.release(allocation_->base);
}

unsigned GraphicsBuffer::create(Arena& memory, size_t size)
{
    std::shared_ptr<Allocation> allocation;
    if (memory.set_aside(size, &allocation))
        return 0;
    std::memset(allocation->host, 0, size);
    std::lock_guard lock(names().mutex);
    unsigned name = names().next++;
    names().rows[name] = std::make_shared<GraphicsBuffer>(memory, allocation);
    return name;
}

bool GraphicsBuffer::remove(unsigned name)
{
    std::shared_ptr<GraphicsBuffer> ended; // destroyed after the lock is released
    std::lock_guard lock(names().mutex);
    auto row = names().rows.find(name);
    if (row == names().rows.end())
        return false;
    ended = std::move(row->second);
    names().rows.erase(row);
    return true;
}

std::shared_ptr<GraphicsBuffer> GraphicsBuffer::find(unsigned name)
{
    std::lock_guard lock(names().mutex);
    auto row = names().rows.find(name);
    return row == names().rows.end() ? nullptr : row->second;
}

bool GraphicsBuffer::has_any()
{
    std::lock_guard lock(names().mutex);
    return !names().rows.empty();
}

void GraphicsBuffer::show()
{
    std::lock_guard lock(mutex_);
    visible_ = true;
    memory_.show(allocation_, false);
    exec::note_written(allocation_->base, allocation_->size);
}

void GraphicsBuffer::hide()
{
    std::lock_guard lock(mutex_);
    visible_ = false;
    memory_.hide(*allocation_);
}

std::byte* GraphicsBuffer::at(size_t offset, size_t size)
{
    bool inside = offset <= allocation_->size && size <= allocation_->size - offset;
    return visible_ || !inside ? nullptr : allocation_->host + offset;
}

bool GraphicsBuffer::read(size_t offset, void* out, size_t size)
{
    std::lock_guard lock(mutex_);
    std::byte* from = at(offset, size);
    if (from)
        std::memcpy(out, from, size);
    return from;
}

bool GraphicsBuffer::write(size_t offset, const void* data, size_t size)
{
    std::lock_guard lock(mutex_);
    std::byte* to = at(offset, size);
    if (to)
        std::memcpy(to, data, size);
    return to;
}

CUresult GraphicsResource::create(std::shared_ptr<GraphicsBuffer> buffer, CUcontext context, CUgraphicsResource* out)
{
    auto resource = std::make_shared<GraphicsResource>();
    resource->context_ = context;
    resource->buffer_ = std::move(buffer);
    *out = resource->handle_ = graphics_resources().add(resource);
    return CUDA_SUCCESS;
}

CUresult GraphicsResource::destroy(CUgraphicsResource handle)
{
    auto resource = graphics_resources().remove(handle);
    if (!resource)
        return CUDA_ERROR_INVALID_HANDLE;
    if (resource->mapped_.exchange(false))
        resource->buffer_->hide();
    return CUDA_SUCCESS;
}

std::shared_ptr<GraphicsResource> GraphicsResource::find(CUgraphicsResource handle)
{
    return graphics_resources().find(handle);
}

void GraphicsResource::forget_context(CUcontext context)
{
    for (const auto& row : graphics_resources().all())
        if (row.first->context_ == context)
            destroy(row.first->handle_);
}

std::vector<std::pair<std::shared_ptr<GraphicsResource>, Origin>> GraphicsResource::all()
{
    return graphics_resources().all();
}

CUresult GraphicsResource::map()
{
    if (mapped_.exchange(true))
        return CUDA_ERROR_ALREADY_MAPPED;
    buffer_->show();
    return CUDA_SUCCESS;
}

std::shared_ptr<GraphicsBuffer> GraphicsResource::unmap()
{
    return mapped_.exchange(false) ? buffer_ : nullptr;
}

} // namespace emu::state
