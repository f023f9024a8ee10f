// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Memory pools and stream-ordered allocation. The address is given at submission, the
// memory is usable from its place in the stream's order on.
#pragma once

#include <memory>

#include "../common.hpp"
#include "arena.hpp"
#include "stream.hpp"

namespace emu::state {

class Pool : public std::enable_shared_from_this<Pool> {
public:
    static CUresult create(const CUmemPoolProps& properties, CUmemoryPool* out);
    static CUresult destroy(CUmemoryPool handle);        // lives on until the last block
    static std::shared_ptr<Pool> find(CUmemoryPool handle);

    CUmemoryPool handle() const;
    const CUmemPoolProps& properties() const;
    CUresult attribute(CUmemPool_attribute attribute, void* value) const;
    CUresult set_attribute(CUmemPool_attribute attribute, void* value);
    CUresult access(const CUmemLocation& location, CUmemAccess_flags* flags) const;
    CUresult set_access(const CUmemAccessDesc* rows, size_t count);
    CUresult trim(size_t keep);
    CUresult allocate(size_t size, Stream& stream, CUdeviceptr* out);
    // Of any pool, or of plain memory: ordered after the stream's work.
    static CUresult release(CUdeviceptr base, Stream& stream);

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace emu::state
