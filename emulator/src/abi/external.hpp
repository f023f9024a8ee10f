// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Signals of external semaphores, and waits for them, as the work of streams and nodes.
#pragma once

#include "calls.hpp"

namespace emu::state {
class SemaphoreWork;
}

namespace emu::abi {

CUresult make_semaphore_work(const std::shared_ptr<state::Context>& context, const CUexternalSemaphore* handles,
                             const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* parameters, unsigned count,
                             std::shared_ptr<state::SemaphoreWork>* out);
CUresult make_semaphore_work(const std::shared_ptr<state::Context>& context, const CUexternalSemaphore* handles,
                             const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* parameters, unsigned count,
                             std::shared_ptr<state::SemaphoreWork>* out);

} // namespace emu::abi
