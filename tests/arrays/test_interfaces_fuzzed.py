# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Objects with malformed array protocols: a sample of the 100,000 that support/array_fuzz.py makes."""

import pytest

from support.array_fuzz import Fuzzer


@pytest.mark.parametrize("seed", range(4))
def test_malformed_arrays_are_rejected_and_not_kept(device, seed):
    result = Fuzzer(seed).run(500)
    assert result["failures"] == []
    # Every seed reaches these outcomes.
    assert {"read", "BufferError", "ValueError", "TypeError"} <= set(result["outcomes"])
