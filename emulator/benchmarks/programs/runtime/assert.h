// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// In the part for the device, assert() is left to its compiler.
#ifndef __CUDA_ARCH__
#include_next <assert.h>
#endif
