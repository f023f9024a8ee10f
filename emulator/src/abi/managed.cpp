// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Managed memory: prefetching, advice, and range attributes. Nothing moves here, because host and devices access the
// same memory. Advice is recorded so that it can be read.
#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "../state/memory/arena.hpp"
#include "calls.hpp"

using namespace emu;
using namespace emu::state;
using namespace emu::abi;

namespace {

constexpr int no_device = -2, cpu_device = -1; // CU_DEVICE_INVALID, CU_DEVICE_CPU
constexpr CUdeviceptr managed_page = 4096;

struct Spot {
    CUmemLocationType type = CU_MEM_LOCATION_TYPE_INVALID;
    int id = 0;
    bool operator==(const Spot& other) const { return type == other.type && id == other.id; }
    int device() const
    {
        return type == CU_MEM_LOCATION_TYPE_DEVICE ? id : type == CU_MEM_LOCATION_TYPE_INVALID ? no_device : cpu_device;
    }
    int number() const { return type == CU_MEM_LOCATION_TYPE_INVALID ? no_device : id; }
};

struct Advice {
    bool read_mostly = false;
    Spot preferred, prefetched;
    std::set<int> accessed_by;
};

// The advice for ranges of pages. Pages without a range have the defaults.
class Ranges {
public:
    template <class Change> void change(CUdeviceptr base, size_t size, uint64_t allocation, Change change)
    {
        std::lock_guard lock(mutex_);
        CUdeviceptr begin = base / managed_page * managed_page, end = round_up(base + size, managed_page);
        split(begin);
        split(end);
        CUdeviceptr at = begin;
        for (auto row = rows_.lower_bound(begin); at < end; at = row->second.end, ++row) {
            if (row == rows_.end() || row->first != at) {
                CUdeviceptr stop = row == rows_.end() ? end : std::min(end, row->first);
                row = rows_.insert_or_assign(at, Row{stop, allocation, {}}).first;
            }
            if (row->second.allocation != allocation)
                row->second = Row{row->second.end, allocation, {}}; // of freed memory
            change(row->second.advice);
        }
    }

    // Calls `visit` with the advice of every part of the range, including parts with the defaults.
    template <class Visit> void visit(CUdeviceptr base, size_t size, uint64_t allocation, Visit visit)
    {
        change(base, size, allocation, [&](Advice& advice) { visit(std::as_const(advice)); });
    }

private:
    struct Row {
        CUdeviceptr end;
        uint64_t allocation;
        Advice advice;
    };
    void split(CUdeviceptr at)
    {
        auto row = rows_.lower_bound(at);
        if (row == rows_.begin())
            return;
        --row;
        if (row->first < at && row->second.end > at) {
            rows_.insert_or_assign(at, row->second);
            row->second.end = at;
        }
    }
    std::mutex mutex_;
    std::map<CUdeviceptr, Row> rows_;
};

Ranges& ranges()
{
    static auto* all = new Ranges;
    return *all;
}

CUresult need_managed(CUdeviceptr address, size_t size, std::shared_ptr<Allocation>* out)
{
    *out = size ? AddressSpace::get().find_range(address, size) : nullptr;
    REQUIRE(*out && (*out)->is_managed(), CUDA_ERROR_INVALID_VALUE);
    return CUDA_SUCCESS;
}

CUresult need_spot(const CUmemLocation& location, Spot* out)
{
    switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        REQUIRE(device_at(location.id), CUDA_ERROR_INVALID_VALUE);
        *out = {location.type, location.id};
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST: *out = {location.type, 0}; return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
        REQUIRE(location.id >= 0, CUDA_ERROR_INVALID_VALUE);
        *out = {location.type, location.id};
        return CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT: *out = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}; return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult prefetch(Stream& stream, CUdeviceptr address, size_t size, const CUmemLocation& location)
{
    std::shared_ptr<Allocation> memory;
    Spot spot;
    TRY(need_managed(address, size, &memory));
    TRY(need_spot(location, &spot));
    TRY(stream.enqueue({Operation::Kind::other, "cuMemPrefetchAsync", nullptr}));
    ranges().change(address, size, memory->id, [&](Advice& a) { a.prefetched = spot; });
    return CUDA_SUCCESS;
}

// Returns the location shared by all pages, or "invalid" if they differ.
Spot common(const Allocation& memory, CUdeviceptr address, size_t size, Spot Advice::* member)
{
    bool first = true;
    Spot out;
    ranges().visit(address, size, memory.id, [&](const Advice& a) {
        if (!first && !(a.*member == out))
            out = Spot{};
        else if (first)
            out = a.*member;
        first = false;
    });
    return out;
}

std::set<int> common_users(const Allocation& memory, CUdeviceptr address, size_t size)
{
    bool first = true;
    std::set<int> out;
    ranges().visit(address, size, memory.id, [&](const Advice& a) {
        std::set<int> both;
        std::set_intersection(out.begin(), out.end(), a.accessed_by.begin(), a.accessed_by.end(),
                              std::inserter(both, both.end()));
        out = first ? a.accessed_by : both;
        first = false;
    });
    return out;
}

} // namespace

ENTRY(cuMemPrefetchAsync, 12020)(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                                 CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    return prefetch(*stream, devPtr, count, location);
}

ENTRY(cuMemPrefetchBatchAsync, 13000)(CUdeviceptr* dptrs, size_t* sizes, size_t count, CUmemLocation* prefetchLocs,
                                      size_t* prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                      CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    REQUIRE(flags == 0 && count && dptrs && sizes && prefetchLocs && prefetchLocIdxs && numPrefetchLocs &&
                numPrefetchLocs <= count && prefetchLocIdxs[0] == 0,
            CUDA_ERROR_INVALID_VALUE);
    TRY(need_own_stream(hStream, &stream));
    size_t row = 0;
    for (size_t i = 0; i < count; ++i) {
        while (row + 1 < numPrefetchLocs && prefetchLocIdxs[row + 1] <= i)
            ++row;
        TRY(prefetch(*stream, dptrs[i], sizes[i], prefetchLocs[row]));
    }
    return CUDA_SUCCESS;
}

// Discarding allows the contents to be lost; here they are kept.
ENTRY(cuMemDiscardBatchAsync, 13000)(CUdeviceptr* dptrs, size_t* sizes, size_t count, unsigned long long flags,
                                     CUstream hStream)
{
    std::shared_ptr<Stream> stream;
    std::shared_ptr<Allocation> memory;
    REQUIRE(flags == 0 && count && dptrs && sizes, CUDA_ERROR_INVALID_VALUE);
    TRY(need_own_stream(hStream, &stream));
    for (size_t i = 0; i < count; ++i)
        TRY(need_managed(dptrs[i], sizes[i], &memory));
    return stream->enqueue({Operation::Kind::other, "cuMemDiscardBatchAsync", nullptr});
}

ENTRY(cuMemDiscardAndPrefetchBatchAsync, 13000)(CUdeviceptr* dptrs, size_t* sizes, size_t count,
                                                CUmemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                                size_t numPrefetchLocs, unsigned long long flags, CUstream hStream)
{
    return entry_cuMemPrefetchBatchAsync_13000(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs,
                                               flags, hStream);
}

ENTRY(cuMemAdvise, 12020)(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location)
{
    std::shared_ptr<Allocation> memory;
    Spot spot;
    TRY(need_managed(devPtr, count, &memory));
    bool located = advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION || advice == CU_MEM_ADVISE_SET_ACCESSED_BY ||
                   advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
    if (located)
        TRY(need_spot(location, &spot));
    auto apply = [&](auto change) {
        ranges().change(devPtr, count, memory->id, change);
        return CUDA_SUCCESS;
    };
    switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY: return apply([](Advice& a) { a.read_mostly = true; });
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY: return apply([](Advice& a) { a.read_mostly = false; });
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION: return apply([&](Advice& a) { a.preferred = spot; });
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION: return apply([](Advice& a) { a.preferred = Spot{}; });
    case CU_MEM_ADVISE_SET_ACCESSED_BY: return apply([&](Advice& a) { a.accessed_by.insert(spot.device()); });
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY: return apply([&](Advice& a) { a.accessed_by.erase(spot.device()); });
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

ENTRY(cuMemRangeGetAttribute, 8000)(void* data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr,
                                    size_t count)
{
    std::shared_ptr<Allocation> memory;
    REQUIRE(data && dataSize >= 4 && dataSize % 4 == 0, CUDA_ERROR_INVALID_VALUE);
    TRY(need_managed(devPtr, count, &memory));
    auto* out = static_cast<int*>(data);
    if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
        auto users = common_users(*memory, devPtr, count);
        std::fill_n(out, dataSize / 4, no_device);
        std::copy_n(users.begin(), std::min(users.size(), dataSize / 4), out);
        return CUDA_SUCCESS;
    }
    REQUIRE(dataSize == 4, CUDA_ERROR_INVALID_VALUE);
    bool read_mostly = true;
    ranges().visit(devPtr, count, memory->id, [&](const Advice& a) { read_mostly &= a.read_mostly; });
    Spot preferred = common(*memory, devPtr, count, &Advice::preferred);
    Spot prefetched = common(*memory, devPtr, count, &Advice::prefetched);
    switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY: *out = read_mostly; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: *out = preferred.device(); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION: *out = prefetched.device(); break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE: *out = preferred.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID: *out = preferred.number(); break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE: *out = prefetched.type; break;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID: *out = prefetched.number(); break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

ENTRY(cuMemRangeGetAttributes, 8000)(void** data, size_t* dataSizes, CUmem_range_attribute* attributes,
                                     size_t numAttributes, CUdeviceptr devPtr, size_t count)
{
    REQUIRE(data && dataSizes && attributes && numAttributes, CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < numAttributes; ++i)
        TRY(entry_cuMemRangeGetAttribute_8000(data[i], dataSizes[i], attributes[i], devPtr, count));
    return CUDA_SUCCESS;
}

// Memory that was never prefetched is the host's: kernels access it where it is.
ENTRY(cuMemGetLocationInfo, 13040)(CUdeviceptr ptr, size_t size, size_t summaryGranularity, size_t samplingGranularity,
                                   CUmemLocation* location_out)
{
    std::shared_ptr<Allocation> memory;
    REQUIRE(location_out && summaryGranularity && summaryGranularity <= size &&
                samplingGranularity <= summaryGranularity,
            CUDA_ERROR_INVALID_VALUE);
    TRY(need_managed(ptr, size, &memory));
    for (size_t at = 0; at < size; at += std::min(summaryGranularity, size - at)) {
        std::map<std::pair<int, int>, size_t> pages; // by location
        size_t end = at + std::min(summaryGranularity, size - at);
        size_t step = samplingGranularity ? samplingGranularity : managed_page;
        for (size_t sample = at; sample < end; sample += std::min(step, end - sample)) {
            Spot spot = common(*memory, ptr + sample, 1, &Advice::prefetched);
            if (spot.type == CU_MEM_LOCATION_TYPE_INVALID)
                spot.type = CU_MEM_LOCATION_TYPE_HOST;
            ++pages[{int(spot.type), spot.id}];
        }
        auto most = std::max_element(pages.begin(), pages.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
        *location_out++ = {CUmemLocationType(most->first.first), {most->first.second}};
    }
    return CUDA_SUCCESS;
}

ENTRY(cuStreamAttachMemAsync, 6000)(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags)
{
    std::shared_ptr<Stream> stream;
    auto memory = AddressSpace::get().find(dptr);
    REQUIRE(memory && memory->kind == MemoryKind::managed && (!length || length == memory->size) &&
                (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE),
            CUDA_ERROR_INVALID_VALUE);
    TRY(need_stream(hStream, &stream));
    return stream->enqueue({Operation::Kind::other, "cuStreamAttachMemAsync", nullptr});
}
