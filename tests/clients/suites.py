# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Runs test suites of libraries: each module in a child process, with a time limit, by each interpreter.

The libraries' runners wait forever if a worker dies. Here a process that dies or hangs ends only its module: the
tests that ended before are counted, and the unfinished test is named.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import os
import queue
import re
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

OUTCOMES = Path(__file__).parent / "outcomes.py"
LIMIT = 300
# A test can have several outcomes, of its subtests and of its teardown. The worst one counts.
WORST_FIRST = ("cut", "error", "failed", "xfailed", "passed", "skipped")
BAD = WORST_FIRST[:3]


@dataclasses.dataclass(frozen=True)
class Suite:
    """The tests of a library."""

    package: str
    parts: dict[str, int] = dataclasses.field(default_factory=dict)  # of slow modules, slowest first
    alone: tuple[str, ...] = ()  # modules that run one at a time, after all others
    left_out: tuple[str, ...] = ()  # folders


SUITES = {
    "numba_cuda": Suite(
        "numba.cuda.tests",
        parts={
            "cudapy.test_ufuncs": 16,
            "cudapy.test_vector_type": 4,
            "nrt.test_nrt": 4,
            "cudapy.test_array_reductions": 8,
            "cudapy.test_array_alignment": 4,
            "cudapy.test_math": 6,
            "cudapy.test_cache_hints": 6,
            "cudapy.test_print": 3,
            "cudapy.test_atomics": 4,
            "cudadrv.test_managed_alloc": 3,
            "cudapy.test_debuginfo": 2,
            "cudapy.test_intrinsics": 2,
        },
        alone=("cudapy.test_caching",),
        left_out=("benchmarks",),
    ),
}


@dataclasses.dataclass
class Module:
    """The outcomes of a module, or of a part of one, with an interpreter."""

    name: str
    part: int = 0
    state: str = "not begun"  # ended, cut, died, not begun
    seconds: float = 0.0
    outcomes: dict[str, str] = dataclasses.field(default_factory=dict)
    texts: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Report:
    """The outcomes of a suite with an interpreter."""

    interpreter: str
    modules: list[Module] = dataclasses.field(default_factory=list)

    @property
    def outcomes(self) -> dict[str, str]:
        """The outcome of each test, by module and name."""
        return {f"{module.name}{test}": outcome for module in self.modules for test, outcome in module.outcomes.items()}

    @property
    def counts(self) -> dict[str, int]:
        """The number of tests by outcome."""
        return dict(collections.Counter(self.outcomes.values()))

    @property
    def not_ended(self) -> list[str]:
        """The modules whose process died, was stopped at the limit, or did not begin."""
        return sorted({f"{module.name} ({module.state})" for module in self.modules if module.state != "ended"})


def modules_of(python: str, suite: Suite) -> list[str]:
    """Return the modules of a suite in starting order: slow ones, then by size, largest first."""
    code = (
        f"import importlib.util; spec = importlib.util.find_spec({suite.package!r})\n"
        "print('folder:', *(spec.submodule_search_locations if spec else ()))"
    )
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, cwd=tempfile.gettempdir())
    found = re.search(r"^folder: (.+)$", done.stdout, re.MULTILINE)
    if found is None:
        raise LookupError(f"{suite.package} was not found by {python}: {done.stderr[-500:]}")
    folder = Path(found[1])
    paths = [path for path in folder.rglob("test_*.py") if path.relative_to(folder).parts[0] not in suite.left_out]
    paths.sort(key=lambda path: -path.stat().st_size)
    names = [".".join(path.relative_to(folder).with_suffix("").parts) for path in paths]
    return [name for name in suite.parts if name in names] + [name for name in names if name not in suite.parts]


def read_outcomes(module: Module, text: str) -> None:
    """Add the records of :mod:`clients.outcomes` to a module. A test that began and did not end was cut."""
    begun = set()
    for line in text.splitlines():
        try:
            record = json.loads(line)
        except ValueError:  # cut while it was written
            break
        if "begun" in record:
            name = _test_name(record["begun"])
            begun.add(name)
            module.outcomes[name] = "cut"
        elif "test" in record:
            name = _test_name(record["test"])
            known = None if name in begun else module.outcomes.get(name)
            module.outcomes[name] = min(known or record["outcome"], record["outcome"], key=WORST_FIRST.index)
            begun.discard(name)
            if record.get("text"):
                module.texts.setdefault(name, record["text"])


def _test_name(nodeid: str) -> str:
    """Return the name of a test without its file, which pytest includes only in some names."""
    return "::" + nodeid.partition("::")[2] if "::" in nodeid else f"::{nodeid}"


def run_module(python: str, package: str, module: Module, parts: int, limit: float, cwd: str) -> None:
    """Run a module, or a part of it, and record its state and outcomes."""
    begin = time.monotonic()
    file, output = Path(tempfile.mkdtemp(dir=cwd)) / "outcomes", Path(tempfile.mkdtemp(dir=cwd)) / "output"
    command = [python, str(OUTCOMES), str(file), f"{module.part}:{parts}", f"{package}.{module.name}"]
    with open(output, "wb") as out:
        child = subprocess.Popen(command, stdout=out, stderr=out, cwd=cwd, start_new_session=True)
        try:
            child.wait(limit)
            module.state = "ended" if child.returncode in (0, 1, 5) else "died"  # 1: failures, 5: no tests
        except subprocess.TimeoutExpired:
            module.state = "cut"
        finally:
            _stop(child)
    module.seconds = time.monotonic() - begin
    read_outcomes(module, file.read_text() if file.exists() else "")
    if module.state == "died" and "::(import)" in module.outcomes:
        module.state = "ended"
    elif module.state == "died":
        module.texts["::(process)"] = f"status {child.returncode}\n" + output.read_text(errors="replace")[-2000:]


def _stop(child: subprocess.Popen) -> None:
    """Kill a process and its children."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def run_suite(
    pythons: list[str],
    suite: Suite,
    names: list[str] = (),
    workers: int = 2,
    seconds: float = 3000,
    limit: float = LIMIT,
) -> list[Report]:
    """Run a suite by each interpreter, side by side.

    Parameters
    ----------
    names : list of str, optional
        Modules, such as ``cudapy.test_ipc``. Default is all.
    workers : int, optional
        The number of processes that run at the same time.
    seconds, limit : float, optional
        The time limits of the suite and of one module, in seconds.
    """
    end = time.monotonic() + seconds
    reports = [Report(python) for python in pythons]
    listed = list(names) or modules_of(pythons[0], suite)
    with tempfile.TemporaryDirectory() as folder:

        def work(todo: queue.SimpleQueue) -> None:
            while True:
                try:
                    python, module, parts = todo.get_nowait()
                except queue.Empty:
                    return
                left = min(limit, end - time.monotonic())
                if left > 0:
                    run_module(python, suite.package, module, parts, left, folder)

        for chosen, count in (
            ([name for name in listed if name not in suite.alone], workers),
            ([name for name in listed if name in suite.alone], 1),
        ):
            todo = queue.SimpleQueue()
            for name in chosen:
                parts = suite.parts.get(name, 1)
                for part in range(parts):
                    for report in reports:
                        report.modules.append(Module(name, part))
                        todo.put((report.interpreter, report.modules[-1], parts))
            threads = [threading.Thread(target=work, args=(todo,)) for _ in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    return reports


def differences(reports: list[Report]) -> dict[str, list[str]]:
    """Return the tests whose outcomes differ between interpreters, with the outcome by each."""
    found = [report.outcomes for report in reports]
    names = sorted({name for outcomes in found for name in outcomes})
    rows = {name: [outcomes.get(name, "missing") for outcomes in found] for name in names}
    return {name: row for name, row in rows.items() if len(set(row)) > 1}


def show(label: str, reports: list[Report]) -> None:
    """Print counts, modules that did not end, the differences, and one text of each kind of failure."""
    for report in reports:
        print(f"{label} {report.interpreter}: {len(report.outcomes)} tests, {report.counts}")
        print(f"  not ended: {report.not_ended}")
        longest = sorted(report.modules, key=lambda module: -module.seconds)[:8]
        print("  longest:", ", ".join(f"{module.name}[{module.part}] {module.seconds:.0f} s" for module in longest))
        for name, outcome in sorted(report.outcomes.items()):
            if outcome in BAD:
                print(f"    {outcome} {name}")
    if len(reports) > 1:
        for name, row in differences(reports).items():
            print(f"  differs: {name}: {', '.join(row)}")
    kinds = set()
    for module in (module for report in reports for module in report.modules):
        for test, text in module.texts.items():
            kind = re.sub(r"0x[0-9a-f]+|\d+", "N", text.strip().splitlines()[-1])
            if kind not in kinds:
                kinds.add(kind)
                print(f"-- {module.name}{test}\n   " + "\n   ".join(text.strip().splitlines()[-12:]))
