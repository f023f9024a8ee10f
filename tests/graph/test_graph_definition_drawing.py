# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pictures of graphs: drawn where the graphviz package is installed, text otherwise."""

import shutil
import sys
import types

import pytest

from cuda.core.graph import GraphDebugPrintOptions, GraphDefinition


@pytest.fixture
def definition(device):
    definition = GraphDefinition()
    definition.empty().join()
    return definition


@pytest.fixture
def graphviz(monkeypatch):
    """A stand-in for the graphviz package; `fails` makes the program that it starts missing."""

    class ExecutableNotFound(RuntimeError):
        pass

    class Source:
        def __init__(self, text):
            self.text = text

        def pipe(self, format):
            if package.fails:
                raise ExecutableNotFound
            return f"<{format}>{'digraph' in self.text}".encode()

    package = types.ModuleType("graphviz")
    package.Source, package.ExecutableNotFound, package.fails = Source, ExecutableNotFound, False
    monkeypatch.setitem(sys.modules, "graphviz", package)
    return package


def test_suffix_chooses_the_format_of_a_picture(definition, graphviz, tmp_path):
    for name in ("graph.svg", "graph.PNG"):
        path = tmp_path / name
        assert definition.save(path) == path
        assert path.read_text() == f"<{path.suffix[1:].lower()}>True"
    assert definition._repr_svg_() == "<svg>True"


@pytest.mark.parametrize("suffix", [".dot", ".gv"])
def test_dot_text_needs_no_package(definition, tmp_path, monkeypatch, suffix):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    path = tmp_path / f"graph{suffix}"
    assert definition.save(str(path), GraphDebugPrintOptions(verbose=True)) == path
    assert path.read_text().startswith("digraph")


@pytest.mark.parametrize("missing", ["package", "program"])
def test_without_graphviz_dot_text_is_written_with_a_warning(definition, graphviz, tmp_path, monkeypatch, missing):
    if missing == "package":
        monkeypatch.setitem(sys.modules, "graphviz", None)
    graphviz.fails = True
    with pytest.warns(UserWarning, match="written as DOT text to") as caught:
        path = definition.save(tmp_path / "graph.svg")
    assert path == tmp_path / "graph.dot" and path.read_text().startswith("digraph")
    assert caught[0].filename == __file__
    assert definition._repr_svg_() is None and [file.name for file in tmp_path.iterdir()] == ["graph.dot"]


@pytest.mark.requires(module="graphviz")
def test_graphviz_draws_a_picture_if_its_program_is_installed(definition):
    picture = definition._repr_svg_()
    assert "<svg" in picture if shutil.which("dot") else picture is None


def test_invalid_paths_and_options_are_rejected(definition, tmp_path):
    with pytest.raises(TypeError, match="path must be a str"):
        definition.save(3)
    with pytest.raises(ValueError, match="path must have a suffix that names the format"):
        definition.save(tmp_path / "graph")
    with pytest.raises(TypeError, match="options must be"):
        definition.save(tmp_path / "graph.dot", options=3)


def test_destroyed_graph_is_not_drawn(definition, tmp_path):
    node = definition.embed(GraphDefinition())
    child = node.child_graph
    node.destroy()
    assert child._repr_svg_() is None
    with pytest.raises(RuntimeError, match="destroyed"):
        child.save(tmp_path / "graph.dot")
