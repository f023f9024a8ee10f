# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Access policy windows of kernel nodes: the memory that the L2 cache keeps."""

import pytest

from cuda.core import CUDAError
from cuda.core.graph import AccessPolicyWindow, GraphDefinition
from support.graph_work import ONE, value


@pytest.fixture
def node(kernel, memory):
    return GraphDefinition().launch(ONE, kernel("add"), memory.address, 3)


def test_window_is_read_back_changed_and_removed(device, stream, node, memory):
    assert node.access_policy_window is None
    buffer = device.allocate(4096, stream=stream)
    window = AccessPolicyWindow(buffer.handle, 4096, hit_ratio=0.5)
    node.access_policy_window = window
    assert node.access_policy_window == window
    assert (window.hit, window.miss) == ("persisting", "streaming")
    graph = node.graph.instantiate()
    graph.launch(stream)
    stream.sync()
    assert value(memory) == 3
    other = AccessPolicyWindow(int(buffer.handle), 1024, 1, "streaming", "normal")
    node.access_policy_window = other
    assert node.access_policy_window == other
    node.access_policy_window = None
    assert node.access_policy_window is None


def test_device_limits_the_window(device, node):
    limit = device.properties.max_access_policy_window_size
    with pytest.raises(CUDAError):
        node.access_policy_window = AccessPolicyWindow(4096, limit + 1)
    assert node.access_policy_window is None


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((None, 1), TypeError, "base_ptr"),
        ((-1, 1), ValueError, "base_ptr must be from 0"),
        ((10**5000, 1), ValueError, "base_ptr must be from 0.*not an int of"),
        ((1, 1.5), TypeError, "num_bytes must be an int"),
        ((1, 1 << 64), ValueError, "num_bytes must be from 0"),
        ((1, 1, "much"), TypeError, "hit_ratio must be a float"),
        ((1, 1, float("nan")), ValueError, "hit_ratio must be from 0 to 1"),
        ((1, 1, 1, "always"), ValueError, "always"),
        ((1, 1, 1, "normal", 3), ValueError, "3 is not a valid"),
    ],
)
def test_windows_are_checked_when_they_are_made(arguments, error, text):
    with pytest.raises(error, match=text):
        AccessPolicyWindow(*arguments)


def test_assigned_fields_are_checked_when_the_window_is_used(node, memory):
    window = AccessPolicyWindow(memory.address, 4096)
    window.hit_ratio = 2
    with pytest.raises(ValueError, match="hit_ratio"):
        node.access_policy_window = window


def test_only_a_window_is_assigned(node):
    with pytest.raises(TypeError, match="access_policy_window must be an AccessPolicyWindow or None, not int"):
        node.access_policy_window = 3
    node.destroy()
    with pytest.raises(RuntimeError):
        node.access_policy_window = None
