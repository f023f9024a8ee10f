// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
// clock and clock_t are built in.
#pragma once

#include "driver_numbers.h"

#ifndef CLOCKS_PER_SEC
#define CLOCKS_PER_SEC 1000000L
#endif
