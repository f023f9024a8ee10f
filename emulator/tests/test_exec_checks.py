# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Access checks of the executor: reports of invalid accesses, and allowed accesses."""

import functools

import pytest

from support.native import line_of, run_case

pytestmark = pytest.mark.requires(compiler=True, source=True)

run = functools.partial(run_case, "checked")


def expect(result, line, words, size=4, store=True):
    assert (result["code"], int(result["line"]), result["next"]) == ("700", line, "496")
    assert (int(result["size"]), int(result["store"])) == (size, store)
    assert words in result["text"]


@pytest.mark.parametrize(
    "where, words",
    [
        (100, "just past the end of the 400 bytes of device memory of device 0 from the test"),
        (-2, "8 bytes before the 400 bytes of device memory"),
        (
            1000000,
            "3999600 bytes past the end of the 400 bytes of device memory of device 0 from the test, the nearest",
        ),
        (
            1000000000,
            "past the end of the 400 bytes of device memory of device 0 from the test, the nearest allocation",
        ),
        ("freed", "at offset 8 in the 400 bytes of device memory of device 0 from the test, which was freed"),
        ("null", "at 0x0: a null pointer"),
        ("host", "not device memory"),
        ("other_device", "which this device cannot access"),
    ],
)
def test_write_outside_global_memory_is_reported(where, words):
    expect(run("write_at", where), line_of("write_at"), words)


@pytest.mark.parametrize(
    "case, index, words, size",
    [
        ("write_dynamic_shared", 100, "just past the end of the 100 bytes of dynamic shared memory", 1),
        ("write_static_shared", 8, "just past the end of the 32 bytes of __shared__ small_shared", 4),
        ("use_after_free_in_kernel", 0, "at offset 12 in the 64 bytes of a malloc() in a kernel, which was freed", 4),
        ("other_threads_local", 0, "a local variable of another thread (number 0 of the block)", 4),
    ],
)
def test_write_outside_other_memory_is_reported(case, index, words, size):
    expect(run(case, index), line_of(case), words, size)


def test_read_past_a_constant_is_reported():
    words = "just past the end of the 16 bytes of __constant__ small_constant"
    expect(run("read_constant", 4), line_of("read_constant"), words, store=False)


def test_misaligned_access_is_reported():
    result = run("misaligned")
    assert (result["code"], int(result["line"])) == ("716", line_of("misaligned"))


@pytest.mark.parametrize(
    "words",
    [
        ("write_at", 99),
        ("write_at", "peer"),
        ("write_at", "registered"),
        ("write_dynamic_shared", 99),
        ("write_static_shared", 7),
        ("read_constant", 3),
    ],
)
def test_access_inside_is_allowed(words):
    result = run(*words)
    assert (result["code"], result["text"], result["next"]) == ("0", "", "496")
