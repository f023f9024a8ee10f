# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The cache in memory: what it keeps when there is no room; ``test_abc.py`` has what all caches do."""

import pytest

from cuda.core.utils import InMemoryProgramCache


def test_without_a_limit_everything_stays():
    cache = InMemoryProgramCache()
    for number in range(1000):
        cache[str(number)] = bytes(1000)
    assert len(cache) == 1000


def test_reading_keeps_an_entry_longer():
    cache = InMemoryProgramCache(max_size_bytes=30)
    cache["a"], cache["b"], cache["c"] = bytes(10), bytes(10), bytes(10)
    assert cache["a"] == bytes(10)
    cache["d"] = bytes(10)
    assert [key for key in "abcd" if cache.get(key) is not None] == ["a", "c", "d"]


def test_deleting_gives_room():
    cache = InMemoryProgramCache(max_size_bytes=10)
    cache["a"] = bytes(10)
    del cache["a"]
    cache["b"] = bytes(10)
    assert (len(cache), cache.get("a")) == (1, None)
    with pytest.raises(KeyError):
        del cache["a"]
