# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every result code has a sentence of advice."""

import re

import pytest

from support.contract import DRIVER_CU_RESULT_EXPLANATIONS as ADVICE
from support.contract import RUNTIME_CUDA_ERROR_EXPLANATIONS as RUNTIME_ADVICE


def codes(enum):
    return {int(value): value.name for value in enum}


def test_every_driver_code_has_advice():
    from cuda.bindings import driver

    assert set(ADVICE) == set(codes(driver.CUresult))


def test_every_runtime_code_has_advice():
    from cuda.bindings import runtime

    assert set(RUNTIME_ADVICE) == set(codes(runtime.cudaError_t))


@pytest.mark.parametrize("table", [ADVICE, RUNTIME_ADVICE], ids=["driver", "runtime"])
def test_advice_is_sentences(table):
    for code, text in table.items():
        assert re.fullmatch(r"[A-Z].{20,200}\.", text) or code == 0, (code, text)
    assert len(set(table.values())) == len(table)
