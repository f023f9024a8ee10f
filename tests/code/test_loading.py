# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled code before the driver takes it: what is wrong with it, and what it holds."""

import struct

import pytest

from cuda.core._code._loading import check_image, damage, explain
from cuda.core._utils.cuda_utils import CUDAError


@pytest.mark.parametrize("data", [b"", b"\x50\xed\x55\xba\x01\x00", b"\x7fELF\x02"], ids=len)
def test_damaged_images_are_refused_with_the_reason(data):
    assert damage(data)
    with pytest.raises(CUDAError, match=damage(data)[:20]) as error:
        check_image(data)
    assert isinstance(error.value, ValueError)


def test_fat_binary_that_is_cut_off_says_how_much_it_needs():
    header = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 100)
    assert damage(header) == "is cut off: it has 16 bytes and needs 116"
    assert damage(header + bytes(100)) is None


def test_other_images_are_for_the_driver_to_judge():
    assert damage(b".version 8.0") is None
    check_image(b".version 8.0")


def test_explanation_is_added_to_the_message():
    error = ValueError("wrong")
    explain(error, "because")
    assert str(error) == "wrong\nbecause"
