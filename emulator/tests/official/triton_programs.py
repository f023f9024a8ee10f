# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: triton
# limit: 1800
"""The programs with kernels of Triton, and those with tensors of PyTorch if it is installed, each with every check."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

tests = Path(__file__).resolve().parents[1]
environment = {**os.environ, "PYTHONPATH": str(tests), "CUDA_EMULATOR_CHECK": "all"}
folders = ["programs"] + ["torch_programs"] * (importlib.util.find_spec("torch") is not None)
programs = [path for folder in folders for path in sorted((tests / "triton" / folder).glob("*.py"))]
for program in programs:
    done = subprocess.run(
        [sys.executable, "-m", "cuda.emulator", str(program)], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{program.stem}\n{done.stdout}{done.stderr}"
print("checks:", len(programs))
