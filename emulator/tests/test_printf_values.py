# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Values that do not fit the format of printf() are reported where it is called, but not other unusual calls."""

import re

import pytest

from support.check_runs import run_cases
from support.compiled import Program
from support.paths import KERNELS

pytestmark = pytest.mark.requires(software=True)

SOURCE = (KERNELS / "printed.cu").read_text()
WORDS = {
    "float_as_int": "argument 1 for %d is a floating-point number",
    "int_as_float": "argument 1 for %f is an integer of 32 bits",
    "int_as_text": "argument 1 for %s is an integer of 32 bits",
    "missing_value": "argument 2 for %d is missing",
    "short_for_long": "argument 1 for %lld is an integer of 32 bits",
    "lost_digits": "argument 1 for %d is an integer of 64 bits, 1099511627776",
    "pointer_as_int": r"argument 1 for %x is a pointer, \d+",
    "object_as_int": "argument 1 for %d is an object of a class",
    "width_of_float": r"argument 1 for %\* is a floating-point number",
    "format_in_a_variable": "argument 2 for %d is a floating-point number",
    "thirty_three": "argument 33 for %d is not printed by a GPU, which prints at most 32",
}
SILENT = ["unusual", "no_values"]


@pytest.fixture(scope="module", params=["memory", "all", "none"])
def reports(request):
    return run_cases(SOURCE, [*WORDS, *SILENT], request.param)


def test_values_that_do_not_fit_are_reported(reports):
    for name, words in WORDS.items():
        line = next(i for i, text in enumerate(SOURCE.splitlines(), 1) if text.startswith(f"KERNEL({name},"))
        text = reports[name, 1]
        assert re.search(rf"kernel {name}: trap: printf\(\): {words}\n  at bugs\.cu:{line} in {name}\n", text), text


def test_right_and_harmless_calls_are_silent(reports):
    assert [name for name in [*WORDS, *SILENT] if reports[name, 0]] == []
    assert [name for name in SILENT if reports[name, 1]] == []


def test_format_without_any_value_is_a_compiler_warning(driver):
    log = Program('__global__ void k() { printf("%d\\n"); printf("%%"); printf(""); }', "-arch=sm_90").log
    assert "default_program(1): warning #224-D: the format string requires additional arguments" in log
    assert log.count("warning #") == 1
