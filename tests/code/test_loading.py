# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled code before the driver takes it: what is wrong with it, and what it holds."""

import struct

import pytest

from cuda.core._code._loading import as_asked_for, check_image, damage, explain, nearest, variable_names
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


@pytest.mark.parametrize(
    "names, message",
    [
        (None, ""),
        ([], ", which has no kernels at all"),
        (["saxpy", "scale"], "; it has saxpy (of 2)"),
        (["b", "a"], "; it has a, b"),
        (["_Z5saxpyf"], "; it has _Z5saxpyf"),
        ([f"f{i}" for i in range(9)], "; it has f0, f1, f2, f3, f4 (of 9)"),
    ],
    ids=str,
)
def test_names_most_like_the_missing_one_are_listed(names, message):
    assert nearest("saxpi" if names and "_Z5saxpyf" not in names else "saxpy", names) == message


def test_names_are_shown_as_they_were_asked_for():
    assert as_asked_for(["_Z1fIiEvv", "g"], {"f<int>": b"_Z1fIiEvv"}) == ["f<int>", "g"]
    assert as_asked_for(None, {"f": "g"}) is None
    assert as_asked_for(["g"], {}) == ["g"]


def test_variables_of_ptx_are_found():
    code = b".visible .global .align 4 .u32 counter = 3;\n.const .align 4 .b8 table[16];\n.global .u32 $hidden;\n"
    assert variable_names(code, "ptx") == ["counter", "table"]


@pytest.mark.parametrize("code, kind", [("text", "ptx"), (b"\x7fELF", "fatbin"), (b"no file", "cubin")], ids=str)
def test_variables_of_other_code_are_not_known(code, kind):
    assert variable_names(code, kind) is None
