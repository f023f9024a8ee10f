# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Objects in interactive use: ``repr`` and completion never raise, whatever state an object is in."""

from __future__ import annotations

import contextlib
import enum
import inspect
import os
import rlcompleter

import pytest

from support import interface, public
from support.interpreter import run
from support.samples import SAMPLES

# Not a class of this package.
LEFT_OUT = ("cuda.core.typing.IsStreamType",)
# Classes with Python's repr, as the interface demands.
PLAIN = {"_StridedMemoryViewProxy"}
# Its constructor returns the thread's object of a device, in whatever state other tests have left it.
SHARED = ("cuda.core._device.Device",)
# Not yet: uninitialized objects of these classes raise an exception.
NOT_YET = "cuda.core.driver."


def classes() -> dict[str, type]:
    """Return the public classes, and the classes of objects that they return, by full name."""
    found = [cls for _, cls in public.classes()]
    for entry in interface.entries():
        if entry.kind == "class":
            with contextlib.suppress(LookupError):  # the test of the interface reports it
                found.append(interface.find(entry.path))
    named = {f"{cls.__module__}.{cls.__qualname__}": cls for cls in found if inspect.isclass(cls)}
    return {
        name: cls
        for name, cls in sorted(named.items())
        if name.startswith("cuda.core.")
        and name not in LEFT_OUT
        and not name.startswith(NOT_YET)
        and not issubclass(cls, (enum.Enum, BaseException, tuple))
    }


CLASSES = classes()


def check_repr(thing) -> None:
    text = repr(thing)
    assert isinstance(text, str) and text
    if hasattr(type(thing), "_repr_html_"):
        assert isinstance(thing._repr_html_(), str)
    assert type(thing).__name__ in PLAIN or " object at 0x" not in text


def check_completion(thing) -> None:
    completer, found = rlcompleter.Completer({"thing": thing}), set()
    for prefix in ("thing.", "thing._"):
        index = 0
        while (match := completer.complete(prefix, index)) is not None:
            found.add(match.partition("(")[0].rpartition(".")[2])
            index += 1
    assert {name for name in dir(thing) if not name.startswith("_")} <= found


def check_hasattr(thing) -> None:
    """Check that hasattr raises no exception for any property."""
    for name in dir(type(thing)):
        value = inspect.getattr_static(type(thing), name)
        if hasattr(type(value), "__get__") and not callable(value):
            assert hasattr(thing, name) in (True, False), name


def is_makeable(cls: type) -> bool:
    try:
        cls.__new__(cls)
    except TypeError:
        return False
    return True


@pytest.mark.requires(driver=True)  # some classes call the driver to create objects
@pytest.mark.parametrize("name", [name for name in CLASSES if name not in SHARED])
def test_uninitialized_objects_complete(name):
    if not is_makeable(CLASSES[name]):
        with pytest.raises(TypeError):
            CLASSES[name].__new__(CLASSES[name])
        return
    thing = CLASSES[name].__new__(CLASSES[name])
    with contextlib.suppress(AttributeError):  # of a field that is not set
        check_repr(thing)
    check_completion(thing)
    check_hasattr(thing)


def needs_of(name: str) -> dict:
    return {**({"device": True, "nvrtc": True} if SAMPLES[name].needs_device else {}), **SAMPLES[name].needs}


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.requires(**needs_of(name))) for name in SAMPLES])
def test_open_and_closed_objects_have_a_repr_and_complete(name):
    sample = SAMPLES[name]
    thing = sample.make()
    check_repr(thing)
    check_completion(thing)
    check_hasattr(thing)
    if sample.closes:
        thing.close()
        check_repr(thing)
        check_completion(thing)
        check_hasattr(thing)


# Completes names of objects of every class in a child process, whose driver calls are traced.
TRACED = """
import os
from protocols import test_interactive as t
trace = open(os.environ["CUDA_EMULATOR_TRACE"])
things = [cls.__new__(cls) for cls in t.CLASSES.values() if t.is_makeable(cls)]
things += [sample.make() for name, sample in t.SAMPLES.items()]
trace.read()
for thing in things:
    t.check_completion(thing)
print(len(things), repr(trace.read()))
"""


@pytest.mark.requires(software=True, source=True, cuda=(13, 0))
def test_completion_of_all_classes_calls_no_driver(tmp_path):
    trace = tmp_path / "calls"
    trace.touch()
    code = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.dirname(__file__))!r})\n{TRACED}"
    count, calls = run(code, CUDA_CORE_DEVICE="software", CUDA_EMULATOR_TRACE=str(trace)).splitlines()[-1].split(" ", 1)
    assert int(count) > 80
    assert calls == "''"


# Completes names in an IPython shell, with Jedi; names what called the driver or NVML.
IN_IPYTHON = """
import os, warnings
warnings.simplefilter("ignore")  # IPython warns of its environment
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
from protocols import test_interactive as t
from cuda.bindings import nvml
from cuda.core import checkpoint, system
assert shell.Completer.use_jedi
trace, called = open(os.environ["CUDA_EMULATOR_TRACE"]), []
def recorded(name, function):
    def call(*arguments):
        called.append(name)
        return function(*arguments)
    return call
def complete(text):
    with provisionalcompleter():
        return {c.text for c in shell.Completer.completions(text, len(text))}
things = {"process": checkpoint.Process(1), "gpu": system.Device(index=0)}
things |= {name: getattr(things["gpu"], name) for name in ("mig", "pci_info", "temperature", "memory_info", "inforom")}
for name, sample in t.SAMPLES.items():
    things[name] = sample.make()
    if sample.closes:
        things[f"closed {name}"] = thing = sample.make()
        thing.close()
for name, function in list(vars(nvml).items()):
    if name.startswith(("device_", "system_")) and callable(function):
        setattr(nvml, name, recorded(name, function))
trace.read()
for name, thing in sorted(things.items()):
    shell.user_ns["thing"] = thing
    members = {attribute for attribute in dir(type(thing)) if attribute[0] != "_"}
    members = {attribute for attribute in members if hasattr(type(thing), attribute)}  # without other libraries' names
    assert members <= complete("thing."), name
    assert not (calls := trace.read() + str(called or "")), (name, calls)
print("completed")
"""


@pytest.mark.requires(software=True, source=True, modules=("IPython", "jedi"), cuda=(13, 0))
def test_completion_in_ipython_calls_neither_driver_nor_nvml(tmp_path):
    trace = tmp_path / "calls"
    trace.touch()
    code = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.dirname(__file__))!r})\n{IN_IPYTHON}"
    variables = {"CUDA_CORE_DEVICE": "software", "CUDA_EMULATOR_TRACE": str(trace), "IPYTHONDIR": str(tmp_path)}
    assert run(code, **variables).splitlines()[-1] == "completed"
