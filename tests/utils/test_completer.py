# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Completion of names in interactive Python."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import types
from collections.abc import Iterator

import pytest

import cuda.core
from support import public
from support.interpreter import run

# Completes the names of objects; `calls()` returns the driver calls since it was called last.
COMPLETE = """
import os, rlcompleter
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions
device = Device()
device.set_current()
stream = device.create_stream()
event = stream.record()
buffer = device.allocate(64, stream=stream)
pinned = LegacyPinnedMemoryResource()
program = Program('extern "C" __global__ void f() {}', "c++", ProgramOptions(arch="sm_90"))
code = program.compile("ptx")
things = {
    "device": device, "context": stream.context, "stream": stream, "event": event, "buffer": buffer,
    "pool": device.memory_resource, "pinned": pinned, "program": program, "code": code,
    "config": LaunchConfig(grid=1, block=1), "properties": device.properties, "attributes": buffer.memory_resource,
}
trace = open(os.environ["CUDA_EMULATOR_TRACE"])
def calls():
    return trace.read()
def complete(text):
    completer, found = rlcompleter.Completer(things), []
    while (match := completer.complete(text, len(found))) is not None:
        found.append(match.partition("(")[0].rpartition(".")[2])
    return set(found)
"""
CHECK = """
for name, thing in list(things.items()):
    assert complete(name + ".") == {n for n in dir(thing) if n[0] != "_"}, name
    complete(name + "._")
"""
STATES = {
    "open": "",
    "no current context": "from cuda.bindings import driver; driver.cuCtxSetCurrent(0)",
    "closed": "for thing in (event, buffer, stream, program, code): thing.close()",
}


@pytest.mark.requires(device=True, source=True)
@pytest.mark.parametrize("state", STATES)
def test_completion_of_objects_calls_no_driver(state, tmp_path):
    trace = tmp_path / "calls"
    trace.touch()
    code = f"{COMPLETE}\n{STATES[state]}\nassert calls() != ''\n{CHECK}\nprint(repr(calls()))"
    assert run(code, CUDA_CORE_DEVICE="software", CUDA_EMULATOR_TRACE=str(trace)).splitlines()[-1] == "''"


def test_names_of_other_libraries_are_not_offered():
    code = (
        "import rlcompleter\n"
        "from cuda.core import Program\n"
        "class Own(Program):\n"
        "    build = 3\n"
        "for cls in (Program, Own):\n"
        "    for program in (cls, cls('', 'c++', {'arch': 'sm_90'})):\n"
        "        print(rlcompleter.Completer({'program': program}).attr_matches('program.b'))\n"
    )
    assert run(code).splitlines() == 2 * ["['program.backend']"] + 2 * ["['program.backend', 'program.build']"]


def test_package_completion_needs_no_driver():
    code = (
        "import rlcompleter, cuda.core\n"
        "for name in ('', '.system', '.typing', '.utils', '.checkpoint'):\n"
        "    __import__(name := f'cuda.core{name}')\n"
        "    print(*rlcompleter.Completer({'cuda': cuda}).attr_matches(name + '.'))"
    )
    out = run(code, CUDA_CORE_DEVICE="hardware", CUDA_VISIBLE_DEVICES="")
    for line, name in zip(out.splitlines(), ("", ".system", ".typing", ".utils", ".checkpoint"), strict=True):
        module = importlib.import_module(f"cuda.core{name}")
        offered = {match.partition("(")[0].rpartition(".")[2] for match in line.split()}
        assert offered == {public for public in dir(module) if not public.startswith("_")}


@pytest.mark.parametrize("module", public.modules())
def test_modules_list_public_names_only(module):
    home = importlib.import_module(module)
    listed = {name for name in dir(home) if not name.startswith("_")}
    # Modules below a package are its attributes once they are imported.
    below = {info.name for info in pkgutil.iter_modules(getattr(home, "__path__", []))}
    assert set(public.names(module)) <= listed <= {*public.names(module), *below}


def test_package_dir_lists_public_names_and_loads_nothing():
    assert set(dir(cuda.core)) == {*cuda.core.__all__, *cuda.core._PACKAGES, "__version__"}
    code = "import sys, cuda.core; dir(cuda.core); print('cuda.core._stream' in sys.modules, 'numpy' in sys.modules)"
    assert run(code).split() == ["False", "False"]


def test_classes_offer_documented_names_only():
    classes = list(public.classes())
    assert len(classes) > 200
    assert {name: missing for name, cls in classes if (missing := list(undocumented(cls)))} == {}


def undocumented(cls: type) -> Iterator[str]:
    """Yield the attributes of a class that neither it nor they themselves document."""
    fields = getattr(cls, "__dataclass_fields__", ()) or getattr(cls, "_fields", ()) or getattr(cls, "__members__", ())
    class_text = inspect.cleandoc(cls.__doc__)  # since Python 3.13 the compiler strips the indentation
    for attribute in dir(cls):
        owner = next((base for base in cls.__mro__ if attribute in base.__dict__), object)
        if not attribute.startswith("_") and attribute not in fields and owner.__module__.startswith("cuda.core"):
            value = owner.__dict__[attribute]
            # Slots have their texts in the class.
            text = inspect.getdoc(value) if isinstance(value, types.MemberDescriptorType) else value.__doc__
            in_class = re.search(rf"``{attribute}``|^(\w+, )*{attribute}\b", class_text, re.MULTILINE)
            if not in_class and not (hasattr(type(value), "__get__") and text):
                yield attribute


# Interactive Python imports rlcompleter before the first line, or after the program if it inspects it (`python -i`).
@pytest.mark.parametrize(
    ("value", "is_fixed"), [(None, True), ("", True), ("0", True), ("00", True), ("1", False), ("no", False)]
)
@pytest.mark.parametrize(("order", "inspects"), [("rlcompleter, cuda.core", ""), ("cuda.core, rlcompleter", "1")])
def test_completion_is_fixed_unless_the_environment_forbids_it(value, is_fixed, order, inspects, monkeypatch):
    monkeypatch.delenv("CUDA_CORE_DONT_FIX_TAB_COMPLETION", raising=False)
    variables = {} if value is None else {"CUDA_CORE_DONT_FIX_TAB_COMPLETION": value}
    code = f"import {order}; print(hasattr(rlcompleter, 'property'))"
    assert run(code, PYTHONINSPECT=inspects, **variables).strip() == str(is_fixed)


def test_programs_do_not_load_the_completer():
    assert run("import sys, cuda.core; print('rlcompleter' in sys.modules)").strip() == "False"


def test_completion_of_other_objects_is_unchanged():
    code = (
        "import sys, rlcompleter, cuda.core\n"
        "class Thing:\n"
        "    field = 3\n"
        "    def method(self, size): pass\n"
        "    @staticmethod\n"
        "    def free(): pass\n"
        "    @property\n"
        "    def shown(self): raise SystemError\n"
        "print(*rlcompleter.Completer({'thing': Thing()}).attr_matches('thing.'))\n"
        "print(*rlcompleter.Completer({'sys': sys}).attr_matches('sys.getrefc'))\n"
    )
    assert run(code).splitlines() == ["thing.field thing.free() thing.method( thing.shown", "sys.getrefcount("]
