# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls hold references to the objects they use: what the types of references and handles do not enforce."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [path for path in sorted((ROOT / "cuda").rglob("*.p[yx]*")) if path.suffix in (".pyx", ".pxd")]

CLASS = re.compile(r"^cdef class \w+.*:")
FIELD = re.compile(r"^    (?:    |cdef )(?!IPC)(?:\w*Handle|Handle\[[\w.]+\]) +\w+(?P<comment>.*)")
FUNCTION = re.compile(r"^ *(?:cdef|cpdef|def) .*\(")
LOCAL = re.compile(r"^ +cdef (?:Kept\w+|\w*Handle) (?P<name>\w+)(?: *=.*)?$")
RAW = re.compile(r"^ +return (?P<value>.*)")
OBJECT = re.compile(
    r"^    (?:    |cdef )(?:\w+\.)?(?:CU(?:stream|event|context|greenCtx|library|kernel|function|module|memoryPool|"
    r"array|mipmappedArray|texObject|surfObject|graphicsResource|linkState|graph|graphExec|graphNode|userObject|deviceptr|"
    r"graphConditionalHandle|devResource)|nvJitLinkHandle|nvrtcProgram) +(?P<name>\w+)"
)
# Python functions that call a library, or fill structures that are passed to it.
CALLING = re.compile(r"(call|_call|call_driver|_copy_between|_fill_rows|native|setattr)$|(.*\.)?(cu[A-Z]|nvml\.)\w*$")
# Fields that are raw handles, and why none of them is destroyed during a call.
RAW_FIELDS = {
    ("_compile/_nvjitlink.pyx", "c_link"): "used and destroyed by its own thread only",
    ("_device_resources.pxd", "_resource"): "a description, not an object of the driver",
    ("_memory/_ipc.pyx", "pointer"): "the allocation holds this object, which never changes the field",
    ("graph/_parameters.pxd", "_c_handle"): "a number of its graph, which it keeps",
    ("graph/_state.pxd", "c_node"): "a part of the tree, which each call keeps; destroy() clears it",
    ("graph/_state.pxd", "_user_object"): "released with its node",
    ("graph/_state.pxd", "c_graph"): "a part of the tree, which each call keeps",
    ("graph/_state.pxd", "c_holder"): "a part of the tree, which each call keeps",
    ("graph/_parameters.pxd", "address"): "an operand, which `owner` or `h_allocation` keeps",
    ("graph/_parameters.pxd", "c_context"): "the context that was current, which the driver checks",
    ("graph/_replay.pxd", "c_node"): "a node of an executable's definition, which its plan keeps",
}

PYTHON_SOURCES = sorted((ROOT / "cuda" / "core").rglob("*.py"))
# Handles that Python code passes to a library, and why none of them is destroyed during the call.
PASSED_HANDLES = {
    ("driver/_streams.py", "held.handle"): "a reference of the call",
    ("driver/_streams.py", "self.handle"): "of the last reference, which destroys it",
    ("driver/_copies.py", "held[-1].handle"): "a reference of the call",
    ("driver/_host_memory.py", "self.handle"): "an address of memory, which its owner frees",
    ("system/_events.py", "self._events.handle"): "never closed: freed with the last reference",
    ("system/_system_events.py", "self._events.handle"): "never closed: freed with the last reference",
}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_fields_are_members_unless_a_handle_never_changes(path):
    assert list(changing_handles(path.read_text())) == []


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_no_function_returns_the_raw_value_of_its_own_reference(path):
    assert list(escaping_values(path.read_text())) == []


def test_raw_handles_in_fields_are_listed():
    found = {
        (named(path).removeprefix("cuda/core/"), name) for path in SOURCES for name in raw_fields(path.read_text())
    }
    assert found == set(RAW_FIELDS)


def test_python_code_passes_objects_to_the_driver_and_not_their_handles():
    found = {
        (named(path).removeprefix("cuda/core/"), passed)
        for path in PYTHON_SOURCES
        for passed in passed_handles(path.read_text())
    }
    assert found == set(PASSED_HANDLES)


def test_planted_handle_of_a_call_is_found():
    for planted in (
        'call("cuEventRecord", event.handle, stream)',
        "driver.cuStreamQuery(int(stream.handle))",
        '_fill_rows("cuMemsetD2D8Async", 1, stream_of(stream).handle)',
        'setattr(record, "srcArray", array.handle)',
    ):
        assert len(list(passed_handles(planted))) == 1
    assert list(passed_handles('call("cuEventRecord", event, stream)\nprint(event.handle)')) == []


def test_planted_raw_handle_is_found():
    planted = "cdef class Event(DriverObject):\n    cdef:\n        cydriver.CUevent c_event  # owned\n"
    assert list(raw_fields(planted)) == ["c_event"]
    assert list(raw_fields(planted.replace("cydriver.CUevent ", "cydriver.CUevent_flags "))) == []
    assert list(raw_fields("    cdef cydriver.CUstream c_stream = NULL\n")) == []


def test_planted_handle_is_found():
    planted = "cdef class Event(DriverObject):\n    cdef:\n        EventHandle _h_event\n        int _flags\n"
    assert list(changing_handles(planted)) == ["        EventHandle _h_event"]
    assert list(changing_handles(planted.replace("_h_event", "_h_event  # set once"))) == []
    assert list(changing_handles(planted.replace("EventHandle", "EventMember"))) == []


def test_planted_return_of_a_raw_value_is_found():
    planted = (
        "cdef cydriver.CUevent event_of(Event self) except NULL:\n"
        "    cdef KeptEvent event\n"
        "    Event_keep(self, &event)\n"
        "    return event.get()\n"
    )
    assert list(escaping_values(planted)) == ["return event.get()"]
    assert list(escaping_values(planted.replace("event.get()", "<intptr_t>event.get()"))) == []
    assert list(escaping_values(planted.replace("event.get()", "query(event.get())"))) == []
    assert list(escaping_values(planted.replace("event.get()", "event.value().pointer"))) != []


def changing_handles(text: str) -> Iterator[str]:
    """Yield the fields of classes that are handles and may change: another thread may replace one in a call."""
    is_class = False
    for line in text.splitlines():
        if line and not line.startswith((" ", "#")):
            is_class = bool(CLASS.match(line))
        field = FIELD.match(line)
        if is_class and field and "(" not in line and "set once" not in field["comment"]:
            yield line


def passed_handles(text: str) -> Iterator[str]:
    """Yield the arguments ``x.handle`` of calls: another thread may close ``x`` before the call uses the handle."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or not CALLING.match(ast.unparse(node.func)):
            continue
        for argument in [*node.args, *[keyword.value for keyword in node.keywords]]:
            for part in ast.walk(argument):
                if isinstance(part, ast.Attribute) and part.attr == "handle":
                    yield ast.unparse(part)


def raw_fields(text: str) -> Iterator[str]:
    """Yield the names of the fields of classes that are raw handles of the driver or of a compiler."""
    is_class = is_function = False
    for line in text.splitlines():
        if line and not line.startswith((" ", "#")):
            is_class = bool(CLASS.match(line))
        if line and not line.startswith("     "):
            is_function = bool(FUNCTION.match(line))
        field = OBJECT.match(line)
        if is_class and field and not is_function and "(" not in line:
            yield field["name"]


def escaping_values(text: str) -> Iterator[str]:
    """Yield the returns of raw values whose reference ends with the function, except by functions for Python."""
    names: set[str] = set()
    is_number = False
    for line in text.splitlines():
        if FUNCTION.match(line) and not LOCAL.match(line):
            names, is_number = set(), line.lstrip().startswith("def ") or "@property" in line
        local = LOCAL.match(line)
        if local:
            names.add(local["name"])
        result = RAW.match(line)
        if result and not is_number:
            value = re.match(r"(\w+)\.(?:get|value)\(\)(?:\.pointer)?$", result["value"])
            if value and value[1] in names:
                yield line.strip()
