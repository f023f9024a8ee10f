# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Time linking with nvJitLink, through ``Linker`` and through the bindings alone.

Each call creates a link with its options, links to CUBIN and drops the link. The figures are the least times of all
rounds, in microseconds, and as multiples of the bindings alone. All ways take turns, so the machine's load affects them
alike. No GPU is needed.

    python link.py                             print the figures
    python link.py --peer OTHER/bin/python     also time another environment's ``cuda.core`` with the same
                                               nvJitLink, and fail if it is faster
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cuda.bindings import nvjitlink, nvrtc

from cuda.core import Linker, LinkerOptions, ObjectCode

ARCH = "sm_80"
MAIN = 'extern "C" __device__ int part(int); extern "C" __global__ void f(int* x) { *x = part(*x); }'
PART = 'extern "C" __device__ int part(int y) { return 3 * y + 1; }'
# Inputs to link: a name, a format and the sources.
ROWS = {
    "PTX": ("ptx", [PART + MAIN]),
    "LTO IR": ("ltoir", [PART + MAIN]),
    "two CUBINs": ("cubin", [MAIN, PART]),
}
ROUNDS = 40
LINKS = 20  # per round
TOLERANCE = 1.03


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", metavar="PYTHON", help="the interpreter of another environment")
    parser.add_argument("--serve", action="store_true", help="time a round for each name of a row on stdin")
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
        return 0
    least = {name: dict.fromkeys(["alone", "ours"] + ["peer"] * bool(arguments.peer), float("inf")) for name in ROWS}
    peer = Peer(arguments.peer) if arguments.peer else None
    calls = {name: {"alone": link_alone(name), "ours": link_by_core(name)} for name in ROWS}
    for _ in range(ROUNDS):
        for name, figures in least.items():
            for way in figures:
                time_of_round = peer(name) if way == "peer" else timed(calls[name][way])
                figures[way] = min(figures[way], time_of_round)
    print(f"{'row':14}{'alone':>9}{'ours':>9}{'':>8}{'peer':>9}")
    for name, figures in least.items():
        print(f"{name:14}" + "".join(f"{time:9.1f} ({time / figures['alone']:.2f})" for time in figures.values()))
    return int(any(figures["ours"] > TOLERANCE * figures.get("peer", float("inf")) for figures in least.values()))


def link_by_core(name: str) -> Callable[[], object]:
    """Return a call that links with ``cuda.core``."""
    kind = ROWS[name][0]
    inputs = [getattr(ObjectCode, f"from_{kind}")(code, name=f"input {i}") for i, code in enumerate(compiled(name))]
    settings = {"arch": ARCH} | ({"link_time_optimization": True} if kind == "ltoir" else {})
    return lambda: Linker(*inputs, options=LinkerOptions(**settings)).link("cubin")


def link_alone(name: str) -> Callable[[], object]:
    """Return a call that links with the bindings and nothing else."""
    kind = getattr(nvjitlink.InputType, ROWS[name][0].upper())
    inputs = [(code, f"input {i}") for i, code in enumerate(compiled(name))]
    options = [f"-arch={ARCH}"] + ["-lto"] * (ROWS[name][0] == "ltoir")

    def link():
        handle = nvjitlink.create(len(options), options)
        for code, label in inputs:
            nvjitlink.add_data(handle, kind, code, len(code), label)
        nvjitlink.complete(handle)
        code = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, code)
        nvjitlink.destroy(handle)
        return bytes(code)

    return link


def compiled(name: str) -> Iterator[bytes]:
    """Yield the inputs of a row, compiled by NVRTC."""
    kind, sources = ROWS[name]
    options = [f"-arch={ARCH}".encode(), b"-rdc=true"] + [b"-dlto"] * (kind == "ltoir")
    for source in sources:
        program = check(*nvrtc.nvrtcCreateProgram(source.encode(), b"source", 0, [], []))
        check(*nvrtc.nvrtcCompileProgram(program, len(options), options))
        code = bytearray(check(*getattr(nvrtc, f"nvrtcGet{kind.upper()}Size")(program)))
        check(*getattr(nvrtc, f"nvrtcGet{kind.upper()}")(program, code))
        check(*nvrtc.nvrtcDestroyProgram(program))
        yield bytes(code)


def check(error, result=None):
    if error != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(error.name)
    return result


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter_ns()
    for _ in range(LINKS):
        call()
    return (time.perf_counter_ns() - start) / LINKS / 1000


class Peer:
    """A process with another environment's ``cuda.core`` that times a round when called with a row name."""

    def __init__(self, python: str):
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        self._process = subprocess.Popen(
            [python, str(Path(__file__).resolve()), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment | library_path(environment),
        )

    def __call__(self, name: str) -> float:
        print(name, file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())


def library_path(environment: dict[str, str]) -> dict[str, str]:
    """Return the variable that lets the peer find our nvJitLink if it does not have its own."""
    package = importlib.util.find_spec("nvidia.cu13")
    folders = [str(Path(place, "lib")) for place in package.submodule_search_locations] if package else []
    return {"LD_LIBRARY_PATH": os.pathsep.join([*folders, environment.get("LD_LIBRARY_PATH", "")])}


def serve() -> None:
    """Print the time of a round for every row name on stdin."""
    calls = {name: link_by_core(name) for name in ROWS}
    for line in sys.stdin:
        print(timed(calls[line.strip()]), flush=True)


if __name__ == "__main__":
    sys.exit(main())
