# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Driver calls hold references to their operands, and the GIL only if they cannot wait for it.

The types of handles enforce most of this; these tests read the rest in the sources.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from support.source import CORE, core_files

pytestmark = pytest.mark.requires(source=True)

CYTHON = core_files(".pyx", ".pxi", ".pxd")

CLASS = re.compile(r"^cdef class \w+.*:")
HANDLE = re.compile(r"^    (?:    |cdef )(?!IPC)(?:\w*Handle|Handle\[[\w.]+\]) +\w+(?P<comment>[^(]*)$")
FUNCTION = re.compile(r"^ *(?:cdef|cpdef|def) .*\(")
REFERENCE = re.compile(r"^ +cdef (?:Kept\w+|\w*Pin|\w*Handle) (?P<name>\w+)(?: *=.*)?$")
RETURN = re.compile(r"^ +return (?P<name>\w+)\.(?:get|value)\(\)(?:\.pointer)?$")
# Python functions that call a library, or fill structures passed to it.
CALLING = re.compile(r"(call|_call|call_driver|_copy_between|_fill_rows|native|setattr)$|(.*\.)?(cu[A-Z]|nvml\.)\w*$")


# The head of a function up to the colon at its end; declarations have none.
HEAD = re.compile(
    r"^ *(?:cdef|cpdef|def) +(?!class\b|extern\b|cppclass\b)[^=(\n]*?(?P<name>\w+)"
    r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)[^:=\n]*:",
    re.MULTILINE,
)


class Function(NamedTuple):
    """A function of a Cython source."""

    name: str
    head: str
    body: str

    @property
    def is_nogil(self) -> bool:
        return bool(re.search(r"\bnogil\s*:$", self.head))

    def calls(self) -> Iterator[tuple[str, bool]]:
        """Yield the functions that it calls, and whether it holds the GIL there."""
        scopes = [(-1, self.is_nogil)]  # indentation, and whether the block is without the GIL
        for line in self.body.splitlines():
            indent = len(line) - len(line.lstrip())
            if line.strip() and not line.lstrip().startswith(")"):
                scopes = [scope for scope in scopes if scope[0] < indent]
            if scope := re.match(r" *with (no)?gil\b", line):
                scopes.append((indent, bool(scope[1])))
            for driver, other in re.findall(r"cydriver\.(cu[A-Z]\w+)\(|(?<![\w.])(\w+)\(", line):
                yield driver or other, not scopes[-1][1]


def functions(text: str) -> Iterator[Function]:
    """Yield the functions of a Cython source."""
    text = re.sub(r" *#.*", "", text)
    for head in HEAD.finditer(text):
        indent = len(head[0]) - len(head[0].lstrip())
        end = re.compile(rf"^ {{0,{indent}}}[^\s)]", re.MULTILINE).search(text, head.end())
        yield Function(head["name"], head[0], text[head.end() : end.start() if end else len(text)])


def found_in(check, *suffixes: str) -> list[str]:
    """Return the findings of a check in the sources."""
    return [f"{path.relative_to(CORE)}: {found}" for path in core_files(*suffixes) for found in check(path.read_text())]


def changing_handles(text: str) -> Iterator[str]:
    """Yield the fields of classes that are handles and may change: another thread may replace one during a call."""
    is_class = False
    for line in text.splitlines():
        if line and not line.startswith((" ", "#")):
            is_class = bool(CLASS.match(line))
        field = HANDLE.match(line)
        if is_class and field and "set once" not in field["comment"]:
            yield line.strip()


def escaping_values(text: str) -> Iterator[str]:
    """Yield the returns of raw values whose reference ends with the function, except by functions for Python."""
    names: set[str] = set()
    is_python = False
    for line in text.splitlines():
        if reference := REFERENCE.match(line):
            names.add(reference["name"])
        elif FUNCTION.match(line):
            names, is_python = set(), line.lstrip().startswith("def ")
        elif (result := RETURN.match(line)) and result["name"] in names and not is_python:
            yield line.strip()


def passed_handles(text: str) -> Iterator[str]:
    """Yield the arguments ``x.handle`` of calls in Python: another thread may close ``x`` before the call uses it.

    Pins are named ``pin`` or ``pins``, and an object that passes its own handle answers for it.
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and CALLING.match(ast.unparse(node.func)):
            for argument in [*node.args, *[keyword.value for keyword in node.keywords]]:
                for part in ast.walk(argument):
                    passed = ast.unparse(part) if isinstance(part, ast.Attribute) and part.attr == "handle" else "pin"
                    if not re.match(r"(pins?|self)\b", passed):
                        yield passed


def lock_takers(text: str) -> Iterator[str]:
    """Yield the ``noexcept`` functions with a ``with gil`` block: callbacks and destructors, which run on any thread.

    They take the GIL by ``call_with_interpreter``, which does nothing while the interpreter exits.
    """
    for function in functions(text):
        if "noexcept" in function.head and re.search(r"\bwith gil\b", function.body):
            yield function.name


def misnamed_results(text: str) -> Iterator[str]:
    """Yield the results of driver calls reported under the name of another call."""
    for call, name in re.findall(r'_RETURN\(\s*cydriver\.(cu\w+)\([^"]*b"(\w+)"', text):
        if name != call.removesuffix("_v2"):
            yield f"{call} as {name}"


RULES = {
    "a class keeps a handle that may change in a handle field": (changing_handles, (".pyx", ".pxi", ".pxd")),
    "no function returns the raw value of its own reference": (escaping_values, (".pyx", ".pxi", ".pxd")),
    "Python code passes objects to the driver, not their handles": (passed_handles, (".py",)),
    "foreign threads take the GIL by call_with_interpreter": (lock_takers, (".pyx", ".pxi")),
    "a failed call is reported under its name": (misnamed_results, (".pyx", ".pxi", ".pxd")),
}


@pytest.mark.parametrize("rule", RULES)
def test_sources_follow(rule):
    check, suffixes = RULES[rule]
    assert found_in(check, *suffixes) == []


FIELD = "cdef class Event(DriverObject):\n    cdef:\n        EventHandle _h_event\n        int _flags\n"
LOCAL = "cdef CUevent event_of(Event self) except NULL:\n    cdef KeptEvent event\n    return event.get()\n"
TAKER = "cdef void end(Thing[int]& value) noexcept nogil:\n    with gil:\n        release(value)\n"
RESULT = 'HANDLE_RETURN(cydriver.cuMemFree_v2(\n    pointer(a)), b"cuMemFree")\n'
PLANTED = [
    (changing_handles, FIELD, FIELD.replace("_h_event", "_h_event  # set once")),
    (changing_handles, FIELD, FIELD.replace("EventHandle", "EventMember")),
    (escaping_values, LOCAL, LOCAL.replace("event.get()", "<intptr_t>event.get()")),
    (escaping_values, LOCAL.replace("get()", "value().pointer"), LOCAL.replace("event.get()", "query(event.get())")),
    (passed_handles, 'call("cuEventRecord", event.handle)', 'call("cuEventRecord", event)\nprint(event.handle)'),
    (passed_handles, "driver.cuStreamQuery(int(stream.handle))", "driver.cuStreamQuery(pins[-1].handle)"),
    (passed_handles, 'setattr(record, "srcArray", of(array).handle)', 'setattr(record, "srcArray", self.handle)'),
    (lock_takers, TAKER, TAKER.replace("noexcept", "except *")),
    (lock_takers, TAKER, TAKER.replace("with gil", "while it")),
    (misnamed_results, RESULT.replace("MemFree_v2", "MemAlloc"), RESULT),
]


@pytest.mark.parametrize("check, wrong, right", PLANTED)
def test_planted_violation_is_found(check, wrong, right):
    assert (len(list(check(wrong))), list(check(right))) == (1, [])


# Calls that did not return on an H200 (CUDA 13.0 driver) while another thread was blocked in a launch, whose queue
# was full after a host callback that needs the GIL; and calls that enqueue or wait, which can block themselves.
WAITING = re.compile(
    "cuStreamQuery|cuEventCreate|cuStreamCreate|cuGraphExec.*SetParams|cuGraphExecUpdate|cuGraphInstantiate|cuGraphUpload|"
    "cuGraphDestroy|cu(Stream|Event|Ctx)Synchronize|cuEventRecord|cuStreamWait|cuLaunch|cuGraphLaunch|cuMem(cpy|set).*|"
    "cuMem(Alloc|Free).*|cuStreamEndCapture|cuStreamBeginCapture.*|cuLibrary(Load|Unload).*|cuModule(Load|Unload).*"
)


def calls_with_the_gil(files: dict[str, str]) -> list[str]:
    """Return the waiting calls made with the GIL, including calls through functions declared nogil."""
    sources = {file: list(functions(text)) for file, text in files.items()}
    nogil = defaultdict(set)  # by name: what the functions without the GIL call
    for function in (function for source in sources.values() for function in source if function.is_nogil):
        nogil[function.name] |= {callee for callee, _ in function.calls()}
    waiting: set[str] = set()
    while more := {name for name in nogil if any(c in waiting or WAITING.fullmatch(c) for c in nogil[name])} - waiting:
        waiting |= more
    return [
        f"{file}: {callee} in {function.name}"
        for file, source in sources.items()
        for function in source
        if not function.is_nogil
        for callee, is_held in function.calls()
        if is_held and (WAITING.fullmatch(callee) or callee in waiting)
    ]


def test_calls_that_can_wait_for_a_launch_release_the_gil():
    files = {str(path.relative_to(CORE)): path.read_text() for path in CYTHON}
    assert sum(1 for text in files.values() for _ in functions(text)) > 1000
    assert calls_with_the_gil(files) == []


def test_planted_calls_with_the_gil_are_found():
    text = (
        "cdef int direct(int a) except -1:\n    cydriver.cuStreamQuery(a)\n"
        "cdef int inner(\n    int a,  # of: this\n) except -1 nogil:\n    cydriver.cuEventCreate(a)\n"
        "def outer(self):\n    with nogil:\n        inner(1)\n    inner(2)\n"
        "def fine(self):\n    with nogil:\n        cydriver.cuStreamQuery(1)\n    cydriver.cuCtxGetCurrent(1)\n"
    )
    assert calls_with_the_gil({"a.pyx": text}) == ["a.pyx: cuStreamQuery in direct", "a.pyx: inner in outer"]
