# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The kernels of the tests are CUDA C++ that NVIDIA's compiler accepts, and each of them is run."""

import re

import pytest

from support.kernel_files import FOLDER

FILES = sorted(FOLDER.glob("*.cu"))
ALONE = [path for path in FILES if "#include" not in path.read_text()]
SUPPORT = FOLDER.parents[1] / "support" / "barrier_kernels.py"
TESTS = "".join(path.read_text() for path in [*FOLDER.parent.glob("test_kernels_*.py"), SUPPORT])

COMPILE = """
from cuda.core import Program, ProgramOptions
options = ProgramOptions(arch="sm_90", std="c++17", disable_warnings=True)
code = Program(open({path!r}).read(), "c++", options).compile("ptx").code
assert b"NVIDIA NVVM Compiler" in code
print("compiled")
"""


@pytest.mark.requires(nvidia_compiler=True)
@pytest.mark.parametrize("path", ALONE, ids=lambda path: path.stem)
def test_nvidias_compiler_accepts_it(child, path):
    assert child(COMPILE.format(path=str(path)), device=False) == "compiled\n"


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.stem not in ("bugs", "planted")], ids=lambda path: path.stem
)
def test_every_kernel_is_run(path):
    kernels = re.findall(r"__global__ void (\w+)\(", path.read_text())
    assert kernels
    # The names that begin with sparse_by_ are formatted.
    assert [name for name in kernels if f'"{name}' not in TESTS and not name.startswith("sparse_by_")] == []
