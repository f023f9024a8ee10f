# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Coverage of the lines and branches of kernels, and kernels in gdb."""

import json
import os
import re
import subprocess
import sys

import pytest

from support.paths import PAGES

pytestmark = pytest.mark.requires(software=True)

PROGRAM = '''
import numpy as np
from cuda.core import Device, LaunchConfig, Program, launch

SOURCE = """
__device__ int twice(int x)
{
    return 2 * x;
}
__device__ int unused(int x)
{
    return 3 * x;
}
extern "C" __global__ void f(int* x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (x[i] > 1000)
        x[i] = unused(x[i]);
    for (int k = 0; k < 3; ++k)
        x[i] += twice(k);
}
"""
OTHER = 'extern "C" __global__ void g() {}'
device = Device(0)
device.set_current()
stream = device.create_stream()
x = device.allocate(400, stream=stream)
x.fill(0, stream=stream)
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("f")
launch(stream, LaunchConfig(grid=4, block=32), kernel, x, np.int32(100))
launch(stream, LaunchConfig(grid=1, block=7), Program(OTHER, "c++").compile("cubin").get_kernel("g"))
stream.sync()
'''


BRANCHES = """
extern "C" __global__ void f(int* x, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    if (i > 1000)
        x[i] = 2;
    for (int k = 0; k < 3; ++k)
        x[i] += k;
    if (i > 3 && i < 5 || i == 77)
        x[i] += 1;
    x[i] += i > 4 ? 1 : 2;
    float a = i;
    if (a < 2.5f)
        x[i] = min(i, 3);
    while (i < 5)
        ++i;
}
template <int n> __global__ void g(int* x)
{
    if (threadIdx.x < n)
        x[threadIdx.x] = n;
}
"""
BRANCHING_PROGRAM = f'''
import numpy as np
from cuda.core import Device, LaunchConfig, Program, launch

device = Device(0)
device.set_current()
stream = device.create_stream()
x = device.allocate(512, stream=stream)
x.fill(0, stream=stream)
names = ["f", "g<32>", "g<3>"]
code = Program("""{BRANCHES}""", "c++").compile("cubin", name_expressions=names[1:])
for name in names:
    arguments = [x, np.int32(100)] if name == "f" else [x]
    launch(stream, LaunchConfig(grid=1, block=128 if name == "f" else 32), code.get_kernel(name), *arguments)
stream.sync()
'''


def emulator(tmp_path, *options, source=PROGRAM, **variables):
    program = tmp_path / "program.py"
    program.write_text(source)
    paths = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-m", "cuda.emulator", *options, str(program)]
    environment = {**os.environ, "PYTHONPATH": paths, **variables}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=200, cwd=tmp_path)


def test_coverage_counts_how_often_each_line_ran(tmp_path):
    done = emulator(tmp_path, "--coverage", "out")
    assert done.returncode == 0, done.stderr
    assert "12 of 16 lines of kernels ran; see out/index.html" in done.stderr, done.stderr
    first, second, _ = (tmp_path / "out" / "kernels.info").read_text().split("end_of_record\n")
    counts = dict(line[3:].split(",") for line in first.splitlines() if line.startswith("DA:"))
    assert {line: int(counts[line]) for line in ("4", "8", "13", "14", "15", "16", "18")} == {
        "4": 300, "8": 0, "13": 128, "14": 28, "15": 100, "16": 0, "18": 300,
    }  # fmt: skip
    assert "SF:" + str(tmp_path / "out" / "sources" / "default_program") in first
    assert "DA:1,7" in second
    page = (tmp_path / "out" / "index.html").read_text()
    assert '<span class="miss">    return 3 * x;</span>' in page
    assert '<span class="hit">        x[i] += twice(k);</span>' in page


def test_coverage_counts_both_ways_of_each_branch(tmp_path):
    done = emulator(tmp_path, "--coverage", "out", source=BRANCHING_PROGRAM)
    assert done.returncode == 0, done.stderr
    info = (tmp_path / "out" / "kernels.info").read_text().splitlines()
    branches = {}
    for row in info:
        if row.startswith("BRDA:"):
            line, number, _, count = row[5:].split(",")
            branches.setdefault((int(line), int(number)), []).append(int(count))
    assert branches == {
        (5, 0): [28, 100],
        (7, 0): [0, 100],
        (9, 0): [100, 300],  # the jump back comes last
        (11, 0): [96, 4],
        (11, 1): [95, 1],
        (11, 2): [1, 98],
        (13, 0): [95, 5],
        (15, 0): [3, 97],
        (17, 0): [100, 15],
        (22, 0): [35, 29],  # of both kernels
    }
    assert "BRF:20" in info
    assert "BRH:19" in info
    page = (tmp_path / "out" / "index.html").read_text()
    assert "19 of 20 ways of branches" in page
    assert '   100   1/2 </span><span class="hit">    if (i &gt; 1000)</span>' in page


def test_second_run_starts_at_zero(tmp_path):
    for _ in range(2):
        assert emulator(tmp_path, "--coverage", "out").returncode == 0
    assert "DA:1,7" in (tmp_path / "out" / "kernels.info").read_text()


@pytest.mark.requires(command="gdb")
def test_gdb_stops_in_a_kernel_for_a_block_and_a_thread(tmp_path):
    commands = "-batch -ex 'kernel break default_program:18 block 1 thread 3' -ex run -ex 'kernel where' -ex 'print i'"
    out = emulator(tmp_path, "--gdb", CUDA_EMULATOR_GDB=commands).stdout
    assert "x[i] += twice(k);" in out
    assert "block (1, 0, 0), thread (3, 0, 0)" in out
    assert "$1 = 35" in out


@pytest.mark.requires(command="gdb")
def test_gdb_steps_stay_in_the_thread_and_another_can_be_chosen(tmp_path):
    steps = [
        "kernel break default_program:17 block 1 thread 3",
        "run",
        "kernel where",
        "next",
        "next",
        "print k",
        "step",
    ]
    steps += ["kernel where", "kernel thread 5", "kernel where", "kernel thread 2 block 2", "kernel where"]
    steps += ["next", "print i", "kernel thread x"]
    commands = "-batch " + " ".join(f"-ex '{step}'" for step in steps)
    done = emulator(tmp_path, "--gdb", CUDA_EMULATOR_GDB=commands)
    places = re.findall(r"block \(\d, 0, 0\), thread \(\d, 0, 0\)", done.stdout)
    expected = [(1, 3), (1, 3), (1, 5), (2, 2)]
    assert places == [f"block ({block}, 0, 0), thread ({thread}, 0, 0)" for block, thread in expected], done.stdout
    assert "$1 = 0" in done.stdout and "$2 = 66" in done.stdout, done.stdout
    assert "usage: kernel thread X[,Y[,Z]] [block X[,Y[,Z]]]" in done.stderr


@pytest.mark.requires(command="gdb", pages=True)
def test_session_of_the_guide_works_in_gdb(tmp_path):
    page = (PAGES / "guide" / "software-device.md").read_text()
    session = page[page.index("(gdb) kernel break") : page.index("gdb answers that it has")]
    steps = re.findall(r"^\(gdb\) (.+)$", session, re.MULTILINE)
    commands = "-batch " + " ".join(f"-ex '{step}'" for step in steps)
    out = emulator(tmp_path, "--gdb", CUDA_EMULATOR_GDB=commands).stdout
    for line in re.findall(r"^(?!\(gdb\)|Thread|```)(.+)$", session, re.MULTILINE):
        assert re.sub(r"\s+", " ", line) in re.sub(r"\s+", " ", out), (line, out)


@pytest.mark.requires(command="gdb")
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("kernel break", "usage: kernel break FILE:LINE [block X[,Y[,Z]]] [thread X[,Y[,Z]]]"),
        ("kernel thread 1", "the program is not running"),
    ],
)
def test_gdb_rejects_incomplete_commands(tmp_path, command, message):
    commands = f"-batch -ex '{command}'"
    assert message in emulator(tmp_path, "--gdb", CUDA_EMULATOR_GDB=commands).stderr


@pytest.mark.requires(command="gdb")
def test_gdb_leaves_the_python_path_to_the_program(tmp_path):
    commands = "-batch -ex 'python import os; print(os.environ.get(\"PYTHONPATH\"))' -ex 'show environment PYTHONPATH'"
    lines = emulator(tmp_path, "--gdb", CUDA_EMULATOR_GDB=commands).stdout.splitlines()
    assert "None" in lines  # gdb can contain another version of Python
    assert any(line.startswith("PYTHONPATH = /") for line in lines), lines


def test_options_combine(tmp_path):
    options = ["--advise=advice.json", "--check", "races", "--coverage=out", "--report", "found.json"]
    done = emulator(tmp_path, *options)
    assert done.returncode == 0, done.stderr
    assert "12 of 16 lines of kernels ran; see out/index.html" in done.stderr, done.stderr
    assert json.loads((tmp_path / "advice.json").read_text())["lines"]
    assert json.loads((tmp_path / "found.json").read_text()) == []
    done = emulator(tmp_path, "--coverage", "out", "--shuffle", "2")
    assert "12 of 16 lines of kernels ran" in done.stderr and "2 seeds and none failed" in done.stderr
    assert "DA:1,14" in (tmp_path / "out" / "kernels.info").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shuffle", "2", "--gdb"], "--shuffle runs the program several times, which --seed and --gdb do not"),
        (["--seed", "x"], "--seed needs a number, not 'x'"),
        (["--speed"], "unknown option --speed; --help lists the options"),
        (["nowhere/program.py"], "there is no program 'nowhere/program.py'"),
    ],
)
def test_wrong_options_are_one_sentence(tmp_path, options, message):
    done = emulator(tmp_path, *options)
    assert (done.returncode, done.stderr) == (2, f"python -m cuda.emulator: {message}\n")


def test_option_needs_its_value():
    command = [sys.executable, "-m", "cuda.emulator", "--coverage"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60)
    assert done.stderr == "python -m cuda.emulator: --coverage needs a value; --help lists the options\n"


def test_gdb_must_be_installed(tmp_path):
    done = emulator(tmp_path, "--gdb", PATH="/nowhere")
    assert done.returncode == 1
    assert "--gdb needs gdb, which is not installed" in done.stderr
