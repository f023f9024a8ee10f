// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace emu::exec {

// For SIGSEGV and its like, and SIGURG. What is not ours goes to the handler before.
void install_handlers();
// Others may have installed theirs since: ours must come first, or kernels' faults would end
// the process.
void install_handlers_again();

// Unblocks the signals above for the calling thread, and gives it a signal stack if it has
// none. What it returns is to be released when the thread ends.
void* prepare_thread_for_faults();
void release_thread_from_faults(void* stack);

} // namespace emu::exec
