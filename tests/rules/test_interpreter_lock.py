# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Driver calls that can wait for a thread that is blocked in a launch are made without the interpreter lock.

The launch may be blocked because its queue is full behind a host callback that needs this lock.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "cuda" / "core"

# Calls that did not return while another thread was blocked, measured on an H200 with the driver for CUDA 13.0; and
# calls that enqueue or wait, which can block themselves.
WAITING = re.compile(
    "cuStreamQuery|cuEventCreate|cuStreamCreate|cuGraphExec.*SetParams|cuGraphExecUpdate|cuGraphInstantiate|cuGraphUpload|"
    "cuGraphDestroy|cu(Stream|Event|Ctx)Synchronize|cuEventRecord|cuStreamWait|cuLaunch|cuGraphLaunch|cuMem(cpy|set).*|"
    "cuMem(Alloc|Free).*|cuStreamEndCapture|cuStreamBeginCapture.*|cuLibrary(Load|Unload).*|cuModule(Load|Unload).*"
)
HEAD = re.compile(r"\s*(?:cdef|cpdef|def)\s+(?!class\b)(?:inline\s+)?[^=]*?(\w+)\(")
SCOPE = re.compile(r"with (no)?gil\b")


class Function:
    """A function: whether it is declared nogil, and its calls: line, name, and whether the lock is held there."""

    def __init__(self, path: Path, is_nogil: bool):
        self.path, self.is_nogil = path, is_nogil
        self.calls: list[tuple[int, str, bool]] = []


def read(path: Path) -> dict[str, Function]:
    """Return the functions of a file."""
    functions, scopes = {}, []  # scopes: (indent, without the lock, name of a function or None)
    lines = path.read_text().splitlines()
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        indent = len(line) - len(line.lstrip())
        if not line.strip() or line.lstrip().startswith(("#", ")")):
            continue
        scopes = [scope for scope in scopes if scope[0] < indent]
        if head := HEAD.match(line):
            end = number
            while not re.search(r":\s*(#.*)?$", lines[end - 1]) and end < number + 20 and end < len(lines):
                end += 1
            text = " ".join(lines[number - 1 : end])
            if re.search(r":\s*(#.*)?$", text):
                is_nogil = bool(re.search(r"\bnogil\s*:", text))
                functions[head[1]] = Function(path, is_nogil)
                scopes.append((indent, is_nogil, head[1]))
                number = end
                continue
        if scope := SCOPE.match(line.strip()):
            scopes.append((indent, bool(scope[1]), None))
            continue
        name = next((scope[2] for scope in reversed(scopes) if scope[2]), None)
        if name is not None:
            found = re.findall(r"cydriver\.(cu[A-Z]\w+)\(|(?<![\w.])(\w+)\(", line)
            functions[name].calls += [(number, driver or other, not scopes[-1][1]) for driver, other in found]
    return functions


def held_calls(files: list[dict[str, Function]]) -> list[str]:
    """Return the waiting calls that are made with the lock, also through functions that are declared nogil."""
    by_name = defaultdict(list)
    for functions in files:
        for name, function in functions.items():
            by_name[name].append(function)
    known: dict[str, set[str]] = {}

    def reached(name: str) -> set[str]:
        if name not in known:
            known[name] = set()  # ends the recursion in cycles
            for function in by_name[name] if name in by_name else ():
                if function.is_nogil:
                    for _, callee, _ in function.calls:
                        known[name] |= {callee} if WAITING.fullmatch(callee) else reached(callee)
        return known[name]

    return [
        f"{function.path.relative_to(PACKAGE)}:{number}: {callee} in {name}"
        for functions in files
        for name, function in functions.items()
        if not function.is_nogil
        for number, callee, is_held in function.calls
        if is_held and (WAITING.fullmatch(callee) or reached(callee))
    ]


def test_calls_that_can_wait_for_a_blocked_launch_are_made_without_the_lock():
    files = [read(path) for path in sorted(PACKAGE.rglob("*.p[xy][dx]"))]
    assert sum(len(functions) for functions in files) > 1000
    assert held_calls(files) == []


def test_planted_calls_with_the_lock_are_found():
    path = PACKAGE / "probe.pyx"

    class Text:
        def read_text(self):
            return (
                "cdef int direct(int a) except -1:\n    cydriver.cuStreamQuery(a)\n"
                "cdef int inner(\n    int a\n) except -1 nogil:\n    cydriver.cuEventCreate(a)\n"
                "def outer(self):\n    with nogil:\n        inner(1)\n    inner(2)\n"
                "def fine(self):\n    with nogil:\n        cydriver.cuStreamQuery(1)\n    cydriver.cuCtxGetCurrent(1)\n"
            )

        def relative_to(self, other):
            return path.relative_to(other)

    assert held_calls([read(Text())]) == [
        "probe.pyx:2: cuStreamQuery in direct",
        "probe.pyx:10: inner in outer",
    ]
