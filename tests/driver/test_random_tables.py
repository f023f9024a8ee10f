# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tables for Sobol numbers."""

import sys

import numpy as np
import pytest

from cuda.core.driver import _random_tables as tables
from cuda.core.driver import curandom

pytestmark = pytest.mark.usefixtures("context")


def test_sets_have_names():
    assert str(tables.direction_vector_set.VECTOR_64) == "VECTOR_64"
    assert [int(member) for member in tables.direction_vector_set] == [101, 102, 103, 104]


def test_without_the_library_its_name_is_told(monkeypatch):
    tables.load_library.cache_clear()
    monkeypatch.setattr(tables, "library_names", lambda: ["libcurand_that_is_not_there.so"])
    try:
        assert curandom.get_curand_version() is None
        for use in (
            lambda: curandom.generate_direction_vectors(4),
            lambda: curandom.generate_scramble_constants32(4),
            lambda: curandom.generate_scramble_constants64(4),
        ):
            with pytest.raises(RuntimeError, match="nvidia-curand"):
                use()
    finally:
        tables.load_library.cache_clear()


def test_the_library_is_looked_for_in_its_wheel(monkeypatch):
    assert "libcurand.so.10" in tables.library_names()
    wheel = type(sys)("nvidia.curand")
    wheel.__path__ = ["/somewhere/curand"]
    parent = type(sys)("nvidia")
    parent.__path__, parent.curand = [], wheel
    monkeypatch.setitem(sys.modules, "nvidia", parent)
    monkeypatch.setitem(sys.modules, "nvidia.curand", wheel)
    assert tables.library_names()[0] == "/somewhere/curand/lib/libcurand.so.10"


def test_rows_come_again_after_the_last():
    rows = np.arange(6, dtype="u4").reshape(3, 2)
    assert tables.repeated(rows, 4).get().tolist() == [[0, 1], [2, 3], [4, 5], [0, 1]]
    with pytest.raises(ValueError, match="at least 1"):
        tables.repeated(rows, 0)


def test_failures_of_the_library_are_errors():
    def function():
        return 104

    with pytest.raises(RuntimeError, match="status 104"):
        tables.call(function)
