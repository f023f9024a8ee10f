# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Weak handles, under the name that other packages import."""

from cuda.core._native._cuda_core import WeakHandle, weak_handle

__all__ = ["WeakHandle", "weak_handle"]
