// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Empty, for programs that include it: cuda_runtime.h declares what it has.
#pragma once
