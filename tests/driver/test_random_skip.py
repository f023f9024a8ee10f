# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Powers of the step functions of generators, which skip many numbers in one step."""

from cuda.core.driver import _random_source


def test_powers_of_xorwow_equal_repeated_steps():
    state = 0x0123456789ABCDEF0011223344556677DEADBEEF
    expected = state
    for _ in range(8):
        expected = _random_source.xorwow_step(expected)
    assert _random_source.applied(_random_source.xorwow_columns(3), state) == expected
    assert _random_source.xorwow_powers(0, 4).shape == (4 * 160 * 5,)


def test_xorwow_step_matches_the_paper():
    # The first number that follows from the initial state in the paper.
    words = [123456789, 362436069, 521288629, 88675123, 5783321]
    after = _random_source.xorwow_step(sum(word << 32 * k for k, word in enumerate(words)))
    t = words[0] ^ (words[0] >> 2)
    v = (words[4] ^ (words[4] << 4)) ^ (t ^ (t << 1))
    assert after >> 128 == v & 0xFFFFFFFF and after & 0xFFFFFFFF == words[1]


def test_powers_of_mrg32k3a_equal_repeated_steps():
    a, b = [12345] * 3, [12345] * 3
    for _ in range(16):
        a = [a[1], a[2], (1403580 * a[1] - 810728 * a[0]) % _random_source.M1]
        b = [b[1], b[2], (527612 * b[2] - 1370589 * b[0]) % _random_source.M2]
    words = _random_source.mrg32k3a_powers(4, 1).tolist()
    rows = [words[k : k + 3] for k in range(0, 18, 3)]
    assert [sum(entry * 12345 for entry in row) % _random_source.M1 for row in rows[:3]] == a
    assert [sum(entry * 12345 for entry in row) % _random_source.M2 for row in rows[3:]] == b
