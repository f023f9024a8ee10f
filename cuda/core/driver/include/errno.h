// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifndef EINVAL
#define EPERM 1
#define ENOENT 2
#define ENOMEM 12
#define EINVAL 22
#define EDOM 33
#define ERANGE 34
#endif
