// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// What may be called during a capture: one function for each word in the last column of entries.txt; the gates of those
// entries call it. Success: the call may proceed.
#pragma once

#include "../common.hpp"

namespace emu::abi {

CUresult refuse_unsafe();
CUresult refuse_joined(CUstream stream);
CUresult refuse_stream(CUstream stream);
CUresult refuse_event(CUevent event);
CUresult refuse_never(CUstream stream);
CUresult refuse_context(CUcontext context);

} // namespace emu::abi
