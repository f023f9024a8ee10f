# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Names of kernels and variables in compiled code, and the advice of messages about missing ones."""

import pytest

from cuda.core._code._loading import similar_names, source_names, variable_names


@pytest.mark.parametrize(
    "names, message",
    [
        (None, ""),
        ([], ", which has no kernels at all"),
        (["saxpy", "scale"], "; did you mean 'saxpy'?"),
        (["b", "a"], "; it has a, b"),
        (["_Z5saxpyf"], "; did you mean '_Z5saxpyf'?"),
        ([f"f{i}" for i in range(9)], "; it has 9 kernels, such as f0, f1, f2, f3, f4"),
    ],
    ids=str,
)
def test_names_most_like_the_missing_one_are_listed(names, message):
    assert similar_names("saxpi" if names and "_Z5saxpyf" not in names else "saxpy", names) == message


def test_names_are_shown_as_they_were_given():
    assert source_names(["_Z1fIiEvv", "g"], {"f<int>": b"_Z1fIiEvv"}) == ["f<int>", "g"]
    assert source_names(None, {"f": "g"}) is None
    assert source_names(["g"], {}) == ["g"]


def test_variables_of_ptx_are_found():
    code = b".visible .global .align 4 .u32 counter = 3;\n.const .align 4 .b8 table[16];\n.global .u32 $hidden;\n"
    assert variable_names(code, "ptx") == ["counter", "table"]


@pytest.mark.parametrize("code, kind", [("text", "ptx"), (b"\x7fELF", "fatbin"), (b"no file", "cubin")], ids=str)
def test_variables_of_other_code_are_not_known(code, kind):
    assert variable_names(code, kind) is None
