# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compares the package with pages of Markdown that describe its interface.

The tables in ``interface/`` were made from such pages. ``python -m support.interface_pages FOLDER`` reads the pages
themselves in their present state: tables whose head says what they list (``| member | signature |``,
``| enum | members |``, ...), and blocks of code with calls and dataclasses, but not prose. It prints what is missing
or different in the package, and the number of names that it compared.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from support import interface

# Modules to look up a page's names in, starting with the page's own area.
AREAS = {"04": "cuda.core.graph", "06": "cuda.core.texture", "07": "cuda.core.system"}
PLACES = (
    *("cuda.core", "cuda.core.graph", "cuda.core.texture", "cuda.core.utils", "cuda.core.typing"),
    *("cuda.core.checkpoint", "cuda.core.system", "cuda.core.system.typing", "cuda.core.system._device"),
    *("cuda.core.system._system_events", "cuda.core._device", "cuda.core._event", "cuda.core._module"),
    *("cuda.core._memory", "cuda.core._memory._buffer", "cuda.core._memory._memory_pool", "cuda.core._memory._ipc"),
    *("cuda.core._memory._graph_memory_resource", "cuda.core._memory._peer_access_utils", "cuda.core._memory._legacy"),
    *("cuda.core._memory._managed_buffer", "cuda.core._layout", "cuda.core._memoryview", "cuda.core._tensor_map"),
    *("cuda.core._dlpack", "cuda.core._utils.cuda_utils", "cuda.core.graph._graph_node", "cuda.core._stream"),
)
MEMBERS = re.compile(r"(?:proxy )?(?:member|property|method|factory|constructor|attribute|field)\b|\w+ field")
NAMES = re.compile(r"function|name|class|enum")
QUOTED = re.compile(r"`([^`]+)`")
CALL = re.compile(r"^(?:def )?([\w.]+)(\((?:[^()]|\([^()]*\))*\))(?: -> [^\n#]+)?\s*(?:#.*)?$", re.MULTILINE)
DATACLASS = re.compile(r"@dataclass(?:\(.*?\))?\nclass (\w+).*?:\n((?:    .*\n?)+)")
FIELD = re.compile(r"^    (\w+): [^=#\n]+?(?: *= *([^#\n]+?))? *(?:#.*)?$", re.MULTILINE)
# Python 3.12 and later make these methods from the slots of the buffer protocol.
MADE_BY_PYTHON = ("__buffer__", "__release_buffer__") if sys.version_info < (3, 12) else ()
PAIR = re.compile(r"([A-Z][A-Z0-9_]*)(?:=`([^`]*)`| (\d+))")


class Page:
    """A page, and the objects that its names refer to."""

    def __init__(self, path: Path):
        self.path, self.text, self.read = path, path.read_text(), 0
        area = AREAS.get(path.name[:2])
        places = sorted(PLACES, key=lambda name: area is None or not name.startswith(area))
        self.modules = [importlib.import_module(name) for name in places]
        words = {id(value): value for value in map(self.named, re.findall(r"[A-Za-z_]\w+", self.text))}.values()
        self.classes = [value for value in words if isinstance(value, type)]
        self.callables = [value for value in words if callable(value)]

    def named(self, name: str) -> object:
        """Return the object that a name refers to on this page, or None."""
        return next((getattr(module, name) for module in self.modules if hasattr(module, name)), None)

    def differences(self) -> Iterator[str]:
        """Yield how the package differs from the page, as sentences."""
        for text in re.findall(r"^```\w*\n(.*?)^```", self.text, re.MULTILINE | re.DOTALL):
            yield from self.of_code(text)
        heading, head = "", None
        for line in re.sub(r"^```.*?^```", "", self.text, flags=re.MULTILINE | re.DOTALL).splitlines():
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if line.startswith("#"):
                heading = line
            if len(cells) < 2:
                head = None
            elif head is None:
                head = [re.sub(r"`|\(.*?\)", "", cell).strip() for cell in cells]
            elif set(cells[0]) - set("-: "):
                yield from self.of_row(heading, head, cells)

    def of_row(self, heading: str, head: list[str], cells: list[str]) -> Iterator[str]:
        names = QUOTED.findall(cells[0])
        values = self.named(head[0])
        if not names:
            return
        if head[0] == "namespace":
            self.read += 1
            yield from self._exports(names[0], re.findall(r"[A-Za-z_]\w+", cells[1]) if "see" not in cells[1] else [])
        elif head[0] == "module" and head[1] == "names":
            yield from self._private(names, cells[1])
        elif isinstance(values, type) and issubclass(values, enum.Enum):
            yield from self._enum(values, [(name, cells[1].strip('`"'), "") for name in names])
        elif NAMES.fullmatch(head[0]):
            value = self.named(names[0].partition("(")[0])
            if head[0] == "enum" and value is not None:
                yield from self._enum(value, PAIR.findall(cells[1]))
            for name in names:
                cell = cells[1] if "signature" in head[1] else ""
                yield from self._member([*self.modules, *self.classes], name, cell)
        elif MEMBERS.match(head[0]):
            owners = [cls for word in re.findall(r"\w+", heading) if isinstance(cls := self.named(word), type)]
            for name in names:
                yield from self._member([*owners, *self.classes], name, cells[1])

    def of_code(self, text: str) -> Iterator[str]:
        for name, parameters in CALL.findall(text):
            *owner, name = name.split(".")
            owner = self.named(owner[-1]) if owner else None
            places = [owner] if isinstance(owner, type) else [*self.modules, *self.classes]
            yield from self._member(places, name, f"`{parameters}`")
        for name, body in DATACLASS.findall(text):
            cls = self.named(name)
            known = inspect.signature(cls).parameters if isinstance(cls, type) else {}
            for field, default in FIELD.findall(body):
                self.read += 1
                if field not in known:
                    yield f"{name}.{field} is missing"
                elif (wanted := literal(default)) is not ... and known[field].default != wanted:
                    yield f"{name}.{field} has the default {known[field].default!r}, not {wanted!r}"

    def _member(self, places: list, name: str, cell: str) -> Iterator[str]:
        match = re.fullmatch(r"(?:(\w+)\.)?([A-Za-z_]\w*)(\(.*\))?", name)
        if match is None:
            return  # an expression
        self.read += 1
        owner, name, own = match.groups()
        if isinstance(self.named(owner or ""), type):
            places = [self.named(owner)]
        found = [place for place in places if hasattr(place, name)]
        if not found:
            if name not in MADE_BY_PYTHON and not any(name in parameters(function) for function in self.callables):
                yield f"{name} is missing"
            return
        if isinstance(self.named((own or "").strip("()")), type):  # a class and its base
            if not issubclass(self.named(name), self.named(own.strip("()"))):
                yield f"{name} is no subclass of {own}"
            return
        quoted = re.search(r"`(?:@\w+ )?(\((?:[^()`]|\([^()]*\))*\))", cell)
        wanted = readable(quoted[1] if quoted else own)
        if wanted is not None:
            problems = [list(mismatches(place, name, wanted)) for place in found]
            yield from (f"{name}{wanted} {problem}" for problem in min(problems, key=len))

    def _exports(self, module: str, names: list[str]) -> Iterator[str]:
        exported = set(importlib.import_module(module).__all__)
        words = {name for name in names if hasattr(importlib.import_module(module), name)} | exported
        yield from (f"{module} does not export {name}" for name in sorted(words - exported))

    def _private(self, modules: list[str], cell: str) -> Iterator[str]:
        for name in (name for name in modules if re.fullmatch(r"(cuda\.core\.)?[\w.]+", name)):
            self.read += 1
            try:
                module = importlib.import_module(name if name.startswith("cuda.core") else f"cuda.core.{name}")
            except ModuleNotFoundError:
                yield f"{name} is no module"
                continue
            if len(modules) == 1:
                known = [module, *(value for value in vars(module).values() if isinstance(value, type))]
                for text in QUOTED.findall(cell):
                    if "." not in text.partition("(")[0]:
                        yield from self._member([*known, *self.modules, *self.classes], text.partition(" -> ")[0], "")

    def _enum(self, cls: type, pairs: list[tuple[str, str, str]]) -> Iterator[str]:
        for name, value, number in pairs:
            self.read += 1
            wanted = int(number) if number else value
            if name not in getattr(cls, "__members__", ()):
                yield f"{cls.__name__}.{name} is missing"
            elif cls[name] != wanted:
                yield f"{cls.__name__}.{name} is {cls[name].value!r}, not {wanted!r}"


def readable(text: str | None) -> str | None:
    """Return parameters without annotations, with ``...`` for defaults that are not literals, or None if unreadable."""
    try:
        arguments = ast.parse(f"def function{text}: pass").body[0].args
    except SyntaxError:
        return None
    arguments.args = [argument for argument in arguments.args if argument.arg != "self"]
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    for defaults in (arguments.defaults, arguments.kw_defaults):
        defaults[:] = [value and ast.Constant(literal(ast.unparse(value))) for value in defaults]
    return f"({ast.unparse(arguments)})"


def literal(text: str) -> object:
    """Return the value of a literal, or ``...`` for any other expression."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ...


def parameters(function: object) -> dict:
    """Return the parameters of a function, or of the constructor of a class; an empty dict if they are unknown."""
    try:
        return dict(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}


def mismatches(place: object, name: str, wanted: str) -> Iterator[str]:
    """Yield how the parameters of an attribute differ from those on a page."""
    value = getattr(place, name)
    try:
        ours = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return  # an operator, which has no signature, or a property
    if ours and ours[0].name == "self" and isinstance(place, type):
        ours = ours[1:]
    yield from interface.mismatches(interface.wanted(wanted), ours)


def main(folder: str) -> int:
    """Print the differences; return the exit status."""
    read, count = 0, 0
    for path in sorted(Path(folder).glob("0[0-8]*.md")):
        page = Page(path)
        for difference in page.differences():
            count += 1
            print(f"{path.name}: {difference}")
        read += page.read
    print(f"{read} names and values were read, {count} differ")
    return int(bool(count) or not read)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
