# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The limits of a device's context: read, changed, and rejected."""

import pytest

from cuda.core import CUDAError, Device, NotSupportedError
from support.interpreter import run
from support.threads import in_thread

NAMES = ("stack_size", "printf_fifo_size", "malloc_heap_size")
# In a new process: a driver rejects another size of this buffer once a kernel that prints has been launched.
CHANGE = """
from cuda.core import Device
device = Device(0)
device.set_current()
device.limits.printf_fifo_size = 4 << 20
print(device.limits.printf_fifo_size >= 4 << 20)
"""


@pytest.fixture
def limits(device):
    before = device.limits.stack_size
    yield device.limits
    device.limits.stack_size = before


def test_limits_are_numbers(limits):
    assert all(getattr(limits, name) > 0 for name in NAMES)
    assert repr(limits) == "<DeviceLimits of device 0>"


def test_limits_are_changed(limits):
    limits.stack_size = 2048
    assert limits.stack_size >= 2048
    assert run(CHANGE) == "True\n"


def test_limits_belong_to_their_device(limits):
    with Device(0):
        assert Device(0).limits.stack_size == limits.stack_size


def test_limits_need_a_context():
    def read():
        with pytest.raises(CUDAError, match="set_current"):
            Device(0).limits.stack_size  # noqa: B018

    in_thread(read)


@pytest.mark.parametrize("value", ["1", 1.5, None, True])
def test_limits_of_wrong_type(limits, value):
    with pytest.raises(TypeError, match="stack_size must be an int"):
        limits.stack_size = value


def test_limits_out_of_range(limits):
    with pytest.raises(ValueError, match="stack_size must be from 0"):
        limits.stack_size = -1
    with pytest.raises(AttributeError, match="shmem_size can only be read"):
        limits.shmem_size = 1


@pytest.mark.requires(software=True)
def test_limit_that_the_device_lacks(limits):
    with pytest.raises(NotSupportedError, match="UNSUPPORTED_LIMIT"):
        limits.dev_runtime_sync_depth  # noqa: B018
    with pytest.raises(NotSupportedError, match="UNSUPPORTED_LIMIT"):
        limits.dev_runtime_sync_depth = 3


def test_limits_cannot_be_constructed():
    with pytest.raises(RuntimeError, match=r"use Device\.limits"):
        type(Device(0).limits)()
