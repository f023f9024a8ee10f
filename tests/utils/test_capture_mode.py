# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Captures in progress are counted, so that the library knows when to relax its own calls; what it then does beside a
capture is tested in tests/graph/test_stream_capture.py."""

import pytest

from cuda.core._utils import _capture_mode


@pytest.mark.parametrize("end", ["end_building", "close", "drop"])
def test_captures_in_progress_are_counted(device, end):
    before = _capture_mode.capture_count()
    builder = device.create_graph_builder().begin_building()
    body = builder.if_then(builder.create_condition(0)).begin_building()
    assert _capture_mode.capture_count() == before + 2
    if end == "drop":
        del body, builder
    else:
        getattr(body, end)()
        getattr(builder, end)()
    assert _capture_mode.capture_count() == before
