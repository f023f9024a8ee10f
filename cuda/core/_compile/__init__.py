# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compilation: options, the back ends (compilers and linkers), and caches of compiled code."""
