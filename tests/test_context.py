# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Contexts: identity, closing, and wrapping a context that another library made."""

import gc
import pickle
import weakref

import pytest

from cuda.core import Context, Device
from support.contexts import current_context, foreign_context, no_context
from support.threads import in_thread


def test_no_direct_construction():
    with pytest.raises(RuntimeError, match=r"Device\.context"):
        Context()


def test_handle_is_the_bindings_context(device):
    from cuda.bindings import driver

    handle = device.context.handle
    assert isinstance(handle, driver.CUcontext)
    assert int(handle) == current_context() != 0


def test_context_is_not_green(device):
    assert device.context.is_green is False


@pytest.mark.requires(cuda=(12, 9))
def test_equality_and_hash_follow_the_address(device, stream):
    first, second = device.context, stream.context
    assert first is not second
    assert first == second
    assert hash(first) == hash(second)
    with foreign_context() as other:
        assert other != first
    assert first != int(first.handle)
    assert first != stream


def test_repr_has_address_and_ordinal(device):
    assert repr(device.context) == f"<Context handle={current_context():#x} device=0>"


def test_close_raises_while_current(device):
    context = device.context
    with pytest.raises(RuntimeError, match="current on this thread"):
        context.close()
    assert not context.is_closed


def test_close_releases_the_context_but_leaves_its_streams_open(device, stream):
    context = stream.context
    with no_context():
        context.close()
        context.close()
    assert context.is_closed
    assert context.handle is None
    assert context.is_green is False
    assert repr(context) == "<Context handle=0x0 device=0>"
    assert hash(context) == hash(context)
    assert context != stream.context
    assert not stream.is_closed
    assert stream.context == device.context


def test_close_on_a_thread_where_it_is_not_current(device, stream):
    context = stream.context
    in_thread(context.close)
    assert context.is_closed


def test_stream_outlives_the_wrapper_of_its_context(device):
    stream = device.create_stream()
    reference = weakref.ref(stream.context)
    gc.collect()
    assert reference() is None
    stream.sync()
    assert stream.context == device.context
    stream.close()


def test_contexts_of_devices_differ(devices):
    contexts = []
    for device in devices:
        device.set_current()
        contexts.append(device.context)
    assert len(set(contexts)) == len(devices)
    for ordinal, context in enumerate(contexts):
        assert repr(context).endswith(f" device={ordinal}>")


@pytest.mark.requires(cuda=(12, 9))
def test_foreign_context_has_its_device(device):
    before = current_context()
    with foreign_context() as context:
        assert repr(context).endswith(" device=0>")
        assert current_context() == before
        device.set_current(context)
        assert Device() is device
        stream = device.create_stream()
        assert stream.context == context
        stream.close()
        device.set_current()


def test_not_picklable(device):
    with pytest.raises(TypeError):
        pickle.dumps(device.context)
