# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Times the first compilation of a program, and finding it again in a cache; no GPU is needed.

A source of 5 KB is compiled to CUBIN by NVRTC alone and by ``Program``, and then found in memory and
in files: on its own, and with 10 headers, each of which is looked at for changes. Least times of all
rounds, in microseconds; the ways take turns, so that they meet the same machine.

    python program_cache.py                        print the figures; fail where one is over its limit
    python program_cache.py --peer OTHER/bin/python    also those of the ``cuda.core`` of another environment
    python program_cache.py --json                 print the figures as JSON
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from cuda.bindings import nvrtc

from cuda.core import Program, ProgramOptions
from cuda.core.utils import FileStreamProgramCache, InMemoryProgramCache

ARCH = "sm_80"
HEADERS = 10
SIZE = 5000
KERNELS = "".join(
    f'extern "C" __global__ void f{i}(float* x) {{ *x = sinf(*x) + powf(*x, {i}.5f); }}\n' for i in range(8)
)
ROUNDS = 20
# At most: microseconds, or a multiple of the first row.
LIMITS = {"hit in memory, 10 headers": 30.0, "hit in files, 10 headers": 300.0}
OVERHEAD = ("first compilation, NVRTC alone", "first compilation, Program", 1.05)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", metavar="PYTHON", help="the interpreter of another environment")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        ours = measure(Path(directory))
    if arguments.json:
        print(json.dumps(ours))
        return 0
    peer = figures_of(arguments.peer) if arguments.peer else {}
    print(f"{'row':34}{'ours':>12}{'peer':>12}{'limit':>9}")
    for name, figure in ours.items():
        other = "-" if peer.get(name) is None else f"{peer[name]:.1f}"
        print(f"{name:34}{figure:12.1f}{other:>12}{LIMITS.get(name, ''):>9}")
    alone, program, most = OVERHEAD
    ratio = ours[program] / ours[alone]
    print(f"{program} / {alone}: {ratio:.3f}, at most {most}")
    return int(ratio > most or any(ours[name] > limit for name, limit in LIMITS.items()))


def measure(directory: Path) -> dict[str, float | None]:
    """Return the least time of each row in microseconds; None for what a ``cuda.core`` refuses."""
    plain = padded(KERNELS)
    including = padded('#include "header0.h"\n' + KERNELS)
    include = write_headers(directory / "include")
    rows = {
        "first compilation, NVRTC alone": lambda: compile_alone(plain),
        "first compilation, Program": lambda: program_of(plain).compile("cubin"),
    }
    for place, cache in (("memory", InMemoryProgramCache()), ("files", FileStreamProgramCache(directory / "cache"))):
        rows |= {
            f"hit in {place}": hit(program_of(plain), cache),
            f"hit in {place}, new Program": lambda cache=cache: program_of(plain).compile("cubin", cache=cache),
            f"hit in {place}, {HEADERS} headers": hit(program_of(including, include_path=str(include)), cache),
        }
    least = {name: None if refuses(call) else float("inf") for name, call in rows.items()}
    time.sleep(0.1)  # headers written just now are read again each time
    for _ in range(ROUNDS):
        for name, call in rows.items():
            if least[name] is not None:
                least[name] = min(least[name], timed(call, 1 if name.startswith("first") else 50))
    return least


def padded(code: str) -> str:
    """Return code with a comment that makes it as long as intended."""
    return code + "// " + "x" * (SIZE - len(code) - 4) + "\n"


def write_headers(directory: Path) -> Path:
    """Write headers of which each includes the next."""
    directory.mkdir()
    for index in range(HEADERS):
        following = f'#include "header{index + 1}.h"\n' if index + 1 < HEADERS else ""
        code = f"__device__ inline int value{index}() {{ return {index}; }}\n"
        (directory / f"header{index}.h").write_text("#pragma once\n" + following + code)
    return directory


def program_of(code: str, **options) -> Program:
    return Program(code, "c++", ProgramOptions(arch=ARCH, **options))


def hit(program: Program, cache) -> Callable[[], object]:
    return lambda: program.compile("cubin", cache=cache)


def compile_alone(code: str) -> bytes:
    """Compile with NVRTC and nothing else."""
    error, program = nvrtc.nvrtcCreateProgram(code.encode(), b"default_program", 0, [], [])
    check(error)
    check(*nvrtc.nvrtcCompileProgram(program, 1, [f"-arch={ARCH}".encode()]))
    error, size = nvrtc.nvrtcGetCUBINSize(program)
    check(error)
    cubin = bytearray(size)
    check(*nvrtc.nvrtcGetCUBIN(program, cubin))
    check(*nvrtc.nvrtcDestroyProgram(program))
    return bytes(cubin)


def check(error) -> None:
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(error.name)


def refuses(call: Callable[[], object]) -> bool:
    """Call for the first time; return whether this ``cuda.core`` does not take the program."""
    try:
        call()
    except ValueError:
        return True
    return False


def timed(call: Callable[[], object], count: int) -> float:
    start = time.perf_counter_ns()
    for _ in range(count):
        call()
    return (time.perf_counter_ns() - start) / count / 1000


def figures_of(python: str) -> dict[str, float | None]:
    """Return the figures that this program has in another environment."""
    command = [python, str(Path(__file__).resolve()), "--json"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)


if __name__ == "__main__":
    sys.exit(main())
