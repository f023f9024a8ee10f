// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory and semaphores of other interfaces, and device memory as a dma-buf.
#include "external.hpp"

#include <chrono>
#include <thread>

#include "../state/graphs/node_work.hpp"
#include "../state/memory/external_memory.hpp"
#include "../state/streams/capture.hpp"
#include "../state/textures/array.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

using Semaphores = std::vector<std::shared_ptr<ExternalSemaphore>>;

CUresult need_semaphores(const CUexternalSemaphore* handles, unsigned count, Semaphores* out)
{
    for (unsigned i = 0; i < count; ++i) {
        out->push_back(ExternalSemaphore::find(handles[i]));
        REQUIRE(out->back(), CUDA_ERROR_INVALID_HANDLE);
    }
    return CUDA_SUCCESS;
}

// The semaphores of a call, and the value to signal or to wait for of each.
struct Fences {
    Semaphores semaphores;
    std::vector<uint64_t> values;
};

template <class Parameters>
CUresult read_fences(const std::shared_ptr<Context>& context, const CUexternalSemaphore* handles,
                     const Parameters* parameters, unsigned count, Fences* out)
{
    REQUIRE(context && handles && parameters && count, CUDA_ERROR_INVALID_VALUE);
    TRY(need_semaphores(handles, count, &out->semaphores));
    for (unsigned i = 0; i < count; ++i)
        out->values.push_back(parameters[i].params.fence.value);
    return CUDA_SUCCESS;
}

template <class Parameters>
CUresult enqueue(CUstream handle, const char* name, const CUexternalSemaphore* semaphores, const Parameters* parameters,
                 unsigned count, Operation::Kind kind)
{
    std::shared_ptr<Stream> stream;
    std::shared_ptr<SemaphoreWork> work;
    TRY(need_stream(handle, &stream));
    TRY(make_semaphore_work(stream->context(), semaphores, parameters, count, &work));
    if (stream->is_capturing())
        return Capture::add(*stream, work);
    return stream->enqueue({kind, name, work->operation()});
}

} // namespace

CUresult emu::abi::make_semaphore_work(const std::shared_ptr<Context>& context, const CUexternalSemaphore* handles,
                                       const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* parameters, unsigned count,
                                       std::shared_ptr<SemaphoreWork>* out)
{
    Fences fences;
    TRY(read_fences(context, handles, parameters, count, &fences));
    auto operation = [fences] {
        for (size_t i = 0; i < fences.values.size(); ++i)
            fences.semaphores[i]->signal(fences.values[i]);
        return CUDA_SUCCESS;
    };
    *out = std::make_shared<SemaphoreWork>(CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, operation);
    return CUDA_SUCCESS;
}

CUresult emu::abi::make_semaphore_work(const std::shared_ptr<Context>& context, const CUexternalSemaphore* handles,
                                       const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* parameters, unsigned count,
                                       std::shared_ptr<SemaphoreWork>* out)
{
    Fences fences;
    TRY(read_fences(context, handles, parameters, count, &fences));
    auto operation = [fences, weak = std::weak_ptr<Context>(context)] {
        for (size_t i = 0; i < fences.values.size(); ++i) {
            while (!fences.semaphores[i]->try_wait(fences.values[i])) {
                auto context = weak.lock();
                if (!context || context->sticky() != CUDA_SUCCESS || context->is_interrupted())
                    break;
                std::this_thread::sleep_for(std::chrono::microseconds(20));
            }
        }
        return CUDA_SUCCESS;
    };
    *out = std::make_shared<SemaphoreWork>(CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, operation);
    return CUDA_SUCCESS;
}

ENTRY(cuImportExternalMemory, 10000)(CUexternalMemory* extMem_out,
                                     const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* memHandleDesc)
{
    std::shared_ptr<Context> context;
    REQUIRE(extMem_out && memHandleDesc, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return ExternalMemory::import(*memHandleDesc, extMem_out);
}

ENTRY(cuExternalMemoryGetMappedBuffer, 10000)(CUdeviceptr* devPtr, CUexternalMemory extMem,
                                              const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* bufferDesc)
{
    std::shared_ptr<Context> context;
    REQUIRE(devPtr && bufferDesc && bufferDesc->flags == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    auto memory = ExternalMemory::find(extMem);
    REQUIRE(memory, CUDA_ERROR_INVALID_HANDLE);
    return memory->map(*context, bufferDesc->offset, bufferDesc->size, devPtr);
}

// An image is stored level by level, row by row, without gaps.
ENTRY(cuExternalMemoryGetMappedMipmappedArray, 10000)(CUmipmappedArray* mipmap, CUexternalMemory extMem,
                                                      const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* mipmapDesc)
{
    std::shared_ptr<Context> context;
    REQUIRE(mipmap && mipmapDesc, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    auto memory = ExternalMemory::find(extMem);
    REQUIRE(memory, CUDA_ERROR_INVALID_HANDLE);
    CUDA_ARRAY3D_DESCRIPTOR description = mipmapDesc->arrayDesc;
    description.Flags &= ~unsigned(CUDA_ARRAY3D_COLOR_ATTACHMENT); // changes only the layout that a GPU chooses
    ArrayPlace place{context->device().memory(), context->handle(), context->device().ordinal()};
    place.find = [&](size_t size, std::shared_ptr<const void>* pages, std::byte** at) {
        return memory->map_image(mipmapDesc->offset, size, pages, at);
    };
    return MipmappedArray::create(description, mipmapDesc->numLevels, place, mipmap);
}

ENTRY(cuDestroyExternalMemory, 10000)(CUexternalMemory extMem)
{
    return ExternalMemory::destroy(extMem);
}

ENTRY(cuImportExternalSemaphore, 10000)(CUexternalSemaphore* extSem_out,
                                        const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* semHandleDesc)
{
    std::shared_ptr<Context> context;
    REQUIRE(extSem_out && semHandleDesc, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return ExternalSemaphore::import(*semHandleDesc, extSem_out);
}

ENTRY(cuSignalExternalSemaphoresAsync, 10000)(const CUexternalSemaphore* extSemArray,
                                              const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* paramsArray,
                                              unsigned int numExtSems, CUstream stream)
{
    return enqueue(stream, "cuSignalExternalSemaphoresAsync", extSemArray, paramsArray, numExtSems,
                   Operation::Kind::other);
}

ENTRY(cuWaitExternalSemaphoresAsync, 10000)(const CUexternalSemaphore* extSemArray,
                                            const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* paramsArray,
                                            unsigned int numExtSems, CUstream stream)
{
    return enqueue(stream, "cuWaitExternalSemaphoresAsync", extSemArray, paramsArray, numExtSems,
                   Operation::Kind::outside_wait);
}

ENTRY(cuDestroyExternalSemaphore, 10000)(CUexternalSemaphore extSem)
{
    return ExternalSemaphore::destroy(extSem);
}

ENTRY(cuMemGetHandleForAddressRange, 11070)(void* handle, CUdeviceptr dptr, size_t size,
                                            CUmemRangeHandleType handleType, unsigned long long flags)
{
    std::shared_ptr<Context> context;
    REQUIRE(handle && handleType == CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD && flags == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return ExternalMemory::export_dma_buf(dptr, size, static_cast<int*>(handle));
}

ENTRY(cuFlushGPUDirectRDMAWrites, 11030)(CUflushGPUDirectRDMAWritesTarget target, CUflushGPUDirectRDMAWritesScope scope)
{
    std::shared_ptr<Context> context;
    REQUIRE(target == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX &&
                (scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER ||
                 scope == CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_ALL_DEVICES),
            CUDA_ERROR_INVALID_VALUE);
    TRY(need_context(&context));
    return CUDA_SUCCESS; // writes of other processes are visible when they are made
}
