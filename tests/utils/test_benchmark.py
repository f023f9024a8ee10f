# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Timing of functions that enqueue work."""

import statistics
import time

import pytest

from cuda.core import LaunchConfig, launch
from cuda.core.utils import benchmark
from support.kernels import compiled

SPIN = 'extern "C" __global__ void spin(long long n) { long long e = clock64() + n; while (clock64() < e); }'


def test_calls_are_counted_and_timed(device, stream):
    calls = []
    kernel = compiled(SPIN).get_kernel("spin")

    def spin():
        calls.append(None)
        launch(stream, LaunchConfig(grid=1, block=1), kernel, 200_000)

    result = benchmark(spin, stream=stream, repeat=20, warmup=3)
    assert len(calls) == 23
    assert len(result.device.all) == len(result.host.all) == 20
    assert 0 < result.device.min <= result.device.median <= result.device.max
    assert result.device.min <= result.device.mean <= result.device.max
    lines = str(result).splitlines()
    assert lines[0].startswith("spin (20 calls)")
    assert [line.split()[0] for line in lines[1:]] == ["device,", "host,"]
    assert len({len(line) for line in lines}) == 1
    assert "20" in repr(result)


def test_outliers_are_counted_and_left_out_of_the_mean(stream):
    calls = []

    def work():
        calls.append(None)
        time.sleep(0.5 if len(calls) == 7 else 0.001)

    times = benchmark(work, stream=stream, repeat=12, warmup=0).host
    assert times.max == times.all[6] == times.outliers[-1] >= 500
    assert sorted(times.all) == sorted(times.kept + times.outliers)
    assert times.mean == pytest.approx(statistics.fmean(times.kept)) and times.mean < 250
    assert (times.max, times.min) == (max(times.all), min(times.all))
    assert times.median == statistics.median(times.all)
    low, _, high = statistics.quantiles(times.all, method="inclusive")
    margin = 1.5 * (high - low)
    assert times.kept == tuple(item for item in sorted(times.all) if low - margin <= item <= high + margin)


def test_one_measurement_has_no_outliers(stream):
    times = benchmark(lambda: None, stream=stream, repeat=1).host
    assert len(times.all) == 1
    assert (times.mean, times.median, times.outliers) == (times.all[0], times.all[0], ())


@pytest.mark.parametrize(
    "arguments, error, match",
    [
        ({"function": 3}, TypeError, "function must be callable, not int"),
        ({"stream": 3}, TypeError, "stream must be a Stream, not int"),
        ({"name": 3}, TypeError, "name must be a str, not int"),
        ({"repeat": 0}, ValueError, "repeat must be at least 1, not 0"),
        ({"repeat": 1.5}, TypeError, "repeat must be an int, not float"),
        ({"warmup": -1}, ValueError, "warmup must be at least 0, not -1"),
        ({"warmup": True}, TypeError, "warmup must be an int, not bool"),
    ],
)
def test_wrong_arguments_are_rejected(stream, arguments, error, match):
    given = {"function": print, "stream": stream, **arguments}
    with pytest.raises(error, match=match):
        benchmark(given.pop("function"), **given)


def test_default_is_the_stream_of_launches_that_name_none(device, stream):
    x = device.zeros(1 << 16, "f4", stream=stream)
    stream.sync()
    assert benchmark(lambda: x.fill(1), repeat=3).device.min > 0
    with stream.use(), pytest.raises(RuntimeError, match="closed"):
        benchmark(stream.close, repeat=1, warmup=1)


def test_name_of_the_table(stream):
    assert benchmark(lambda: None, stream=stream, repeat=1, name="nothing").name == "nothing"
    assert benchmark(int, stream=stream, repeat=1).name == "int"


def test_counts_of_calls_have_a_limit(stream):
    for name, count in (("repeat", 1 << 62), ("warmup", 1_000_001)):
        with pytest.raises(ValueError, match=f"{name} must be at most 1000000, not {count}"):
            benchmark(lambda: None, stream=stream, **{name: count})
