# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""One sentence of advice for a result code: what usually causes it, or what to do."""

from __future__ import annotations

ADVICE: dict[int, str] = {}

RUNTIME_ADVICE: dict[int, str] = {}
