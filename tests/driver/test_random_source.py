# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The generators give the numbers that their papers and authors publish."""

import numpy as np
import pytest

from cuda.core.driver import _random_source, gpuarray
from cuda.core.driver.compiler import SourceModule

pytestmark = pytest.mark.usefixtures("context")


def run(source: str, body: str, count: int) -> list[int]:
    module = SourceModule(
        f'{source}\nextern "C" __global__ void probe(unsigned int* out) {{ {body} }}', no_extern_c=True
    )
    out = gpuarray.zeros(count, "u4")
    module.get_function("probe")(out, block=(1, 1, 1))
    return out.get().tolist()


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_philox_returns_the_known_answers(counter, key, expected):
    body = f"const u32 c[4] = {{{', '.join(map(hex, counter))}}}; philox(c, {hex(key[0])}, {hex(key[1])}, out);"
    assert run(_random_source.pseudo_source("philox"), body, 4) == expected


def test_xorwow_is_the_recursion_of_the_paper():
    x, d, expected = [123456789, 362436069, 521288629, 88675123, 5783321], 6615241, []
    for _ in range(5):
        t = x[0] ^ (x[0] >> 2)
        x = [*x[1:], ((x[4] ^ (x[4] << 4)) ^ (t ^ (t << 1))) & 0xFFFFFFFF]
        d = (d + 362437) & 0xFFFFFFFF
        expected.append((d + x[4]) & 0xFFFFFFFF)
    body = "state_type s = {{123456789, 362436069, 521288629, 88675123, 5783321}, 6615241};"
    body += "for (int k = 0; k < 5; ++k) out[k] = next(s);"
    assert run(_random_source.pseudo_source("xorwow"), body, 5) == expected


def test_mrg32k3a_is_the_recursion_of_the_paper():
    m1, m2 = 4294967087, 4294944443
    a, b, expected = [12345] * 3, [12345] * 3, []
    for _ in range(6):
        a = [a[1], a[2], (1403580 * a[1] - 810728 * a[0]) % m1]
        b = [b[1], b[2], (527612 * b[2] - 1370589 * b[0]) % m2]
        difference = (a[2] - b[2]) % m1 or m1
        expected.append(((difference - 1) << 32) // m1)
    body = (
        "state_type s = {{12345, 12345, 12345}, {12345, 12345, 12345}}; for (int k = 0; k < 6; ++k) out[k] = next(s);"
    )
    assert run(_random_source.pseudo_source("mrg32k3a"), body, 6) == expected


def test_first_sobol_dimension_is_van_der_corput():
    body = """
    u32 directions[32];
    for (int k = 0; k < 32; ++k) directions[k] = 0x80000000u >> k;
    state_type s = {0, 0, 0};
    for (int k = 0; k < 8; ++k) out[k] = next(s, directions);
    skip_ahead(s, 100, directions);
    out[8] = next(s, directions);
    """
    found = run(_random_source.quasi_source(32), body, 9)
    assert [number / 2**32 for number in found[:8]] == [0, 0.5, 0.75, 0.25, 0.375, 0.875, 0.625, 0.125]
    gray = 108 ^ (108 >> 1)
    assert found[8] == int(f"{gray:032b}"[::-1], 2)


def test_uniform_numbers_are_above_zero_up_to_one():
    body = "float* f = (float*)out; f[0] = to_float(0u); f[1] = to_float(0xffffffffu); f[2] = to_float(0x7fffffffu);"
    ends = np.array(run(_random_source.pseudo_source("philox"), body, 3), "u4").view("f4")
    assert ends.tolist() == [2.0**-24, 1.0, 0.5]


def test_unknown_generators_are_rejected():
    with pytest.raises(KeyError):
        _random_source.pseudo_source("unknown")
    assert "random_word" in _random_source.counter_source()


# Powers of the step functions of generators, which skip many numbers in one step.


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
