# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Threads share objects of all classes, use them and close them at random (``support/soup.py``)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
SECONDS = float(os.environ.get("CUDA_CORE_SOUP_SECONDS", "0.6"))

pytestmark = pytest.mark.requires(device=True)


@pytest.mark.requires(cuda=(12, 3))
@pytest.mark.parametrize(("seed", "options"), [(0, []), (1, []), (2, []), (3, ["--captures"]), (4, ["--captures"])])
def test_threads_use_and_close_the_same_objects(seed, options, tmp_path):
    command = [
        sys.executable,
        "-m",
        "support.soup",
        f"--seconds={SECONDS}",
        f"--seed={seed}",
        "--operations=160",
        *options,
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [*sys.path, str(TESTS)]))}
    environment.pop("PYTHONSAFEPATH", None)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=SECONDS + 60)
    assert done.stdout, f"status {done.returncode}\n{done.stderr[-4000:]}"
    result = json.loads(done.stdout)
    assert result["failures"] == []
    assert done.returncode == 0
    assert result["operations"] > 100 and result["counts"].get("done", 0) > result["operations"] / 4, result["counts"]
