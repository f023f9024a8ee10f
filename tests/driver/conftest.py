# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The context that tests of the classic interface run in."""

import pytest


@pytest.fixture(autouse=True)
def own_stack(monkeypatch):
    """Give each test an empty stack: autoinit, if a test imported it, left a context on the main thread's stack."""
    from cuda.core.driver import _context

    monkeypatch.setattr(_context, "_thread", type(_context._thread)())


@pytest.fixture
def context(device):
    """A context of device 0, made current and detached at the end."""
    import cuda.core.driver as drv

    context = drv.Device(0).make_context()
    yield context
    if not context._is_detached:
        context.detach()
