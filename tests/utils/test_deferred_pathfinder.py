# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""``cuda.pathfinder`` is executed when it is needed, and is then as if it had been imported at once."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

DEFERRED = "type(sys.modules['cuda.pathfinder']).__name__ == '_Deferred'"


def run(code: str, **variables: str) -> str:
    environment = os.environ | {"CUDA_CORE_DEVICE": "hardware"} | variables
    command = [sys.executable, "-c", f"import sys, cuda.core\n{code}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_bindings_do_not_execute_it():
    assert run(f"import cuda.bindings.cydriver, cuda.bindings.nvrtc; print({DEFERRED})") == "True"


@pytest.mark.parametrize(
    "look",
    [
        "import cuda.pathfinder; cuda.pathfinder.SUPPORTED_NVIDIA_LIBNAMES",
        "from cuda import pathfinder; pathfinder.__version__",
        "from cuda.pathfinder import LoadedDL",
        "import cuda.pathfinder as p; p.find_nvidia_binary_utility",
        "from cuda.pathfinder import *",
    ],
)
def test_a_look_at_any_name_executes_it(look):
    check = f"print({DEFERRED}, type(p).__name__, p.load_nvidia_dynamic_lib.__module__.partition('._')[0])"
    assert run(f"{look}\np = sys.modules['cuda.pathfinder']; {check}") == "False module cuda.pathfinder"


def test_submodules_are_imported_as_ever():
    code = "import cuda.pathfinder._version; print(cuda.pathfinder._version.__version__ == cuda.pathfinder.__version__)"
    assert run(code) == "True"


def test_missing_name_is_an_attribute_error():
    code = (
        "import cuda.pathfinder\ntry: cuda.pathfinder.nothing\nexcept AttributeError as e: print('nothing' in str(e))"
    )
    assert run(code) == "True"


def test_it_is_left_alone_where_it_was_imported_before():
    code = "import cuda.pathfinder as p, cuda.core, sys; print(type(p).__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["module"], done.stderr


@pytest.mark.requires(nvidia_compiler=True)
def test_compiler_is_the_one_that_the_whole_search_finds():
    code = (
        "from cuda.pathfinder import load_nvidia_dynamic_lib as quick\nfound = quick('nvrtc')\n"
        f"print({DEFERRED}, found._handle_uint > 0, end=' ')\n"
        "import cuda.pathfinder as p; whole = p.LoadedDL and p.load_nvidia_dynamic_lib('nvrtc')\n"
        "print(quick is not p.load_nvidia_dynamic_lib, found.abs_path == whole.abs_path, repr(found) == repr(whole))"
    )
    assert run(code) == "True True True True True"


def test_library_that_is_nowhere_is_an_error_of_its_own_class():
    code = (
        "from cuda.pathfinder import load_nvidia_dynamic_lib as quick\ntry: quick('nonsense')\n"
        "except Exception as e: print(type(e).__module__.startswith('cuda.pathfinder'))"
    )
    assert run(code) == "True"


def test_threads_that_look_at_once_all_see_the_module():
    code = (
        "import threading\nseen = []\nimport cuda.pathfinder as p\n"
        "look = lambda: seen.append(p.find_nvidia_header_directory)\n"
        "threads = [threading.Thread(target=look) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]; print(len(seen), len(set(seen)))"
    )
    assert run(code) == "8 1"


@pytest.mark.requires(nvidia_compiler=True)
@pytest.mark.parametrize(
    "touch",
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
def test_missing_driver_is_one_sentence_whatever_touches_it_first(touch):
    code = (
        "import ctypes, cuda.core as c\n"
        "real = ctypes.CDLL\n"
        "def missing(name, *args, **more):\n"
        "    if name == 'libcuda.so.1': raise OSError(name)\n"
        "    return real(name, *args, **more)\n"
        "ctypes.CDLL = missing\n"
        f"try: {touch}\n"
        "except RuntimeError as e:\n"
        "    is_chained = e.__cause__ is not None or not (e.__suppress_context__ or e.__context__ is None)\n"
        "    print('install the NVIDIA display driver' in str(e), is_chained)"
    )
    assert run(code) == "True False"
