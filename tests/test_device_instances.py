# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The Device objects of each thread, one per ordinal, and the arguments of ``Device()``."""

import gc
import re
import weakref

import numpy as np
import pytest

from cuda.core import Device
from support.contexts import no_context
from support.threads import in_thread


def test_one_object_per_thread_and_ordinal(device):
    assert Device(0) is device
    assert Device(device_id=0) is device
    assert Device.__new__(Device, 0) is device
    assert Device.__new__(Device, device_id=0) is device
    assert type.__call__(Device, 0) is device
    assert Device(np.int64(0)) is device


def test_device_of_a_device_is_itself(device):
    assert Device(device) is device
    other = in_thread(lambda: Device(0))
    assert Device(other) is other


def test_threads_have_their_own_equal_objects(device):
    def get():
        assert Device(0) is Device(0)
        return Device(0)

    other = in_thread(get)
    assert other is not device
    assert other == device
    assert hash(other) == hash(device)


def test_devices_of_ended_threads_are_released(device):
    references = [in_thread(lambda: weakref.ref(Device(0))) for _ in range(50)]
    gc.collect()
    assert [reference() for reference in references] == [None] * 50
    assert Device(0) is device


def test_device_outlives_its_thread(device):
    other = in_thread(lambda: Device(0))
    gc.collect()
    assert int(other) == 0
    assert other.name == device.name


def test_default_is_the_current_device(devices):
    for device in devices:
        device.set_current()
        assert Device() is device
        assert Device(None) is device


def test_default_is_0_where_no_context_is_current(device):
    with no_context():
        assert Device() is device


@pytest.mark.parametrize("ordinal", [-1, 10_000, 2**31, 2**64, -(2**70), True, False])
def test_missing_ordinals_are_rejected(device, ordinal):
    with pytest.raises(ValueError, match=re.escape(str(ordinal))):
        Device(ordinal)


@pytest.mark.parametrize("wrong", [0.0, "0", b"0", [], object(), 1j])
def test_ordinals_of_another_type_are_rejected(device, wrong):
    with pytest.raises(TypeError, match=type(wrong).__name__):
        Device(wrong)


@pytest.mark.parametrize(
    "call",
    [
        lambda: Device(0, 0),
        lambda: Device(ordinal=0),
        lambda: Device(0, device_id=0),
        lambda: Device.__new__(Device, 0, 0),
        lambda: Device.__new__(Device, ordinal=0),
    ],
)
def test_unknown_arguments_are_rejected(call):
    with pytest.raises(TypeError, match="device_id"):
        call()


def test_unknown_keyword_is_named():
    with pytest.raises(TypeError, match=r"Device\(\) got an unexpected keyword argument 'device'; .* device_id"):
        Device(device=0)
