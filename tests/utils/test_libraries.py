# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The driver and NVRTC are found without ``cuda.pathfinder`` in the usual places, and by it elsewhere."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Hides the driver, even if there is one.
NO_DRIVER = """
import cuda.core as c, cuda.core._utils.libraries as libraries
class NotFound(RuntimeError): pass
def search(name):
    raise NotFound(name)
libraries._DRIVER, libraries._search = "libnothing.so.1", search
"""


def run(code: str, **variables: str) -> str:
    environment = os.environ | {"CUDA_CORE_DEVICE": "hardware"} | variables
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("module", ["cuda.pathfinder", "rlcompleter", "cuda.bindings"])
def test_package_import_does_not_import(module):
    code = f"import sys; known = set(sys.modules); import cuda.core; print({module!r} in set(sys.modules) - known)"
    assert run(code) == "False"


@pytest.mark.requires(nvidia_compiler=True)
def test_compiler_is_the_one_that_the_whole_search_finds():
    code = (
        "from cuda.core._utils import libraries\n"
        "from cuda.pathfinder import load_nvidia_dynamic_lib as load\n"
        "searched = load('nvrtc').abs_path; print(libraries.nvrtc(False) or searched, searched)"
    )
    found, searched = run(code).split()
    assert found == searched


def test_compiler_in_another_place_is_searched():
    code = (
        "import sys, types\nfrom cuda.core._utils import libraries\n"
        "load = lambda name: types.SimpleNamespace(abs_path=f'found-{name}')\n"
        "sys.modules['cuda.pathfinder'] = types.SimpleNamespace(load_nvidia_dynamic_lib=load)\n"
        "sys.path[:] = []\n"
        "print([libraries.nvrtc(False), libraries.nvrtc(True), libraries.driver(True), libraries.driver(False)])"
    )
    assert run(code) == "['', 'found-nvrtc', 'found-cuda', 'libcuda.so.1']"


def test_found_library_that_cannot_be_opened_is_named():
    code = NO_DRIVER + (
        "libraries._search = lambda name: '/nowhere/libcuda.so.1'\n"
        "try: c.Device()\nexcept RuntimeError as e: print('/nowhere/libcuda.so.1' in str(e))"
    )
    assert run(code) == "True"


@pytest.mark.parametrize(
    "call",
    [
        "c.Device()",
        "c.Stream.from_handle(16).sync()",
        "c.LEGACY_DEFAULT_STREAM.sync()",
        "c.LEGACY_DEFAULT_STREAM.is_done",
        "c.LEGACY_DEFAULT_STREAM.record()",
        "c.LEGACY_DEFAULT_STREAM.priority",
        "c.Program('', 'c++')",
        "c.LegacyPinnedMemoryResource().allocate(8)",
        "c.DeviceMemoryResource(0)",
        "c.Buffer.from_handle(4096, 16).fill(0, stream=c.LEGACY_DEFAULT_STREAM)",
        "c.ObjectCode.from_cubin(b'x').get_kernel('f')",
    ],
)
def test_missing_driver_is_one_plain_error_for_any_first_call(call):
    code = NO_DRIVER + (
        f"try: {call}\n"
        "except RuntimeError as e:\n"
        "    is_chained = e.__cause__ is not None or not (e.__suppress_context__ or e.__context__ is None)\n"
        "    print(type(e).__name__, 'install the NVIDIA display driver' in str(e), is_chained)"
    )
    assert run(code) == "NotFound True False"


@pytest.mark.requires(software=True)
def test_functions_missing_from_the_driver_raise_when_called(tmp_path):
    # A driver with no function but cuInit.
    source, library = tmp_path / "old.c", tmp_path / "libcuda.so.1"
    source.write_text("int cuInit(unsigned flags) { return 0; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-o", library, source], check=True)
    code = "import cuda.core as c\ntry: c.Device()\nexcept NotImplementedError as e: print(e)"
    assert run(code, LD_PRELOAD=str(library)) == "the installed CUDA driver has no cuDeviceGetCount"


@pytest.mark.parametrize(("bindings", "expected"), [("12.9.1", "12"), ("13.5.0", "13")])
def test_of_two_installed_compilers_the_bindings_choose(tmp_path, bindings, expected):
    folder = tmp_path / "site-packages"
    for place in ("cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12"):
        path = folder / "nvidia" / place
        path.parent.mkdir(parents=True)
        path.touch()
    assert run(choose(folder, bindings)).endswith(f".so.{expected}")


def choose(folder, bindings: str) -> str:
    return (
        "import importlib.metadata, sys\nfrom cuda.core._utils import libraries\n"
        f"importlib.metadata.version = lambda name: {bindings!r}\n"
        f"sys.path[:] = [path for path in sys.path if not path.endswith('-packages')] + [{str(folder)!r}]\n"
        "print(libraries.nvrtc(False))"
    )


@pytest.mark.requires(software=True)
def test_memory_works_with_per_thread_stream_driver_functions():
    code = (
        "import cuda.core as c; d = c.Device(); d.set_current(); s = c.PER_THREAD_DEFAULT_STREAM\n"
        "b = d.allocate(4, stream=s); h = c.LegacyPinnedMemoryResource().allocate(4)\n"
        "b.fill(7, stream=s); b.copy_to(h, stream=s); s.sync(); print(bytes(memoryview(h)))"
    )
    variables = {"CUDA_CORE_DEVICE": "software", "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM": "1"}
    assert run(code, **variables) == str(bytes([7, 7, 7, 7]))


def test_unloadable_driver_error_has_the_reason(tmp_path):
    (tmp_path / "libnothing.so.1").write_text("no library")
    code = NO_DRIVER + "try: c.Device()\nexcept NotFound as e: print(e)"
    assert "libnothing.so.1: file too short; install" in run(code, LD_LIBRARY_PATH=str(tmp_path))
    assert "was not found; on a machine with an NVIDIA GPU, install" in run(code)


def test_interpreter_exits_while_a_thread_seeks_the_driver():
    code = """
import os, threading, time
os.environ["CUDA_CORE_DEVICE"] = "hardware"  # the software device is not looked for
from cuda.core import Device
from cuda.core._utils import libraries

is_looking = threading.Event()

def driver(is_thorough):
    is_looking.set()
    time.sleep(0.2)  # the interpreter begins to exit in the meantime
    return ""

libraries.driver = driver

class Late:
    def __del__(self):
        time.sleep(0.5)

threading.late = Late()
threading.Thread(target=Device, args=(0,), daemon=True).start()
is_looking.wait()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
