# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Initialising the driver, versions, and the switch for debug information."""

import pytest

import cuda.core.driver as drv
from cuda.core.driver._library import is_debugging


def test_initialising_can_be_repeated(device):
    assert drv.init() is None and drv.init(0) is None
    with pytest.raises(drv.LogicError, match="flags must be 0"):
        drv.init(1)


def test_versions(device):
    assert drv.get_version() >= (13, 0, 0)
    assert drv.get_driver_version() >= 12000


def test_there_is_an_interface_to_opengl():
    assert drv.have_gl_ext() is True


def test_debugging_is_switched():
    drv.set_debugging()
    assert is_debugging()
    drv.set_debugging(False)
    assert not is_debugging()
