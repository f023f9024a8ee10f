# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The version of this package."""

__version__ = version = "1.3.0"
__version_tuple__ = version_tuple = (1, 3, 0)
__commit_id__ = commit_id = None
