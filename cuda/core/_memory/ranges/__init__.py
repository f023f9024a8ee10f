# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Ranges of memory: allocations, slices of them, locations, and host memory that is registered."""
