# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The record that the arrays of one device share."""

import pytest

import cuda.core.driver as drv
from cuda.core.driver._array_base import array_device, check_device

pytestmark = pytest.mark.usefixtures("context")


def test_a_device_has_one_record():
    device = array_device()
    assert device is array_device() and device.ordinal == 0
    major, minor = drv.Device(0).compute_capability()
    assert device.arch == f"sm_{major}{minor}" and device.arch in repr(device)
    assert device.multiprocessors == drv.Device(0).multiprocessor_count
    check_device(device, device)


@pytest.mark.requires(devices=2)
def test_work_on_another_device_is_refused():
    first = array_device()
    context = drv.Device(1).make_context()
    try:
        second = array_device()
        assert second is not first and second.ordinal == 1
        with pytest.raises(drv.LogicError, match="device 0, and another array or the current context is of device 1"):
            check_device(first)
        with pytest.raises(drv.LogicError, match="invalid device context"):
            check_device(second, first)
    finally:
        context.detach()
