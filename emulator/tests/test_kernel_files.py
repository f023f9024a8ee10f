# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The kernels of the tests are CUDA C++ that NVIDIA's compiler accepts, and each of them is run."""

import re
from pathlib import Path

import pytest
from cuda.pathfinder import locate_nvidia_header_directory

from support.paths import KERNELS, ROOT

FILES = sorted(KERNELS.glob("*.cu"))
MISTAKES = ("bugs", "found", "mistakes", "planted", "steps", "waits")
SUPPORT = ROOT / "tests" / "support" / "barrier_kernels.py"
TESTS = "".join(path.read_text() for path in [*KERNELS.parent.glob("test_kernels_*.py"), SUPPORT])

COMPILE = """
from cuda.core import Program, ProgramOptions
for name, arch, path, folders in {rows!r}:
    options = ProgramOptions(arch=arch, std="c++17", disable_warnings=True, include_path=folders)
    code = Program(open(path).read(), "c++", options).compile("ptx").code
    assert b"NVIDIA NVVM Compiler" in code, name
    print(name)
"""


def folders_for(path):
    """Return the directories of the headers included by a file, or None if one is not installed."""
    text = path.read_text()
    if "#include" not in text:
        return []
    names = ["cudart", "cccl", *(["curand"] if "<curand" in text else [])]
    found = [locate_nvidia_header_directory(name) for name in names]
    folders = [str(folder.abs_path) for folder in found if folder is not None]
    # The runtime wheel lacks the headers of `crt`, which some of its own headers include.
    needs_crt = re.search(r"<(mma|\w+_functions)\.h>", text)
    complete = not needs_crt or any(Path(folder, "crt", "mma.h").exists() for folder in folders)
    return folders if all(found) and complete else None


COMPILED = [path for path in FILES if folders_for(path) is not None]


@pytest.mark.requires(nvidia_compiler=True)
@pytest.mark.parametrize("paths", [COMPILED[number::4] for number in range(4)], ids=range(4))
def test_nvidias_compiler_accepts_files(child, paths):
    rows = [
        (path.stem, "sm_100a" if path.stem == "few_bits" else "sm_90", str(path), folders_for(path) or None)
        for path in paths
    ]
    assert child(COMPILE.format(rows=rows), device=False).split() == [path.stem for path in paths]


def test_there_are_a_hundred_kernels_like_public_ones():
    texts = [path.read_text() for path in FILES if path.stem not in (*MISTAKES, "barriers")]
    assert sum(text.count("__global__ void") for text in texts) >= 100


def test_every_kernel_is_run():
    for path in (path for path in FILES if path.stem not in MISTAKES):
        kernels = re.findall(r"__global__ void (\w+)\(", path.read_text())
        assert kernels, path.stem
        # The names that begin with sparse_by_ are formatted.
        unused = [name for name in kernels if f'"{name}' not in TESTS and not name.startswith("sparse_by_")]
        assert unused == [], path.stem
