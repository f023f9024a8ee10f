# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Tables for Sobol numbers."""

import importlib.machinery
import importlib.util

import numpy as np
import pytest

from cuda.core.driver import curandom
from cuda.core.driver import curandom as tables

pytestmark = pytest.mark.usefixtures("context")


def test_direction_vector_sets_have_names_and_values():
    assert str(tables.direction_vector_set.VECTOR_64) == "VECTOR_64"
    assert [int(member) for member in tables.direction_vector_set] == [101, 102, 103, 104]


def test_a_missing_library_is_named_in_the_error(monkeypatch):
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


@pytest.mark.parametrize("folder", ["cu13", "curand"])
def test_the_library_is_looked_for_in_its_wheel(monkeypatch, tmp_path, folder):
    assert "libcurand.so.10" in tables.library_names()
    library = tmp_path / folder / "lib" / "libcurand.so.10"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"")
    found = importlib.machinery.ModuleSpec("nvidia", None, is_package=True)
    found.submodule_search_locations = ["/nowhere", str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: found)
    assert tables.library_names() == [str(library), *tables._NAMES]
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert tables.library_names() == list(tables._NAMES)


@pytest.mark.requires(curand=True)
@pytest.mark.parametrize("width", [32, 64])
def test_tables_of_the_library_are_those_of_sobol(width):
    assert curandom.get_curand_version() >= (10, 0, 0)
    kind = getattr(curandom.direction_vector_set, f"VECTOR_{width}")
    vectors = curandom.generate_direction_vectors(5, kind).get()
    assert vectors.shape == (5, width) and vectors.dtype.itemsize == width // 8
    bits = [1 << (width - 1 - place) for place in range(width)]
    # Vector k of a dimension is an odd number, shifted so that its last bit is that of the k-th place.
    assert vectors[0].tolist() == bits
    assert [[int(word) & -int(word) for word in row] for row in vectors] == [bits] * 5
    constants = getattr(curandom, f"generate_scramble_constants{width}")(7).get()
    assert constants.shape == (7,) and len(set(constants.tolist())) == 7


@pytest.mark.requires(curand=True)
@pytest.mark.parametrize(
    "kind",
    [
        curandom.Sobol32RandomNumberGenerator,
        curandom.Sobol64RandomNumberGenerator,
        curandom.ScrambledSobol32RandomNumberGenerator,
        curandom.ScrambledSobol64RandomNumberGenerator,
    ],
)
def test_generators_use_the_tables_of_the_library(kind):
    generators = kind()
    count = generators.block_count * generators.generators_per_block
    numbers = generators.gen_uniform((16, count), np.float64).get()
    assert 0 <= numbers.min() and numbers.max() <= 1
    # Of 16 points in a row, each sixteenth of the range has one, in each dimension.
    places = np.sort((numbers * 16).astype(int).clip(0, 15), axis=0)
    assert (places == np.arange(16)[:, None]).all()


def test_rows_are_repeated_after_the_last():
    rows = np.arange(6, dtype="u4").reshape(3, 2)
    assert tables.repeated(rows, 2).get().tolist() == rows[:2].tolist()
    assert tables.repeated(rows, 4).get().tolist() == [[0, 1], [2, 3], [4, 5], [0, 1]]
    assert tables.repeated(rows, 100).get().tolist() == [rows[row % 3].tolist() for row in range(100)]
    assert tables.repeated(rows[:, 1], 7).get().tolist() == [1, 3, 5, 1, 3, 5, 1]
    with pytest.raises(ValueError, match="at least 1"):
        tables.repeated(rows, 0)


def test_more_rows_than_fit_the_device_are_refused(context):
    """They are refused before the host builds an array of them."""
    with pytest.raises(MemoryError):
        tables.repeated(np.zeros((20000, 32), np.uint32), 2**37)


def test_failures_of_the_library_raise_errors_with_its_status():
    def function():
        return 104

    with pytest.raises(RuntimeError, match="status 104"):
        tables.call(function)


@pytest.mark.parametrize(
    "count, error, match",
    [
        ({}, TypeError, "count must be an int, not dict"),
        (1.5, TypeError, "count"),
        (0, ValueError, "at least 1, not 0"),
    ],
)
def test_the_number_of_rows_is_checked(context, count, error, match):
    with pytest.raises(error, match=match):
        tables.repeated(np.zeros((3, 32), np.uint32), count)
