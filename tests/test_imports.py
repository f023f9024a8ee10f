# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The modules that a program loads: hardly any at the import, and for its first kernel only those that it uses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = ROOT / "benchmarks" / "first_result" / "program.py"
SHOW = "import sys; print(*sorted(sys.modules))"
# These take milliseconds to import, and a first kernel does not need them.
SLOW = {
    "cuda.bindings",
    "cuda.pathfinder",
    "difflib",
    "hashlib",
    "html",
    "importlib.metadata",
    "json",
    "multiprocessing",
    "subprocess",
    "tempfile",
    "uuid",
}


def loaded(code: str, *arguments: str) -> set[str]:
    """Return the modules that some code loads."""
    command = [sys.executable, "-P", "-c", f"import numpy\n{SHOW}\n{code}\n{SHOW}", *arguments]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    before, after = done.stdout.splitlines()
    return set(after.split()) - set(before.split())


def test_the_import_loads_only_the_modules_that_defer_the_others():
    code = "import os; os.environ['CUDA_CORE_DEVICE'] = 'hardware'; import cuda.core"
    allowed = {
        "_utils",
        "_utils.completer",
        "_utils.importing",
        "_utils.importing.deferred",
        "_utils.importing.unbuilt",
        "_utils.device_choice",
        "_version",
    }
    names = loaded(code) - {"cuda", "cuda.core", "__future__", "_imp"}
    assert {name for name in names if not name.startswith("importlib")} <= {f"cuda.core.{name}" for name in allowed}


@pytest.mark.requires(device=True, nvrtc=True, source=True)
def test_a_first_kernel_loads_no_slow_module():
    names = loaded(f"exec(open({str(PROGRAM)!r}).read())")
    assert "cuda.core._launcher" in names
    assert names & SLOW == set()
    assert not any(name.startswith("cuda.core._compile.cache") for name in names)


@pytest.mark.requires(device=True, nvrtc=True, source=True)
def test_a_first_kernel_from_cached_files_loads_no_slow_module(tmp_path):
    for _ in range(2):
        names = loaded(f"exec(open({str(PROGRAM)!r}).read())", str(tmp_path))
    assert names & (SLOW | {"threading", "queue"}) == {"hashlib"}  # the files are named by digests


HIT = """
import sys
from cuda.core import Program, ProgramOptions
from cuda.core.utils import FileStreamProgramCache
with Program('extern "C" __global__ void f() {}', "c++", ProgramOptions(arch="sm_90")) as program:
    assert program.compile("cubin", cache=FileStreamProgramCache(sys.argv[1])).code
    print("libnvrtc.so" in open("/proc/self/maps").read())
"""


@pytest.mark.requires(nvrtc=True, software=False)
def test_a_cache_hit_does_not_load_nvrtc(tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "records")}
    command = [sys.executable, "-P", "-c", HIT, str(tmp_path / "programs")]
    done = [subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60) for _ in range(2)]
    assert [(one.stdout.split(), one.stderr) for one in done] == [(["True"], ""), (["False"], "")]
