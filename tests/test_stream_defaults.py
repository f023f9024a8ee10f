# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Default streams of devices, which act on the device that was named or raise."""

import threading

import numpy as np
import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, LaunchConfig, MemoryOperation, Stream, launch
from cuda.core.graph import GraphDefinition
from support.captured_work import kernel
from support.contexts import no_context

WRONG = r"default stream of device 1, but device 0 is current; use it in `with Device\(1\):`"


@pytest.mark.parametrize("stream", [LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, None])
def test_closing_a_default_stream_does_nothing(device, stream):
    stream = device.default_stream if stream is None else stream
    handle = int(stream.handle)
    with stream as entered:
        x = device.zeros(2, np.int32, stream=entered)
    stream.close()
    assert not stream.is_closed and int(stream.handle) == handle
    assert x.to_host(stream=stream).tolist() == [0, 0]
    wrapper = Stream.from_handle(handle)
    wrapper.close()
    assert wrapper.is_closed and not stream.is_closed


@pytest.mark.requires(devices=2)
def test_closing_another_devices_default_stream_does_nothing(devices):
    with devices[0]:
        stream = devices[1].default_stream
    stream.close()
    with devices[1]:
        assert not stream.is_closed
        stream.sync()


@pytest.mark.requires(devices=2)
def test_default_stream_of_another_device_raises_in_all_uses(devices):
    zero, one = devices[:2]
    with one:
        flag = one.zeros(2, np.int32, pinned=True)
        x, y = (one.zeros(4, np.float32, stream=one.default_stream) for _ in range(2))
        event = one.create_stream().record()
        with zero:
            saved = one.default_stream
        scale = kernel("scale32")
        bound = scale.bind(LaunchConfig(grid=1, block=1), stream=saved)
        saved.sync()
        graph = GraphDefinition().instantiate()
    zero.set_current()
    stream = zero.create_stream()
    for which in (saved, one.default_stream):
        uses = (
            lambda s: s.is_done,
            lambda s: s.sync(),
            lambda s: s.context,
            lambda s: s.resources,
            lambda s: s.priority,
            lambda s: s.is_nonblocking,
            lambda s: s.record(),
            lambda s: s.record(event),
            lambda s: s.wait(event),
            lambda s: s.wait(stream),
            lambda s: stream.wait(s),
            lambda s: s.write_value(flag, 1),
            lambda s: s.run_operations(MemoryOperation.barrier()),
            lambda s: s.add_callback(print),
            lambda s: s.create_graph_builder(),
            lambda s: launch(s, LaunchConfig(grid=1, block=1), scale, x, 2.0),
            lambda s: scale[1, 1, 0, s](x, 2.0),
            lambda s: bound(x, 2.0),
            lambda s: graph.launch(s),
            lambda s: one.allocate(16, stream=s),
            lambda s: x.exporting_obj.copy_to(y.exporting_obj, stream=s),
            lambda s: x.exporting_obj.fill(0, stream=s),
            lambda s: x.copy_from(y, s),
            lambda s: x.fill(1, stream=s),
            lambda s: x.to_host(stream=s),
            lambda s: one.to_device(np.zeros(3), stream=s),
        )
        for use in uses:
            with pytest.raises(RuntimeError, match=WRONG):
                use(which)
    assert saved.device is one and one.default_stream.device is one and zero.default_stream.device is zero


@pytest.mark.requires(devices=2)
def test_default_stream_of_the_current_device_acts_on_it(devices):
    zero, one = devices[:2]
    zero.set_current()
    stream = one.default_stream  # named before the device is current
    add = kernel("axpy")
    with one:
        flag = one.zeros(1, np.int32, pinned=True)
        stream.wait_value(flag, 1)
        assert not stream.is_done and stream.context == one.context
        assert not LEGACY_DEFAULT_STREAM.is_done
    assert zero.default_stream.is_done
    with pytest.raises(RuntimeError, match=WRONG):
        stream.sync()
    np.asarray(flag)[:] = 1
    with one:
        x = one.to_device(np.ones(1, np.int32), stream=stream)
        launch(stream, LaunchConfig(grid=1, block=1), add, x, x, 4, 1)
        assert x.to_host(stream=stream).tolist() == [5]
    with zero:
        launch(zero.default_stream, LaunchConfig(grid=1, block=1), add, zero.zeros(1, np.int32), 0, 4, 0)
        zero.default_stream.sync()


@pytest.mark.requires(devices=2)
def test_default_streams_of_devices_are_the_same_objects(devices, monkeypatch):
    name = "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM"
    for setting, constant in (("0", LEGACY_DEFAULT_STREAM), ("1", PER_THREAD_DEFAULT_STREAM)):
        monkeypatch.setenv(name, setting)
        for device, other in (devices[:2], devices[1::-1]):
            found = []

            def read(device=device, other=other, found=found):
                with other:
                    found.append(device.default_stream)

            thread = threading.Thread(target=read)
            thread.start()
            thread.join()
            read()
            assert found[0] is found[1] and found[0] is not constant
            assert found[0] == constant and hash(found[0]) == hash(constant) and found[0].device is device
            with device:
                assert device.default_stream is constant and constant.device is device
        monkeypatch.delenv(name)


@pytest.mark.requires(devices=2)
def test_default_stream_of_a_device_needs_a_current_context(devices):
    with no_context():
        for device in devices[:2]:
            for use in (lambda s: s.context, lambda s: s.record()):
                with pytest.raises(RuntimeError, match="current context"):
                    use(device.default_stream)


def test_default_stream_of_the_current_device_is_the_constant(devices, monkeypatch):
    name = "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM"
    for setting, constant in (("0", LEGACY_DEFAULT_STREAM), ("1", PER_THREAD_DEFAULT_STREAM)):
        monkeypatch.setenv(name, setting)
        for device in devices:
            with device:
                assert device.default_stream is constant
        with no_context():
            assert all(device.default_stream is constant for device in devices)
