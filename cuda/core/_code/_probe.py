# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The question that asks the compiler for types and layouts, and the answer.

A line after the source declares a template, and a name expression names an instance whose arguments are the types of
the kernels and the layouts of the structures. The lowered name of the expression is the answer. The template has no
definition, so the compiled code is the same as without the question.

A structure that does not have the fields that its text suggests has only a size. A name that the source does not
declare, or of another kind, such as that of an overloaded function, fails to compile.
"""

from __future__ import annotations

import re

from cuda.core._code._source_text import SourceText, split_list, tokens_of

__all__ = ["Probe", "may_ask"]

# C linkage, and what might define a structure, rather than be the parameter of a template.
_SUBJECT = re.compile(r'"C"|\b(?:struct|union)\b|\bclass\s+\w+\b(?!\s*[,>=])')

_BEGIN = (
    "\n\nnamespace cuda_core_types_ { template <class...> __global__ void of(); "
    "template <class F, F> struct kernel; template <decltype(sizeof(0))...> struct at; "
    "template <class...> struct layout; struct none; "
    "template <bool> struct only; template <> struct only<true> { typedef int is; }; "
)
_HERE = "cuda_core_types_::"


def may_ask(source: str) -> bool:
    """Return whether there might be anything to ask about a source, which is quickly found."""
    return _SUBJECT.search(source) is not None


class Probe:
    """A question about kernels and structures.

    Parameters
    ----------
    kernels : list of str
        The names of kernels, with namespaces.
    structures : dict
        The name of each structure, with namespaces -> the names of its fields, which begin with ``*`` if the type of
        the field has no name.
    conditional : set of str, optional
        The names that the source might not declare. Defaults to none.
    """

    __slots__ = ("_conditional", "_kernels", "_structures")

    def __init__(self, kernels, structures, conditional=frozenset()):
        self._kernels = list(kernels)
        self._structures = dict(structures)
        self._conditional = conditional

    @classmethod
    def of_source(cls, source: str, arguments=()) -> Probe | None:
        """Return the question about a source, or None if there is nothing to ask."""
        if not may_ask(source):
            return None
        text = SourceText(source, arguments)
        return cls(text.kernels, text.structures, text.conditional) if text.kernels or text.structures else None

    def without_conditional(self) -> Probe | None:
        """Return the question about what the source declares in any case, or None if that is the same or nothing."""
        kernels = [name for name in self._kernels if name not in self._conditional]
        structures = {name: fields for name, fields in self._structures.items() if name not in self._conditional}
        is_less = len(kernels) + len(structures) < len(self._kernels) + len(self._structures)
        return Probe(kernels, structures) if is_less and (kernels or structures) else None

    @classmethod
    def from_text(cls, text: str) -> Probe:
        """Return the question that :attr:`text` was made from."""
        kernels, *structures = text.split("\n")
        return cls(kernels.split(), {line.split()[0]: tuple(line.split()[1:]) for line in structures})

    @property
    def structures(self) -> list[str]:
        """The names of the structures."""
        return list(self._structures)

    @property
    def text(self) -> str:
        """The question as a text for caches."""
        return "\n".join(
            [" ".join(self._kernels), *(" ".join([name, *fields]) for name, fields in self._structures.items())]
        )

    @property
    def line(self) -> str:
        """The text to append to the source."""
        line = _BEGIN
        for index, fields in enumerate(self._structures.values()):
            plain = [field.lstrip("*") for field in fields]
            places = "".join(f", __builtin_offsetof(T, {field}), sizeof(T::{field})" for field in plain)
            types = "".join(", none" if field[0] == "*" else f", decltype(T::{field})" for field in fields)
            line += (
                f"template <class T, class = typename only<__is_standard_layout(T)>::is> __device__ layout<T, "
                f"at<sizeof(T), alignof(T){places}>{types}> layout{index}(int); "
                f"template <class T, class = typename only<__is_class(T) || __is_union(T)>::is> __device__ layout<T, "
                f"at<sizeof(T), alignof(T)>> layout{index}(long); "
                f"template <class T> __device__ none layout{index}(...); "
            )
        return line + "}\n"

    @property
    def expression(self) -> str:
        """The name expression."""
        kernels = [f"{_HERE}kernel<decltype(&::{name}), &::{name}>" for name in self._kernels]
        layouts = [f"decltype({_HERE}layout{index}<::{name}>(0))" for index, name in enumerate(self._structures)]
        return f"{_HERE}of<{', '.join(kernels + layouts)}>"

    def read(self, demangled: str) -> tuple[dict, list]:
        """Return what the answer says.

        Parameters
        ----------
        demangled : str
            The lowered name, demangled.

        Returns
        -------
        types : dict
            Kernel with C linkage -> the tokens of each parameter's type.
        structures : list
            For each structure, the tokens of its name, and (size, alignment, fields), where a field is (name, tokens of
            the type, offset, size), and fields are None if the compiler does not tell them.
        """
        tokens = tokens_of(demangled)
        items = _arguments(tokens, "of") if "of" in tokens else []
        types: dict = {}
        structures: list = []
        if len(items) != len(self._kernels) + len(self._structures):
            return types, structures
        for name, item in zip(self._kernels, items, strict=False):
            parameters, symbol = _kernel_of(item)
            if parameters is not None and symbol == name.rpartition("::")[2]:
                types[symbol] = parameters
        for fields, item in zip(self._structures.values(), items[len(self._kernels) :], strict=True):
            if item[2:3] == ["layout"]:
                structures.append(_structure_of(item, fields))
        return types, structures


def _arguments(tokens: list[str], template: str) -> list[list[str]]:
    """Return the arguments of one of our templates, whose instance begins with these tokens."""
    begin = tokens.index(template) + 2
    depth = 1
    for place in range(begin, len(tokens)):
        depth += {"<": 1, ">": -1}.get(tokens[place], 0)
        if depth == 0:
            return split_list(tokens[begin:place])
    return []


def _kernel_of(item: list[str]) -> tuple[list[list[str]] | None, str]:
    """Return the types of a kernel's parameters and its symbol, if it is a function with C linkage."""
    function, symbol = _arguments(item, "kernel")
    name = [token for token in symbol if token not in ("&", "(", ")")]
    if function[:5] != ["void", "(", "*", ")", "("] or len(name) != 1:
        return None, ""
    end = len(function) - 1 - function[::-1].index(")")
    return split_list(function[5:end]), name[0]


def _structure_of(item: list[str], fields) -> tuple[list[str], tuple]:
    """Return the tokens of the name of a structure, and its size, alignment and fields."""
    structure, places, *types = _arguments(item, "layout")
    size, alignment, *rest = [int("".join(place).rstrip("ul")) for place in _arguments(places, "at")]
    if len(types) != len(fields):
        return structure, (size, alignment, None)
    found = [
        (field.lstrip("*"), () if field[0] == "*" else tuple(tokens), offset, width)
        for field, tokens, offset, width in zip(fields, types, rest[::2], rest[1::2], strict=True)
    ]
    return structure, (size, alignment, found)
