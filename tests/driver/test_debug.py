# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Running a program with debug information in the kernels."""

import sys

import pytest

from cuda.core.driver import debug
from cuda.core.driver._context import is_debugging, set_debugging


def test_program_runs_with_debugging_on(tmp_path, monkeypatch, capsys):
    (tmp_path / "beside.py").write_text("VALUE = 3\n")
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, beside\n"
        "from cuda.core.driver._context import is_debugging\n"
        "print(__name__, sys.argv[1:], beside.VALUE, is_debugging())\n"
    )
    monkeypatch.setattr(sys, "argv", ["debug"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    try:
        debug.main([str(program), "-x", "1"])
    finally:
        set_debugging(False)
    assert capsys.readouterr().out == "__main__ ['-x', '1'] 3 True\n"
    assert not is_debugging()


def test_without_a_program_the_usage_is_shown():
    with pytest.raises(SystemExit, match="usage"):
        debug.main([])
