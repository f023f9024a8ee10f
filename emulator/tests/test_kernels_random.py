# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""cuRAND's header for kernels, compiled as it is, against the published algorithms, on any device."""

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True, cccl=True, curand_headers=True)

STATES = ["curandStateXORWOW_t", "curandStatePhilox4_32_10_t", "curandStateMRG32k3a_t"]
samples = KernelFile(
    "random_headers.cu",
    *[f"{kernel}<{state}>" for kernel in ("numbers", "skips") for state in STATES],
    *["fours", "begin", "proceed", "sobol", "mersenne"],
    headers=True,
    cccl=True,
    curand=True,
)


@pytest.mark.parametrize("state", STATES)
def test_distributions(stream, state):
    out = np.zeros((14, 4096))
    samples(stream, f"numbers<{state}>", 64, 64, out, np.uint64(2026))
    third, e = 1 / np.sqrt(12), np.exp
    log = e(1.125), np.sqrt((e(0.25) - 1) * e(2.25))
    wanted = [(0.5, third)] * 2 + [(0, 1)] * 6 + [log] * 2
    wanted += [(mean, np.sqrt(mean)) for mean in (3.5, 100, 5000)] + [(0.5, third)]
    for row, (mean, deviation) in zip(out, wanted, strict=True):
        assert abs(row.mean() - mean) < 5 * deviation / 64
        assert row.std() == pytest.approx(deviation, rel=0.2)
    assert out[:2].min() > 0 and out[:2].max() <= 1
    np.testing.assert_array_equal(out[10:13], out[10:13].round())


@pytest.mark.parametrize("state", STATES)
def test_skipping_is_the_same_as_calling(stream, state):
    out = np.zeros((32, 4), np.uint32)
    samples(stream, f"skips<{state}>", 1, 32, out, np.uint64(99))
    np.testing.assert_array_equal(out, np.repeat(out[:, :1], 4, axis=1))
    assert len(set(out[:, 0])) == 32


def philox(block, subsequence, seed):
    """Return 4 numbers of Philox4x32-10 (Salmon et al., 2011)."""
    low = 0xFFFFFFFF
    counter = [block & low, block >> 32, subsequence & low, subsequence >> 32]
    key = [seed & low, seed >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [second >> 32 ^ counter[1] ^ key[0], second & low, first >> 32 ^ counter[3] ^ key[1], first & low]
        key = [key[0] + 0x9E3779B9 & low, key[1] + 0xBB67AE85 & low]
    return counter


def test_philox_as_published(stream):
    bits, uniform, normal = np.zeros((16, 4), np.uint32), np.zeros((16, 4), np.float32), np.zeros((16, 4), np.float32)
    seed = 0x123456789ABCDEF
    samples(stream, "fours", 1, 16, bits, uniform, normal, np.uint64(seed))
    assert bits.tolist() == [philox(i, i + 7, seed) for i in range(16)]
    second = np.array([philox(i + 1, i + 7, seed) for i in range(16)])
    np.testing.assert_allclose(uniform, (second + 1) / 2**32, rtol=1e-6)
    u, v = (np.array([philox(i + 2, i + 7, seed) for i in range(16)]).reshape(16, 2, 2).T + 0.5) / 2**32
    radius = np.sqrt(-2 * np.log(u))
    pairs = np.stack([radius * np.sin(2 * np.pi * v), radius * np.cos(2 * np.pi * v)], 2).transpose(1, 0, 2)
    np.testing.assert_allclose(normal, pairs.reshape(16, 4), rtol=1e-4, atol=1e-5)


def test_mrg32k3a_as_published(stream):
    """The second half of a sequence with the published recurrence and its usual first state."""
    out = np.zeros((14, 64))
    samples(stream, "numbers<curandStateMRG32k3a_t>", 1, 64, out, np.uint64(0))
    first, second, m, n = [12345] * 3, [12345] * 3, 4294967087, 4294944443
    drawn = []
    for _ in range(2):
        first = [*first[1:], (1403580 * first[1] - 810728 * first[0]) % m]
        second = [*second[1:], (527612 * second[2] - 1370589 * second[0]) % n]
        drawn.append((first[2] - second[2]) % m / (m + 1))
    np.testing.assert_allclose(out[:2, 0], drawn, atol=1e-7)


def test_states_in_memory_continue(stream):
    from cuda.core import LaunchConfig, launch

    inside = np.zeros(64, np.uint32)
    states = stream.device.allocate(64 * 64, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=64), samples.code.get_kernel("begin"), states, np.uint64(5))
    samples(stream, "proceed", 1, 64, states, inside, 200)
    half = inside.copy()
    samples(stream, "proceed", 1, 64, states, inside, 200)
    assert abs(4 * inside.sum() / (64 * 400) - np.pi) < 0.06
    assert (inside - half != half).any()


def test_sobol_numbers_of_the_first_dimension_are_reversed_bits(stream):
    vectors = (1 << np.arange(31, -1, -1, dtype=np.uint64)).astype(np.uint32)
    out, uniform = np.zeros(64, np.uint32), np.zeros(64, np.float32)
    samples(stream, "sobol", 1, 64, out, uniform, vectors)
    reversed_bits = [int(f"{i ^ i >> 1:032b}"[::-1], 2) for i in range(65)]
    assert out.tolist() == reversed_bits[:64]
    np.testing.assert_allclose(uniform, np.array(reversed_bits[1:]) / 2**32, atol=1e-6)


def test_mtgp32_as_published(stream, rng):
    """Numbers of MTGP (Saito and Matsumoto, 2010); any table of parameters makes a sequence."""
    position, first, second, mask, size = 88, 19, 4, np.uint32(0xFFF80000), 351
    columns = [("pos", "u4", 200), *((name, "u4", (200, 16)) for name in ("recursion", "temper", "single"))]
    parameters = np.zeros(1, [*columns, ("sh1", "u4", 200), ("sh2", "u4", 200), ("mask", "u4")])
    parameters["pos"][0, 7], parameters["sh1"][0, 7], parameters["sh2"][0, 7] = position, first, second
    parameters["mask"] = mask
    recursion, temper = rng.integers(0, 2**32, (2, 16), np.uint32)
    parameters["recursion"][0, 7], parameters["temper"][0, 7] = recursion, temper
    state = np.zeros(1, [("s", "u4", 1024), ("offset", "i4"), ("index", "i4"), ("pointer", "u8")])
    state["s"][0, :size], state["index"] = rng.integers(0, 2**32, size, np.uint32), 7
    out, uniform = np.zeros((8, 256), np.uint32), np.zeros(256, np.float32)
    x = np.append(state["s"][0, :size], np.zeros(9 * 256, np.uint32))
    samples(stream, "mersenne", 1, 256, state, parameters, out, uniform)
    drawn = np.zeros(9 * 256, np.uint32)
    for i in range(len(drawn)):
        a = (x[i] & mask) ^ x[i + 1]
        a ^= a << np.uint32(first)
        y = a ^ (x[i + position] >> np.uint32(second))
        x[i + size] = y ^ recursion[y & 15]
        t = x[i + position - 1]
        t ^= t >> np.uint32(16)
        t ^= t >> np.uint32(8)
        drawn[i] = x[i + size] ^ temper[t & 15]
    np.testing.assert_array_equal(out.ravel(), drawn[:2048])
    np.testing.assert_allclose(uniform, drawn[2048:] / 2**32, atol=1e-6)
    assert state["offset"][0] == 9 * 256 % 1024
