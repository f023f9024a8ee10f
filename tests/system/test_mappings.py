# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The caller's choices, and NVML bit masks."""

import numpy as np
import pytest

from cuda.core.system import _device, _mappings


@pytest.mark.parametrize(
    "words, bits",
    [
        ([], []),
        ([0], []),
        ([0b101], [0, 2]),
        ([1 << 63, 1], [63, 64]),
        (np.array([0, 1 << 63], np.uint64), [127]),
        ([-1], list(range(64))),
    ],
)
def test_bits_of_words_are_numbered(words, bits):
    assert _device._unpack_bitmask(words) == bits


def test_words_must_be_a_sequence():
    with pytest.raises(TypeError, match="words must be a sequence of ints, not 5"):
        _device._unpack_bitmask(5)


def test_invalid_choices_are_rejected_with_the_valid_ones():
    with pytest.raises(ValueError, match="'x' is not a valid thing; it must be 'node' or 'socket'"):
        _mappings.choose("x", _mappings._AFFINITY_SCOPE_MAPPING, "thing")
    for value in (0, None, [], {}):
        with pytest.raises(ValueError, match="not a valid thing"):
            _mappings.choose(value, _mappings._AFFINITY_SCOPE_MAPPING, "thing")


def test_unknown_bits_are_an_error():
    table = {1: "a", 4: "c"}
    assert _mappings.named_flags(7, table) == ["a", "c"]
    with pytest.raises(ValueError, match="NVML returned things that this version does not know: 0x2, 0x8"):
        _mappings.named_flags(15, table, "things")


def test_unprintable_words_are_rejected_by_name():
    with pytest.raises(TypeError, match="words must be a sequence of ints, not an int of 16610 bits"):
        _device._unpack_bitmask(10**5000)
