# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls keep what they use. The types see to it that raw values come from kept references only; the rest is here."""

from __future__ import annotations

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


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_objects_have_members_unless_a_handle_never_changes(path):
    assert list(changing_handles(path.read_text())) == []


@pytest.mark.parametrize("path", SOURCES, ids=named)
def test_no_function_returns_the_raw_value_of_its_own_reference(path):
    assert list(escaping_values(path.read_text())) == []


def test_planted_handle_is_found():
    planted = "cdef class Event(DriverObject):\n    cdef:\n        EventHandle _h_event\n        int _flags\n"
    assert list(changing_handles(planted)) == ["        EventHandle _h_event"]
    assert list(changing_handles(planted.replace("_h_event", "_h_event  # set once"))) == []
    assert list(changing_handles(planted.replace("EventHandle", "EventMember"))) == []


def test_planted_escape_is_found():
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
    """Yield the fields of classes that are handles and may change: others could end them under a call."""
    is_class = False
    for line in text.splitlines():
        if line and not line.startswith((" ", "#")):
            is_class = bool(CLASS.match(line))
        field = FIELD.match(line)
        if is_class and field and "(" not in line and "set once" not in field["comment"]:
            yield line


def escaping_values(text: str) -> Iterator[str]:
    """Yield the returns of raw values whose reference ends with the function; as a number to show, they may leave."""
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
