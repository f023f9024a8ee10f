# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Complete programs, which ``python -m cuda.core.examples`` lists and runs."""

from __future__ import annotations

__all__: list[str] = []
