// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#include "origin.hpp"

namespace emu::state {

thread_local Origin origin __attribute__((tls_model("initial-exec")));

} // namespace emu::state
