# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Random number generators, their tables, and arrays of random numbers."""

import os
import sys

import numpy as np
import pytest
from scipy import stats

import cuda.core.driver as drv
from cuda.core.driver import curandom, gpuarray
from support.interpreter import run

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_numbers_are_uniform_from_zero_and_below_one(dtype):
    numbers = curandom.rand((100, 300), dtype).get()
    assert numbers.shape == (100, 300) and 0 <= numbers.min() and numbers.max() < 1
    assert stats.kstest(numbers.ravel(), "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(numbers[:-1].ravel(), numbers[1:].ravel())[0, 1]) < 0.03


@pytest.mark.parametrize("dtype", ["i4", "u4"])
def test_all_bits_of_integers_are_random(dtype):
    bits = curandom.rand(30_000, dtype).get().view("u4")
    assert stats.kstest(bits / 2**32, "uniform").pvalue > 1e-4
    means = [((bits >> k) & 1).mean() for k in range(32)]
    assert np.abs(np.array(means) - 0.5).max() < 0.02


def test_equal_numpy_seeds_produce_equal_numbers():
    np.random.seed(3)
    first, second = curandom.rand(100).get(), curandom.rand(100).get()
    np.random.seed(3)
    assert np.array_equal(curandom.rand(100).get(), first) and not np.array_equal(first, second)


def test_rand_accepts_streams_and_empty_shapes():
    stream = drv.Stream()
    assert np.unique(curandom.rand(1000, stream=stream).get(stream=stream)).size > 990
    assert curandom.rand((0, 3)).shape == (0, 3)


def test_other_types_are_not_implemented():
    for dtype in ("f2", "i8", "c8", "?"):
        with pytest.raises(NotImplementedError, match="random numbers of type"):
            curandom.rand(3, dtype)


def test_all_public_names_have_docstrings():
    for name in curandom.__all__:
        assert getattr(curandom, name).__doc__, name


KINDS = [
    curandom.XORWOWRandomNumberGenerator,
    curandom.MRG32k3aRandomNumberGenerator,
    curandom.PhiloxRandomNumberGenerator,
]
COUNT = 20_000


def equal_seeds(count):
    return gpuarray.full(count, 2024, "i4")


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


def seeded(kind):
    return kind(equal_seeds)


def test_uniform_numbers_have_the_uniform_distribution(kind):
    generators = seeded(kind)
    for dtype in ("f4", "f8"):
        numbers = generators.gen_uniform(COUNT, dtype).get()
        assert 0 < numbers.min() and numbers.max() <= 1
        assert stats.kstest(numbers, "uniform").pvalue > 1e-4
    for dtype in ("u4", "i4", "u8", "i8"):
        bits = generators.gen_uniform(COUNT, dtype).get().view(f"u{dtype[1]}")
        assert stats.kstest(bits / 2.0 ** (8 * int(dtype[1])), "uniform").pvalue > 1e-4


def test_normal_and_log_normal_numbers_have_their_distribution(kind):
    generators = seeded(kind)
    for dtype in ("f4", "f8"):
        numbers = generators.gen_normal(COUNT + 1, dtype).get()
        assert stats.kstest(numbers, "norm").pvalue > 1e-4
        logarithms = np.log(generators.gen_log_normal(COUNT, dtype, 0.5, 0.25).get())
        assert stats.kstest((logarithms - 0.5) / 0.25, "norm").pvalue > 1e-4


@pytest.mark.parametrize("mean", [0.5, 3.0, 12.0, 300.0])
def test_poisson_numbers_have_the_poisson_distribution(kind, mean):
    numbers = seeded(kind).gen_poisson(COUNT, "u4", mean).get()
    most = int(mean + 6 * mean**0.5 + 6)
    expected = stats.poisson.pmf(np.arange(most), mean) * COUNT
    usual = expected > 5
    observed = np.bincount(numbers, minlength=most)[:most]
    distance = ((observed - expected)[usual] ** 2 / expected[usual]).sum()
    assert stats.chi2.sf(distance, usual.sum() - 1) > 1e-4


def test_fill_poisson_uses_the_mean_of_each_element():
    generators = seeded(KINDS[0])
    for dtype in ("u4", "f4", "f8"):
        data = gpuarray.zeros((2, COUNT // 2), dtype)
        data[1].fill(4)
        generators.fill_poisson(data)
        zeros, numbers = data.get()
        assert not zeros.any() and abs(numbers.mean() - 4) < 0.15 and abs(numbers.var() - 4) < 0.4


def test_adjacent_numbers_are_not_correlated(kind):
    generators = seeded(kind)
    numbers = generators.gen_uniform((4, generators._count), "f8").get()
    for a, b in ((numbers[0], numbers[1]), (numbers[0, :-1], numbers[0, 1:]), (numbers[1, :-1], numbers[2, 1:])):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4 / np.sqrt(len(a))


def test_generators_do_not_repeat_each_other(kind):
    generators = seeded(kind)
    first = generators.gen_uniform(4 * generators._count, "u8").get()
    assert np.unique(first).size == first.size
    other = kind(lambda count: gpuarray.full(count, 2025, "i4")).gen_uniform(COUNT, "u8").get()
    assert np.intersect1d(first, other).size == 0


def test_equal_seeds_produce_equal_numbers(kind):
    first, second = (seeded(kind).gen_uniform(COUNT, "f4").get() for _ in range(2))
    assert np.array_equal(first, second)
    np.random.seed(5)
    first = kind().gen_uniform(100, "u4").get()
    np.random.seed(5)
    assert np.array_equal(kind().gen_uniform(100, "u4").get(), first)
    assert not np.array_equal(kind(curandom.seed_getter_unique).gen_uniform(100, "u4").get(), first)


def test_skipping_leaves_numbers_out(kind):
    generators = seeded(kind)
    count = generators._count
    numbers = generators.gen_uniform((8, count), "u4").get()
    for skip in (1, 4, 6):
        again = seeded(kind)
        again.call_skip_ahead(skip)
        assert np.array_equal(again.gen_uniform(count, "u4").get(), numbers[skip])
    assert np.array_equal(kind(equal_seeds, offset=5).gen_uniform(count, "u4").get(), numbers[5])
    again = seeded(kind)
    steps = (np.arange(count) % 8).astype("u4")
    again.call_skip_ahead_array(gpuarray.to_gpu(steps))
    assert np.array_equal(again.gen_uniform(count, "u4").get(), numbers[steps, np.arange(count)])


def test_skipping_sequences_is_additive_and_changes_the_numbers(kind):
    one, two = seeded(kind), seeded(kind)
    numbers = one.gen_uniform(one._count, "u8").get()
    one = seeded(kind)
    one.call_skip_ahead_sequence(3)
    two.call_skip_ahead_sequence_array(gpuarray.full(two._count, 1, "u4"))
    two.call_skip_ahead_sequence(2)
    found = one.gen_uniform(one._count, "u8").get()
    assert np.array_equal(found, two.gen_uniform(two._count, "u8").get())
    assert np.intersect1d(found, numbers).size == 0


def test_large_skips_are_sums_of_small_ones(kind):
    one, two = seeded(kind), seeded(kind)
    one.call_skip_ahead(2**40 + 12345)
    two.call_skip_ahead(2**40)
    two.call_skip_ahead(12345)
    assert np.array_equal(one.gen_uniform(500, "u4").get(), two.gen_uniform(500, "u4").get())


def test_mrg32k3a_subsequences_match_generator_distance():
    kind = curandom.MRG32k3aRandomNumberGenerator
    one, two = seeded(kind), seeded(kind)
    count = one._count
    one.call_skip_ahead_subsequence(1)
    shifted = one.gen_uniform(count, "u4").get()
    assert np.array_equal(shifted[:-1], two.gen_uniform(count, "u4").get()[1:])
    three = seeded(kind)
    three.call_skip_ahead_subsequence_array(gpuarray.full(count, 1, "u4"))
    assert np.array_equal(three.gen_uniform(count, "u4").get(), shifted)


def test_arrays_of_any_layout_are_filled_on_streams(kind):
    generators, stream = seeded(kind), drv.Stream()
    data = gpuarray.zeros((10, 20), "f4")
    generators.fill_uniform(data[:, ::2])
    host = data.get()
    assert (host[:, ::2] > 0).all() and not host[:, 1::2].any()
    generators.fill_normal(data, stream)
    assert np.unique(data.get(stream=stream)).size > 190
    generators.fill_uniform(gpuarray.zeros(0, "f4"))


def test_generators_report_their_number_and_state(kind):
    generators = seeded(kind)
    assert generators.generators_per_block * generators.block_count == generators._count
    assert isinstance(generators.state, drv.DeviceAllocation) and str(generators._count) in repr(generators)


def test_seeds_are_checked(kind):
    for wrong in (
        lambda count: np.zeros(count, "i4"),
        lambda count: gpuarray.zeros(count, "u4"),
        lambda count: gpuarray.zeros(count - 1, "i4"),
    ):
        with pytest.raises(TypeError, match="seed_getter must return"):
            kind(wrong)
    with pytest.raises(ValueError, match="number of steps"):
        kind(offset=-1)
    assert len(set(curandom.seed_getter_unique(1000).get().tolist())) == 1000
    assert len(set(curandom.seed_getter_uniform(1000).get().tolist())) == 1


def test_arguments_are_checked(kind):
    generators = seeded(kind)
    for use in (
        lambda: generators.fill_uniform(gpuarray.zeros(3, "f2")),
        lambda: generators.fill_normal(gpuarray.zeros(3, "i4")),
        lambda: generators.gen_poisson(3, "f4", 2.0),
        lambda: generators.gen_log_normal(3, "u4", 0, 1),
    ):
        with pytest.raises(NotImplementedError, match="numbers of type .* are not supported"):
            use()
    with pytest.raises(TypeError, match="data must be"):
        generators.fill_uniform(np.zeros(3, "f4"))
    with pytest.raises(TypeError, match="one per generator"):
        generators.call_skip_ahead_array(gpuarray.zeros(3, "u4"))
    data = gpuarray.zeros(3, "f4")
    data.gpudata.free()
    with pytest.raises(drv.LogicError, match="freed"):
        generators.fill_uniform(data)


def directions(kind, width):
    count = kind.generators_per_block * max(1, min(2 * drv.Device(0).multiprocessor_count, 256))
    column = np.array([1 << (width - 1 - k) for k in range(width)], f"u{width // 8}")
    return gpuarray.to_gpu(np.tile(column, (count, 1)))


@pytest.mark.parametrize("width", [32, 64])
def test_sobol_numbers_follow_from_the_direction_vectors(width):
    kind = getattr(curandom, f"Sobol{width}RandomNumberGenerator")
    vectors = directions(kind, width)
    generators = kind(vectors)
    count = vectors.shape[0]
    numbers = generators.gen_uniform((8, count), "f8").get()[:, 0]
    assert np.allclose(numbers, [0, 0.5, 0.75, 0.25, 0.375, 0.875, 0.625, 0.125], atol=1e-9)
    generators.call_skip_ahead(4)
    assert np.allclose(generators.gen_uniform(count, "f8").get(), 0.3125, atol=1e-9)
    again = kind(vectors, offset=3)
    bits = again.gen_uniform(count, f"u{width // 8}").get()
    assert (bits == 1 << (width - 2)).all()
    steps = gpuarray.full(count, 2, "u4")
    again.call_skip_ahead_array(steps)
    assert np.allclose(again.gen_uniform(count, "f4").get(), 0.625, atol=1e-6)
    normal = kind(vectors, offset=1).gen_normal((3, count), "f8").get()[:, 0]
    assert np.allclose(normal, stats.norm.ppf([0.5, 0.75, 0.25]), atol=1e-8)
    scrambled = getattr(curandom, f"ScrambledSobol{width}RandomNumberGenerator")
    flips = gpuarray.full(count, 1 << (width - 1), f"u{width // 8}")
    assert (scrambled(vectors, flips).gen_uniform(count, f"u{width // 8}").get() == 1 << (width - 1)).all()
    with pytest.raises(TypeError, match="dir_vector must be"):
        kind(vectors[:5])
    with pytest.raises(TypeError, match="scramble_vector must be"):
        scrambled(vectors, flips[:5])


def test_direction_vector_sets_have_names_and_values():
    assert str(curandom.direction_vector_set.VECTOR_64) == "VECTOR_64"
    assert [int(member) for member in curandom.direction_vector_set] == [101, 102, 103, 104]


def test_missing_library_is_named_in_the_error():
    code = (
        "from cuda.core.driver import curandom, autoinit\n"
        "curandom.library_names = lambda: ['libcurand_that_is_not_there.so']\n"
        "print(curandom.get_curand_version())\n"
        "names = ['generate_direction_vectors', 'generate_scramble_constants32', 'generate_scramble_constants64']\n"
        "for name in names:\n"
        "    try: getattr(curandom, name)(4)\n"
        "    except RuntimeError as error: print('nvidia-curand' in str(error))"
    )
    assert run(code).split() == ["None", "True", "True", "True"]


@pytest.mark.parametrize("folder", ["cu13", "curand"])
def test_library_is_looked_for_in_its_wheel(tmp_path, folder):
    library = tmp_path / "nvidia" / folder / "lib" / "libcurand.so.10"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"")
    code = "from cuda.core.driver import curandom; print(*curandom.library_names())"
    names = run(code, PYTHONPATH=os.pathsep.join([str(tmp_path), *filter(None, sys.path)])).split()
    assert names[0] == str(library) and "libcurand.so.10" in names


@pytest.mark.requires(curand=True)
@pytest.mark.parametrize("width", [32, 64])
def test_library_tables_are_sobol_tables(width):
    assert curandom.get_curand_version() >= (10, 0, 0)
    kind = getattr(curandom.direction_vector_set, f"VECTOR_{width}")
    vectors = curandom.generate_direction_vectors(5, kind).get()
    assert vectors.shape == (5, width) and vectors.dtype.itemsize == width // 8
    bits = [1 << (width - 1 - place) for place in range(width)]
    # Vector k of a dimension is an odd number, shifted so that its last bit is in the k-th place.
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
def test_generators_use_the_library_tables(kind):
    generators = kind()
    count = generators.block_count * generators.generators_per_block
    numbers = generators.gen_uniform((16, count), np.float64).get()
    assert 0 <= numbers.min() and numbers.max() <= 1
    # Of 16 points in a row, each sixteenth of the range has one, in each dimension.
    places = np.sort((numbers * 16).astype(int).clip(0, 15), axis=0)
    assert (places == np.arange(16)[:, None]).all()


def test_rows_are_repeated_after_the_last():
    rows = np.arange(6, dtype="u4").reshape(3, 2)
    assert curandom.repeated(rows, 2).get().tolist() == rows[:2].tolist()
    assert curandom.repeated(rows, 4).get().tolist() == [[0, 1], [2, 3], [4, 5], [0, 1]]
    assert curandom.repeated(rows, 100).get().tolist() == [rows[row % 3].tolist() for row in range(100)]
    assert curandom.repeated(rows[:, 1], 7).get().tolist() == [1, 3, 5, 1, 3, 5, 1]
    with pytest.raises(ValueError, match="at least 1"):
        curandom.repeated(rows, 0)


def test_more_rows_than_fit_the_device_are_rejected(context):
    """They are rejected before the host builds an array from them."""
    with pytest.raises(MemoryError):
        curandom.repeated(np.zeros((20000, 32), np.uint32), 2**37)


def test_library_failures_raise_errors_with_its_status():
    def function():
        return 104

    with pytest.raises(RuntimeError, match="status 104"):
        curandom.call_curand(function)


@pytest.mark.parametrize(
    "count, error, match",
    [
        ({}, TypeError, "count must be an int, not dict"),
        (1.5, TypeError, "count"),
        (0, ValueError, "at least 1, not 0"),
    ],
)
def test_number_of_rows_is_checked(context, count, error, match):
    with pytest.raises(error, match=match):
        curandom.repeated(np.zeros((3, 32), np.uint32), count)
