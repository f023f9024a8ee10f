# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Messages to the logger ``cuda.core``: compiles, cache hits, links, and failed calls."""

import logging
import re
import subprocess
import sys
import time

import pytest

from cuda.core import CUDAError, Linker, LinkerOptions, Program, ProgramOptions
from cuda.core.utils import InMemoryProgramCache

OPTIONS = ProgramOptions(arch="sm_90", name="logged", relocatable_device_code=True)


@pytest.fixture
def log(caplog):
    caplog.set_level(logging.DEBUG, "cuda.core")
    return caplog


@pytest.mark.requires(nvrtc=True)
def test_compiles_cache_hits_and_links_are_logged_with_times(log):
    cache = InMemoryProgramCache()
    source = '__device__ int logged; extern "C" __global__ void f() { logged = 1; }'
    for _ in range(2):
        code = Program(source, "c++", OPTIONS).compile("cubin", cache=cache)
    Linker(code, options=LinkerOptions(arch="sm_90")).link("cubin")
    texts = [record.getMessage() for record in log.records if record.name == "cuda.core"]
    assert len(texts) == 3
    assert texts[0].startswith("compiled logged to cubin in ")
    assert texts[1].startswith("found cubin of logged in <")
    assert texts[2].startswith("linked ")
    assert all(text.endswith(" ms") for text in texts)


@pytest.mark.requires(software=True)
def test_failed_call_is_an_exception_and_not_logged(log, device, stream):
    with pytest.raises(CUDAError):
        device.allocate(1 << 60, stream=stream)
    assert not [record for record in log.records if record.levelno >= logging.WARNING]


@pytest.mark.requires(device=True, nvrtc=True, software=True, cuda=(12, 9))
def test_programs_without_a_handler_print_nothing():
    program = (
        "import logging\nfrom cuda.core import *\ndevice = Device()\ndevice.set_current()\n"
        "stream = device.create_stream()\n"
        "kernel = Program('extern \"C\" __global__ void f() { *(volatile int*)8 = 1; }', 'c++').compile('cubin')\n"
        "launch(stream, LaunchConfig(grid=1, block=1), kernel.get_kernel('f'))\n"
        "try: stream.sync()\nexcept LaunchError as error: assert error.log\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert not done.stderr


@pytest.mark.requires(nvrtc=True)
def test_programs_without_logging_do_not_import_it():
    program = (
        "import sys\nfrom cuda.core import Program, ProgramOptions\nis_loaded = 'logging' in sys.modules\n"
        "Program('__global__ void f() {}', 'c++', ProgramOptions(arch='sm_90')).compile('ptx')\n"
        "print(is_loaded == ('logging' in sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["True"], done.stderr


@pytest.mark.requires(nvrtc=True)
def test_elapsed_time_is_in_milliseconds(log):
    source = f"__device__ double stamp = {time.time()};"  # so that no cache has it
    start = time.perf_counter()
    Program(source, "c++", OPTIONS).compile("cubin")
    most = 1000 * (time.perf_counter() - start)
    (text,) = [record.getMessage() for record in log.records if record.name == "cuda.core"]
    elapsed = float(re.fullmatch(r"compiled logged to cubin in ([\d.]+) ms", text)[1])
    assert most / 100 < elapsed < most + 1
