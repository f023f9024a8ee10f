# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""In the shuffled mode, missing synchronization shows for some seeds, and a seed repeats its order."""

import os
import re
import subprocess
import sys

import pytest

pytestmark = pytest.mark.requires(software=True)

# Two streams append their number; with `ordered`, the second waits for the first.
STREAMS = """
import sys
import numpy as np
from cuda.core import Device, LaunchConfig, Program, launch

SOURCE = '''extern "C" __global__ void append(int* list, int value)
{ list[1 + list[0]] = value; list[0] += 1; }'''
device = Device()
device.set_current()
kernel = Program(SOURCE, "c++").compile("cubin").get_kernel("append")
first, second = device.create_stream(), device.create_stream()
data = device.allocate(64, stream=first)
data.fill(0, stream=first)
first.sync()
for i in range(4):
    launch(first, LaunchConfig(grid=1, block=1), kernel, data, np.int32(1))
    if "ordered" in sys.argv:
        second.wait(first)
    launch(second, LaunchConfig(grid=1, block=1), kernel, data, np.int32(2))
    if "ordered" in sys.argv:
        first.wait(second)
second.sync()
first.sync()
out = np.zeros(16, np.int32)
data.copy_to(out, stream=first)
first.sync()
print(out[1:9].tolist())
sys.exit(out[1:9].tolist() != [1, 2] * 4)
"""


@pytest.fixture
def run(tmp_path):
    program = tmp_path / "prog.py"
    program.write_text(STREAMS)

    def run(*options, arguments=()):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        environment.pop("CUDA_CORE_DEVICE", None)
        command = [sys.executable, "-m", "cuda.emulator", *options, str(program), *arguments]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)

    return run


def test_first_failing_seed_is_named_and_repeats(run):
    done = run("--shuffle", "20")
    assert done.returncode == 1, done.stderr
    seed = re.search(r"seed (\d+) of 20 failed with status 1; repeat it with: .* --seed \1 ", done.stderr)[1]
    outputs = {run("--seed", seed).stdout for _ in range(3)}
    assert outputs == {done.stdout}


def test_different_seeds_choose_different_orders(run):
    assert len({run("--seed", str(seed)).stdout for seed in range(1, 6)}) > 1


def test_ordered_program_passes_with_all_seeds(run):
    done = run("--shuffle", "4", arguments=["ordered"])
    assert (done.returncode, done.stdout) == (0, "")
    assert "ran with 4 seeds and none failed" in done.stderr


@pytest.mark.parametrize("options", [["--shuffle"], ["--shuffle", "many"], ["--seed", "-1"]])
def test_option_without_a_number_is_rejected(run, options):
    done = run(*options)
    assert done.returncode == 2
    assert f"{options[0]} needs a number" in done.stderr


def test_unknown_option_is_rejected(run):
    done = run("--seeds", "3")
    assert done.returncode == 2
    assert "unknown option --seeds; --help lists the options" in done.stderr


def test_checks_are_an_option(run, tmp_path):
    code = "import os, sys; print(os.environ['CUDA_EMULATOR_CHECK'], sys.argv[1:])"
    (tmp_path / "prog.py").write_text(code)
    done = run("--check", "races", "--seed", "3", arguments=["a"])
    assert done.stdout == "races ['a']\n", done.stderr
    assert run("--check").returncode == 2


def test_kernels_waiting_for_host_progress(child):
    code = """
import ctypes, time
import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, launch
device = Device(); device.set_current()
source = 'extern "C" __global__ void wait_for(volatile int* flag) { while (flag[0] == 0) ; flag[1] = 1; }'
kernel = Program(source, "c++").compile("cubin").get_kernel("wait_for")
flag = LegacyPinnedMemoryResource().allocate(8)
view = np.from_dlpack(flag).view(np.int32)
view[:] = 0
stream = device.create_stream()
launch(stream, LaunchConfig(grid=1, block=1), kernel, flag)
view[0] = 1
while view[1] == 0: time.sleep(0.01)
print("reached without a wait")
"""
    assert "reached without a wait" in child(code, MODE="shuffle:3")


def test_host_functions_run_in_order(child):
    code = """
from cuda.core import Device
device = Device(); device.set_current()
stream = device.create_stream()
out = []
from cuda.bindings import driver
import ctypes
kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
calls = [kind(lambda _, i=i: out.append(i)) for i in range(5)]
for call in calls:
    function = driver.CUhostFn(ctypes.cast(call, ctypes.c_void_p).value)
    driver.cuLaunchHostFunc(driver.CUstream(int(stream.handle)), function, 0)
stream.sync()
print(out)
"""
    assert "[0, 1, 2, 3, 4]" in child(code, MODE="shuffle:3")
