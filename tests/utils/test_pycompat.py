# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Names whose home depends on the Python version."""

import enum

from support.contract import BufferProtocol, StrEnum


def test_names():
    assert StrEnum is enum.StrEnum
    assert isinstance(b"", BufferProtocol)
    assert isinstance(memoryview(b""), BufferProtocol)
