# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Running programs that were written for PyCUDA from the command line."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import pycuda.driver as cuda
import pycuda.autoinit
import beside
print(__name__, sys.argv[1:], beside.VALUE, cuda.Context.get_current() is pycuda.autoinit.context)
memory = cuda.mem_alloc(16)
"""


@pytest.mark.requires(device=True)
@pytest.mark.parametrize("start", [["program.py"], ["-m", "program"]])
def test_a_program_runs_as_if_it_was_started_itself(tmp_path, start):
    (tmp_path / "beside.py").write_text("VALUE = 3\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    ended = subprocess.run(
        [sys.executable, "-m", "cuda.core.driver", *start, "-x", "1"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ended.stdout == "__main__ ['-x', '1'] 3 True\n", ended.stderr
    assert ended.returncode == 0


@pytest.mark.parametrize("arguments", [[], ["-m"], ["-h"], ["--version"]])
def test_without_a_program_the_usage_is_shown(arguments):
    from cuda.core.driver import __main__

    with pytest.raises(SystemExit, match="python -m cuda.core.driver program.py"):
        __main__.main(arguments)
