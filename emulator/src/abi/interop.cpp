// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// OpenGL buffers: the stand-ins created by our Python package.
#include "../state/graphics.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

CUresult need_resources(unsigned count, CUgraphicsResource* handles,
                        std::vector<std::shared_ptr<GraphicsResource>>* out)
{
    REQUIRE(count && handles, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < count; ++i) {
        out->push_back(GraphicsResource::find(handles[i]));
        REQUIRE(out->back(), CUDA_ERROR_INVALID_HANDLE);
    }
    return CUDA_SUCCESS;
}

} // namespace

ENTRY(cuGraphicsGLRegisterBuffer, 3000)(CUgraphicsResource* pCudaResource, GLuint buffer, unsigned int Flags)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    if (!GraphicsBuffer::has_any()) {
        explain("the software device has no OpenGL; use cuda.emulator.GraphicsBuffer in place of an OpenGL buffer");
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    constexpr unsigned known = CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY | CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD;
    auto found = GraphicsBuffer::find(buffer);
    REQUIRE(pCudaResource && found && !(Flags & ~known), CUDA_ERROR_INVALID_VALUE);
    return GraphicsResource::create(std::move(found), context->handle(), pCudaResource);
}

ENTRY(cuGraphicsUnregisterResource, 3000)(CUgraphicsResource resource)
{
    std::shared_ptr<Context> context;
    TRY(need_any_context(&context));
    return GraphicsResource::destroy(resource);
}

ENTRY(cuGraphicsMapResources, 3000)(unsigned int count, CUgraphicsResource* resources, CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    std::vector<std::shared_ptr<GraphicsResource>> found;
    TRY(need_stream(hStream, &stream));
    TRY(need_resources(count, resources, &found));
    for (const auto& resource : found)
        REQUIRE(!resource->is_mapped(), CUDA_ERROR_ALREADY_MAPPED);
    // The end of an earlier mapping is queued first.
    if (auto context = stream->context())
        context->wait_idle();
    for (const auto& resource : found)
        TRY(resource->map());
    return CUDA_SUCCESS;
}

ENTRY(cuGraphicsUnmapResources, 3000)(unsigned int count, CUgraphicsResource* resources, CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    std::vector<std::shared_ptr<GraphicsResource>> found;
    TRY(need_stream(hStream, &stream));
    TRY(need_resources(count, resources, &found));
    for (const auto& resource : found)
        REQUIRE(resource->is_mapped(), CUDA_ERROR_NOT_MAPPED);
    for (const auto& resource : found) {
        auto buffer = resource->unmap();
        REQUIRE(buffer, CUDA_ERROR_NOT_MAPPED);
        TRY(stream->enqueue({Operation::Kind::release, "cuGraphicsUnmapResources", [buffer] {
                                 buffer->hide();
                                 return CUDA_SUCCESS;
                             }}));
    }
    return CUDA_SUCCESS;
}

ENTRY(cuGraphicsResourceGetMappedPointer, 3020)(CUdeviceptr* pDevPtr, size_t* pSize, CUgraphicsResource resource)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    auto found = GraphicsResource::find(resource);
    REQUIRE(found, CUDA_ERROR_INVALID_HANDLE);
    REQUIRE(found->is_mapped(), CUDA_ERROR_NOT_MAPPED);
    if (pDevPtr)
        *pDevPtr = found->buffer().address();
    if (pSize)
        *pSize = found->buffer().size();
    return CUDA_SUCCESS;
}

ENTRY(cuGraphicsSubResourceGetMappedArray, 3000)(CUarray*, CUgraphicsResource resource, unsigned int, unsigned int)
{
    std::shared_ptr<Context> context;
    TRY(need_context(&context));
    auto found = GraphicsResource::find(resource);
    REQUIRE(found, CUDA_ERROR_INVALID_HANDLE);
    return found->is_mapped() ? CUDA_ERROR_NOT_MAPPED_AS_ARRAY : CUDA_ERROR_NOT_MAPPED;
}

// ---------------------------------------------------- for our Python package, in place of OpenGL

extern "C" {

// The buffer is on the device of the current context, or on device 0. Returns 0 if there is no memory.
EMU_EXPORT unsigned emulator_graphics_create(size_t size)
{
    if (!is_initialized() && entry_cuInit_2000(0))
        return 0;
    auto context = current();
    return GraphicsBuffer::create(AddressSpace::get().device(context ? context->device().ordinal() : 0), size);
}

EMU_EXPORT int emulator_graphics_delete(unsigned name)
{
    return GraphicsBuffer::remove(name);
}

EMU_EXPORT int emulator_graphics_read(unsigned name, size_t offset, void* out, size_t size)
{
    auto buffer = GraphicsBuffer::find(name);
    return buffer && buffer->read(offset, out, size);
}

EMU_EXPORT int emulator_graphics_write(unsigned name, size_t offset, const void* data, size_t size)
{
    auto buffer = GraphicsBuffer::find(name);
    return buffer && buffer->write(offset, data, size);
}

} // extern "C"
