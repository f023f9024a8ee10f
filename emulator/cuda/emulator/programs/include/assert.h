// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// In the device part, its compiler handles assert().
#ifndef __CUDA_ARCH__
#include_next <assert.h>
#endif
