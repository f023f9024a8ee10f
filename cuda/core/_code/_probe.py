# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The question that asks the compiler for types and layouts, and the answer.

Lines after the source declare a template, and name expressions name instances whose argument is the type of a kernel
or the layout of a structure. The lowered names are the answer. The template has no definition, so the compiled code is
the same as without the question.

A structure that does not have the fields that its text suggests has only a size. A name that the source does not
declare, or of another kind, such as that of an overloaded kernel, fails to compile. A field that is an enumeration is
told as the integer type that it consists of.
"""

from __future__ import annotations

import re

from cuda.core._code._source_text import OPTIONAL, SourceText, split_list, tokens_of

__all__ = ["Probe", "may_ask"]

# C linkage, and what might define a structure, rather than be the parameter of a template.
_SUBJECT = re.compile(r'"C"|\b(?:struct|union)\b|\bclass\s+\w+\b(?!\s*[,>=])')

# The names end in _cc, because a source might define a macro such as T or kernel.
_BEGIN = (
    "\n\nnamespace cuda_core_types_ { template <class...> __global__ void of_cc(); "
    "template <class F_cc, F_cc> struct kernel_cc; "
    "template <class... T_cc> __device__ auto ask_cc(void (*)(T_cc...)) -> void (*)(T_cc...); "
    "template <decltype(sizeof(0))...> struct at_cc; "
    "template <class...> struct layout_cc; template <class...> struct field_cc; struct none_cc; "
    "template <bool> struct only_cc; template <> struct only_cc<true> { typedef int is_cc; }; template <class> struct "
    "enum_cc; template <class T_cc, bool = __is_enum(T_cc)> struct plain_cc { typedef T_cc is_cc; }; "
    "template <class T_cc> struct plain_cc<T_cc, true> { typedef enum_cc<__underlying_type(T_cc)> is_cc; }; "
    # NVRTC before 13.4 has only __INTADDR__, which a field that has its own operator& would mislead.
    "\n#if __has_builtin(__builtin_offsetof)\n#define offset_cc(...) __builtin_offsetof(T_cc, __VA_ARGS__)\n#else\n"
    "template <class T_cc> __device__ T_cc& made_cc(); "
    "template <class T_cc, class = decltype(made_cc<T_cc>().operator&())> __device__ int own_cc(int); "
    "template <class T_cc, class = decltype(operator&(made_cc<T_cc>())), class = void> __device__ int own_cc(long); "
    "template <class> __device__ char own_cc(...); "
    "template <class T_cc, class F_cc, class = typename only_cc<sizeof(own_cc<F_cc>(0)) == 1>::is_cc> "
    "struct asked_cc { typedef T_cc is_cc; };\n#define offset_cc(...) "
    "__INTADDR__(&((typename asked_cc<T_cc, decltype(T_cc::__VA_ARGS__)>::is_cc*)0)->__VA_ARGS__)\n#endif\n"
)
_HERE = "cuda_core_types_::"
_FIELDS = 6  # in one expression, because __cxa_demangle reads symbols of up to 1024 characters only


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
        The name of each structure, with namespaces -> the names of its fields, as :class:`SourceText` marks them.
    """

    __slots__ = ("_kernels", "_structures")

    def __init__(self, kernels, structures):
        self._kernels = list(kernels)
        self._structures = dict(structures)

    @classmethod
    def of_source(cls, source: str, arguments=()) -> Probe | None:
        """Return the question about a source, or None if there is nothing to ask."""
        if not may_ask(source):
            return None
        text = SourceText(source, arguments)
        return cls(text.kernels, text.structures) if text.kernels or text.structures else None

    def without_rejected(self, log: str) -> Probe | None:
        """Return the question without what the compiler's log shows, or None if that is the same or nothing."""
        kernels = [name for name in self._kernels if _kernel_item(name) not in log]
        structures = {
            name: fields
            for index, (name, fields) in enumerate(self._structures.items())
            if not any(item in log for item in _structure_items(index, name, fields))
        }
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
            items = [_item_of(field) for field in fields]
            for number, field in enumerate(fields):
                if field[0] == OPTIONAL:
                    name = f"field{index}_{number}_cc"
                    line += f"template <class T_cc> __device__ {items[number]} {name}(int); "
                    line += f"template <class T_cc> __device__ none_cc {name}(...); "
                    items[number] = f"decltype({name}<T_cc>(0))"
            for part, begin in enumerate(_parts(fields)):
                told = "".join(f", {item}" for item in items[begin : begin + _FIELDS])
                line += (
                    f"template <class T_cc, class = typename only_cc<__is_standard_layout(T_cc)>::is_cc> __device__ "
                    f"layout_cc<T_cc, at_cc<sizeof(T_cc), alignof(T_cc)>{told}> layout{index}_{part}_cc(int); "
                    f"template <class T_cc, class = typename only_cc<__is_class(T_cc) || __is_union(T_cc)>::is_cc> "
                    f"__device__ layout_cc<T_cc, at_cc<sizeof(T_cc), alignof(T_cc)>> layout{index}_{part}_cc(long); "
                    f"template <class T_cc> __device__ none_cc layout{index}_{part}_cc(...); "
                )
        return line + "}\n"

    @property
    def expressions(self) -> list[str]:
        """The name expressions: one for each kernel, and one or more for each structure."""
        items = [_kernel_item(name) for name in self._kernels]
        for index, (name, fields) in enumerate(self._structures.items()):
            items += _structure_items(index, name, fields)
        return [f"{_HERE}of_cc<{item}>" for item in items]

    def read(self, demangled) -> tuple[dict, list]:
        """Return what the answer says.

        Parameters
        ----------
        demangled : sequence of str
            The lowered names, demangled.

        Returns
        -------
        types : dict
            Kernel with C linkage -> the tokens of each parameter's type.
        structures : list
            For each structure, the tokens of its name, and (size, alignment, fields), where a field is (name, tokens of
            the type, offset, size), and fields are None if the compiler does not tell them.
        """
        types: dict = {}
        structures: list = []
        answers = [_answer_of(tokens_of(text)) for text in demangled]
        for name, item in zip(self._kernels, answers, strict=False):
            parameters, symbol = _kernel_of(item)
            if parameters is not None and symbol == name.rpartition("::")[2]:
                types[symbol] = parameters
        place = len(self._kernels)
        for fields in self._structures.values():
            count = len(_parts(fields))
            items, place = answers[place : place + count], place + count
            if len(items) == count and all(item[2:3] == ["layout_cc"] for item in items):
                structures.append(_structure_of(items, fields))
        return types, structures


def _kernel_item(name: str) -> str:
    return f"{_HERE}kernel_cc<decltype({_HERE}ask_cc(&::{name})), &::{name}>"


def _structure_items(index: int, name: str, fields) -> list[str]:
    return [f"decltype({_HERE}layout{index}_{part}_cc<::{name}>(0))" for part in range(len(_parts(fields)))]


def _parts(fields) -> range:
    """Return where the parts begin in which fields are asked for; there is one at least."""
    return range(0, max(len(fields), 1), _FIELDS)


def _item_of(field: str) -> str:
    """Return the question about a field of T_cc."""
    name = field.lstrip("?*")
    c_type = "none_cc" if "*" in field else f"typename plain_cc<decltype(T_cc::{name})>::is_cc"
    return f"field_cc<at_cc<offset_cc({name}), sizeof(T_cc::{name})>, {c_type}>"


def _answer_of(tokens: list[str]) -> list[str]:
    """Return the tokens of the argument of an instance of our template, or none for another symbol."""
    items = _arguments(tokens, "of_cc") if "of_cc" in tokens else []
    return items[0] if len(items) == 1 else []


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
    if item[2:3] != ["kernel_cc"]:
        return None, ""
    function, symbol = _arguments(item, "kernel_cc")
    name = [token for token in symbol if token not in ("&", "(", ")")]
    if function[:5] != ["void", "(", "*", ")", "("] or len(name) != 1:
        return None, ""
    end = len(function) - 1 - function[::-1].index(")")
    return split_list(function[5:end]), name[0]


def _structure_of(items: list[list[str]], fields) -> tuple[list[str], tuple]:
    """Return the tokens of the name of a structure, and its size, alignment and fields, None if one is unknown."""
    told, found = [], []
    for item in items:
        structure, places, *part = _arguments(item, "layout_cc")
        told += part
    is_known = len(told) == len(fields)
    for field, answer in zip(fields, told, strict=False):
        if answer[2:3] == ["field_cc"]:
            place, tokens = _arguments(answer, "field_cc")
            found.append((field.lstrip("?*"), () if "*" in field else tuple(tokens), *_places_in(place)))
        elif field[0] != OPTIONAL:
            is_known = False
    return structure, (*_places_in(places), found if is_known and (found or not fields) else None)


def _places_in(item: list[str]) -> list[int]:
    return [int("".join(place).rstrip("ul")) for place in _arguments(item, "at_cc")]
