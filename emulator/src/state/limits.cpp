// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "limits.hpp"

#include <algorithm>

namespace emu::state {
namespace {

// The values of compute capability 9.0. If `highest` is 0, the limit cannot be set, or setting it has no effect. Limits
// without a row are not supported.
struct LimitRow {
    CUlimit limit;
    size_t value, highest;
    bool clamps;
};
const LimitRow limit_rows[] = {
    {CU_LIMIT_STACK_SIZE, 1024, 512 << 10, false},
    {CU_LIMIT_PRINTF_FIFO_SIZE, 8650752, size_t(1) << 30, false},
    {CU_LIMIT_MALLOC_HEAP_SIZE, 8388608, size_t(1) << 40, false},
    {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048, 1 << 20, false},
    {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64, 128, true},
    {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 11796480, 39321600, true},
    {CU_LIMIT_SHMEM_SIZE, 232448, 0, false},
    {CU_LIMIT_CIG_ENABLED, 0, 0, false},
};

const LimitRow* find_limit(CUlimit limit)
{
    auto row =
        std::find_if(std::begin(limit_rows), std::end(limit_rows), [&](const LimitRow& r) { return r.limit == limit; });
    return row == std::end(limit_rows) ? nullptr : row;
}

} // namespace

LimitTable::LimitTable()
{
    for (const LimitRow& row : limit_rows)
        values_[row.limit] = row.value;
}

CUresult LimitTable::get(CUlimit limit, size_t* value) const
{
    if (limit < 0 || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!find_limit(limit))
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = values_[limit];
    return CUDA_SUCCESS;
}

CUresult LimitTable::set(CUlimit limit, size_t value)
{
    if (limit < 0 || limit >= CU_LIMIT_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    const LimitRow* row = find_limit(limit);
    if (!row)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (row->highest == 0)
        return CUDA_ERROR_UNSUPPORTED_LIMIT;
    if (value > row->highest && !row->clamps)
        return CUDA_ERROR_INVALID_VALUE;
    values_[limit] = std::min(value, row->highest);
    return CUDA_SUCCESS;
}

exec::Limits LimitTable::for_launch() const
{
    exec::Limits limits;
    limits.stack_bytes = std::max(limits.stack_bytes, values_[CU_LIMIT_STACK_SIZE]);
    limits.printf_bytes = values_[CU_LIMIT_PRINTF_FIFO_SIZE];
    limits.heap_bytes = values_[CU_LIMIT_MALLOC_HEAP_SIZE];
    return limits;
}

} // namespace emu::state
