# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The limits of tensor maps, without a device."""

from enum import IntEnum

import pytest

from cuda.core import _tensor_map_rules as rules

Type = IntEnum("Type", {"UINT8": 0, "FLOAT32": 7, "FLOAT64": 8})
Interleave = IntEnum("Interleave", {"NONE": 0, "INTERLEAVE_16B": 1, "INTERLEAVE_32B": 2})
Swizzle = IntEnum("Swizzle", {"NONE": 0, "SWIZZLE_32B": 1, "SWIZZLE_64B": 2, "SWIZZLE_128B": 3})
PLAIN = Interleave.NONE


def test_driver_axes_are_in_reverse_order():
    assert rules.tensor_extents((2, 3, 4)) == (4, 3, 2)
    assert rules.pitches_of((2, 3, 4), (12, 4, 1), Type.FLOAT32, PLAIN) == (16, 48)
    assert rules.pitches_of((4,), (1,), Type.FLOAT32, PLAIN) == ()
    assert rules.tile_of((2, 16), 2, Type.UINT8, PLAIN, Swizzle.NONE) == (16, 2)
    assert rules.check_steps(None, 3) == (1, 1, 1)
    assert rules.check_steps((1, 2, 3), 3) == (3, 2, 1)
    assert rules.check_corners((1, 8, 9, 10, 4), (1, 2, 3), (4, 5, 6), PLAIN) == ((3, 2, 1), (6, 5, 4))


def test_limits_of_extents_and_strides():
    assert rules.tensor_extents((1 << 32,)) == (1 << 32,)
    with pytest.raises(ValueError, match=r"from 1 to 2\*\*32"):
        rules.tensor_extents((1 + (1 << 32),))
    most = ((1 << 40) - 16) // 4
    assert rules.pitches_of((2, 4), (most, 1), Type.FLOAT32, PLAIN) == (most * 4,)
    with pytest.raises(ValueError, match=r"below 2\*\*40"):
        rules.pitches_of((2, 4), (most + 4, 1), Type.FLOAT32, PLAIN)


def test_interleaving_of_32_bytes_doubles_the_units():
    wide = Interleave.INTERLEAVE_32B
    with pytest.raises(ValueError, match="multiple of 32 bytes"):
        rules.pitches_of((2, 2, 4), (16, 4, 1), Type.FLOAT32, wide)
    assert rules.pitches_of((2, 1, 4), (16, 4, 1), Type.FLOAT32, wide) == (32, 64)
    rules.check_interleave(wide, Swizzle.SWIZZLE_32B, 64)
    with pytest.raises(ValueError, match="multiple of 32 bytes"):
        rules.check_interleave(wide, Swizzle.SWIZZLE_32B, 48)
    with pytest.raises(ValueError, match="needs swizzle=SWIZZLE_32B"):
        rules.check_interleave(wide, Swizzle.NONE, 64)


def test_channels_in_slices_follow_the_pixel_axes():
    assert rules.check_corners((2, 3, 4, 5), (-1, 0), (0, 1), Interleave.INTERLEAVE_16B) == ((0, -1), (1, 0))
    with pytest.raises(ValueError, match=r"leave nothing of extents \(4, 5\)"):
        rules.check_corners((2, 3, 4, 5), (2, 0), (-2, 0), Interleave.INTERLEAVE_16B)


@pytest.mark.parametrize(("rank", "range_"), [(3, (-32768, 32767)), (4, (-128, 127)), (5, (-16, 15))])
def test_corners_have_as_many_bits_as_the_rank_leaves(rank, range_):
    shape, spatial = (1, *(1 << 20,) * (rank - 2), 8), rank - 2
    low, high = range_
    assert rules.check_corners(shape, (low,) * spatial, (high,) * spatial, PLAIN)[0] == (low,) * spatial
    for wrong in (low - 1, high + 1):
        with pytest.raises(ValueError, match=f"from {low} to {high}"):
            rules.check_corners(shape, (wrong,) * spatial, (0,) * spatial, PLAIN)
        with pytest.raises(ValueError, match=f"from {low} to {high}"):
            rules.check_corners(shape, (0,) * spatial, (wrong,) * spatial, PLAIN)


@pytest.mark.parametrize(("swizzle", "span"), [(Swizzle.SWIZZLE_32B, 32), (Swizzle.SWIZZLE_64B, 64)])
def test_rows_are_no_longer_than_the_pattern(swizzle, span):
    rules.check_span("a row", span // 4, Type.FLOAT32, PLAIN, swizzle)
    with pytest.raises(ValueError, match=f"a row must make at most {span} bytes, not {span + 4}"):
        rules.check_span("a row", span // 4 + 1, Type.FLOAT32, PLAIN, swizzle)
    rules.check_span("a row", 200, Type.FLOAT32, Interleave.INTERLEAVE_16B, swizzle)


def test_entries_are_read_once_and_become_ints():
    class Index:
        def __index__(self):
            return 5

    assert rules.int_tuple("box_dim", iter([1, Index()])) == (1, 5)
    assert rules.int_tuple("box_dim", None) is None
    with pytest.raises(TypeError, match="box_dim must be a tuple of int, not object"):
        rules.int_tuple("box_dim", object())


def test_long_ints_are_shown_by_their_size():
    with pytest.raises(ValueError, match=r"an int of \d+ bits"):
        rules.tile_of((10**5000,), 1, Type.UINT8, PLAIN, Swizzle.NONE)
