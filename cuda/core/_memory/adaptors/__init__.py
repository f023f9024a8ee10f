# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Adaptors: memory resources that cache, limit, count, log or track the allocations of another resource."""
