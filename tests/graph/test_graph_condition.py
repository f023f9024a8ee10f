# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Conditions of graphs."""

import pickle

import numpy as np
import pytest

from cuda.core.graph import GraphCondition, GraphDefinition


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize("default", [None, 0, True, np.uint32(2**32 - 1)])
def test_conditions_compare_by_their_handle(device, default):
    graph = GraphDefinition()
    first, second = graph.create_condition(default), graph.create_condition(default_value=default)
    assert first == first and first != second and first != first.handle
    assert len({first, second, first}) == 2
    assert repr(first) == f"<GraphCondition handle={first.handle:#x}>"


@pytest.mark.parametrize(("default", "error"), [(-1, OverflowError), (2**32, OverflowError), ("1", TypeError)])
def test_wrong_default_values_are_rejected(device, default, error):
    with pytest.raises(error, match="default_value must be"):
        GraphDefinition().create_condition(default)


@pytest.mark.requires(cuda=(12, 3))
def test_conditions_are_made_by_graphs_only(device):
    with pytest.raises(RuntimeError, match="create_condition"):
        GraphCondition()
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(GraphDefinition().create_condition())
