# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The software device on AArch64: built by a cross compiler, and run under QEMU, with kernels of each compiler."""

import os
import subprocess

import pytest

from support.native import AARCH64, DEVICE, FOLDER, SOURCES, build

pytestmark = [
    pytest.mark.requires(command="qemu-aarch64", source=True),
    pytest.mark.requires(command=AARCH64["compiler"]),
]
COMPILERS = {"g++": AARCH64["compiler"], "clang++": "clang++ --target=aarch64-linux-gnu"}
ON_PATH = [pytest.param(name, marks=pytest.mark.requires(command=name)) for name in COMPILERS]
RESULTS = (
    f"saxpy 0 1000\nsum 0 1536\nspin 0 5\nwords 0 2147483647 {-(2**31)} 3 1 1 11 5 1 {48 + 49 * 256 + 57 * 65536}\n"
)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The command of the program, and the folder of the library with the headers for kernels beside it."""
    folder = FOLDER / "device-aarch64"
    build(DEVICE, folder, True, f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={folder}")
    if not (folder / "device_include").exists():
        (folder / "device_include").symlink_to(DEVICE / "cuda" / "emulator" / "device_include")
    path = tmp_path_factory.mktemp("aarch64") / "program"
    compile_ = [AARCH64["compiler"], "-std=c++17", "-O1", SOURCES / "program.cpp", "-o", path, "-ldl"]
    subprocess.run(compile_, check=True)
    return [*AARCH64["run"], path, folder / "_emulator.so", SOURCES / "program.cu"]


@pytest.mark.parametrize("compiler", ON_PATH)
def test_kernels_run_and_a_fault_is_reported(program, compiler, tmp_path):
    settings = {"CXX": COMPILERS[compiler], "CACHE_DIR": str(tmp_path), "DEVICES": "1", "MEMORY": "16M"}
    environment = {**os.environ, **{f"CUDA_EMULATOR_{name}": value for name, value in settings.items()}}
    done = subprocess.run([*program, "beyond"], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == RESULTS + "beyond 700\n", done.stderr
    assert "illegal address: store of 4 bytes" in done.stderr
    assert "at program.cu:48 in beyond" in done.stderr


def test_check_of_stacks_is_rejected(program):
    environment = {**os.environ, "CUDA_EMULATOR_CHECK": "stack"}
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "CUDA_EMULATOR_CHECK=stack is not valid: the check 'stack' is not available on AArch64" in done.stderr
