# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Objects that lie about being arrays: a sample of what support/array_fuzz.py does by hand with 100,000."""

import pytest

from support.array_fuzz import Fuzzer


@pytest.mark.parametrize("seed", range(4))
def test_what_lies_is_refused_and_not_kept(device, seed):
    result = Fuzzer(seed).run(500)
    assert result["failures"] == []
    # The seeds reach all ways out.
    assert {"read", "BufferError", "ValueError", "TypeError"} <= set(result["outcomes"])
