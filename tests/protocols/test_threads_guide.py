# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The code blocks in the guide to threads run as printed."""

import pytest

from support.pages import run_blocks


@pytest.mark.requires(device=True, nvrtc=True)
def test_the_guide_to_threads_runs(device):
    names = run_blocks("guide/threads.md", 2)
    assert len(names["results"]) == 8
    assert len({id(kernel) for kernel in names["kernels"]}) == 32
