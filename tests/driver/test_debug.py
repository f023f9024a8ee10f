# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Running a program with debug information in the kernels."""

import pytest

from cuda.core.driver import debug
from support.interpreter import run


def test_program_runs_with_debugging_on(tmp_path):
    (tmp_path / "beside.py").write_text("VALUE = 3\n")
    (tmp_path / "program.py").write_text(
        "import sys, beside\n"
        "from cuda.core.driver import CompileError\n"
        "from cuda.core.driver.compiler import compile\n"
        "try:\n"
        "    compile('__global__ void f() { undeclared; }', arch='sm_90')\n"
        "except CompileError as error:\n"
        "    print(__name__, sys.argv[1:], beside.VALUE, '-G' in error.command_line)\n"
    )
    code = f"from cuda.core.driver import debug; debug.main([{str(tmp_path / 'program.py')!r}, '-x', '1'])"
    assert run(code).splitlines()[-1] == "__main__ ['-x', '1'] 3 True"


def test_without_a_program_the_usage_is_shown():
    with pytest.raises(SystemExit, match="usage"):
        debug.main([])
