# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Time whole processes from their start to a verified first result, in C, with another ``cuda.core`` and with ours.

Each process starts, opens a device, compiles a kernel or loads it from a file cache, launches it and verifies the
result. The lower bound is the C program plus Python with NumPy alone. All processes take turns in every round, in
random order, because the work that one leaves to the operating system slows the next. The figures are medians of wall
time and CPU time, in milliseconds. The time above the bound is the median of the differences within the rounds, because
a machine's speed varies more between rounds than within one. Fails if ours takes more
than 0.85 of the peer's time.

A process with both NumPy and a context is above the bound however the context was created, because NumPy's linear
algebra threads slow its exit. In the row "NumPy, a context", ctypes creates the context and nothing uses it.

    python compare.py [--peer PEER/bin/python] [--ours OURS/bin/python] [--rounds N] [--json FILE]

Runs on the GPU or, without one, on the software device, which is preloaded into every process.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIMIT = 0.85  # of the peer's wall time
ROUNDS = 15
KINDS = ("wall", "cpu")
CONTEXT = """
import ctypes, sys
import numpy
driver, context = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
sys.exit(driver.cuInit(0) or driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
"""
# Prints the paths of an environment's driver and NVRTC, and of the software device if it is the driver.
WHERE = """
import cuda.pathfinder
try:
    print(cuda.pathfinder.load_nvidia_dynamic_lib("cuda").abs_path)
    print(cuda.pathfinder.load_nvidia_dynamic_lib("nvrtc").abs_path)
    print()
except RuntimeError:
    import cuda.emulator
    for _ in range(3):
        print(cuda.emulator.library_path())
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ours", metavar="PYTHON", default=sys.executable, help="the interpreter of our environment")
    parser.add_argument("--peer", help="another environment: its interpreter, or a folder with its packages")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"how many rounds; {ROUNDS} by default")
    parser.add_argument("--json", type=Path, help="where to store the figures")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        samples = measure(commands(arguments, Path(directory)), arguments.rounds)
    figures = {name: figures_of(name, samples) for name in samples}
    wrong = show(figures)
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n")
    print("".join(f"over its limit: {line}\n" for line in wrong), end="", file=sys.stderr)
    return int(bool(wrong))


def commands(arguments, directory: Path) -> dict[str, tuple[list[str], dict[str, str]]]:
    """Return the commands with their environments, by name."""
    ours = environment(arguments.ours == sys.executable)
    asked = subprocess.run(
        [arguments.ours, "-P", "-c", WHERE], env=ours, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    driver, nvrtc, software = asked[:3]
    extra = {"LD_PRELOAD": software, "CUDA_EMULATOR_CACHE_DIR": str(directory / "emulator")} if software else {}
    print(f"driver {driver}, NVRTC {nvrtc}")
    c_program, code = directory / "program", directory / "code"
    subprocess.run(
        [os.environ.get("CC", "cc"), "-O2", "-w", "-o", str(c_program), str(HERE / "program.c"), "-ldl"], check=True
    )
    program = str(HERE / "program.py")
    plain = environment(False) | extra
    found = {
        "C, compiled": ([str(c_program), driver, nvrtc, str(code), "compile"], plain),
        "C, from a file": ([str(c_program), driver, nvrtc, str(code), "load"], plain),
        "Python with NumPy": ([arguments.ours, "-P", "-c", "import numpy"], ours | extra),
        "NumPy, a context": ([arguments.ours, "-P", "-c", CONTEXT, driver], ours | extra),
    }
    peer, peer_variables = arguments.peer, plain
    if peer and Path(peer).is_dir():
        peer, peer_variables = arguments.ours, plain | {"PYTHONPATH": peer}
    for name, python, variables in (("ours", arguments.ours, ours), ("peer", peer, peer_variables)):
        if python:
            found[f"{name}, compiled"] = ([python, "-P", program], variables | extra)
            found[f"{name}, from a file"] = ([python, "-P", program, str(directory / name)], variables | extra)
    return found


def environment(is_ours: bool) -> dict[str, str]:
    """Return the environment of a process. Only our own interpreter inherits PYTHONPATH."""
    # Let the first rounds write bytecode, because an installed package has it.
    hidden = ("PYTHONDONTWRITEBYTECODE", *(() if is_ours else ("PYTHONPATH",)))
    return {name: value for name, value in os.environ.items() if name not in hidden} | {"PYTHONSAFEPATH": "1"}


def measure(commands: dict, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Return the wall time and CPU time of each round, in milliseconds."""
    samples = {name: [] for name in commands}
    order = random.Random(1)
    for number in range(rounds + 2):
        turns = sorted(commands.items())  # in the first round, the compiling ones write the files for the others
        if number:
            order.shuffle(turns)
        for name, (command, variables) in turns:
            sample = timed(name, command, variables)
            if number >= 2:  # the first rounds fill the caches
                samples[name].append(sample)
    return samples


def timed(name: str, command: list[str], variables: dict[str, str]) -> tuple[float, float]:
    start = time.perf_counter()
    process = subprocess.Popen(command, env=variables)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{name} failed with status {process.returncode}: {' '.join(command)}")
    return 1000 * wall, 1000 * (usage.ru_utime + usage.ru_stime)


def figures_of(name: str, samples: dict) -> dict[str, float]:
    """Return a command's medians, and the medians of its time above the lower bound of the same round."""
    found = {kind: median(row[index] for row in samples[name]) for index, kind in enumerate(KINDS)}
    if name.startswith(("ours", "peer", "NumPy")):
        c_program = "C, compiled" if name.endswith("compiled") else "C, from a file"
        rounds = list(zip(samples[name], samples[c_program], samples["Python with NumPy"], strict=True))
        for index, kind in enumerate(KINDS):
            found[f"{kind} above"] = median(row[index] - c[index] - numpy[index] for row, c, numpy in rounds)
    return found


def median(values) -> float:
    return round(statistics.median(values), 1)


def show(figures: dict[str, dict[str, float]]) -> list[str]:
    """Print the figures and return the rows over their limits."""
    wrong = []
    print(f"{'median milliseconds':24}{'wall':>9}{'cpu':>9}{'above the bound':>18}")
    for name, row in figures.items():
        above = f"{row['wall above']:+11.1f}, cpu {row['cpu above']:+.1f}" if "wall above" in row else ""
        print(f"{name:24}{row['wall']:9.1f}{row['cpu']:9.1f}{above}")
        if name.startswith("ours"):
            peer = figures.get(name.replace("ours", "peer"))
            if peer and row["wall"] > LIMIT * peer["wall"]:
                wrong.append(f"{name}: {row['wall'] / peer['wall']:.2f} of the peer's time, {LIMIT} allowed")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
