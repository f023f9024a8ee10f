// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// For programs that include it: the prelude declares what device code uses of this header.
#pragma once
