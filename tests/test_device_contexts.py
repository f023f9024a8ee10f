# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The contexts of a device: which one is current, and which arguments are rejected."""

import pytest

from cuda.core import CUDAError, Device
from support.threads import in_thread

pytestmark = pytest.mark.requires(device=True)


def test_device_has_no_context_before_it_is_made_current():
    def query():
        device = Device(0)
        with pytest.raises(CUDAError, match=r"set_current\(\) first"):
            _ = device.context
        return device._context

    assert in_thread(query) is None


def test_setting_a_context_returns_the_one_that_it_replaced():
    def replace():
        device = Device(0)
        first = device.set_current()
        own = device.context
        return first, device.set_current(own) is own, device._context is own

    assert in_thread(replace) == (None, True, True)


def test_with_block_makes_a_device_current_and_returns_it():
    def enter():
        device = Device(0)
        with device as entered:
            return entered is device, device.context is device._context

    assert in_thread(enter) == (True, True)


@pytest.mark.parametrize("ctx", [0, "primary", object()])
def test_set_current_rejects_other_objects_than_contexts(device, ctx):
    with pytest.raises(TypeError, match="ctx must be a Context or None"):
        device.set_current(ctx)


@pytest.mark.requires(devices=2)
def test_context_of_another_device_is_set_by_that_device():
    def set_context_of_the_other():
        first, other = Device(0), Device(1)
        other.set_current()
        first.set_current()
        replaced = first.set_current(other.context)
        return Device() is other, replaced == first.context, first.set_current(replaced) == other.context

    assert in_thread(set_context_of_the_other) == (True, True, True)


def test_context_is_set_without_a_current_one(device):
    context = device.context

    def set_it():
        mine = Device(device.device_id)
        return mine.set_current(context), mine.context == context, mine.set_current(context) == context

    assert in_thread(set_it) == (None, True, True)
