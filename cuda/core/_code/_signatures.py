# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel signatures: the C types and the names of a kernel's parameters.

The types of a C++ kernel are in its mangled name. Those of an ``extern "C"`` kernel, and the layouts of structures, are
the compiler's answer to a question (:mod:`cuda.core._code._probe`). The names of parameters are in the source.
"""

from __future__ import annotations

import re
from collections import namedtuple

from cuda.core._code._layouts import Layout
from cuda.core._code._loading import demangled
from cuda.core._code._probe import Probe
from cuda.core._code._source_text import SourceText, split_list, tokens_of
from cuda.core._code._types import C_TYPES

__all__ = ["Declarations", "Parameter", "function_of", "parameters_of", "types_of_kernel"]


Parameter = namedtuple("Parameter", ("name", "type"))
Parameter.__doc__ = "A parameter: its name, and its C type, such as ``const float*``. Each is None if unknown."


def parameters_of(symbol: str, declarations: Declarations | None) -> list[Parameter] | None:
    """Return the names and the types of a kernel's parameters, or None if nothing is known about them.

    Parameters
    ----------
    symbol : str
        The symbol of the kernel.
    declarations : Declarations | None
        What is known from the source, if there is one.
    """
    types = types_of_kernel(symbol, declarations)
    if types is None:
        return None
    function = demangled(symbol)
    name = symbol if function is None else function_of(function)[0]
    names = None if declarations is None else declarations.names(name.rpartition("::")[2])
    if names is None or len(names) != len(types):
        names = (None,) * len(types)
    return [Parameter(*item) for item in zip(names, types, strict=True)]


def types_of_kernel(symbol: str, declarations: Declarations | None) -> list[str] | None:
    """Return the types of a kernel's parameters, or None if they are unknown."""
    function = demangled(symbol)
    if function is None:
        return None if declarations is None else declarations.types(symbol)
    name, text = function_of(function)
    return None if name is None else types_of(text)


def types_of(text: str) -> list[str]:
    """Return the types in the text of a demangled parameter list."""
    return [c_type_of(part) for part in split_list(tokens_of(text.replace(_ANONYMOUS, _STAND_IN)))]


def function_of(demangled: str) -> tuple[str | None, str]:
    """Return the name of a demangled function with its namespaces, and the text of its parameters."""
    depth = 0
    for place in range(len(demangled) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(demangled[place], 0)
        if depth == 0:
            break
    parameters = demangled[place + 1 : -1]
    head = demangled[:place]
    if not demangled.endswith(")") or not head:
        return None, ""
    depth, end = 0, len(head)
    for place in range(len(head) - 1, -1, -1):
        depth += {">": 1, "<": -1}.get(head[place], 0)
        if depth == 0 and head[place] != "<":
            break
        end = place
    name = re.search(r"((?:\(anonymous namespace\)|\w+)::)*\w+$", head[:end])
    return (name[0] if name else None), parameters


class Declarations:
    """What sources say about their kernels and structures, which is read on first use.

    Parameters
    ----------
    *sources : tuple[str, tuple[bytes, ...], str, bytes] | dict | Declarations
        Each is a source, the compiler's arguments, the question to the compiler and its answer, or empty; or what was
        already read; or the declarations of an input of a linker.
    """

    __slots__ = ("_layouts", "_read", "_sources")

    def __init__(self, *sources):
        self._sources = sources
        self._read: dict[str, dict] = {}
        self._layouts: dict[str, Layout | None] = {}

    def __reduce__(self):
        return Declarations, ({kind: self._all(kind) for kind in _READERS},)

    def names(self, function: str) -> tuple[str | None, ...] | None:
        """Return the names of the parameters of a function without namespaces, or None if there might be others."""
        return self._all("names").get(function)

    def types(self, symbol: str) -> list[str] | None:
        """Return the types of the parameters of an ``extern "C"`` kernel, or None if they are unknown."""
        return self._all("answers").get(("kernel", symbol))

    def layout(self, c_type: str) -> Layout | None:
        """Return the layout of a structure that the source defines, or None if it is unknown."""
        if c_type not in self._layouts:
            found = self._all("answers").get(("structure", c_type))
            self._layouts[c_type] = None if found is None else Layout(c_type, *found, self.layout)
        return self._layouts[c_type]

    def structures(self) -> list[str]:
        """Return the names of the structures that the source might define, with those whose layout is unknown."""
        return [name for kind, name in self._all("answers") if kind == "structure"]

    def defines(self, name: str) -> bool:
        """Return whether a source might define a type with the name of one of :data:`C_TYPES`."""
        return name in self._all("own") or name in self.structures()

    def _all(self, kind: str) -> dict:
        """Return all that is known of a kind. The value None stands for what is unknown, or sources contradict."""
        if kind not in self._read:
            total: dict = {}
            for source in self._sources:
                if isinstance(source, Declarations):
                    source = source._all(kind)
                else:
                    source = source.get(kind, {}) if isinstance(source, dict) else _READERS[kind](*source)
                for key, found in source.items():
                    total[key] = found if total.get(key, found) == found else None
            self._read[kind] = total
        return self._read[kind]


def _names_in(source: str, arguments: tuple[bytes, ...], question: str, answer: bytes) -> dict:
    """Return the names of the parameters of each function in a source."""
    return SourceText(source, arguments).names


def _answers_in(source: str, arguments: tuple[bytes, ...], question: str, answer: bytes) -> dict:
    """Return the types of kernels and the layouts of structures that the compiler told."""
    if not answer:
        return {}
    probe = Probe.from_text(question)
    names = [demangled(symbol) or "" for symbol in answer.decode().split("\n")]
    types, structures = probe.read([name.replace(_ANONYMOUS, _STAND_IN) for name in names])
    known: dict = {("structure", name): None for name in probe.structures}
    known |= {("kernel", symbol): [c_type_of(part) for part in parts] for symbol, parts in types.items()}
    for name, (size, alignment, fields) in structures:
        elements = None if fields is None else [(field, *_element_of(part), *place) for field, part, *place in fields]
        known["structure", c_type_of(name)] = size, alignment, elements
    return known


# Names of a header, which a source without it may use.
_OWN = re.compile(r"\b(?:struct|class|union|enum)\b[^;{}]*?\b(__\w+)\s*[:{]")


def _own_in(source: str, arguments: tuple[bytes, ...], question: str, answer: bytes) -> dict:
    """Return the names of :data:`C_TYPES` that a source seems to define, which are then no types that we know."""
    return {name: True for name in _OWN.findall(source) if name in C_TYPES}


_READERS = {"names": _names_in, "answers": _answers_in, "own": _own_in}


# --- Types ------------------------------------------------------------------------------------------------------------

_ANONYMOUS, _STAND_IN = "(anonymous namespace)", "anonymous_namespace_"
# All of them have the same layout.
_COMPLEX = re.compile(r"\A(?:::)?(?:(?:cuda::)?std|thrust)::(?:__\w+::|_V\w+::)*complex<")


def c_type_of(tokens: list[str]) -> str:
    """Return the C type that the tokens of a demangled type stand for, such as ``const float*``."""
    if {"(", "&", "[", "..."}.intersection(tokens):
        return " ".join(tokens)
    end = len(tokens)
    while end and tokens[end - 1] in ("*", "const", "volatile"):
        end -= 1
    tail = tokens[end:]
    stars = tail.count("*")
    is_const = bool(stars) and "const" in tail[: tail.index("*")]
    text = re.sub(r"(?<!\w) | (?!\w)", "", " ".join(tokens[:end]))
    text = _COMPLEX.sub("std::complex<", text)
    base = text if text in C_TYPES else text.replace(_STAND_IN, _ANONYMOUS)
    return f"{'const ' if is_const else ''}{base}{'*' * stars}"


def _element_of(tokens: tuple[str, ...]) -> tuple[str | None, tuple[int, ...]]:
    """Return the type and the shape of a field, or None and an empty shape if it is unknown."""
    if tokens[2:3] == ("enum_cc",):  # of a question
        return f"enum {c_type_of(list(tokens[4:-1]))}", ()
    if "[" not in tokens or "(" in tokens:
        return c_type_of(list(tokens)) if tokens else None, ()
    place = tokens.index("[")
    return c_type_of(list(tokens[:place])), tuple(int(token) for token in tokens[place:] if token.isdecimal())
