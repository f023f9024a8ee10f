# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Programs with kernels of Triton, each of which compares its results with those of NumPy."""

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
TORCH_PROGRAMS = Path(__file__).parent / "torch_programs"
EARLY = ("-m", "cuda.emulator")  # before PyTorch loads NVIDIA's libraries
pytestmark = pytest.mark.requires(triton=(3, 8), software=True)


@pytest.fixture(scope="session")
def environment(tmp_path_factory):
    """The environment of a program on the software device, which Triton finds by its entry point."""
    path = list(filter(None, sys.path))
    if not metadata.entry_points(group="triton.backends", name="software"):  # the package is not installed
        folder = tmp_path_factory.mktemp("packages")
        information = folder / "cuda_emulator-1.dist-info"
        information.mkdir()
        (information / "METADATA").write_text("Metadata-Version: 2.1\nName: cuda-emulator\nVersion: 1\n")
        (information / "entry_points.txt").write_text("[triton.backends]\nsoftware = cuda.emulator.triton\n")
        path.append(str(folder))
    cache = str(tmp_path_factory.mktemp("triton"))
    search = os.pathsep.join(path)
    return {**os.environ, "PYTHONPATH": search, "CUDA_CORE_DEVICE": "software", "TRITON_CACHE_DIR": cache}


@pytest.fixture
def run(environment, tmp_path):
    """Run a program, given by its path or its text, and return its status and its output."""

    def run(program, *options, checks=""):
        if not isinstance(program, Path):
            text, program = program, tmp_path / "program.py"
            program.write_text(text)
        changed = {**environment, "CUDA_EMULATOR_CHECK": checks} if checks else environment
        command = [sys.executable, *options, str(program)]
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=changed, timeout=600, cwd=tmp_path
        )
        return done.returncode, done.stdout

    return run


@pytest.mark.parametrize("checks", ["memory", "all"])
@pytest.mark.parametrize("name", sorted(path.stem for path in PROGRAMS.glob("*.py")))
def test_program_is_right(run, name, checks):
    status, output = run(PROGRAMS / f"{name}.py", checks=checks)
    assert status == 0, output


@pytest.mark.requires(distribution="torch")
@pytest.mark.parametrize("name", sorted(path.stem for path in TORCH_PROGRAMS.glob("*.py")))
def test_program_with_pytorch_is_right(run, name):
    status, output = run(TORCH_PROGRAMS / f"{name}.py", *EARLY, checks="all")
    assert status == 0, output


# A few of each kind: `python language.py` runs all, for two minutes.
FUNCTIONS = (
    "sin",
    "erf",
    "advance",  # until Triton 3.8
    "atomic_poll",  # from Triton 3.9
    "device_assert",
    "dot of bytes",
    "float8e5",
    "gather",
    "sort",
    "map_elementwise",
)


def test_functions_of_the_language_are_right(run):
    program = Path(__file__).with_name("language.py")
    text = f"import runpy, sys\nsys.argv[1:] = {FUNCTIONS}\nrunpy.run_path({str(program)!r}, run_name='__main__')\n"
    status, output = run(text)
    assert status == 0, output
    assert f"{len(FUNCTIONS) - 1} right, 0 not" in output


HEAD = """
import numpy as np, triton, triton.language as tl
from support.triton_tensors import empty, tensor, zeros
"""
MISTAKES = {
    "a missing mask": ("""
@triton.jit
def k(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i)  # here
    tl.store(o + i, v, mask=i < n)
x, o = np.ones(1000, np.float32), np.zeros(1000, np.float32)
k[(4,)](x, o, 1000, B=256)
""", "memory", "illegal address: load of .* just past the end of the 4000 bytes of registered host memory"),
    "overlapping programs": ("""
@triton.jit
def k(o, n, B: tl.constexpr):
    i = tl.program_id(0) * B // 2 + tl.arange(0, B)
    tl.store(o + i, tl.program_id(0) + 0 * i, mask=i < n)  # here
k[(4,)](zeros(1000, "int32"), 1000, B=256)
""", "races", "data race: store of"),
    "an unwritten sum": ("""
@triton.jit
def k(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(o + i, tl.load(x + i))  # here
k[(1,)](tensor(np.ones(256, np.float32)), empty(256), B=256)
""", "initialized", "uninitialized read"),
    "a wrong index in a function": ("""
@triton.jit
def gather(p, i):
    return tl.load(p + i)  # here
@triton.jit
def k(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, gather(x, 2 * i))
k[(1,)](tensor(np.ones(256, np.float32)), empty(256), B=256)
""", "memory", "illegal address: load of"),
    "a failed assertion": ("""
@triton.jit(debug=True)
def k(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.device_assert(tl.load(x + i) > 0, "must be positive")  # here
k[(1,)](zeros(256), B=256)
""", "memory", "(?s)assertion failed.*must be positive"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_reported_with_its_python_line(run, name):
    program, checks, report = MISTAKES[name]
    status, output = run(HEAD + program, checks=checks)
    assert status == 1
    assert re.search(report, output), output
    line = next(i for i, text in enumerate((HEAD + program).splitlines(), 1) if "# here" in text)
    assert re.search(rf"at \S*program\.py:{line} in k\b", output) or f"program.py:{line}:" in output, output
    assert "RuntimeError: the launch of k failed: CUDA_ERROR_" in output


ADD = """
import numpy as np, triton, triton.language as tl
@triton.jit
def double(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    if n > 2000:
        i += 1
    tl.store(x + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)
"""


REDUNDANT = """
@triton.jit
def k(x, y, B: tl.constexpr):
    for _ in range(3):
        tl.store(x, tl.load(x) + 1)  # every thread loads, and one stores
    i = tl.arange(0, B)
    tl.store(y + i, 2 * tl.load(y + i))  # by more threads than elements
x, y = zeros(1), tensor(np.ones(8, np.float32))
k[(1,)](x, y, B=8)
assert x.numpy() == 3 and (y.numpy() == 2).all()
"""
SHIFT = """
@triton.jit
def k(y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(y + i + 1))
k[(1,)](tensor(np.arange(513, dtype=np.float32)), B=512)
"""


def test_redundant_loads_are_no_races(run):
    status, output = run(HEAD + REDUNDANT, checks="races")
    assert status == 0, output


def test_loads_of_elements_of_other_threads_are_races(run):
    status, output = run(HEAD + SHIFT, checks="races")
    assert status == 1 and "data race" in output, output


def test_views_of_arrays_are_accepted(run):
    status, output = run(
        ADD
        + """
x = np.arange(1001, dtype=np.int64)
double[(4,)](x[1:], 1000, B=256)
assert x.tolist() == [2 * i for i in range(1001)]
wide = np.ones((4, 8), np.float16)
double[(1,)](wide[2], 8, B=8)
assert wide.sum(1).tolist() == [8, 8, 16, 8]
for _ in range(50):
    y = np.ones(5000, np.float32)
    double[(20,)](y, y.size, B=256)
import cuda.emulator, gc
del x, wide, y
gc.collect()  # Triton's compilations leave cycles
assert not [leak for leak in cuda.emulator.leaks() if "registered" in leak], cuda.emulator.leaks()
""",
        checks="memory,races,initialized",
    )
    assert status == 0, output


def test_fault_leaves_device_usable(run):
    status, output = run(
        ADD
        + """
x = np.ones(10, np.float32)
try:
    double[(1,)](x, 16, B=16)
except RuntimeError as error:
    assert "illegal address" in str(error) and "2 * tl.load" in str(error), error
x[:] = 1
double[(1,)](x, 10, B=16)
assert (x == 2).all()
"""
    )
    assert status == 0, output


def test_program_under_the_command_has_coverage_of_python_lines(run, tmp_path):
    status, output = run(ADD + "double[(2,)](np.ones(500), 500, B=256)\n", "-m", "cuda.emulator", "--coverage", "cover")
    assert status == 0, output
    rows = (tmp_path / "cover" / "kernels.info").read_text()
    assert f"SF:{tmp_path / 'program.py'}" in rows
    assert re.search(r"^DA:8,[1-9]", rows, re.M), rows


def test_plugin_runs_tests_of_kernels(run, environment, monkeypatch):
    monkeypatch.delitem(environment, "CUDA_CORE_DEVICE")
    test = ADD + "def test_double():\n    x = np.ones(8)\n    double[(1,)](x, {}, B=16)\n    assert (x == 2).all()\n"
    options = ("-m", "pytest", "-q", "-p", "cuda.emulator.pytest_plugin", "-p", "no:cacheprovider")
    options += ("--cuda-device=software", "--cuda-check=races")
    status, output = run(test.format(8), *options)
    assert status == 0, output
    status, output = run(test.format(9), *options)
    assert status == 1 and "just past the end of the 64 bytes" in output, output


def test_other_interface_of_triton_is_named(run):
    status, output = run(
        """
from triton import knobs
del type(knobs.runtime).add_stages_inspection_hook
import triton
triton.runtime.driver.active
"""
    )
    assert status == 1
    assert "RuntimeError: this version of Triton has no add_stages_inspection_hook" in output


def test_kernel_that_cannot_be_loaded_is_named(run):
    status, output = run(
        """
import numpy as np, triton, triton.language as tl
@triton.jit
def strange(x):
    tl.store(x, tl.inline_asm_elementwise("tcgen05.wait; mov.u32 $0, 1;", "=r", [], tl.int32, False, 1))
strange[(1,)](np.zeros(1, np.int32))
"""
    )
    assert status == 1
    assert "RuntimeError: loading the kernel strange: CUDA_ERROR_INVALID_PTX" in output
    assert "this is not supported by the software device: tcgen05.wait" in output


def test_memory_that_the_device_cannot_reach_is_named(run):
    status, output = run(
        ADD
        + """
class Wild:
    dtype = "float32"
    memory = np.ones(8, np.float32)
    def data_ptr(self):
        return self.memory.__array_interface__["data"][0]
double[(1,)](Wild(), 8, B=8)
"""
    )
    assert status == 1 and "not device memory: host memory, or a wild pointer" in output, output


def test_array_of_other_elements_is_rejected_by_their_name(run):
    status, output = run(ADD + "double[(1,)](np.zeros(8, np.complex64), 8, B=8)\n")
    assert status == 1 and "TypeError: Triton has no pointers to elements of complex64" in output, output


def test_grid_outside_the_limits_is_named(run):
    status, output = run(ADD + "double[(1, 70000)](np.zeros(8), 8, B=8)\n")
    assert status == 1 and "a launch of (1, 70000, 1) blocks of (128, 1, 1) threads is outside the limits" in output, (
        output
    )


def test_failed_call_of_driver_is_named(run):
    status, output = run(
        """
import triton
utils = triton.runtime.driver.active.utils
utils.fill_tma_descriptor_tiled(8, 0, 4, 7, [8], [8], [1], 0)  # not a multiple of 16
"""
    )
    assert status == 1 and "RuntimeError: cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE" in output, output


def test_device_is_activated_by_name(run, environment, monkeypatch):
    monkeypatch.delitem(environment, "CUDA_CORE_DEVICE")
    status, output = run(
        "import cuda.emulator.triton as device\ndevice.activate()\nassert dir(device) == ['activate']\n"
        + ADD
        + "x = np.ones(8)\ndouble[(1,)](x, 8, B=8)\nassert (x == 2).all()\n"
    )
    assert status == 0, output


@pytest.mark.requires(distribution="torch")
@pytest.mark.parametrize("bad", [False, True])
def test_unwritten_tensors_of_pytorch_are_known(run, bad):
    change = "" if bad else "double[(1,)](torch.ones_like(y), 8, B=8); fill[(1,)](y, B=8)\n"
    status, output = run(
        ADD
        + """
@triton.jit
def fill(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 2.0)
import torch
y = torch.empty(8, device="cuda")
"""
        + change
        + "double[(1,)](y, 8, B=8)\nassert (y == 4).all()\n",
        checks="initialized",
    )
    assert (status, "uninitialized read" in output) == ((1, True) if bad else (0, False)), output


@pytest.mark.requires(distribution="torch")
def test_tensors_of_pytorch_are_accepted(run):
    status, output = run(
        ADD
        + """
import torch
x = torch.ones(1000, device="cuda")
assert torch.cuda.is_available() and x.is_cuda
double[(4,)](x[:900], 900, B=256)
assert x.sum() == 1900
try:
    double[(4,)](x, 1001, B=256)
except RuntimeError as error:
    assert "just past the end of the 4000 bytes" in str(error), error
view = torch.empty(8, device="cuda")
view[:] = 3
double[(1,)](view, 8, B=8)
assert (view == 6).all()
event = torch.cuda.Event(enable_timing=True)
event.record()
assert x.to("cuda").cuda().data_ptr() == x.data_ptr() and event.elapsed_time(event) == 0
"""
    )
    assert status == 0, output


# How a kernel can get a new tensor: itself, a part or view of it, a descriptor, or its address.
WAYS = {
    "itself": ("fill[(1,)](x, 1.0, B=256)", "x"),
    "a view": ("fill[(1,)](x, 0.0, B=256); fill[(1,)](x.view(256), 1.0, B=256)", "x"),
    "another view": ("fill[(1,)](x.view(256), 1.0, B=256)", "x.detach()"),
    "a part": ("fill[(1,)](x[8:], 1.0, B=128)", "x[8:]"),
    "a descriptor": ("fill_tile[(1,)](TensorDescriptor.from_tensor(x, [16, 16]))", "x"),
    "an address": ("fill_there[(1,)](torch.tensor([x.data_ptr()]), B=256)", "x"),
    "an array": ("fill[(1,)](x, 0.0, B=256); x.numpy()[:] = 1", "x"),
    "a copy": ("x.copy_(torch.ones(16, 16))", "x"),
}


@pytest.mark.requires(distribution="torch")
def test_new_tensor_of_pytorch_is_written_in_every_way(run):
    status, output = run(
        """
import threading, torch, triton, triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor
@triton.jit
def fill(x, value, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), value)
@triton.jit
def fill_tile(x):
    x.store([0, 0], tl.full((16, 16), 1.0, tl.float32))
@triton.jit
def fill_there(address, B: tl.constexpr):
    fill(tl.load(address).to(tl.pointer_type(tl.float32)), 1.0, B)
@triton.jit
def add(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) + 1)
def test(name, write, read):
    x = torch.empty(16, 16, device="cuda")
    exec(write, globals(), {"x": x})
    given = eval(read, {"x": x})
    y = torch.empty(given.numel(), device="cuda")
    add[(1,)](given, y, B=given.numel())
    assert (y == 2).all(), (name, y)
    passed.append(name)
passed = []
"""
        + f"WAYS = {WAYS!r}\n"
        + """
for name, way in WAYS.items():
    test(name, *way)
torch.empty(8, device="meta"), torch.empty(0), torch.empty(8, 8, layout=torch.sparse_coo)  # have no memory
thread = threading.Thread(target=test, args=("a thread", *WAYS["itself"]))
thread.start()
thread.join()
assert passed == [*WAYS, "a thread"], passed
x, y = torch.empty(16, device="cuda"), torch.empty(16, device="cuda")
fill[(1,)](x, 1.0, B=8)
add[(1,)](x, y, B=16)
""",
        *EARLY,
        checks="initialized",
    )
    assert status == 1 and "uninitialized read: load of 4 bytes" in output, output
    assert re.search(r"at offset 32 in the 64 bytes of device memory", output), output


@pytest.mark.requires(distribution="torch")
def test_tensors_of_pytorch_are_made_in_a_backward(run):
    status, output = run(
        ADD
        + """
import torch
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return 2 * x
    @staticmethod
    def backward(ctx, slope):
        out = torch.ones(8, device="cuda")
        double[(1,)](out, 8, B=8)
        return out * slope.to("cuda")
x = torch.ones(8, device="cuda", requires_grad=True)
Double.apply(x).sum().backward()
assert (x.grad == 2).all(), x.grad
""",
        *EARLY,
    )
    assert status == 0, output
