# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The file with the source of a Program, which debuggers read."""

import gc
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cuda.core import Program, ProgramOptions, _program

pytestmark = [pytest.mark.requires(nvrtc=True), pytest.mark.usefixtures("any_driver_age")]

SAXPY = 'extern "C" __global__ void saxpy(float a, const float* x, float* y) { *y += a * *x; }'
SCALE = "template <class T> __global__ void scale(T* x, T f) { *x *= f; }"


@pytest.mark.parametrize("option", ["debug", "lineinfo"])
def test_debug_file_has_the_source_until_the_program_is_closed(option, tmp_path, monkeypatch, own_tempdir):
    monkeypatch.setattr(sys.modules["__main__"], "__file__", "/somewhere/my-script.py", raising=False)
    program = Program(SAXPY, "c++", ProgramOptions(arch="sm_90", **{option: True}))
    (path,) = tmp_path.iterdir()
    assert re.fullmatch(r"my_script_saxpy_\w{8}\.cu", path.name)
    assert path.read_text() == SAXPY
    code = program.compile("ptx")
    assert code.name == str(path)
    assert str(path).encode() in code.code
    program.close()
    program.close()
    assert not path.exists()


def test_debug_file_is_removed_when_the_program_is_collected(tmp_path, own_tempdir):
    program = Program(SAXPY, "c++", ProgramOptions(arch="sm_90", debug=True))
    assert len(list(tmp_path.iterdir())) == 1
    del program
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "source, name",
    [
        (SAXPY, "saxpy"),
        (SCALE, "scale"),
        ("__device__ int helper(int);\n__global__ void __launch_bounds__(64, 2)\n bounded(int* x) {}", "bounded"),
        ("__device__ int x;", "kernel"),
    ],
)
def test_debug_file_is_named_after_the_first_kernel(source, name):
    assert _program.first_kernel(source.encode()) == name


def test_program_with_a_name_has_no_debug_file(tmp_path, own_tempdir):
    program = Program(SAXPY, "c++", ProgramOptions(arch="sm_90", debug=True, name="mine"))
    assert list(tmp_path.iterdir()) == []
    assert program.compile("ptx").name == "mine"


def test_program_compiles_if_no_debug_file_can_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    program = Program(SAXPY, "c++", ProgramOptions(arch="sm_90", debug=True))
    assert program.compile("ptx").name == "default_program"
    program.close()


def test_forked_child_does_not_remove_the_debug_file(tmp_path):
    path = tmp_path / "source.cu"
    path.write_text("")
    _program.remove_file(str(path), os.getpid() + 1)
    assert path.exists()
    _program.remove_file(str(path), os.getpid())
    assert not path.exists()


def test_exit_with_an_open_program_silently_removes_the_file(tmp_path):
    script = (
        "from cuda.core import Program\n"
        f"program = Program({SAXPY!r}, 'c++', dict(arch='sm_90', debug=True))\n"
        "print(len(program.compile('cubin').code))\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONWARNINGS": "error"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 0
    assert list(Path(tmp_path).iterdir()) == []
