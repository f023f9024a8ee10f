# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compares the package with the interface that programs rely on, which the tables in ``interface/`` list.

A table has a line per name, and below a class one per member::

    module cuda.core
    function launch(stream, config, kernel, *kernel_args)
    class StreamOptions(nonblocking=True, priority=None): dataclass
    class ManagedBuffer of Buffer: weakref with
        property read_mostly settable
        classmethod from_handle(ptr, size, mr=None)

The package may have more: names, members, and optional parameters.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

TABLES = Path(__file__).parent / "interface"
LINE = re.compile(
    r"(?P<kind>\w+) (?P<name>[\w.]+)(?P<parameters>\(.*?\))?(?: of (?P<base>[\w.]+))?(?::? (?P<traits>[\w ]+))?"
)
TRAITS = {"with": "__enter__", "len": "__len__", "index": "__getitem__", "iterable": "__iter__"}


@dataclasses.dataclass
class Entry:
    """A line of a table."""

    kind: str
    name: str
    parameters: str | None = None
    base: str | None = None
    traits: tuple[str, ...] = ()
    module: str = ""
    members: list[Entry] = dataclasses.field(default_factory=list)

    @property
    def path(self) -> str:
        """The dotted path that a program reaches it by."""
        return f"{self.module}.{self.name}"


def entries() -> Iterator[Entry]:
    """Yield the entries of all tables, each class with its members."""
    for table in sorted(TABLES.glob("*.txt")):
        module, last = "", None
        for line in table.read_text().splitlines():
            entry = parse(line.strip())
            if entry.kind == "module":
                module = entry.name
                continue
            entry.module = module
            if line.startswith(" "):
                last.members.append(entry)
            else:
                if last is not None:
                    yield last
                last = entry
        yield last


def parse(line: str) -> Entry:
    """Return the entry of a line."""
    match = LINE.fullmatch(line)
    if match is None:
        raise ValueError(f"cannot read this line of a table: {line!r}")
    traits = tuple((match["traits"] or "").split())
    return Entry(match["kind"], match["name"], match["parameters"], match["base"], traits)


def find(path: str) -> object:
    """Return the object at a dotted path; raises LookupError if there is none."""
    parts = path.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            try:
                value = getattr(value, part)
            except AttributeError:
                raise LookupError(f"{path} is missing") from None
        return value
    raise LookupError(f"{path} is missing")


def differences(entry: Entry) -> Iterator[str]:
    """Yield how the package differs from an entry, as sentences."""
    try:
        value = find(entry.path)
    except LookupError as error:
        yield str(error)
        return
    yield from (f"{entry.path} {difference}" for difference in KINDS[entry.kind](entry, value))
    missing = {trait: TRAITS[trait] for trait in entry.traits if not hasattr(value, TRAITS.get(trait, "__doc__"))}
    yield from (f"{entry.path}.{name} is missing" for name in missing.values())
    for member in entry.members:
        path = f"{entry.path}.{member.name}"
        owners = [*value.__mro__, *type(value).__mro__]  # a metaclass has attributes of the class, not of instances
        found = [owner.__dict__[member.name] for owner in owners if member.name in owner.__dict__]
        if found:
            yield from (f"{path} {difference}" for difference in _of_member(member, value, found[0]))
        else:
            yield f"{path} is missing"


def _of_class(entry: Entry, cls: type) -> Iterator[str]:
    if not isinstance(cls, type):
        yield "is no class"
        return
    if entry.base is not None and not issubclass(cls, find(f"{entry.module}.{entry.base}")):
        yield f"is no subclass of {entry.base}"
    if "dataclass" in entry.traits and not dataclasses.is_dataclass(cls):
        yield "is no dataclass"
    if "weakref" in entry.traits and not cls.__weakrefoffset__:
        yield "cannot be weakly referenced"
    if "mutableset" in entry.traits and not issubclass(cls, collections.abc.MutableSet):
        yield "is no MutableSet"
    if entry.parameters is not None:
        yield from _of_signature(entry.parameters, cls)


def _of_kind(base: type, article: str):
    def difference(entry: Entry, value: object) -> Iterator[str]:
        if not (isinstance(value, type) and issubclass(value, base)):
            yield f"is not {article}"

    return difference


def _of_function(entry: Entry, function: object) -> Iterator[str]:
    yield from _of_signature(entry.parameters, function)


KINDS = {
    "class": _of_class,
    "enum": _of_kind(enum.Enum, "an enum"),
    "exception": _of_kind(Exception, "an exception"),
    "function": _of_function,
    "value": lambda entry, value: iter(()),
}


def _of_member(entry: Entry, cls: type, descriptor: object) -> Iterator[str]:
    kind = (
        "classmethod"
        if isinstance(descriptor, classmethod) or type(descriptor).__name__ == "classmethod_descriptor"
        else "staticmethod"
        if isinstance(descriptor, staticmethod)
        else "method"
        if callable(descriptor)
        else "property"
        if hasattr(type(descriptor), "__get__")
        else "attribute"
    )
    # A class method accepts the same calls as a static method.
    if kind != entry.kind and entry.kind != "attribute" and (entry.kind, kind) != ("staticmethod", "classmethod"):
        yield f"is a {kind}, not a {entry.kind}"
    elif entry.parameters is not None:
        yield from _of_signature(entry.parameters, getattr(cls, entry.name), is_bound=kind != "method")
    elif "settable" in entry.traits and not is_settable(cls, descriptor):
        yield "cannot be set"


class _NoValue:
    """A value that every setter rejects."""


def is_settable(cls: type, descriptor: object) -> bool:
    """Return whether a property has a setter."""
    if isinstance(descriptor, property):
        return descriptor.fset is not None
    try:
        descriptor.__set__(cls.__new__(cls), _NoValue())
    except AttributeError as error:
        return "not writable" not in str(error)
    except Exception:
        return True
    return True


def _of_signature(parameters: str, function: object, is_bound: bool = True) -> Iterator[str]:
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        yield "has no signature"
        return
    ours = list(found.parameters.values())
    yield from mismatches(wanted(parameters), ours if is_bound else ours[1:])


def wanted(parameters: str) -> list[inspect.Parameter]:
    """Return the parameters of a signature in a table; the default ``...`` stands for any default."""
    namespace = {}
    exec(f"def function{parameters}: pass", namespace)
    return list(inspect.signature(namespace["function"]).parameters.values())


def mismatches(expected: list[inspect.Parameter], ours: list[inspect.Parameter]) -> Iterator[str]:
    """Yield why a call that is valid for the expected parameters would fail for ours, or mean something else."""
    names = {parameter.name: (position, parameter) for position, parameter in enumerate(ours)}
    for position, parameter in enumerate(expected):
        if parameter.name not in names:
            yield f"has no parameter {parameter.name}"
            continue
        place, mine = names.pop(parameter.name)
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            if place != position or mine.kind not in (parameter.kind, parameter.POSITIONAL_OR_KEYWORD):
                yield f"does not take {parameter.name} as its parameter number {position}"
        elif parameter.kind is parameter.KEYWORD_ONLY:
            if mine.kind not in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD):
                yield f"does not take {parameter.name} by name"
        elif mine.kind is not parameter.kind:
            yield f"does not take *{parameter.name}"
        if parameter.default not in (parameter.empty, ...) and mine.default != parameter.default:
            yield f"has the default {parameter.name}={mine.default!r}, not {parameter.default!r}"
    for _, mine in names.values():
        if mine.default is mine.empty and mine.kind not in (mine.VAR_POSITIONAL, mine.VAR_KEYWORD):
            yield f"has the required parameter {mine.name}"
