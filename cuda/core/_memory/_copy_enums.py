# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The enums of copies, under the name by which other packages know their module."""

from cuda.core._memory._copy_options import MemcpyOverlapMode, MemcpySrcAccessOrder

__all__ = ["MemcpyOverlapMode", "MemcpySrcAccessOrder"]
