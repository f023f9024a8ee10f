// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "memory_operations.hpp"

#include <chrono>
#include <thread>
#include <vector>

#include "../config.hpp"
#include "../exec/checks/initialized.hpp"
#include "../exec/checks/poison.hpp"
#include "../state/graphs/node_work.hpp"
#include "../state/memory/arena.hpp"
#include "../state/streams/capture.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

template <class T> bool is_met(const T* place, T value, unsigned condition)
{
    T now = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    switch (condition) {
    case CU_STREAM_WAIT_VALUE_GEQ: return std::make_signed_t<T>(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ: return now == value;
    case CU_STREAM_WAIT_VALUE_AND: return (now & value) != 0;
    default: return T(~(now | value)) != 0;
    }
}

// Finds the address of a value, which must be aligned and within an allocation. Pool memory is rejected, as on GPUs.
template <class T> CUresult find_place(CUdeviceptr address, T** place)
{
    auto allocation = AddressSpace::get().find_range(address, sizeof(T));
    REQUIRE(allocation && address % sizeof(T) == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!allocation->pool || allocation->graph, CUDA_ERROR_INVALID_VALUE);
    *place = reinterpret_cast<T*>(allocation->at(address));
    emu::exec::fill_poisoned(address, sizeof(T), false);
    emu::exec::note_written(address, sizeof(T)); // by the call, at the latest
    return CUDA_SUCCESS;
}

template <class T>
CUresult make_wait(const std::shared_ptr<Context>& context, CUdeviceptr address, T value, unsigned flags,
                   std::function<CUresult()>* out)
{
    T* place = nullptr;
    unsigned condition = flags & ~unsigned(CU_STREAM_WAIT_VALUE_FLUSH);
    REQUIRE(condition <= CU_STREAM_WAIT_VALUE_NOR, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!(flags & CU_STREAM_WAIT_VALUE_FLUSH), CUDA_ERROR_NOT_SUPPORTED);
    TRY(find_place(address, &place));
    *out = [=, weak = std::weak_ptr<Context>(context)] {
        while (!is_met(place, value, condition)) {
            auto context = weak.lock();
            if (!context || context->sticky() != CUDA_SUCCESS || context->is_interrupted())
                break;
            std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
        count_value_operation();
        return CUDA_SUCCESS;
    };
    return CUDA_SUCCESS;
}

template <class T>
CUresult make_reduction(CUdeviceptr address, T value, CUstreamAtomicReductionOpType operation,
                        std::function<CUresult()>* out)
{
    T* place = nullptr;
    REQUIRE(operation == CU_STREAM_ATOMIC_REDUCTION_OP_ADD || operation == CU_STREAM_ATOMIC_REDUCTION_OP_AND ||
                operation == CU_STREAM_ATOMIC_REDUCTION_OP_OR,
            CUDA_ERROR_INVALID_VALUE);
    TRY(find_place(address, &place));
    *out = [place, value, operation] {
        count_value_operation();
        if (operation == CU_STREAM_ATOMIC_REDUCTION_OP_ADD)
            __atomic_fetch_add(place, value, __ATOMIC_ACQ_REL);
        else if (operation == CU_STREAM_ATOMIC_REDUCTION_OP_AND)
            __atomic_fetch_and(place, value, __ATOMIC_ACQ_REL);
        else
            __atomic_fetch_or(place, value, __ATOMIC_ACQ_REL);
        count_value_operation();
        return CUDA_SUCCESS;
    };
    return CUDA_SUCCESS;
}

CUresult make_reduction(const CUstreamBatchMemOpParams& p, std::function<CUresult()>* out)
{
    const auto& reduction = p.atomicReduction;
    REQUIRE(config().driver_version >= 13010 && reduction.flags == 0, CUDA_ERROR_INVALID_VALUE);
    if (reduction.dataType == CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64)
        return make_reduction<uint64_t>(reduction.address, reduction.value, reduction.reductionOp, out);
    REQUIRE(reduction.dataType == CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_32, CUDA_ERROR_INVALID_VALUE);
    return make_reduction<uint32_t>(reduction.address, uint32_t(reduction.value), reduction.reductionOp, out);
}

template <class T>
CUresult make_write(CUdeviceptr address, T value, unsigned flags, std::function<CUresult()>* out)
{
    T* place = nullptr;
    REQUIRE((flags & ~1u) == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(find_place(address, &place));
    *out = [place, value] {
        count_value_operation(); // other threads may compare memory in between
        __atomic_store_n(place, value, __ATOMIC_RELEASE);
        count_value_operation();
        return CUDA_SUCCESS;
    };
    return CUDA_SUCCESS;
}

CUresult make_operation(const std::shared_ptr<Context>& context, const CUstreamBatchMemOpParams& p,
                        std::function<CUresult()>* out)
{
    switch (p.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return make_wait<uint32_t>(context, p.waitValue.address, p.waitValue.value, p.waitValue.flags, out);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return make_wait<uint64_t>(context, p.waitValue.address, p.waitValue.value64, p.waitValue.flags, out);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return make_write<uint32_t>(p.writeValue.address, p.writeValue.value, p.writeValue.flags, out);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return make_write<uint64_t>(p.writeValue.address, p.writeValue.value64, p.writeValue.flags, out);
    case CU_STREAM_MEM_OP_BARRIER:
        *out = [] { return CUDA_SUCCESS; }; // the writes release, and the waits acquire
        return CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_ATOMIC_REDUCTION: return make_reduction(p, out);
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return CUDA_ERROR_NOT_SUPPORTED;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult enqueue(CUstream handle, const char* name, unsigned count, const CUstreamBatchMemOpParams* operations,
                 unsigned flags)
{
    std::shared_ptr<Stream> stream;
    MemoryOperations made;
    TRY(need_stream(handle, &stream));
    TRY(make_operations(stream->context(), count, operations, flags, &made));
    if (stream->is_capturing())
        return Capture::add(*stream, std::make_shared<MemoryOperationWork>(std::move(made.work)));
    auto kind = made.can_wait ? Operation::Kind::outside_wait : Operation::Kind::fill;
    return stream->enqueue({kind, name, std::move(made.work)});
}

// A batch of one operation. `kind` is the union member for a wait or a write.
template <class Kind>
CUresult enqueue_one(CUstream handle, const char* name, Kind CUstreamBatchMemOpParams::*kind,
                     CUstreamBatchMemOpType type, CUdeviceptr address, cuuint64_t value, unsigned flags)
{
    CUstreamBatchMemOpParams p{};
    (p.*kind).operation = type;
    (p.*kind).address = address;
    (p.*kind).value64 = value;
    (p.*kind).flags = flags;
    return enqueue(handle, name, 1, &p, 0);
}

} // namespace

CUresult emu::abi::make_operations(const std::shared_ptr<Context>& context, unsigned count,
                                   const CUstreamBatchMemOpParams* operations, unsigned flags, MemoryOperations* out)
{
    REQUIRE(operations && count && count <= 256 && flags == 0, CUDA_ERROR_INVALID_VALUE);
    std::vector<std::function<CUresult()>> steps(count);
    for (unsigned i = 0; i < count; ++i) {
        TRY(make_operation(context, operations[i], &steps[i]));
        auto type = operations[i].operation;
        out->can_wait |= type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    }
    out->work = [steps = std::move(steps)] {
        for (auto& step : steps)
            TRY(step());
        return CUDA_SUCCESS;
    };
    return CUDA_SUCCESS;
}

ENTRY(cuStreamWaitValue32, 11070)(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return enqueue_one(stream, "cuStreamWaitValue", &CUstreamBatchMemOpParams::waitValue,
                       CU_STREAM_MEM_OP_WAIT_VALUE_32, addr, value, flags);
}

ENTRY(cuStreamWaitValue64, 11070)(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return enqueue_one(stream, "cuStreamWaitValue", &CUstreamBatchMemOpParams::waitValue,
                       CU_STREAM_MEM_OP_WAIT_VALUE_64, addr, value, flags);
}

ENTRY(cuStreamWriteValue32, 11070)(CUstream stream, CUdeviceptr addr, cuuint32_t value, unsigned int flags)
{
    return enqueue_one(stream, "cuStreamWriteValue", &CUstreamBatchMemOpParams::writeValue,
                       CU_STREAM_MEM_OP_WRITE_VALUE_32, addr, value, flags);
}

ENTRY(cuStreamWriteValue64, 11070)(CUstream stream, CUdeviceptr addr, cuuint64_t value, unsigned int flags)
{
    return enqueue_one(stream, "cuStreamWriteValue", &CUstreamBatchMemOpParams::writeValue,
                       CU_STREAM_MEM_OP_WRITE_VALUE_64, addr, value, flags);
}

ENTRY(cuStreamBatchMemOp, 11070)(CUstream stream, unsigned int count, CUstreamBatchMemOpParams* operations,
                                 unsigned int flags)
{
    return enqueue(stream, "cuStreamBatchMemOp", count, operations, flags);
}
