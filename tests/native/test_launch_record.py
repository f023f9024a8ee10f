# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Launches keep their arguments' memory, even if they are nested or the process forks in one."""

import os

import pytest
from cuda.bindings import driver

from cuda.core import LaunchConfig, launch
from support.closing import DeviceResource, make_kernel

pytestmark = pytest.mark.requires(device=True)

CONFIG = LaunchConfig(grid=1, block=1)


class Pointer(driver.CUdeviceptr):
    """A null pointer that calls a function when it is written among the arguments of a launch."""

    def __new__(cls, function):
        return super().__new__(cls, 0)

    def __init__(self, function):
        self.function = function

    def __int__(self):
        self.function()
        return 0


def test_nested_launches_keep_a_buffer_until_both_are_over(device, stream):
    kernel, _ = make_kernel()
    resource = DeviceResource()
    buffer = resource.allocate(64, stream=stream)
    frees = []

    def launch_inner():
        launch(stream, CONFIG, kernel, buffer, Pointer(buffer.close))
        frees.append(len(resource.freed))

    launch(stream, CONFIG, kernel, buffer, Pointer(launch_inner))
    frees.append(len(resource.freed))
    stream.sync()
    assert frees == [0, 1]


def test_failed_launch_releases_its_operands(device, stream):
    kernel, _ = make_kernel()
    resource = DeviceResource()
    buffer = resource.allocate(64, stream=stream)

    def close_and_fail():
        buffer.close()
        raise KeyError("rejected")

    with pytest.raises(KeyError, match="rejected"):
        launch(stream, CONFIG, kernel, buffer, Pointer(close_and_fail))
    assert len(resource.freed) == 1


def test_child_forked_during_a_launch_may_close_its_arguments(device, stream):
    kernel, _ = make_kernel()
    resource = DeviceResource()
    buffer = resource.allocate(64, stream=stream)
    statuses = []

    def fork():
        child = os.fork()
        if child == 0:
            buffer.close()
            os._exit(0 if buffer.is_closed and not resource.freed else 1)
        statuses.append(os.waitpid(child, 0)[1])

    launch(stream, CONFIG, kernel, buffer, Pointer(fork))
    stream.sync()
    assert statuses == [0]
    buffer.close()
    assert len(resource.freed) == 1
