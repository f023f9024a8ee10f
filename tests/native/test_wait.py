# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Which streams are queried for unfinished work, and how the results are understood."""

from __future__ import annotations

import warnings

import pytest

import cuda.emulator
from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, LegacyPinnedMemoryResource
from support.internals import count_streams, has_pending_destructions
from support.work import busy

pytestmark = [pytest.mark.requires(device=True), pytest.mark.usefixtures("nothing_waits")]


def test_stream_is_queried_from_its_creation_to_its_close(device):
    before = count_streams()
    stream = device.create_stream()
    assert count_streams() == before + 1
    stream.close()
    assert count_streams() == before


@pytest.mark.parametrize("default", [LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM])
def test_work_of_default_streams_counts_from_any_context(device, default):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    with busy(default) as release:
        del buffer
        assert has_pending_destructions()
        release()
        default.sync()
    assert not has_pending_destructions()


@pytest.mark.requires(software=True)  # makes a call fail
def test_unexpected_result_of_a_query_warns(device, stream):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with cuda.emulator.fail("cuStreamQuery", "CUDA_ERROR_UNKNOWN", nth=1):
            del buffer
    assert "cuStreamQuery" in str(caught[0].message)
    assert not has_pending_destructions()
