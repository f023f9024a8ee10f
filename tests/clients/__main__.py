# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Runs each program in a child process and counts its checks; see ``.ci/clients``."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from clients import suites

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = Path(__file__).parent / "programs"
OFFICIAL_PROGRAMS = ROOT / "emulator" / "tests" / "official"
# The official package, on the software device.
OFFICIAL = ["cuda-core==1.2.2", "cuda-bindings==13.5.*"]
# Its wheel of 286 MB does not exist for every Python, so the program that needs it may be skipped.
TRITON = ["triton==3.9.*", "numpy"]
NEEDS = re.compile(r"^# needs: (?P<names>.+)$", re.MULTILINE)
LIMIT = re.compile(r"^# limit: (?P<seconds>\d+)$", re.MULTILINE)
SECONDS = 300
# The packages that --download fetches for a machine without network: clients, and their dependencies but cuda.core.
DOWNLOADS = [
    *("numba-cuda==0.30.*", "nvmath-python", "nccl4py", "cuda-cccl", "warp-lang", "numpy==2.3.*", "filecheck"),
    *("cuda-bindings==13.5.*", "nvidia-cuda-nvrtc==13.*", "nvidia-nvjitlink==13.*", "nvidia-nvvm==13.*"),
    *("nvidia-cuda-runtime==13.*", "nvidia-cuda-cccl==13.*"),
]

CHECKS = re.compile(r"^checks: (\d+)$", re.MULTILINE)


@dataclasses.dataclass
class Outcome:
    """The outcome of a program with an interpreter."""

    program: str
    interpreter: str
    result: str  # passed, failed, timed out, or not installed
    seconds: float = 0.0
    status: int | None = None
    counts: dict[str, int] = dataclasses.field(default_factory=dict)
    end: str = ""


def needs_of(program: Path) -> list[str]:
    """Return the modules that a program needs, from its line ``# needs: torch, numpy``."""
    match = NEEDS.search(program.read_text())
    return [name.strip() for name in match["names"].split(",")] if match else []


def limit_of(program: Path) -> int:
    """Return the seconds that a program may take, from its line ``# limit: 600``."""
    match = LIMIT.search(program.read_text())
    return int(match["seconds"]) if match else SECONDS


def download(folder: str) -> int:
    """Fetch the wheels of the clients into a folder. The wheel of cuda.core has to be added by hand."""
    command = [sys.executable, "-m", "pip", "download", "--only-binary=:all:", "-d", folder, *DOWNLOADS]
    return subprocess.run(command).returncode


def environment_of(wheels: str, folder: Path) -> str:
    """Create an environment in a folder from all wheels in another one, without network; return its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    official = re.compile(r"cuda_core-1\.[012]\.")
    found = sorted(str(path) for path in Path(wheels).glob("*.whl") if not official.match(path.name))
    # Without dependencies: clients ask for versions of the official package, which this one replaces.
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--no-deps", *found], check=True)
    return python


def official_environment(device: str, also: list[str], folder: Path) -> str:
    """Create an environment of the official package and a distribution of the software device; return its interpreter.

    The programs get no other packages than those in it, and ``also`` names more for it.
    """
    if not (folder / "bin" / "pip").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    install = [python, "-m", "pip", "install", "-q"]
    subprocess.run([*install, *OFFICIAL], check=True)
    subprocess.run([*install, *TRITON])
    if also:
        subprocess.run([*install, *also], check=True)
    subprocess.run([*install, "--force-reinstall", "--no-deps", str(ROOT / device)], check=True)
    os.environ.pop("PYTHONPATH", None)
    os.environ["PYTHONSAFEPATH"] = "1"
    return python


def missing(python: str, names: list[str]) -> list[str]:
    """Return the modules that an interpreter cannot import."""
    code = "import importlib.util as u, sys; print(*(n for n in sys.argv[1:] if u.find_spec(n) is None))"
    return subprocess.run([python, "-c", code, *names], capture_output=True, text=True, check=True).stdout.split()


def run(label: str, command: list[str], needs: list[str], limit: float) -> Outcome:
    """Run a program, and return its outcome with the end of its output."""
    if absent := missing(command[0], needs):
        return Outcome(label, command[0], "not installed", end=", ".join(absent))
    begin = time.monotonic()
    # By default JAX reserves three quarters of the GPU's memory, which other programs may need.
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=environment, errors="replace")
        output, status = done.stdout + done.stderr, done.returncode
    except subprocess.TimeoutExpired as error:
        output, status = "".join(_text(part) for part in (error.stdout, error.stderr)), None
    result = "timed out" if status is None else "passed" if status == 0 else "failed"
    counts = {"checks": int(match[1])} if (match := CHECKS.search(output)) else {}
    return Outcome(label, command[0], result, time.monotonic() - begin, status, counts, output[-3000:])


def _text(part: bytes | str | None) -> str:
    return part.decode(errors="replace") if isinstance(part, bytes) else part or ""


def main(arguments: list[str] | None = None, programs: Path = PROGRAMS) -> int:
    """Run the programs or the suite that the arguments choose; return 0 if nothing failed."""
    parser = argparse.ArgumentParser(prog=".ci/clients", description=__doc__)
    parser.add_argument("names", nargs="*", help="programs, or modules of a suite; default: all")
    parser.add_argument("--peer", metavar="PYTHON", help="another interpreter, to compare with")
    parser.add_argument("--wheels", metavar="FOLDER", help="run in an environment of the wheels in a folder")
    parser.add_argument(
        "--official", metavar="DEVICE", help="run the official package on a wheel of the software device"
    )
    parser.add_argument(
        "--also", metavar="PACKAGE", action="append", default=[], help="with --official: also install this package"
    )
    parser.add_argument("--download", metavar="FOLDER", help="only fetch the wheels of the clients into a folder")
    parser.add_argument("--suite", choices=suites.SUITES, help="run the test suite of a library instead")
    parser.add_argument("--seconds", type=float, default=3000, help="time limit of a suite")
    parser.add_argument("--limit", type=float, default=suites.LIMIT, help="time limit of one module, in seconds")
    parser.add_argument("--workers", type=int, default=2, help="number of modules of a suite that run at the same time")
    parser.add_argument("--json", metavar="FILE", help="file for the results")
    chosen = parser.parse_args(arguments)
    if chosen.download:
        return download(chosen.download)
    if chosen.official:
        python = official_environment(chosen.official, chosen.also, ROOT / "build" / "official")
        return run_all(chosen, [python], OFFICIAL_PROGRAMS, ["-m", "cuda.emulator"])
    with tempfile.TemporaryDirectory() as folder:
        own = environment_of(chosen.wheels, Path(folder)) if chosen.wheels else sys.executable
        return run_all(chosen, [own, *([chosen.peer] if chosen.peer else [])], programs)


def run_all(chosen, pythons: list[str], programs: Path, options: Sequence[str] = ()) -> int:
    """Run the chosen programs, or the suite, with each interpreter, and print the outcomes."""
    if chosen.suite:
        reports = suites.run_suite(
            pythons, suites.SUITES[chosen.suite], chosen.names, chosen.workers, chosen.seconds, chosen.limit
        )
        suites.show(chosen.suite, reports)
        _write(chosen.json, reports)
        return int(bool(reports[0].not_ended or any(outcome in suites.BAD for outcome in reports[0].outcomes.values())))
    paths = sorted(programs.glob("*.py"))
    unknown = set(chosen.names) - {path.stem for path in paths}
    if unknown:
        sys.exit(
            f"there is no program {', '.join(sorted(unknown))}; there are {', '.join(path.stem for path in paths)}"
        )
    outcomes = []
    for path in paths:
        if not chosen.names or path.stem in chosen.names:
            needs, limit = needs_of(path), limit_of(path)
            outcomes += [run(path.stem, [python, *options, str(path)], needs, limit) for python in pythons]
    for outcome in outcomes:
        print(
            f"{outcome.program:20} {outcome.result:14} {outcome.seconds:7.1f} s {outcome.counts} {outcome.interpreter}"
        )
        if outcome.result in ("failed", "timed out"):
            print(outcome.end)
    _write(chosen.json, outcomes)
    return int(any(outcome.result in ("failed", "timed out") for outcome in outcomes))


def _write(file: str | None, results: list) -> None:
    if file:
        Path(file).write_text(json.dumps([dataclasses.asdict(result) for result in results], indent=1))


if __name__ == "__main__":
    sys.exit(main())
