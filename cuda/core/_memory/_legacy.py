# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The old place of page-locked memory, from which other packages import it."""

from cuda.core._memory._page_locked import LegacyPinnedMemoryResource

__all__ = ["LegacyPinnedMemoryResource"]
