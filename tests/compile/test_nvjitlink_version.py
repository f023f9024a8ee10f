# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The driver links unless nvJitLink is installed in a version that is new enough."""

import pytest

from support.interpreter import run

PROGRAM = """
import sys, types
def fail():
    raise RuntimeError("not found")
sys.modules["cuda.bindings.nvjitlink"] = {module}
from cuda.core import Linker
print(Linker.which_backend())
"""


def which_backend(module):
    """Return the back end of a new process that sets ``cuda.bindings.nvjitlink`` to the value of an expression."""
    return run("import warnings; warnings.simplefilter('ignore')" + PROGRAM.format(module=module)).strip()


@pytest.mark.parametrize(
    "module",
    [
        "types.SimpleNamespace(version=lambda: (12, 2))",
        "types.SimpleNamespace()",
        "types.SimpleNamespace(version=fail)",
        "None",
    ],
)
def test_driver_links_if_nvjitlink_is_missing_or_too_old(module):
    assert which_backend(module) == "driver"


def test_oldest_supported_nvjitlink_links():
    assert which_backend("types.SimpleNamespace(version=lambda: (12, 3))") == "nvJitLink"
