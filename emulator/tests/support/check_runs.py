# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Runs kernels with planted bugs, and their corrected twins, in one child process with the checks that a test names."""

import json
import os
import subprocess
import sys

_CHILD = """
import ctypes, json, os, sys, tempfile
import cuda.emulator
cuda.emulator.activate()
sys.path[:0] = {path!r}
from support.driver import Driver
from support.compiled import Program
driver = Driver()
driver.cuInit(0)
driver.cuCtxCreate(None, 0, 0)
image = Program({source!r}, "-arch=sm_90", *{options!r}, name="bugs.cu").image
library = driver.cuLibraryLoadData(image, [], [], 0, [], [], 0)
reports = []
for name in {names!r}:
    kernel = driver.CUfunction(int(driver.cuLibraryGetKernel(library, name.encode())))
    for bad in (0, 1):
        x, out = driver.cuMemAlloc(128), driver.zeros(128)
        sys.stderr.flush()
        with tempfile.TemporaryFile() as file:
            saved = os.dup(2)
            os.dup2(file.fileno(), 2)
            types = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
            driver.cuLaunchKernel(
                kernel, {grid}, 1, 1, {block}, 1, 1, 128, driver.CUstream(0), ((int(x), int(out), bad), types), 0)
            result = driver.result("cuCtxSynchronize")
            os.dup2(saved, 2)
            os.close(saved)
            file.seek(0)
            text = file.read().decode()
        assert (result == "SUCCESS") == (text == ""), (result, text)
        cuda.emulator.reset()
        driver.cuMemFree(x)
        driver.cuMemFree(out)
        reports.append((name, bad, text))
print(json.dumps(reports))
"""


def run_cases(source, names, checks, grid=1, block=32, options=()):
    """Run each kernel ``name(int* x, int* out, int bad)`` with 0 and 1; return the reports by name and ``bad``."""
    program = _CHILD.format(path=sys.path, source=source, names=names, grid=grid, block=block, options=options)
    search = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": search, "CUDA_EMULATOR_CHECK": checks}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return {(name, bad): text for name, bad, text in json.loads(done.stdout.splitlines()[-1])}
