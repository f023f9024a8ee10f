// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver_numbers.h"

#ifndef __cplusplus
typedef unsigned long size_t;
#endif
typedef long ptrdiff_t;
