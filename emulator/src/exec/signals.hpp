// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace emu::exec {

// Installs handlers for SIGSEGV, other faults, and SIGURG. Signals unrelated to kernels are passed to the earlier
// handlers.
void install_handlers();
// Installs our handlers again if others have been installed since; otherwise a kernel fault would kill the process.
void install_handlers_again();

// Unblocks these signals on the calling thread, and gives it a signal stack if it has none. The result must be released
// when the thread exits.
void* prepare_thread_for_faults();
void release_thread_from_faults(void* stack);

} // namespace emu::exec
