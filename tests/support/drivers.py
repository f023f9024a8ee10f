# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Rows of a test that need different drivers."""

import pytest


def with_drivers(rows: dict[str, tuple], first_drivers: dict[str, tuple[int, int]]) -> list:
    """Return the rows as parameters of a test, by name, each with the first driver that it needs."""
    return [
        pytest.param(*row, id=name, marks=pytest.mark.requires(cuda=first_drivers.get(name, (12, 2))))
        for name, row in rows.items()
    ]
