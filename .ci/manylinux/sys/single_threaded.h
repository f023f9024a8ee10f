// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// Stands in for a header of glibc 2.32, which libstdc++ includes if it exists.
#pragma once
static const char __libc_single_threaded = 0;
