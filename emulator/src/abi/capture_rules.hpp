// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// The rules for calls during a capture: one function for each word in the last column of entries.txt, called by the
// gates of those entries. Success means that the call may proceed.
#pragma once

#include "../common.hpp"

namespace emu::abi {

CUresult reject_unsafe();
CUresult reject_joined(CUstream stream);
CUresult reject_stream(CUstream stream);
CUresult reject_event(CUevent event);
CUresult reject_never(CUstream stream);
CUresult reject_context(CUcontext context);

} // namespace emu::abi
