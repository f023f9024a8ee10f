# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Starts workers, and detects their crashes and hangs. A new worker continues after the case that ended the old one."""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from fuzz.worker import STATE

# The number of cases between the first cases of two turns: about as many as a minute reaches.
STRIDE = 100_003
TURNS = 100  # turns are counted modulo this
PATIENCE = 15  # time limit of one call, in seconds
POLL = 0.2  # interval between looks at a worker, in seconds
BEGINNING = 120  # time limit until the first call, in seconds
TESTS = Path(__file__).resolve().parents[1]


@dataclasses.dataclass
class Result:
    """The outcome of a campaign."""

    calls: int = 0
    targets: int = 0
    end: int = 0  # the first case that was not reached
    counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    findings: list = dataclasses.field(default_factory=list)

    def ends(self) -> list[dict]:
        """Return the findings that are crashes or hangs."""
        return [finding for finding in self.findings if finding["reason"].startswith(("a crash", "a hang"))]

    def grouped(self) -> dict:
        """Return the findings, grouped by call, reason and message without numbers."""
        groups = {}
        for finding in self.findings:
            last = re.sub(r"\d+|'[^']*'", "_", finding["text"].strip().rpartition("\n")[2])
            call = finding["call"].partition(" = ")[0]
            groups.setdefault((call, finding["reason"], last), []).append(finding)
        return groups


@dataclasses.dataclass(frozen=True)
class Plan:
    """What the workers of a campaign share. Each makes every ``step``-th case."""

    seed: int
    step: int
    stop: int  # the first case that is not made
    deadline: float
    folder: Path


def run(seconds: float, seed: int = 1, workers: int = 2, start: int = 0, stop: int = 1 << 60) -> Result:
    """Make the calls of the cases from ``start`` to ``stop``, for at most the given time; return the outcome."""
    result = Result()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        plan = Plan(seed, workers, stop, time.monotonic() + seconds, Path(folder))
        lanes = [threading.Thread(target=_lane, args=(result, plan, start + number)) for number in range(workers)]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
    return result


def _lane(result: Result, plan: Plan, start: int) -> None:
    """Keep one worker running until the last case or the deadline."""
    barren = 0
    while start < plan.stop and time.monotonic() < plan.deadline and barren < 3:
        reached = _watch(result, plan, start)
        barren = barren + 1 if reached is None else 0
        start = start if reached is None else reached + plan.step
    result.end = max(result.end, start)


def _watch(result: Result, plan: Plan, start: int) -> int | None:
    """Run one worker, and return the last case that it began, or None if it began none."""
    lane = start % plan.step
    state, out, err, directory = (plan.folder / f"{name}{lane}" for name in ("state", "out", "err", "cwd"))
    state.write_bytes(STATE.pack(-1))
    directory.mkdir(exist_ok=True)
    options = {"seed": plan.seed, "start": start, "step": plan.step, "stop": plan.stop, "state": state}
    options["seconds"] = plan.deadline - time.monotonic()
    command = [sys.executable, "-m", "fuzz.worker", *(f"--{name}={value}" for name, value in options.items())]
    with open(out, "w") as to_out, open(err, "w") as to_err:
        process = subprocess.Popen(
            command, cwd=directory, env=environment(), stdin=subprocess.DEVNULL, stdout=to_out, stderr=to_err
        )
        hang = _wait(process, state)
    (reached,) = STATE.unpack(state.read_bytes())
    lines = [json.loads(line) for line in out.read_text(errors="replace").splitlines() if line.startswith('{"')]
    result.findings += [line["finding"] for line in lines if "finding" in line]
    done = [line for line in lines if "done" in line]
    if done:
        result.calls += done[0]["done"]
        result.targets = done[0]["targets"]
        result.counts.update(done[0]["counts"])
    else:
        result.calls += max(0, (reached - start) // plan.step)
    if hang or process.returncode != 0:
        text = err.read_text(errors="replace")
        trace = text[max(0, text.rfind("most recent call first")) :].partition("Extension modules")[0][:2500]
        reason = "a hang" if hang else f"a crash, status {process.returncode}"
        call = _describe(plan, reached) if reached >= 0 else "the beginning"
        result.findings.append({"case": reached, "call": call, "reason": reason, "text": trace or text[-2500:]})
    return reached if reached >= 0 else None


def _wait(process: subprocess.Popen, state: Path) -> bool:
    """Wait until a worker ends, and kill it if one call takes too long; return whether it was killed."""
    # Waits are counted instead of reading a clock, because a suspended machine makes no calls.
    waits, case = 0, -1
    while waits * POLL <= (PATIENCE if case >= 0 else BEGINNING):
        try:
            process.wait(POLL)
            return False
        except subprocess.TimeoutExpired:
            before, case = case, STATE.unpack(state.read_bytes())[0]
            waits = waits + 1 if case == before else 0
    process.send_signal(signal.SIGUSR1)  # it writes its stack traces
    time.sleep(0.5)
    process.kill()
    process.wait()
    return True


def _describe(plan: Plan, case: int) -> str:
    command = [sys.executable, "-m", "fuzz.worker", f"--seed={plan.seed}", f"--describe={case}"]
    done = subprocess.run(command, cwd=plan.folder, env=environment(), capture_output=True, text=True)
    return done.stdout.strip().rpartition("\n")[2]


def environment() -> dict:
    """Return the environment of a worker: with little device memory, so that large allocations fail."""
    path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    defaults = {"CUDA_CORE_DEVICE": "auto", "CUDA_EMULATOR_MEMORY": str(256 << 20)}
    changed = {name: value for name, value in defaults.items() if name not in os.environ}
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    return kept | changed | {"PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
