# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Which streams are asked for work, and what their answers mean."""

from __future__ import annotations

import gc
import warnings

import pytest

import cuda.emulator
from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, LegacyPinnedMemoryResource
from cuda.core._handles._deferred_destruction import has_pending_destructions
from cuda.core._handles._work import count_streams
from support.work import busy

pytestmark = pytest.mark.requires(device=True)


@pytest.fixture(autouse=True)
def nothing_waits(device):
    gc.collect()
    device.sync()
    assert not has_pending_destructions()


def test_a_new_stream_is_asked_until_it_is_gone(device):
    gc.collect()
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


@pytest.mark.requires(software=True)  # a plan of failures
def test_an_answer_that_nobody_expects_warns(device, stream):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with cuda.emulator.fail("cuStreamQuery", "CUDA_ERROR_UNKNOWN", nth=1):
            del buffer
    assert "cuStreamQuery" in str(told[0].message)
    assert not has_pending_destructions()
