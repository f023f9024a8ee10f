# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Programs that import ``pycuda`` run unchanged: from the command line, and under the classic names."""

import atexit
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import cuda.core.driver as drv
from cuda.core.driver import __main__, _context, gpuarray

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
def test_program_runs_as_if_it_was_started_itself(tmp_path, start):
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


PROGRAMS = sorted((Path(__file__).parent / "ported").glob("*.py"))


@pytest.fixture
def program(device, monkeypatch):
    """Run a file like a separate program: autoinit is imported anew, and its atexit functions are called."""
    at_exit = []
    monkeypatch.delitem(sys.modules, "cuda.core.driver.autoinit", raising=False)
    monkeypatch.setattr(atexit, "register", lambda function, *args: at_exit.append((function, args)))

    def run(path):
        runpy.run_path(str(path), run_name="__main__")
        for function, args in reversed(at_exit):
            function(*args)
        assert _context._thread.stack == []

    yield run
    monkeypatch.delitem(sys.modules, "cuda.core.driver.autoinit", raising=False)
    __main__.forget_classic_names()


def test_program_that_does_not_exist_is_one_sentence(tmp_path):
    path = str(tmp_path / "program.py")
    with pytest.raises(SystemExit, match=f"there is no program {path!r}$"):
        __main__.main([path])


@pytest.mark.requires(cuda=(12, 9))
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_run_unchanged_under_the_classic_names(path, program, capsys):
    __main__.use_classic_names()
    program(path)
    assert "error" not in capsys.readouterr().err.lower()


# The table of the guide: import lines before and after.
PORTED = [
    (r"import pycuda\.(autoinit)$", r"import cuda.core.driver as pycuda; from cuda.core.driver import \1"),
    (r"import pycuda\.driver as (\w+)$", r"import cuda.core.driver as \1"),
    (r"import pycuda\.(\w+) as (\w+)$", r"import cuda.core.driver.\1 as \2"),
    (r"import pycuda\.(\w+)$", r"import cuda.core.driver as pycuda; from cuda.core.driver import \1"),
    (r"import pycuda$", r"import cuda.core.driver as pycuda"),
    (r"from pycuda import compiler, driver$", r"from cuda.core import driver; from cuda.core.driver import compiler"),
    (r"from pycuda import (.*)$", r"from cuda.core.driver import \1"),
    (r"from pycuda\.(\w+) import (.*)$", r"from cuda.core.driver.\1 import \2"),
]


@pytest.mark.requires(cuda=(12, 9))
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_programs_run_with_the_import_lines_of_the_guide(path, program, tmp_path, capsys):
    lines = path.read_text().splitlines()
    for place, line in enumerate(lines):
        for before, after in PORTED:
            if re.match(rf"\s*{before}", line):
                lines[place] = re.sub(before, after, line)
                break
        else:
            assert not re.match(r"\s*(import|from) pycuda", line), f"the guide has no replacement for {line!r}"
    (tmp_path / path.name).write_text("\n".join(lines))
    program(tmp_path / path.name)
    assert "error" not in capsys.readouterr().err.lower()


def test_classic_names_import_the_modules_of_this_package(device):
    __main__.use_classic_names()
    try:
        import pycuda
        import pycuda.autoprimaryctx
        import pycuda.driver
        from pycuda import gpuarray as classic_arrays
        from pycuda.driver import mem_alloc

        import cuda.core.driver.autoprimaryctx  # which makes a context

        assert pycuda.driver is drv and classic_arrays is gpuarray and mem_alloc is drv.mem_alloc
        assert pycuda.autoprimaryctx is cuda.core.driver.autoprimaryctx and pycuda.VERSION == drv.VERSION
        assert not hasattr(drv, "driver") and drv.__spec__.name == "cuda.core.driver"
        __main__.use_classic_names()
        assert sys.meta_path.count(__main__._finder) == 1
        with pytest.raises(ModuleNotFoundError, match=r"pycuda\.nothing"):
            import pycuda.nothing
        with pytest.raises(ModuleNotFoundError, match="pycuda_like"):
            import pycuda_like  # noqa: F401
    finally:
        __main__.forget_classic_names()
    assert "pycuda" not in sys.modules and "pycuda.driver" not in sys.modules
    __main__.forget_classic_names()
