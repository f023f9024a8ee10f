# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Time creating, compiling and caching programs, beside NVRTC alone and another ``cuda.core``.

A 5 KB source becomes a ``Program``, is compiled to CUBIN, and is looked up in caches in memory and in files: alone and
with 10 headers, which are all checked for changes, and through the same ``Program`` and new ones. Each environment has
its own process, and all take turns within every round, so the machine's load affects them alike. The PTX and NVVM IR
inputs are short. The figures are medians of the rounds, in microseconds. No GPU is needed.

    python compile.py                          print the figures, and fail if one is over its limit
    python compile.py --peer OTHER/bin/python  also time another environment's ``cuda.core``, and fail if
                                               it is faster
    python compile.py --json                   print the figures as JSON
"""

from __future__ import annotations

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import turns
from cuda.bindings import nvrtc, nvvm

from cuda.core import Program, ProgramOptions
from cuda.core.utils import FileStreamProgramCache, InMemoryProgramCache

ARCH = "sm_80"
HEADERS = 10
SIZE = 5000
ROUNDS = 15
KERNELS = "".join(
    f'extern "C" __global__ void f{i}(float* x) {{ *x = sinf(*x) + powf(*x, {i}.5f); }}\n' for i in range(8)
)
PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f(.param .u64 x)\n{\n ret;\n}\n"
IR = """target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-\
v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
define void @f() { ret void }
"""
ALONE, FIRST = "first compilation, NVRTC alone", "first compilation"
WITH_HEADERS = f", {HEADERS} headers"
# Row limits in microseconds, and the limit for a first compilation as a multiple of NVRTC alone.
LIMITS = {f"hit in memory{WITH_HEADERS}": 30.0, f"hit in files{WITH_HEADERS}": 300.0}
OVERHEAD = 1.05
# Because of noise, two figures count as equal up to this ratio.
NOISE = 1.1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help="another environment: its interpreter, or a folder with its packages")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how many rounds; {ROUNDS} by default")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve()
    samples = measure({"ours": sys.executable} | ({"peer": arguments.peer} if arguments.peer else {}), arguments.rounds)
    figures = {row: {name: statistics.median(times[name]) for name in times} for row, times in samples.items()}
    # Compute the ratios within each round, because the machine's speed changes between rounds.
    ratios = {name: ratio(samples[FIRST][name], alone) for name, alone in samples[ALONE].items()}
    if arguments.json:
        print(json.dumps(figures))
    else:
        show(figures, ratios)
    wrong = excesses(figures, ratios)
    print("".join(f"over its limit: {line}\n" for line in wrong), end="", file=sys.stderr)
    return int(bool(wrong))


def ratio(times: list[float], others: list[float]) -> float:
    """Return the median ratio over all rounds."""
    return statistics.median(time / other for time, other in zip(times, others, strict=True))


def measure(environments: dict[str, str], rounds: int) -> dict[str, dict[str, list[float]]]:
    """Return the times of all rounds, by row and by each environment that accepts the program."""
    with contextlib.ExitStack() as stack:
        workers = {name: stack.enter_context(worker(python, name)) for name, python in environments.items()}
        rows = {name: json.loads(process.stdout.readline()) for name, process in workers.items()}
        samples = {row: {} for row in rows["ours"]}
        for _ in range(rounds):
            for row, times in samples.items():
                for name, process in workers.items():
                    if row in rows[name]:
                        times.setdefault(name, []).append(asked(process, row))
    return samples


@contextlib.contextmanager
def worker(python: str, name: str):
    """Start a process that measures rows on demand."""
    # Our worker imports the same cuda.core as this process, and the peer imports its environment's.
    python, environment = turns.command(turns.OURS if name == "ours" else turns.OFFICIAL, python)
    command = [python, "-W", "ignore", str(Path(__file__).resolve()), "--serve"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
    with process:
        yield process
        process.stdin.close()


def asked(process, row: str) -> float:
    """Return the time of a row in another process."""
    process.stdin.write(f"{row}\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def serve() -> int:
    """Print the row names, and then the time of every row named on stdin."""
    with tempfile.TemporaryDirectory() as directory:
        rows = {name: call for name, call in all_rows(Path(directory)).items() if not rejects(call)}
        time.sleep(0.1)  # headers written just now would be read again each time
        print(json.dumps(list(rows)), flush=True)
        for line in sys.stdin:
            row = line.rstrip("\n")
            print(timed(rows[row], 1 if row.startswith("first") else 200), flush=True)
    return 0


def all_rows(directory: Path) -> dict[str, Callable[[], object]]:
    plain = padded(KERNELS)
    including = padded('#include "header0.h"\n' + KERNELS)
    include = str(write_headers(directory / "include"))
    options = ProgramOptions(arch=ARCH)
    rows = {
        ALONE: lambda: compile_alone(plain),
        FIRST: lambda: program_of(plain).compile("cubin"),
        "options": lambda: ProgramOptions(arch=ARCH),
        "make and close": lambda: Program(plain, "c++", options).close(),
        "make and close, new options": lambda: program_of(plain).close(),
        f"make and close{WITH_HEADERS}, new options": lambda: program_of(including, include_path=[include]).close(),
    }
    for place, cache in (("memory", InMemoryProgramCache()), ("files", FileStreamProgramCache(directory / "cache"))):
        for label, code, more in (("", plain, {}), (WITH_HEADERS, including, {"include_path": [include]})):
            rows[f"hit in {place}{label}"] = hit(program_of(code, **more), cache)
            rows[f"hit in {place}{label}, new Program"] = new_hit(code, more, cache)
    return rows | rows_of_other_languages(options) | rows_without_caches(including, include)


def rows_without_caches(including: str, include: str) -> dict[str, Callable[[], object]]:
    """Return the row that clears an in-process cache before every call, to show how much the cache saves."""
    try:
        from cuda.core._compile.cache import _headers
    except ImportError:
        return {}  # another cuda.core
    hit = new_hit(including, {"include_path": [include]}, InMemoryProgramCache())
    return {f"hit in memory{WITH_HEADERS}, headers not cached": lambda: (_headers._parsed.clear(), hit())}


def rows_of_other_languages(options: ProgramOptions) -> dict[str, Callable[[], object]]:
    rows, cache = {}, InMemoryProgramCache()
    for label, kind, code, target in (("NVVM IR", "nvvm", ir(), "ptx"), ("PTX", "ptx", PTX, "cubin")):
        make = partial(Program, code, kind, options)
        rows[f"make and close, {label}"] = lambda make=make: make().close()
        rows[f"hit in memory, {label}, new Program"] = lambda make=make, to=target: make().compile(to, cache=cache)
    return rows


def ir() -> str:
    """Return a kernel in NVVM IR of the compiler's version."""
    version = ", ".join(f"i32 {part}" for part in nvvm.ir_version())
    return f"{IR}!nvvmir.version = !{{!0}}\n!0 = !{{{version}}}\n"


def hit(program: Program, cache) -> Callable[[], object]:
    return lambda: program.compile("cubin", cache=cache)


def new_hit(code: str, options: dict, cache) -> Callable[[], object]:
    return lambda: program_of(code, **options).compile("cubin", cache=cache)


def program_of(code: str, **options) -> Program:
    return Program(code, "c++", ProgramOptions(arch=ARCH, **options))


def padded(code: str) -> str:
    """Return code with a comment that pads it to ``SIZE``."""
    return code + "// " + "x" * (SIZE - len(code) - 4) + "\n"


def write_headers(directory: Path) -> Path:
    """Write a chain of headers that include one another."""
    directory.mkdir()
    for index in range(HEADERS):
        following = f'#include "header{index + 1}.h"\n' if index + 1 < HEADERS else ""
        code = f"__device__ inline int value{index}() {{ return {index}; }}\n"
        (directory / f"header{index}.h").write_text("#pragma once\n" + following + code)
    return directory


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


def rejects(call: Callable[[], object]) -> bool:
    """Make the first call, and return whether this ``cuda.core`` rejects the program."""
    try:
        call()
    except (RuntimeError, ValueError):
        return True
    return False


def timed(call: Callable[[], object], count: int) -> float:
    start = time.perf_counter_ns()
    for _ in range(count):
        call()
    return (time.perf_counter_ns() - start) / count / 1000


def show(figures: dict[str, dict[str, float]], ratios: dict[str, float]) -> None:
    """Print the figures, and ratios to NVRTC alone and to the peer."""
    print(f"{'median microseconds':58}{'ours':>11}{'peer':>11}{'ours/peer':>11}{'limit':>9}")
    for row, times in figures.items():
        peer, part = "-", "-"
        if "peer" in times:
            peer, part = f"{times['peer']:.1f}", f"{times['ours'] / times['peer']:.3f}"
        print(f"{row:58}{times['ours']:11.1f}{peer:>11}{part:>11}{LIMITS.get(row, ''):>9}")
    for name, part in ratios.items():
        print(f"{FIRST} / NVRTC alone, {name}: {part:.3f}")


def excesses(figures: dict[str, dict[str, float]], ratios: dict[str, float]) -> list[str]:
    """Return the rows that are over their limits, each with the limit."""
    wrong = [f"{row}, {limit}" for row, limit in LIMITS.items() if figures[row]["ours"] > limit]
    if ratios["ours"] > OVERHEAD:
        wrong.append(f"{FIRST}, {OVERHEAD} times NVRTC alone")
    wrong += [f"{row}, the peer" for row, times in figures.items() if times["ours"] > NOISE * times.get("peer", 1e9)]
    return wrong


if __name__ == "__main__":
    sys.exit(main())
