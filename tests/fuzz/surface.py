# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The targets of the fuzz: the public interface, and the objects that it returns, found by introspection.

A subject is an object of one class. The samples are the first subjects; objects of other classes are found among the
results of their properties and methods. So the constructor of a new public class is a target because it is public, and
its methods are as soon as a sample, or anything that a sample returns, is an object of it.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import inspect
from collections.abc import Callable, Iterator

from fuzz import arguments
from support import public
from support.capabilities import capabilities
from support.subjects import makers

# Members that end the process, stop the work of other threads, or wait for other processes.
LEFT_OUT = {
    "checkpoint.Process.lock",
    "checkpoint.Process.checkpoint",
    "checkpoint.Process.restore",
    "checkpoint.Process.unlock",
    "_device.Device.reset",
    # It passes the exceptions of its function to sys.unraisablehook, during a later call.
    "_stream.Stream.add_callback",
    # They run programs.
    "driver.debug.main",
    # They write to as much memory as the machine has.
    "_device.Device.zeros",
    "driver.managed_zeros",
    "driver.pagelocked_zeros",
}
# Parameters for addresses, handles and descriptors, which must be valid, for functions that return addresses, and for
# timeouts: hostile numbers are not passed to them; all other values must be rejected.
TRUSTED = {
    "addr",
    "address",
    "alloc_handle",
    "allocator",
    "data",
    "dptr",
    "fn",
    "func",
    "handle",
    "ptr",
    "timeout_ms",
    "user_data",
    "block_size_to_dynamic_shared_memory_size",
    "dynamic_shared_memory_needed",
}
BINARY = ("eq", "ne", "lt", "le", "add", "radd", "sub", "rsub", "mul", "and", "rand", "or", "ror", "xor", "rxor")
INDEXED = ("getitem", "delitem", "contains", "setitem")


@dataclasses.dataclass(frozen=True)
class Target:
    """A call, with hostile values for one of its parameters."""

    name: str  # such as "core._stream.Stream.wait"
    subject: str | None  # the class whose object is called
    kind: str  # "call", "construct", "set", "operator", "read"
    member: str | None
    parameter: str | None  # None: no hostile value


class Subjects:
    """Objects to call, one maker for each class."""

    def __init__(self):
        self.makers: dict[str, Callable] = {}
        self.types: dict[str, type] = {}
        for name, make in makers().items():
            self._add(name, make)
        queue = list(self.makers)
        for name in queue:
            for found in self._children(name):
                if found not in queue:
                    queue.append(found)

    def make(self, name: str):
        """Return a new object of a class."""
        return self.makers[name]()

    def _add(self, label: str, make) -> str | None:
        try:
            thing = make()
        except Exception as error:
            print(f"no sample of {label}: {type(error).__name__}: {error}"[:200])
            return None
        name = name_of(type(thing))
        if name not in self.makers:
            self.makers[name], self.types[name] = make, type(thing)
        return name

    def _children(self, name: str) -> Iterator[str]:
        try:
            thing = self.make(name)
        except Exception:  # the first object belonged to a parent that is gone
            del self.makers[name], self.types[name]
            return
        for member in members_of(type(thing)):
            make = _Reached(self.makers[name], member)
            for value, path in make.reached(thing):
                found = name_of(type(value))
                if is_ours(type(value)) and found not in self.makers:
                    self.makers[found], self.types[found] = dataclasses.replace(make, path=path), type(value)
                    yield found


_parents = collections.deque(maxlen=100)


@dataclasses.dataclass(frozen=True)
class _Reached:
    """Makes an object from a parent object: the value of a property, or the result of a method."""

    parent: Callable
    member: str
    path: tuple = ()

    def __call__(self):
        parent = self.parent()
        _parents.append(parent)  # an object may become invalid with its parent
        for value, path in self.reached(parent):
            if path == self.path:
                return value
        raise RuntimeError(f"{self.member} of {type(parent).__name__} no longer returns that")

    def reached(self, parent) -> list:
        if self.member in ("close", "sync") or f"{short_name(type(parent))}.{self.member}" in LEFT_OUT:
            return []
        try:
            value = getattr(parent, self.member)
            if callable(value) and not isinstance(value, type):
                value = arguments.call(value)
        except Exception:
            return []
        found = [(value, ())]
        if isinstance(value, (tuple, list)):
            found += [(item, (index,)) for index, item in enumerate(value[:3])]
        return found


def is_ours(cls: type) -> bool:
    """Return whether the class is one of this package, and no exception or enum."""
    return cls.__module__.startswith("cuda.core") and not issubclass(cls, (BaseException, str, int))


def name_of(cls: type) -> str:
    """Return the full name of a class."""
    return f"{cls.__module__}.{cls.__qualname__}"


def short_name(cls: type) -> str:
    """Return the full name of a class without the name of the package."""
    return name_of(cls).removeprefix("cuda.core.")


def members_of(cls: type) -> list[str]:
    """Return the public members of a class, sorted."""
    return sorted(name for name in dir(cls) if not name.startswith("_") and not is_built_in(cls, name))


def is_built_in(cls: type, name: str) -> bool:
    """Return whether a built-in class, such as ``tuple``, defines the member."""
    owner = next((base for base in cls.__mro__ if name in base.__dict__), object)
    return owner.__module__ == "builtins"


def parameters_of(function) -> list[str]:
    """Return the names of the parameters, or numbers if there is no signature."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ["0", "1"]
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [marks.get(parameter.kind, "") + name for name, parameter in parameters.items()]


@functools.cache
def _public() -> dict:
    return dict(public.values())


def find(full: str):
    """Return the public object of a full name."""
    return _public()[full]


def targets(subjects: Subjects) -> list[Target]:
    """Return all targets, in a fixed order."""
    found = []
    for full, value in _public().items():
        if isinstance(value, type):
            if not issubclass(value, (BaseException, enum.Enum)) and value.__module__.startswith("cuda.core"):
                found += _constructor(full.removeprefix("cuda.core."), full)
        elif callable(value) and getattr(value, "__module__", "").startswith("cuda.core"):
            found += _calls(full.removeprefix("cuda.core."), None, full, value)
    for subject, cls in sorted(subjects.types.items()):
        found += _of_class(subject, cls, subjects.make(subject))
    return found


def _constructor(name: str, full: str) -> Iterator[Target]:
    if name == "MulticastObject" and capabilities().missing({"multicast": True}):
        return
    value = find(full)
    for parameter in dict.fromkeys([*parameters_of(value), "*", "**"]):
        yield Target(name, None, "construct", full, parameter)


def _calls(name: str, subject: str | None, member: str, function) -> Iterator[Target]:
    if name in LEFT_OUT:
        return
    for parameter in dict.fromkeys([*parameters_of(function), "*", "**"]):
        yield Target(f"{name}", subject, "call", member, parameter)


def _of_class(subject: str, cls: type, thing) -> Iterator[Target]:
    short = short_name(cls)
    for member in members_of(cls):
        static = inspect.getattr_static(cls, member)
        is_method = callable(static) or isinstance(static, (staticmethod, classmethod))
        if is_method:
            yield from _calls(f"{short}.{member}", subject, member, getattr(thing, member))
        else:
            yield Target(f"{short}.{member}", subject, "read", member, None)
            yield Target(f"{short}.{member}", subject, "set", member, "value")
    if "__call__" in dir(cls):
        yield from _calls(f"{short}.__call__", subject, "__call__", thing)
    for operator in BINARY:
        if f"__{operator}__" in dir(cls) and not is_built_in(cls, f"__{operator}__"):
            yield Target(f"{short}.__{operator}__", subject, "operator", f"__{operator}__", "other")
    for operator in INDEXED:
        if f"__{operator}__" in dir(cls) and not is_built_in(cls, f"__{operator}__"):
            yield Target(f"{short}.__{operator}__", subject, "operator", f"__{operator}__", "key")
    yield Target(f"{short}.attribute", subject, "set", "no_such_attribute", "value")
