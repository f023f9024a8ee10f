# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Hashes, random numbers, strings and bits, compared with Python and NumPy, on any device."""

import hashlib
import zlib
from collections import Counter

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True)

hashes = KernelFile("hashes.cu")
randoms = KernelFile("randoms.cu")
texts = KernelFile("texts.cu")
bits = KernelFile("bits.cu")


@pytest.fixture
def messages(rng):
    return rng.integers(0, 256, (50, 41), np.uint8)


def test_sha256(stream, messages):
    digests = np.empty((50, 8), np.uint32)
    hashes(stream, "sha256", 2, 32, messages, 41, digests, 50)
    assert [row.astype(">u4").tobytes() for row in digests] == [hashlib.sha256(row).digest() for row in messages]


def test_crc32(stream, messages):
    sums = np.empty(50, np.uint32)
    hashes(stream, "crc32", 2, 32, messages, 41, sums, 50)
    assert sums.tolist() == [zlib.crc32(row) for row in messages]


def test_fnv1a(stream, messages):
    found = np.empty(50, np.uint64)
    hashes(stream, "fnv1a", 2, 32, messages, 41, found, 50)
    expected = []
    for row in messages.tolist():
        value = 0xCBF29CE484222325
        for byte in row:
            value = (value ^ byte) * 0x100000001B3 % 2**64
        expected.append(value)
    assert found.tolist() == expected


def test_hash_table_counts_keys(stream, rng):
    x = rng.integers(1, 300, 2000, np.uint32)
    keys, counts = np.zeros((2, 512), np.uint32)
    hashes(stream, "count_keys", 8, 256, x, 2000, keys, counts, 512)
    filled = keys != 0
    assert dict(zip(keys[filled].tolist(), counts[filled].tolist(), strict=True)) == Counter(x.tolist())
    assert filled.sum() == len(set(x))


def test_threads_generate_parts_of_a_congruential_sequence(stream):
    out = np.empty(24 * 10, np.uint64)
    randoms(stream, "congruential", 3, 8, np.uint64(42), out, 10)
    state, expected = 42, []
    for _ in range(240):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        expected.append(state)
    assert out.tolist() == expected


def test_xorshift_continues_from_the_stored_state(stream):
    states = np.array([[123456789, 362436069, 521288629, 88675123], [1, 2, 3, 4]], np.uint32)
    parts = np.empty((2, 2, 5), np.uint32)
    x = [row.tolist() for row in states]
    for part in parts:
        randoms(stream, "xorshift", 1, 2, states, part, 5)
    for thread, (a, b, c, d) in enumerate(x):
        for k in range(10):
            t = (a ^ a << 11) & 0xFFFFFFFF
            a, b, c, d = b, c, d, d ^ d >> 19 ^ t ^ t >> 8
            assert parts[k // 5, thread, k % 5] == d
    # These are the first numbers for Marsaglia's own seeds.
    assert parts[0, 0].tolist() == [3701687786, 458299110, 2500872618, 3633119408, 516391518]


def test_philox_returns_published_values(stream):
    counters = np.array([[0] * 4, [0xFFFFFFFF] * 4, [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344]], np.uint32)
    keys = np.array([[0] * 2, [0xFFFFFFFF] * 2, [0xA4093822, 0x299F31D0]], np.uint32)
    out = np.empty_like(counters)
    randoms(stream, "philox_words", 1, 32, counters, keys, out, 3)
    expected = [
        [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8],
        [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD],
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ]
    np.testing.assert_array_equal(out, expected)


def test_pi_is_estimated_by_random_points(stream):
    inside = np.zeros(1, np.uint32)
    randoms(stream, "count_inside", 4, 64, 7, 400, inside)
    assert abs(4 * inside[0] / (256 * 400) - np.pi) < 4 * 1.65 / np.sqrt(256 * 400)  # four standard deviations


def test_normal_deviates_have_expected_moments(stream):
    out = np.empty((4000, 2), np.float32)
    randoms(stream, "normal", 32, 128, 3, out, 4000)
    assert np.isfinite(out).all()
    assert abs(out.mean()) < 0.05 and abs(out.std() - 1) < 0.04
    assert abs((out[:, 0] * out[:, 1]).mean()) < 0.07
    assert abs((np.abs(out) < 1).mean() - 0.6827) < 0.03


def test_string_search(stream, rng):
    text, word = bytes(rng.choice(list(b"ab"), 2000).tolist()), b"abba"
    count, first = np.zeros(1, np.int32), np.full(1, 9999, np.int32)
    arrays = [np.frombuffer(part, np.uint8) for part in (text, word)]
    texts(stream, "search", 16, 128, arrays[0], 2000, arrays[1], 4, count, first)
    assert count[0] == sum(text.startswith(word, start) for start in range(2000))
    assert first[0] == text.find(word)


@pytest.mark.parametrize("words", [(b"kitten", b"sitting"), (b"", b"abc"), (b"intention" * 5, b"execution" * 4)])
def test_edit_distance_of_two_words(stream, words):
    row = list(range(len(words[1]) + 1))
    for i, letter in enumerate(words[0], 1):
        row, before = [i], row
        for j, other in enumerate(words[1], 1):
            row.append(min(row[-1] + 1, before[j] + 1, before[j - 1] + (letter != other)))
    result = np.zeros(1, np.int32)
    a, b = (np.frombuffer(word + b"\0", np.uint8) for word in words)
    sizes = [len(word) for word in words]
    shared = 3 * (sizes[0] + 1) * 4
    texts(stream, "edit_distance", 1, sizes[0] + 1, a, sizes[0], b, sizes[1], result, shared=shared)
    assert result[0] == row[-1]


def test_capital_letters(stream):
    text = np.frombuffer(b"The quick brown fox [jumps] over {13} lazy dogs.", np.uint8).copy()
    expected = text.tobytes().upper()
    texts(stream, "capitals", 1, 32, text, text.size // 4)
    assert text.tobytes() == expected


def test_printf_formats_each_type(stream, capfd):
    texts(stream, "tell", 2, 4, -42, 3.14159)
    stream.device.sync()
    lines = capfd.readouterr().out.splitlines()
    rest = "  -42|3.142   |0xff|text|c|9223372036854775808%"
    assert sorted(lines) == [f"thread 3 of block {block}: {rest}" for block in range(2)]


def test_counting_and_reversing_bits(stream, rng):
    x = rng.integers(0, 2**32, 300, np.uint32)
    x[:4] = 0, 1, 0x80000000, 0xFFFFFFFF
    out = np.empty((300, 4), np.int32)
    bits(stream, "facts", 3, 128, x, out, 300)
    for value, row in zip(x.tolist(), out.tolist(), strict=True):
        text = f"{value:032b}"
        lowest = (value & -value).bit_length()
        assert row == [text.count("1"), 32 - value.bit_length(), lowest, np.uint32(int(text[::-1], 2)).view(np.int32)]


def test_morton_codes(stream, rng):
    x, y = rng.integers(0, 2**16, (2, 200), np.uint16)
    code = np.empty(200, np.uint32)
    bits(stream, "morton", 2, 128, x, y, code, 200)
    interleaved = ["".join(sum(zip(f"{b:016b}", f"{a:016b}", strict=True), ())) for a, b in zip(x, y, strict=True)]
    assert code.tolist() == [int(text, 2) for text in interleaved]


def test_gray_codes_and_their_inverse(stream, rng):
    x = rng.integers(0, 2**32, 200, np.uint32)
    x[:100] = x[0] + np.arange(100, dtype=np.uint32)
    code, decoded = np.empty((2, 200), np.uint32)
    bits(stream, "gray", 2, 128, x, code, decoded, 200)
    np.testing.assert_array_equal(decoded, x)
    assert {(a ^ b).bit_count() for a, b in zip(code[:99].tolist(), code[1:100].tolist(), strict=True)} == {1}


@pytest.mark.parametrize(("size", "expected"), [(4, 2), (6, 4), (8, 92)])
def test_queens_by_recursion(stream, size, expected):
    ways = np.zeros(1, np.int32)
    bits(stream, "queens", 1, (size, size), size, ways)
    assert ways[0] == expected


def test_transpose_of_bits_by_votes(stream, rng):
    x = rng.integers(0, 2**32, (3, 32), np.uint32)
    out = np.empty_like(x)
    bits(stream, "transpose_bits", 3, 32, x, out)
    before, after = ((rows[:, :, None] >> np.arange(32)) & 1 for rows in (x, out))
    np.testing.assert_array_equal(after, before.transpose(0, 2, 1))


def test_integer_arithmetic(stream, rng):
    a, b = rng.integers(-(2**31), 2**31, (2, 300), np.int32)
    product, clamped, swapped = np.empty(300, np.int64), np.empty(300, np.int32), np.empty(300, np.uint32)
    bits(stream, "arithmetic", 3, 128, a, b, product, clamped, swapped, 300)
    wide = a.astype(np.int64)
    np.testing.assert_array_equal(product, wide * b)
    np.testing.assert_array_equal(clamped, np.clip(wide + b, -(2**31), 2**31 - 1))
    np.testing.assert_array_equal(swapped, a.view(np.uint32).byteswap())
