# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The in-memory cache, beyond the behavior of all caches, which ``test_stores.py`` tests."""

import pytest

from cuda.core.utils import InMemoryProgramCache


def test_without_a_limit_everything_stays():
    cache = InMemoryProgramCache()
    for number in range(1000):
        cache[str(number)] = bytes(1000)
    assert len(cache) == 1000


def test_deleting_makes_room():
    cache = InMemoryProgramCache(max_size_bytes=10)
    cache["a"] = bytes(10)
    del cache["a"]
    cache["b"] = bytes(10)
    assert (len(cache), cache.get("a")) == (1, None)
    with pytest.raises(KeyError):
        del cache["a"]
