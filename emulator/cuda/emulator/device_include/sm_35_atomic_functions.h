// SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
// SPDX-License-Identifier: Apache-2.0
//
// Empty, for programs that include it: the prelude already declares what device code needs from this header.
#pragma once
