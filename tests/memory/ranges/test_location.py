# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checks of memory locations. The tests of managed buffers use the locations themselves."""

import pytest

from cuda.core import Host
from cuda.core._memory._memory_resource import _check_node, _check_numa


def test_numa_nodes_need_a_new_driver():
    with pytest.raises(TypeError, match="13.0"):
        _check_numa(Host(0), 12080)
    with pytest.raises(TypeError, match="numa_current"):
        _check_numa(Host.numa_current(), 12080)
    assert _check_numa(Host(0), 13000) is None


def test_an_unknown_nearest_node_is_an_error():
    with pytest.raises(RuntimeError, match="set_current"):
        _check_node(False, -1)
    with pytest.raises(RuntimeError, match="nearest"):
        _check_node(True, -1)
    assert _check_node(True, 0) is None
