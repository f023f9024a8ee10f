# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Initialization of the driver, versions, and the switch for debug information."""

import pytest

import cuda.core.driver as drv
from cuda.core.driver.compiler import compile


def test_init_can_be_repeated(device):
    assert drv.init() is None and drv.init(0) is None
    with pytest.raises(drv.LogicError, match="flags must be 0"):
        drv.init(1)


def test_versions_are_reported(device):
    assert drv.get_version() >= (13, 0, 0)
    assert drv.get_driver_version() >= 12000


def test_interface_to_opengl_is_available():
    assert drv.have_gl_ext() is True


def test_debugging_is_switched_on_and_off(context):
    def options():
        with pytest.raises(drv.CompileError) as error:
            compile("__global__ void f() { undeclared; }", options=["-w"])
        return error.value.command_line

    plain = options()
    drv.set_debugging()
    try:
        assert {"-g", "-G"} & set(options()) and not {"-g", "-G"} & set(plain)
    finally:
        drv.set_debugging(False)
    assert options() == plain
