# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Video instructions, conversions of 8 bits, atomic functions with scopes and split barriers, on any device."""

import numpy as np
import pytest

from support.kernel_files import KernelFile

pytestmark = pytest.mark.requires(nvrtc=True, compute=(9, 0))

parts = KernelFile("small_parts.cu")
scoped = KernelFile("scoped.cu", headers=True)


def lanes(x, count, signed):
    kind = {2: "u2", 4: "u1"}[count]
    return x.view(kind.replace("u", "i") if signed else kind).reshape(-1, count).astype(np.int64)


def packed(values, count):
    return values.astype({2: "u2", 4: "u1"}[count]).reshape(-1).view(np.int32)


def test_video_instructions(stream, rng):
    a, b, c = rng.integers(-(2**31), 2**31, (3, 200), np.int32)
    out = np.empty((10, 200), np.int32)
    parts(stream, "video_parts", 2, 128, a, b, c, out, 200)
    wide, unsigned = [x.astype(np.int64) for x in (a, b, c)], [x.view(np.uint32).astype(np.int64) for x in (a, b, c)]
    np.testing.assert_array_equal(out[0], np.clip(wide[0] + wide[1], -(2**31), 2**31 - 1))
    np.testing.assert_array_equal(out[1].view(np.uint32), np.clip(unsigned[0] - unsigned[1], 0, None))
    difference = np.abs(lanes(a, 4, False)[:, 1] - lanes(b, 4, False)[:, 3])
    np.testing.assert_array_equal(out[2].view(np.uint32), (difference + unsigned[2]) % 2**32)
    np.testing.assert_array_equal(out[3], np.minimum(lanes(a, 2, True)[:, 1], lanes(b, 2, False)[:, 0]))
    np.testing.assert_array_equal(out[4], np.maximum(np.maximum(a, b), c))
    np.testing.assert_array_equal(out[5], packed(lanes(a, 4, False) + lanes(b, 4, False), 4))
    np.testing.assert_array_equal(out[6], packed(np.clip(lanes(a, 4, True) + lanes(b, 4, True), -128, 127), 4))
    sums = np.abs(lanes(a, 4, False) - lanes(b, 4, False)).sum(axis=1) + unsigned[2]
    np.testing.assert_array_equal(out[7].view(np.uint32), sums % 2**32)
    np.testing.assert_array_equal(out[8], packed(lanes(a, 2, True) - lanes(b, 2, True), 2))
    np.testing.assert_array_equal(out[9], packed(np.maximum(lanes(a, 2, False), lanes(b, 2, False)), 2))


def table(digits, largest):
    """The values of the codes 0 to ``largest``, with ``digits`` bits of significand besides the implicit one."""
    codes = np.arange(largest + 1)
    exponent, fraction = codes >> digits, codes & ((1 << digits) - 1)
    bias = 2 ** (6 - digits) - 1
    normal = (1 + fraction / 2**digits) * 2.0 ** (exponent - bias)
    return np.where(exponent > 0, normal, fraction * 2.0 ** (1 - bias - digits))


FORMATS = {"e4m3": table(3, 0x7E), "e5m2": table(2, 0x7B)}


def nearest(x, values):
    """The codes of the nearest values; halfway, the even code."""
    x = np.clip(x, -1e6, 1e6)
    distance = np.abs(np.abs(x.astype(np.float64))[:, None] - values)
    best = distance.argmin(axis=1)
    tie = (best < len(values) - 1) & (
        distance[np.arange(len(x)), np.minimum(best + 1, len(values) - 1)] == distance.min(axis=1)
    )
    return (best + (tie & (best % 2 == 1)) | np.signbit(x) * 0x80).astype(np.uint8)


def test_floats_become_bytes(stream, rng):
    exact = np.concatenate([values for values in FORMATS.values()])
    x = np.concatenate(
        [rng.normal(size=400) * 10.0 ** rng.integers(-6, 6, 400), exact, -exact, (exact[1:] + exact[:-1]) / 2]
    )
    x = np.append(x, [np.inf, -np.inf, 0.0, -0.0]).astype(np.float32)
    x = x[: len(x) // 2 * 2]
    e4m3, e5m2, relu = np.empty((3, len(x) // 2), np.uint16)
    parts(stream, "to_bytes", 8, 128, x, e4m3, e5m2, relu, len(x) // 2)
    np.testing.assert_array_equal(e4m3.view(np.uint8), nearest(x, FORMATS["e4m3"]))
    np.testing.assert_array_equal(e5m2.view(np.uint8), nearest(x, FORMATS["e5m2"]))
    np.testing.assert_array_equal(relu.view(np.uint8), nearest(np.where(x > 0, x, np.float32(0)), FORMATS["e4m3"]))


def test_bytes_become_halves(stream):
    codes = np.arange(256, dtype=np.uint8)
    e4m3, e5m2 = np.empty((2, 128), np.uint32)
    again = np.empty(128, np.uint16)
    parts(stream, "from_bytes", 1, 128, codes.view(np.uint16), e4m3, e5m2, again, 128)
    for out, values in ((e4m3, FORMATS["e4m3"]), (e5m2, FORMATS["e5m2"])):
        halves = out.view(np.float16)
        np.testing.assert_array_equal(halves[: len(values)], values)
        np.testing.assert_array_equal(halves[128 : 128 + len(values)], -values)
    assert np.isnan(e4m3.view(np.float16)[[0x7F, 0xFF]]).all()
    np.testing.assert_array_equal(again.view(np.uint8)[:0x7C], codes[:0x7C])


@pytest.mark.requires(nvrtc_version=(12, 8))
def test_atomic_functions_with_orders_and_scopes(stream):
    x, total = np.zeros(10, np.int32), np.zeros(1, np.float32)
    scoped(stream, "orders", 1, 64, x, total)
    assert x.tolist() == [64, 63, -63, -1, 0, -128, 64, 7, 5, 67]
    assert total[0] == 32


def test_split_barriers_as_functions(stream):
    x, out = np.arange(64, dtype=np.int32) * 7, np.empty((3, 64), np.int32)
    scoped(stream, "split", 1, 64, x, out)
    np.testing.assert_array_equal(out, x[::-1] + np.arange(3)[:, None])


def test_blocks_of_a_cluster_read_each_other(stream):
    out = np.zeros(4, np.int32)
    scoped(stream, "neighbors", 2, 1, out)
    assert out.tolist() == [1011, 1000, 1011, 1000]
