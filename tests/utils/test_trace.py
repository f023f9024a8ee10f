# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Chrome traces of launches."""

import json

import pytest

from cuda.core import LaunchConfig, LaunchError, launch
from cuda.core.utils import trace
from support.kernels import compiled

SOURCE = """
extern "C" __global__ void first() {}
extern "C" __global__ void fault() { *(volatile int*)8 = 1; }
"""
ONE = LaunchConfig(grid=1, block=1)


def rows_of(path, kind="X") -> list:
    return [row for row in json.loads(path.read_text())["traceEvents"] if row["ph"] == kind]


def test_launches_and_kernels_are_recorded(device, stream, tmp_path):
    path = tmp_path / "trace.json"
    kernel = compiled(SOURCE).get_kernel("first")
    with trace(path):
        launch(stream, ONE, kernel)
        launch(stream, LaunchConfig(grid=(2, 3), block=64), kernel)
    launch(stream, ONE, kernel)
    rows = rows_of(path)
    assert [row["name"] for row in rows] == ["launch first", "launch first", "first", "first"]
    assert all(row["dur"] >= 0 and row["ts"] > 0 for row in rows)
    assert rows[3]["ts"] >= rows[2]["ts"]
    assert rows[1]["args"]["grid"] == "(2, 3, 1)"
    assert "test_trace.py:" in rows[1]["args"]["source"]
    names = {row["args"]["name"] for row in rows_of(path, "M")}
    assert {"host", "GPU 0"} < names
    assert len(names) == 3


def test_captured_launches_are_shown_on_their_thread_only(stream, tmp_path):
    path = tmp_path / "trace.json"
    with trace(path):
        builder = stream.create_graph_builder().begin_building()
        launch(builder, ONE, compiled(SOURCE).get_kernel("first"))
        graph = builder.end_building().complete()
    graph.launch(stream)
    stream.sync()
    assert [row["name"] for row in rows_of(path)] == ["launch first"]


def test_trace_is_written_after_an_exception(stream, tmp_path):
    path = tmp_path / "trace.json"
    with pytest.raises(ZeroDivisionError), trace(path):
        launch(stream, ONE, compiled(SOURCE).get_kernel("first"))
        raise ZeroDivisionError
    assert len(rows_of(path)) == 2


@pytest.mark.requires(software=True)
@pytest.mark.filterwarnings("ignore::cuda.core.CUDAWarning")
def test_failed_kernels_are_left_out(device, stream, tmp_path):
    path = tmp_path / "trace.json"
    try:
        with pytest.raises(LaunchError):
            with trace(path):
                launch(stream, ONE, compiled(SOURCE).get_kernel("fault"))
            stream.sync()
    finally:
        device.reset()
    assert [row["name"] for row in rows_of(path)] == ["launch fault"]


def test_traces_nest(stream, tmp_path):
    kernel = compiled(SOURCE).get_kernel("first")
    with trace(tmp_path / "a.json"):
        launch(stream, ONE, kernel)
        with trace(tmp_path / "b.json"):
            launch(stream, ONE, kernel)
    assert len(rows_of(tmp_path / "a.json")) == 4
    assert len(rows_of(tmp_path / "b.json")) == 2


def test_unwritable_file_raises_before_the_block(tmp_path):
    with pytest.raises(OSError, match="missing"), trace(tmp_path / "missing" / "trace.json"):
        pytest.fail("the block ran")
