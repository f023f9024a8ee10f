# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""``copy_batch`` under the name that other packages import it from."""

from cuda.core._memory._managed_memory_ops import copy_batch

__all__ = ["copy_batch"]
