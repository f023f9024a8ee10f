// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0

// Functions of drivers older than CUDA 12.8 in place of newer ones with the same purpose.
#pragma once

namespace cuda_core {

// A function with the signature that the current headers declare for `name`, which calls an older function of the
// driver. Null if there is none.
void* replacement_in_older_driver(const char* name) noexcept;

// The address of a function that the loaded driver exports, by its symbol; null if it has none of that name.
void* find_in_driver(const char* symbol) noexcept;

}  // namespace cuda_core
