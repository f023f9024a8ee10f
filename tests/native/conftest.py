# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the tests of handles."""

from __future__ import annotations

import gc

import pytest

from support.internals import has_pending_destructions


@pytest.fixture
def nothing_waits(device):
    """Release what earlier tests left, so that no resource waits for work when the test starts."""
    gc.collect()
    device.sync()
    assert not has_pending_destructions()
