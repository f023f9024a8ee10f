# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Names whose home depends on the version of Python."""

import enum

from cuda.core._utils import pycompat


def test_names():
    assert pycompat.StrEnum is enum.StrEnum
    assert isinstance(b"", pycompat.BufferProtocol)
    assert isinstance(memoryview(b""), pycompat.BufferProtocol)
