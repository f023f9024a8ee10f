# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Closed, destroyed or uninitialized objects: RuntimeErrors that make ``hasattr()`` return False."""

import pickle
import traceback

import pytest

from cuda.core import Device, Kernel, LegacyPinnedMemoryResource, MemoryResource
from cuda.core.utils import StridedMemoryView


@pytest.fixture
def closed(device):  # page-locked memory needs a current context
    buffer = LegacyPinnedMemoryResource().allocate(64)
    buffer.close()
    return buffer


@pytest.mark.requires(driver=True)
def test_hasattr_is_false_for_the_properties_of_a_closed_object(closed):
    assert not hasattr(closed, "device_id")
    assert getattr(closed, "is_managed", 3) == 3
    assert closed.is_closed


@pytest.mark.requires(driver=True)
def test_properties_and_methods_raise_the_same_runtime_error(closed):
    with pytest.raises(RuntimeError, match="^this Buffer is closed$") as of_property:
        closed.device_id  # noqa: B018
    with pytest.raises(RuntimeError, match="^this Buffer is closed$") as of_method:
        closed.__dlpack_device__()
    assert type(of_property.value) is type(of_method.value)


@pytest.mark.requires(driver=True)
def test_tracebacks_suggest_no_other_attribute(closed):
    with pytest.raises(RuntimeError) as caught:
        closed.device_id  # noqa: B018
    text = "".join(traceback.format_exception(caught.value))
    assert text.endswith("Error: this Buffer is closed\n") and "During handling" not in text


@pytest.mark.requires(driver=True)
def test_error_can_be_pickled(closed):
    with pytest.raises(RuntimeError) as caught:
        closed.device_id  # noqa: B018
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.args) == (type(caught.value), ("this Buffer is closed",))


@pytest.mark.requires(device=True)
def test_error_matches_other_objects_without_a_value():
    device = Device()
    device.set_current()
    event = device.create_stream().record()
    with pytest.raises(RuntimeError, match="not shared between processes") as caught:
        event.ipc_descriptor  # noqa: B018
    assert isinstance(caught.value, AttributeError)
    event.close()
    assert not hasattr(event, "is_done")


@pytest.mark.parametrize(
    ("thing", "name", "kind"),
    [
        (Kernel.__new__(Kernel), "num_arguments", RuntimeError),
        (MemoryResource.__new__(MemoryResource), "device_id", TypeError),
        (StridedMemoryView.__new__(StridedMemoryView), "shape", ValueError),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_hasattr_is_false_for_an_object_that_lacks_the_value(thing, name, kind):
    assert not hasattr(thing, name)
    with pytest.raises(kind):
        getattr(thing, name)
