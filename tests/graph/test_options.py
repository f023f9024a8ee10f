# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Graph options, and the driver flags that they become."""

from dataclasses import fields

import pytest
from cuda.bindings import driver

from cuda.core import LEGACY_DEFAULT_STREAM, Device
from cuda.core.graph import GraphCompleteOptions, GraphDebugPrintOptions, GraphDefinition
from support.bindings import call_driver


@pytest.mark.parametrize("field", [None, *(field.name for field in fields(GraphDebugPrintOptions))])
def test_each_field_is_a_driver_flag(device, tmp_path, field):
    # The driver itself, asked for the same text.
    flags = int(getattr(driver.CUgraphDebugDot_flags, f"CU_GRAPH_DEBUG_DOT_FLAGS_{field.upper()}")) if field else 0
    graph = GraphDefinition()
    graph.empty().join()
    graph.memset(memory := Device().allocate(64, stream=LEGACY_DEFAULT_STREAM), 1, 64)
    graph.debug_dot_print(str(tmp_path / "ours.dot"), GraphDebugPrintOptions(**({field: True} if field else {})))
    call_driver("cuGraphDebugDotPrint", graph.handle, bytes(tmp_path / "theirs.dot"), flags)
    assert (tmp_path / "ours.dot").read_text() == (tmp_path / "theirs.dot").read_text()
    memory.close()


def test_nothing_is_checked_at_construction():
    assert GraphCompleteOptions(upload_stream="later").upload_stream == "later"


def test_unknown_fields_are_rejected():
    with pytest.raises(TypeError, match="GraphCompleteOptions has no field 'upload'; did you mean 'upload_stream'?"):
        GraphCompleteOptions(upload=True)


def test_graph_is_written_as_dot_text(device, tmp_path):
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
