# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Threads that share graphs: no call fails, and nothing is leaked (support/graph_stress.py runs this for longer)."""

import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]


def run(module: str, *options: str) -> dict:
    """Run a stress test of the support package, and return the result that it prints.

    It runs in a child process: pending calls run on the main thread only, and that may not be the thread of the tests.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    command = [sys.executable, "-m", f"support.{module}", *options]
    done = subprocess.run(command, cwd=TESTS, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return json.loads(done.stdout)


def test_threads_that_build_and_launch_graphs_leak_nothing(device):
    result = run("graph_stress", "--rounds", os.environ.get("CUDA_CORE_GRAPH_ROUNDS", "1000"))
    assert (result["failures"], result["callees left"], result["bytes left"]) == ([], 0, 0)
    assert len(result["counts"]) > 10


def test_threads_use_nodes_that_others_change_and_destroy(device):
    result = run("graph_edits", "--seconds", os.environ.get("CUDA_CORE_SOUP_SECONDS", "0.6"))
    assert result["failures"] == []
    assert result["counts"]["done"] >= 8 * 25
