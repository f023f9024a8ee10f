# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the tests of compilations."""

import pytest

from cuda.core import _program


@pytest.fixture
def any_driver_age(monkeypatch):
    """No warning if the driver of this machine is older than the compiler."""
    monkeypatch.setattr(_program, "is_newer_than_driver", lambda version: False)
