# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: each run of pytest here tests a small suite in a child process."""

import os
import re
import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from support.paths import PAGES

pytestmark = pytest.mark.requires(software=True)

SUITE = '''
import gc
import numpy as np
import pytest
from cuda.core import CUDAError, Device, LaunchConfig, Program, launch

SOURCE = """
extern "C" __global__ void store(int* p, int i) { p[i] = 1; }
extern "C" __global__ void append(int* list, int value) { list[1 + list[0]] = value; list[0] += 1; }
"""
kept = []

@pytest.fixture(scope="module")
def kernel():
    Device(0).set_current()
    return Program(SOURCE, "c++").compile("cubin").get_kernel

@pytest.fixture(scope="module")
def shared_buffer():
    device = Device(0)
    device.set_current()
    buffer = device.allocate(400, stream=device.default_stream)
    yield buffer
    buffer.close()

def store(stream, kernel, buffer, index):
    launch(stream, LaunchConfig(grid=1, block=1), kernel("store"), buffer, np.int32(index))
'''

FAULTS = (
    SUITE
    + """
def test_reported(cuda_stream, kernel, shared_buffer):
    store(cuda_stream, kernel, shared_buffer, 100)
    with pytest.raises(CUDAError):
        cuda_stream.sync()

def test_unreported(cuda_stream, kernel, shared_buffer):
    store(cuda_stream, kernel, shared_buffer, 100)

def test_raised(cuda_stream, kernel, shared_buffer):
    store(cuda_stream, kernel, shared_buffer, 100)
    cuda_stream.sync()

def test_after(cuda_device, cuda_stream, kernel, shared_buffer):
    assert cuda_device.device_id == 0
    store(cuda_stream, kernel, shared_buffer, 99)
    cuda_stream.sync()
"""
)

LEAKS = (
    SUITE
    + """
def test_leak(cuda_device, cuda_stream):
    kept.append(cuda_device.allocate(48, stream=cuda_stream))

def test_collected(cuda_device, cuda_stream):
    buffer = cuda_device.allocate(48, stream=cuda_stream)
    cycle = [buffer]
    cycle.append(cycle)

def test_closed(cuda_device, cuda_stream):
    with cuda_device.allocate(48, stream=cuda_stream) as buffer:
        buffer.fill(0, stream=cuda_stream)

def test_shared(shared_buffer, cuda_stream):
    shared_buffer.fill(0, stream=cuda_stream)

def test_failed(cuda_device, cuda_stream):
    buffer = cuda_device.allocate(48, stream=cuda_stream)
    assert False
"""
)

SHUFFLED = (
    SUITE
    + """
@pytest.mark.parametrize("ordered", [True, False])
def test_order(cuda_device, kernel, ordered):
    first, second = cuda_device.create_stream(), cuda_device.create_stream()
    with cuda_device.allocate(64, stream=first) as data:
        data.fill(0, stream=first)
        first.sync()
        for value, stream in ((1, first), (2, second)):
            launch(stream, LaunchConfig(grid=1, block=1), kernel("append"), data, np.int32(value))
            if ordered:
                second.wait(first)
        second.sync()
        first.sync()
        out = np.zeros(16, np.int32)
        data.copy_to(out, stream=first)
        first.sync()
    first.close()
    second.close()
    assert out[1:3].tolist() == [1, 2]
"""
)

FIXTURES = """
from cuda.core import Device
def test_device(cuda_device, cuda_stream):
    assert Device().device_id == cuda_device.device_id == cuda_stream.device.device_id == 0
"""


@pytest.fixture
def run(tmp_path):
    def run(suite, *options, device=None):
        (tmp_path / "test_suite.py").write_text(suite)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        for name in (
            "CUDA_CORE_DEVICE",
            "CUDA_EMULATOR_CHECK",
            "CUDA_EMULATOR_TIME_LIMIT",
            "PYTEST_ADDOPTS",
            "PYTEST_XDIST_WORKER",
            "CI",  # with which pytest repeats whole errors in its summary
            "BUILD_NUMBER",
        ):
            environment.pop(name, None)
        if device:
            environment["CUDA_CORE_DEVICE"] = device
        plugins = ["-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist"]
        if not entry_points(group="pytest11", name="cuda-emulator"):  # not installed, but built in place
            plugins += ["-p", "cuda.emulator.pytest_plugin"]
        command = [sys.executable, "-m", "pytest", *plugins, "-rA", "-c", os.devnull, "--rootdir", ".", *options]
        command.append("test_suite.py")
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=120)
        text = done.stdout + done.stderr
        lines = re.findall(r"^(PASSED|FAILED|ERROR) test_suite.py::(\S+)", text, re.MULTILINE)
        return text, {name: result.lower() for result, name in lines}  # an error of a teardown comes last

    return run


def test_faulty_test_does_not_spoil_the_next(run):
    text, results = run(FAULTS, "--cuda-device=software")
    assert results == {
        "test_reported": "passed",
        "test_unreported": "failed",
        "test_raised": "failed",
        "test_after": "passed",
    }, text
    assert "a kernel had a fault, and the test did not wait for it:" in text
    assert re.search(r"just past the end of the 400 bytes .*, at test_suite.py:22", text), text
    assert "cuda: the software device, checks: memory" in text


def test_leaking_test_fails_with_place(run):
    text, results = run(LEAKS, "--cuda-device=software")
    assert {name for name, result in results.items() if result == "error"} == {"test_leak"}, text
    assert results["test_failed"] == "failed"
    passed = {name for name, result in results.items() if result == "passed"}
    assert passed == {"test_collected", "test_closed", "test_shared"}
    place = LEAKS[: LEAKS.index("kept.append(")].count("\n") + 1
    assert re.search(rf"did not release:\n.*device memory 0x\w+ of 48 bytes \(.*, at test_suite.py:{place}\)", text), (
        text
    )


def test_shuffled_tests_name_the_seed(run):
    text, results = run(SHUFFLED, "--cuda-shuffle=6")
    ordered = {result for name, result in results.items() if "True" in name}
    other = {name: result for name, result in results.items() if "False" in name}
    assert ordered == {"passed"} and set(other.values()) == {"passed", "failed"}, text
    failed = sorted(name for name, result in other.items() if result == "failed")
    assert all(re.search(r"seed\d", name) for name in failed)
    again = run(SHUFFLED, "--cuda-shuffle=6", "-k", "False")[1]
    assert sorted(name for name, result in again.items() if result == "failed") == failed


def test_checks_are_passed_on(run):
    text, results = run(FIXTURES, "--cuda-device=software", "--cuda-check=none")
    assert "checks: none" in text
    assert results == {"test_device": "passed"}


def test_software_device_options_select_it(run):
    text, results = run(FIXTURES, "--cuda-device=auto", "--cuda-check=memory,races,initialized,sync")
    assert "cuda: the software device, checks: memory,races,initialized,sync" in text
    assert results == {"test_device": "passed"}, text


def test_without_options_the_plugin_is_off(run):
    text, results = run(LEAKS.replace("assert False", ""), device="software")
    assert set(results.values()) == {"passed"}, text
    assert "cuda:" not in text


def test_hardware_has_the_fixtures(run):
    text, _ = run(FIXTURES, "--cuda-device=hardware", device="software")
    assert "cuda: a GPU" in text


def test_auto_uses_the_software_device_without_a_gpu(run):
    text, results = run(FIXTURES, "--cuda-device=auto")
    assert results == {"test_device": "passed"}, text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cuda-device=hardware", "--cuda-shuffle=2"], "need the software device, not --cuda-device=hardware"),
        (
            ["--cuda-check=memory,speed"],
            "CUDA_EMULATOR_CHECK=memory,speed is not valid: it must be none, all, or a list of",
        ),
        (["--cuda-shuffle=-1"], "must be an int of 1 or more, not '-1'"),
        (["--cuda-shuffle=many"], "must be an int of 1 or more, not 'many'"),
        (["--cuda-device=toaster"], "invalid choice: 'toaster'"),
        (["--cuda-time-limit=-1"], "must be a number of seconds from 0 to 1000000000, not '-1'"),
        (["--cuda-time-limit=long"], "must be a number of seconds from 0 to 1000000000, not 'long'"),
        (["--cuda=software"], "ERROR: the option --cuda is now --cuda-device\n"),
        (["--cuda", "software"], "ERROR: the option --cuda is now --cuda-device\n"),
    ],
)
def test_contradictory_options_are_rejected(run, options, message):
    assert message in run(FIXTURES, *options)[0]


FOREIGN_OPTION = """
def pytest_addoption(parser):
    parser.addoption("--cuda", {})
"""
FOREIGN_TEST = """
def test_option(request):
    import sys
    assert (request.config.getoption("--cuda"), "cuda.core" in sys.modules) == ({!r}, False)
"""


@pytest.mark.parametrize(
    ("definition", "options", "value"),
    [
        ("action='store_true'", [], False),
        ("action='store_true'", ["--cuda"], True),
        ("default='none'", ["--cuda=all"], "all"),
        ("default='none'", ["--cuda", "all"], "all"),
    ],
)
def test_project_with_an_option_of_its_own_notices_nothing(run, tmp_path, definition, options, value):
    (tmp_path / "conftest.py").write_text(FOREIGN_OPTION.format(definition))
    text, results = run(FOREIGN_TEST.format(value), *options)
    assert results == {"test_option": "passed"}, text
    assert "cuda: " not in text


def test_project_can_use_its_option_and_those_of_the_plugin(run, tmp_path):
    (tmp_path / "conftest.py").write_text(FOREIGN_OPTION.format("default='none'"))
    suite = FIXTURES + "\ndef test_option(request):\n    assert request.config.getoption('--cuda') == 'all'\n"
    text, results = run(suite, "--cuda=all", "--cuda-device=software")
    assert set(results.values()) == {"passed"} and len(results) == 2, text


def test_plugin_needs_no_cuda_core(run):
    suite = (
        "import sys\nfrom cuda.bindings import driver\n"
        "def test_driver():\n    assert driver.cuInit(0)[0] == 0 and 'cuda.core' not in sys.modules\n"
    )
    text, results = run(suite, "--cuda-device=auto")
    assert results == {"test_driver": "passed"}, text


ENDLESS = """
import os
from cuda.core import Device, LaunchConfig, Program, launch
def test_limit():
    print("limit", os.environ["CUDA_EMULATOR_TIME_LIMIT"])
def test_endless(cuda_stream):
    source = 'extern "C" __global__ void f() { while (true) __nanosleep(100); }'
    launch(cuda_stream, LaunchConfig(grid=1, block=1), Program(source, "c++").compile("cubin").get_kernel("f"))
    cuda_stream.sync()
"""


def test_kernels_have_a_time_limit(run):
    text, results = run(ENDLESS, "--cuda-time-limit=0.3", "--cuda-device=software")
    assert results == {"test_limit": "passed", "test_endless": "failed"}, text
    assert "time limit exceeded" in text
    assert "limit 60\n" in run(ENDLESS, "--cuda-device=software", "-k", "test_limit")[0]


def test_failure_names_checks_and_seed_and_has_one_report(run):
    suite = SUITE + "def test_wild(cuda_stream, kernel, shared_buffer):\n"
    suite += "    store(cuda_stream, kernel, shared_buffer, 100)\n    cuda_stream.sync()\n"
    text, _ = run(suite, "--cuda-check=memory,races", "--cuda-shuffle=1")
    assert "- software device -" in text
    assert "\nchecks: memory,races, seed: 1\n" in text
    assert text.count("just past the end of the 400 bytes") == 1, text


@pytest.mark.requires(pages=True)
def test_example_of_the_guide_passes(run):
    text = (PAGES / "guide" / "testing.md").read_text()
    example = next(block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "cuda_device" in block)
    text, results = run(example, "--cuda-device=software")
    assert results == {"test_scale": "passed"}, text


def test_coverage_of_kernels_is_written(run, tmp_path):
    suite = (
        SUITE
        + """
def test_stored(cuda_stream, kernel, shared_buffer):
    store(cuda_stream, kernel, shared_buffer, 3)
    cuda_stream.sync()
"""
    )
    out, _ = run(suite, "--cuda-coverage=lines")
    assert "cuda: 1 of 2 lines of kernels ran; see lines/index.html" in out
    assert "DA:2,1" in (tmp_path / "lines" / "kernels.info").read_text()
    out, _ = run(suite, "--cuda-coverage=lines")
    assert "DA:2,1" in (tmp_path / "lines" / "kernels.info").read_text()  # a new run starts from zero


@pytest.mark.requires(module="xdist")
def test_coverage_adds_up_the_workers_of_xdist(run, tmp_path):
    suite = (
        SUITE
        + """
@pytest.mark.parametrize("number", range(6))
def test_stored(cuda_stream, kernel, shared_buffer, number):
    store(cuda_stream, kernel, shared_buffer, 3)
    cuda_stream.sync()
"""
    )
    out, results = run(suite, "-p", "xdist", "-n", "2", "--cuda-coverage=lines")
    assert len(results) == 6 and set(results.values()) == {"passed"}, out
    assert "DA:2,6" in (tmp_path / "lines" / "kernels.info").read_text()
