# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The native core's counters of held and pending resources, which no public name exposes."""

from cuda.core._native._cuda_core import (
    capture_count,
    count_streams,
    has_pending_destructions,
    registry_sizes,
    wait_for_pending_destructions,
)

__all__ = [
    "capture_count",
    "count_streams",
    "has_pending_destructions",
    "registry_sizes",
    "wait_for_pending_destructions",
]
