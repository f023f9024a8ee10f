# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Behavior that both program caches share: keys, values, counters, limits."""

import pickle
import threading

import pytest

from cuda.core import ObjectCode
from cuda.core.utils import FileStreamProgramCache, InMemoryProgramCache, ProgramCacheResource


@pytest.fixture(params=["memory", "files"])
def make(request, tmp_path):
    """A function that makes an empty cache."""
    if request.param == "memory":
        return InMemoryProgramCache
    return lambda **kwargs: FileStreamProgramCache(tmp_path / "cache", **kwargs)


@pytest.fixture
def cache(make):
    return make()


def test_base_class_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        ProgramCacheResource()


def test_subclass_needs_five_methods_only():
    class Own(ProgramCacheResource):
        def __init__(self):
            self.values = {}

        def __getitem__(self, key):
            return self.values[key]

        def __setitem__(self, key, value):
            self.values[key] = value

        def __delitem__(self, key):
            del self.values[key]

        def __len__(self):
            return len(self.values)

        def clear(self):
            self.values.clear()

    with Own() as cache:
        cache.update({b"a": b"1"})
        assert cache.get(b"a") == b"1"
        assert cache.get(b"b", b"none") == b"none"
    assert cache.close() is None


def test_stored_values_are_returned(cache):
    cache[b"key"] = b"value"
    assert cache[b"key"] == cache.get(b"key") == b"value"
    cache[b"key"] = b"other"
    assert (cache[b"key"], len(cache), cache.size_bytes) == (b"other", 1, 5)


@pytest.mark.parametrize("key", ["käse", "käse".encode(), bytearray("käse".encode())])
def test_text_is_the_same_key_as_its_bytes(cache, key):
    cache[key] = b"value"
    assert cache["käse".encode()] == b"value"
    del cache["käse"]
    assert len(cache) == 0


@pytest.mark.parametrize("key", [None, 5, ("a",), memoryview(b"a")])
def test_keys_of_wrong_type_are_rejected(cache, key):
    for use in (cache.get, cache.__getitem__, cache.__delitem__, lambda key: cache.__setitem__(key, b"")):
        with pytest.raises(TypeError, match="a key must be bytes or str"):
            use(key)


@pytest.mark.parametrize(
    "value",
    [
        b"code",
        bytearray(b"code"),
        memoryview(b"code"),
        ObjectCode.from_cubin(b"code"),
        ObjectCode.from_ptx(bytearray(b"code")),
    ],
)
def test_values_are_stored_as_bytes(cache, value):
    cache["key"] = value
    assert cache["key"] == b"code"
    assert type(cache["key"]) is bytes


def test_object_code_file_is_read_immediately(cache, tmp_path):
    path = tmp_path / "code.cubin"
    path.write_bytes(b"code")
    cache["key"] = ObjectCode.from_cubin(path)
    path.unlink()
    assert cache["key"] == b"code"
    with pytest.raises(FileNotFoundError):
        cache["other"] = ObjectCode.from_cubin(path)


@pytest.mark.parametrize("value", [None, "text", 5, [1]])
def test_values_of_wrong_type_are_rejected(cache, value):
    with pytest.raises(TypeError, match="a value must be bytes"):
        cache["key"] = value
    assert len(cache) == 0


def test_missing_values_are_none_or_a_key_error(cache):
    assert cache.get("key") is None
    assert cache.get("key", b"default") == b"default"
    with pytest.raises(KeyError):
        cache["key"]
    with pytest.raises(KeyError):
        del cache["key"]


def test_caches_have_no_membership_test_and_no_iteration(cache):
    cache["key"] = b"value"
    with pytest.raises(TypeError):
        "key" in cache  # noqa: B015
    with pytest.raises(TypeError):
        iter(cache)
    assert not hasattr(type(cache), "__contains__")


@pytest.mark.parametrize("items", [{"a": b"1", b"b": b"2"}, [("a", b"1"), (b"b", b"2")]])
def test_update_stores_all_items(cache, items):
    cache.update(items)
    cache.update(iter([]))
    assert (cache["a"], cache["b"], len(cache)) == (b"1", b"2", 2)


def test_clear_removes_all_values(cache):
    cache.update({"a": b"1", "b": b"2"})
    cache.clear()
    assert (len(cache), cache.get("a"), cache.size_bytes) == (0, None, 0)


def test_hits_and_misses_are_counted(cache):
    cache["a"] = b"1"
    assert (cache.hits, cache.misses) == (0, 0)
    cache.get("a")
    cache["a"]
    cache.get("b")
    assert (cache.hits, cache.misses) == (2, 1)


@pytest.mark.parametrize("limit", [0, -1])
def test_limit_below_one_is_rejected(make, limit):
    with pytest.raises(ValueError, match="max_size_bytes must be at least 1"):
        make(max_size_bytes=limit)


@pytest.mark.parametrize("limit", ["1", 1.5, True])
def test_limit_of_wrong_type_is_rejected(make, limit):
    with pytest.raises(TypeError, match="max_size_bytes must be an int"):
        make(max_size_bytes=limit)


def test_least_recently_used_value_is_evicted(make):
    cache = make(max_size_bytes=25)
    cache["a"], cache["b"] = b"a" * 10, b"b" * 10
    assert cache["a"] == b"a" * 10
    cache["c"] = b"c" * 10
    assert (cache.get("b"), cache.get("a"), cache.get("c")) == (None, b"a" * 10, b"c" * 10)
    assert cache.size_bytes == 20


def test_value_above_the_limit_is_not_kept(make):
    cache = make(max_size_bytes=10)
    cache["a"] = b"a" * 11
    assert (cache.get("a"), cache.size_bytes) == (None, 0)


def test_value_above_the_limit_displaces_no_others(make):
    cache = make(max_size_bytes=10)
    cache["a"], cache["b"] = b"a" * 5, b"b" * 11
    assert (cache.get("a"), cache.get("b")) == (b"a" * 5, None)
    cache["a"] = b"a" * 11
    assert (cache.get("a"), cache.size_bytes) == (None, 0)


def test_replacing_a_value_does_not_add_to_the_size(make):
    cache = make(max_size_bytes=10)
    for _ in range(5):
        cache["a"] = b"a" * 9
    assert cache["a"] == b"a" * 9


def test_caches_compare_by_identity_and_cannot_be_pickled(cache, make):
    assert cache != make()
    assert len({cache, cache}) == 1
    assert "ProgramCache" in repr(cache)
    with pytest.raises(TypeError):
        pickle.dumps(cache)


def test_threads_share_a_cache(make):
    cache = make(max_size_bytes=4000)
    wrong = []

    def work(number):
        for step in range(30):
            key = f"{(number + step) % 10}"
            cache[key] = key.encode() * 100
            value = cache.get(key)
            if value not in (None, key.encode() * 100):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(cache) == 10
    assert cache.hits + cache.misses == 120
