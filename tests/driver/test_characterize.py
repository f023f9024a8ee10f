# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Properties of the platform, the device and its compiler."""

import pytest

import cuda.core.driver as drv
from cuda.core.driver import characterize

pytestmark = pytest.mark.usefixtures("context")


def test_platform_has_64_bits_a_stack_and_doubles():
    assert characterize.platform_bits() == 64
    assert characterize.has_stack() is True and characterize.has_double_support() is True


def test_sizes_match_the_device():
    assert characterize.sizeof("long") == 8 and characterize.sizeof("float4") == 16
    assert characterize.sizeof("record", "struct record { char a; double b; short c; };") == 24
    with pytest.raises(drv.CompileError, match="unknown_type"):
        characterize.sizeof("unknown_type")
