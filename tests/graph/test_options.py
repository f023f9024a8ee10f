# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Options of graphs, and the flags of the driver that they become."""

from dataclasses import fields

import pytest
from cuda.bindings import driver

from cuda.core.graph import GraphCompleteOptions, GraphDebugPrintOptions, GraphDefinition
from cuda.core.graph._options import dot_flags


@pytest.mark.parametrize("field", [field.name for field in fields(GraphDebugPrintOptions)])
def test_each_field_is_a_flag_of_the_driver(field):
    flag = getattr(driver.CUgraphDebugDot_flags, f"CU_GRAPH_DEBUG_DOT_FLAGS_{field.upper()}")
    assert dot_flags(GraphDebugPrintOptions(**{field: True})) == int(flag)


def test_no_options_are_no_flags():
    assert dot_flags(None) == dot_flags(GraphDebugPrintOptions()) == 0


def test_nothing_is_checked_at_construction():
    assert GraphCompleteOptions(upload_stream="later").upload_stream == "later"


def test_unknown_fields_are_rejected():
    with pytest.raises(TypeError, match="GraphCompleteOptions has no field 'upload'; did you mean 'upload_stream'?"):
        GraphCompleteOptions(upload=True)


def test_a_graph_is_written_as_dot_text(device, tmp_path):
    path = tmp_path / "graph.dot"
    every = GraphDebugPrintOptions(**{field.name: True for field in fields(GraphDebugPrintOptions)})
    for options in (None, every):
        GraphDefinition().debug_dot_print(str(path), options)
        assert "digraph" in path.read_text()


def test_wrong_arguments_of_writing_are_rejected(device, tmp_path):
    with pytest.raises(TypeError, match="options must be GraphDebugPrintOptions or None, not dict"):
        GraphDefinition().debug_dot_print(str(tmp_path / "graph.dot"), {})
    with pytest.raises(TypeError, match="path must be a str or os.PathLike, not int"):
        GraphDefinition().debug_dot_print(3)
