# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The table of elementwise functions."""

import numpy as np
import pytest

from cuda.core.driver._array_functions import BINARY_OF, COMPARISONS, LOGICAL, UNARY_OF


def test_each_ufunc_is_in_the_table_once():
    names = [operation.name for operation in (*BINARY_OF.values(), *UNARY_OF.values())]
    assert len(names) == len(set(names)) > 60
    assert all(ufunc.nin == 2 and ufunc.nout == 1 for ufunc in BINARY_OF)
    assert all(ufunc.nin == 1 and ufunc.nout == 1 for ufunc in UNARY_OF)
    assert {operation.ufunc for operation in (*COMPARISONS, *LOGICAL)} < set(BINARY_OF)


def test_result_types_match_numpy():
    add = BINARY_OF[np.add]
    assert add.resolve(np.dtype("f4"), float)[-1] == np.float32
    assert add.resolve(np.dtype("i4"), np.dtype("f4"))[-1] == np.float64
    assert "add" in repr(add)
    with pytest.raises(TypeError):
        add.resolve(np.dtype("f4"), np.dtype("V4"))


def test_expressions_are_chosen_by_the_kind_of_the_type():
    add = BINARY_OF[np.add]
    assert add.expression("b") == "a || b" and add.expression("f") == "a + b"
    with pytest.raises(TypeError, match="bitwise_and is not supported for elements of type float"):
        BINARY_OF[np.bitwise_and].expression("f")
