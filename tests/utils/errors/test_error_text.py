# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Every error has a sentence of advice, found by its name."""

import re

import pytest

from cuda.core._utils.advice import ADVICE, KERNEL_FAILURES, RUNTIME_ADVICE


def test_every_driver_error_has_advice():
    from cuda.bindings import driver

    assert set(ADVICE) == {error.name for error in driver.CUresult}
    assert KERNEL_FAILURES < set(ADVICE)


def test_every_runtime_error_has_advice_of_its_own_or_of_the_driver():
    from cuda.bindings import driver, runtime

    shared = {int(error) for error in driver.CUresult}
    assert set(RUNTIME_ADVICE) == {error.name for error in runtime.cudaError_t if int(error) not in shared}


@pytest.mark.parametrize("table", [ADVICE, RUNTIME_ADVICE], ids=["driver", "runtime"])
def test_advice_is_sentences(table):
    for name, text in table.items():
        assert re.fullmatch(r"[A-Z].{20,200}\.", text) or name == "CUDA_SUCCESS", (name, text)
    assert len(set(table.values())) == len(table)
