# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What is said about a fault, where, and how often; known findings, and several of one launch."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cuda.emulator._findings import write_findings

pytestmark = pytest.mark.requires(software=True)

KERNEL = """
extern "C" __global__ void k(int* x)
{
    __shared__ int a[64];
    a[threadIdx.x] = threadIdx.x;
    x[threadIdx.x] = a[63 - threadIdx.x];
    x[200] += threadIdx.x;
}
"""
PROGRAM = """
import ctypes
import sys
sys.path[:0] = {path!r}
from support.compiled import Program
from support.driver import Driver

driver = Driver()
driver.cuInit(0)
driver.cuCtxCreate(None, 0, 0)
library = driver.cuLibraryLoadData(Program({kernel!r}, "-arch=sm_90", name="k.cu").image, [], [], 0, [], [], 0)
kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(library, b"k")))
arguments = ((int(driver.cuMemAlloc(4000)),), (ctypes.c_void_p,))
driver.cuLaunchKernel(kernel, 1, 1, 1, {threads}, 1, 1, 0, driver.CUstream(0), arguments, 0)
{then}
"""
WAIT = "print(driver.raw.cuCtxSynchronize()[0].name)"
READ_THE_LOG = """
size = 25600
text = bytes(size)
print(driver.raw.cuLogsDumpToMemory(None, text, size, 0)[0].name, b"illegal address" in text)
"""


@pytest.fixture
def run(tmp_path):
    def run(*options, kernel=KERNEL, threads=64, then=WAIT, **variables):
        program = tmp_path / "program.py"
        program.write_text(PROGRAM.format(path=sys.path, kernel=kernel, threads=threads, then=then))
        environment = {**os.environ, **{f"CUDA_EMULATOR_{key}": str(value) for key, value in variables.items()}}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        command = [sys.executable, "-m", "cuda.emulator", *options, str(program)]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100, cwd=tmp_path)

    return run


WILD = 'extern "C" __global__ void k(int* x) { x[threadIdx.x + 5000] = 1; }'


def test_report_that_nobody_reads_is_printed_once(run):
    for then in (WAIT, WAIT + "\nfor _ in range(3): driver.raw.cuCtxGetDevice()", "pass"):
        report = run(kernel=WILD, then=then).stderr
        assert report.count("illegal address") == 1, report
        assert "at k.cu:1 in k" in report


def test_report_that_was_read_from_the_log_is_not_printed(run):
    done = run(kernel=WILD, then=WAIT + READ_THE_LOG + "driver.raw.cuCtxGetDevice()")
    assert (done.stdout, done.stderr) == ("CUDA_ERROR_ILLEGAL_ADDRESS\nCUDA_SUCCESS True\n", "")


def test_report_goes_to_listeners_alone(run):
    then = """
kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
heard = []
listener = kind(lambda data, level, text, size: heard.append(ctypes.string_at(text, size)))
driver.cuLogsRegisterCallback(driver.CUlogsCallback(ctypes.cast(listener, ctypes.c_void_p).value), 0)
"""
    done = run(kernel=WILD, then=then + WAIT + "\ndriver.raw.cuCtxGetDevice()\nprint(len(heard))")
    assert done.stderr == "" and done.stdout.splitlines()[0] == "CUDA_ERROR_ILLEGAL_ADDRESS", done.stdout


@pytest.mark.parametrize("check", ["memory", "races"])
def test_fault_in_printf_has_a_line(run, check):
    kernel = 'extern "C" __global__ void k(int* x)\n{\n    printf("%s\\n", (char*)1);\n}'
    report = run(kernel=kernel, CHECK=check).stderr
    assert "illegal address: access at 0x1" in report
    assert "at k.cu:3 in k" in report


@pytest.mark.parametrize("body", ["while (*(volatile int*)x != 7);", "while (true) __nanosleep(100);"])
def test_time_limit_has_a_line(run, body):
    kernel = f'extern "C" __global__ void k(int* x)\n{{\n    {body}\n}}'
    done = run(kernel=kernel, threads=1, TIME_LIMIT=0.3)
    assert done.stdout == "CUDA_ERROR_LAUNCH_TIMEOUT\n"
    assert "at k.cu:3 in k" in done.stderr


def test_report_of_many_waiting_threads_is_short(run):
    cases = "\n".join(f"    case {i}: __syncwarp(1u << {i} | 1u << 31); break;" for i in range(20))
    kernel = f'extern "C" __global__ void k(int* x)\n{{\n    switch (threadIdx.x) {{\n{cases}\n    case 31: return;\n'
    kernel += "    default: __syncthreads();\n    }\n}"
    report = run(kernel=kernel.replace("case 31: return;", "case 31: __syncthreads();"), threads=32).stderr
    assert "deadlock" in report
    assert re.search(r"and others at \d+ more places", report), report
    assert len(report.splitlines()) <= 12, report


def test_keep_going_reports_several_findings(run):
    found = {n: run(CHECK="races,initialized", KEEP_GOING=n) for n in (1, 2, 20)}
    assert [done.stderr.count("see errors#") for done in found.values()][:2] == [1, 2]
    assert {done.stdout for done in found.values()} == {"CUDA_ERROR_LAUNCH_FAILED\n"}
    places = re.findall(r"(\w+ \w+): (?:load|store).*?errors#", found[20].stderr, re.DOTALL)
    assert {"uninitialized read", "data race"} == set(places)
    assert found[20].stderr.count("see errors#") == len(set(found[20].stderr.split("see errors#"))) - 1


def test_suppressed_findings_do_not_end_the_kernel(run, tmp_path):
    known = tmp_path / "known.txt"
    known.write_text("# of this test\n\ndata-race k.cu:5  # a\ndata-race k.cu:6 # b\ndata-race k.cu:7 # c\n")
    done = run("--report", "found.json", CHECK="races", SUPPRESS=known)
    assert (done.stdout, done.stderr) == ("CUDA_SUCCESS\n", "")
    found = json.loads((tmp_path / "found.json").read_text())
    assert {row["reason"] for row in found} == {"a", "b", "c"}
    known.write_text("data-race other.cu # a\ndata-race k.cu:4 # b\n")
    assert run(CHECK="races", SUPPRESS=known).stdout == "CUDA_ERROR_LAUNCH_FAILED\n"


@pytest.mark.parametrize(
    "line", ["data-race k.cu", "data-race k.cu #", "illegal-address k.cu # why", "data-race # why", "data-race a b # c"]
)
def test_known_finding_needs_kind_place_and_reason(run, tmp_path, line):
    known = tmp_path / "known.txt"
    known.write_text(f"\n{line}\n")
    done = run(SUPPRESS=known)
    form = "line 2 must be data-race or uninitialized-read, FILE or FILE:LINE, and # with the reason"
    assert done.stderr == f"python -m cuda.emulator: CUDA_EMULATOR_SUPPRESS={known} is not valid: {form}\n"


def test_file_of_known_findings_must_exist(run):
    done = run(SUPPRESS="nowhere.txt")
    assert "CUDA_EMULATOR_SUPPRESS=nowhere.txt is not valid: the file cannot be read" in done.stderr


def test_sarif_names_rule_place_and_reason(run, tmp_path):
    known = tmp_path / "known.txt"
    known.write_text("uninitialized-read k.cu # later\n")
    run("--check", "races,initialized", "--report", "found.sarif", SUPPRESS=known, KEEP_GOING=20)
    data = json.loads((tmp_path / "found.sarif").read_text())
    assert (data["version"], data["$schema"].rpartition("/")[2]) == ("2.1.0", "sarif-2.1.0.json")
    (one,) = data["runs"]
    rules = [rule["id"] for rule in one["tool"]["driver"]["rules"]]
    assert rules == ["data-race", "uninitialized-read"]
    for result in one["results"]:
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "k.cu" and place["region"]["startLine"] in (5, 6, 7)
        assert rules[result["ruleIndex"]] == result["ruleId"] and result["level"] == "error"
        assert result["message"]["text"].startswith("kernel k: ")
        is_known = result["ruleId"] == "uninitialized-read"
        assert result.get("suppressions") == ([{"kind": "external", "justification": "later"}] if is_known else None)


def test_sarif_names_files_by_valid_uris(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    row = {"kind": "trap", "kernel": "k", "line": 1, "block": [0] * 3, "thread": [0] * 3, "text": "", "reason": ""}
    files = ["sub dir/k.cu", str(tmp_path / "k#1.cu"), "/other/my k.cu", "../k.cu", "default_program"]
    write_findings([{**row, "file": file, "count": 1} for file in files], "found.sarif")
    results = json.loads(Path("found.sarif").read_text())["runs"][0]["results"]
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in results]
    outside = (tmp_path.parent / "k.cu").as_uri()
    assert places == ["sub%20dir/k.cu", "k%231.cu", "file:///other/my%20k.cu", outside, "default_program"]


def test_report_of_a_program_without_findings_is_empty(run, tmp_path):
    kernel = 'extern "C" __global__ void k(int* x) { x[threadIdx.x] = 1; }'
    assert run("--report", "found.sarif", kernel=kernel).stdout == "CUDA_SUCCESS\n"
    assert json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"] == []


def test_findings_that_cannot_be_written_are_reported(run):
    assert "the findings cannot be written to /nowhere/" in run(kernel=WILD, REPORT="/nowhere").stderr
