# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The version of this package. In a wheel, the commit replaces ``source``; a release has only the number."""

__version__ = version = "1.3.0+source"
_number, _, _local = version.partition("+")
__version_tuple__ = version_tuple = (*map(int, _number.split(".")), *filter(None, [_local]))
__commit_id__ = commit_id = _local if _local.startswith("g") else None
