# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The operations on managed memory, under the name by which other packages know their module."""

from cuda.core._memory._managed_ops import discard_batch, discard_prefetch_batch, prefetch_batch

__all__ = ["discard_batch", "discard_prefetch_batch", "prefetch_batch"]
