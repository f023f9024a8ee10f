# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The modules that a program loads: hardly any on import, and only what it uses for its first kernel."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cuda.core
from cuda.core import _memory, utils

ROOT = Path(__file__).resolve().parents[2]
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


def test_import_loads_hardly_any_module():
    code = "import os; os.environ['CUDA_CORE_DEVICE'] = 'hardware'; import cuda.core"
    allowed = {
        "_utils",
        "_utils.completer",
        "_utils.device_choice",
        "_version",
    }
    names = loaded(code) - {"cuda", "cuda.core", "__future__", "_imp"}
    assert {name for name in names if not name.startswith("importlib")} <= {f"cuda.core.{name}" for name in allowed}


@pytest.mark.requires(device=True, cuda=(13, 0))
def test_first_device_loads_only_lower_modules():
    names = {name.removeprefix("cuda.core.") for name in loaded("import cuda.core; cuda.core.Device().set_current()")}
    assert "_device" in names
    assert {name for name in names if name.startswith("_memory.")} == {
        "_memory._buffer",
        "_memory._copies",
        "_memory._copy_enums",
        "_memory._copy_options",
        "_memory._memory_resource",
    }
    others = (
        "_arrays._importers",
        "_compile",
        "_graphics",
        "_linker",
        "_module",
        "driver",
        "graph",
        "system",
        "texture",
    )
    assert not any(name.startswith(others) for name in names)
    assert names & (SLOW | {"threading", "queue"}) == set()


@pytest.mark.requires(device=True, nvrtc=True, nvrtc_path=True, source=True, cuda=(13, 0))
def test_first_kernel_loads_no_slow_module():
    names = loaded(f"exec(open({str(PROGRAM)!r}).read())")
    assert "cuda.core._launcher" in names
    assert names & SLOW == set()
    assert not any(name.startswith("cuda.core._compile.cache") for name in names)


@pytest.mark.requires(device=True, nvrtc=True, nvrtc_path=True, source=True, cuda=(13, 0))
def test_first_kernel_from_cached_files_loads_no_slow_module(tmp_path):
    for _ in range(2):
        names = loaded(f"exec(open({str(PROGRAM)!r}).read())", str(tmp_path))
    # Names of cached files are digests.
    assert names & (SLOW - {"hashlib"} | {"threading", "queue"}) == set()


@pytest.mark.parametrize(("package", "known"), [(cuda.core, "Buffer"), (_memory, "Buffer"), (utils, "copy_batch")])
def test_names_of_a_package_become_its_attributes(package, known):
    assert known in package.__all__
    for name in package.__all__:
        assert getattr(package, name) is vars(package)[name]
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nothing'"):
        _ = package.nothing
    namespace = {}
    exec(f"from {package.__name__} import *", namespace)
    assert set(package.__all__) <= set(namespace)
    assert set(package.__all__) <= set(dir(package))


@pytest.mark.parametrize(
    ("package", "name", "like"),
    [
        ("cuda.core", "lanch", "launch"),
        ("cuda.core", "device", "Device"),
        ("cuda.core.utils", "copybatch", "copy_batch"),
    ],
)
def test_python_suggests_the_right_spelling_of_a_name(package, name, like):
    statement = f"import {package}\n{package}.{name}"
    done = subprocess.run([sys.executable, "-c", statement], capture_output=True, text=True, timeout=60)
    # Python 3.15 writes "Did you mean '.launch' instead of '.lanch'?"
    assert re.search(rf"Did you mean:? '\.?{like}'( instead of '\.{name}')?\?\n$", done.stderr)
    assert not hasattr(sys.modules[package], name)


@pytest.mark.parametrize("name", ["lanch", "__wrapped__", "Zeppelin"])
def test_import_of_an_unknown_name_fails_as_usual(name):
    with pytest.raises(ImportError, match=f"cannot import name '{name}' from 'cuda.core' \\("):
        exec(f"from cuda.core import {name}")


def test_memory_names_match_the_package():
    assert set(_memory.__all__) < set(cuda.core.__all__)
    assert _memory.ManagedMemoryResource is cuda.core.ManagedMemoryResource


def test_front_modules_are_attributes_without_an_import():
    for name in ("_device", "_memory", "_memoryview", "_program", "graph", "texture", "typing"):
        assert getattr(cuda.core, name) is sys.modules[f"cuda.core.{name}"]


def test_threads_may_be_the_first_to_use_a_name_at_the_same_time():
    code = (
        "import threading, cuda.core as c, cuda.core._memory as m\nseen = []\nbarrier = threading.Barrier(8)\n"
        "def look():\n    barrier.wait()\n"
        "    seen.append((c.Buffer, m.ManagedMemoryResource, m.register_host_memory, c.graph.Graph, c.Linker))\n"
        "threads = [threading.Thread(target=look) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]; print(len(seen), len(set(seen)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["8", "1"], done.stderr


HIT = """
import sys
from cuda.core import Program, ProgramOptions
from cuda.core.utils import FileStreamProgramCache
with Program('extern "C" __global__ void f() {}', "c++", ProgramOptions(arch="sm_90")) as program:
    assert program.compile("cubin", cache=FileStreamProgramCache(sys.argv[1])).code
    print("libnvrtc.so" in open("/proc/self/maps").read())
"""


@pytest.mark.requires(nvrtc=True, nvrtc_path=True, software=False)
def test_cache_hit_does_not_load_nvrtc(tmp_path):
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "records")}
    command = [sys.executable, "-P", "-c", HIT, str(tmp_path / "programs")]
    done = [subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60) for _ in range(2)]
    assert [(one.stdout.split(), one.stderr) for one in done] == [(["True"], ""), (["False"], "")]
