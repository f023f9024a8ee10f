# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The types of a kernel's parameters, from its mangled name, for error messages."""

from __future__ import annotations

import re

__all__ = ["advice", "parameter_types"]

# The builtin types of the Itanium C++ ABI, by their letters.
TYPES = {
    "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "w": "wchar_t",
    "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long",
    "x": "long long", "y": "unsigned long long", "f": "float", "d": "double",
}  # fmt: skip
INTEGERS = frozenset(TYPES.values()) - {"float", "double", "bool"}


def parameter_types(symbol: str) -> list[str] | None:
    """Return the types of the parameters; None if the name is not mangled, or contains no types.

    The list ends before the first type that is not arithmetic, a pointer, a structure or a template parameter.
    """
    rest, seen = _after_name(symbol)
    arguments = []
    if rest[:1] == "I":
        arguments, rest = _template_arguments(rest[1:], seen)
        # The mangled name of a template function also has the return type, which for a kernel is void.
        if rest[:1] != "v":
            return None
        rest = rest[1:]
    types = []
    while rest and rest != "v":
        kind, rest = _first_type(rest, arguments, seen)
        if kind is None:
            break
        types.append(kind)
    return types or None


def _first_type(text: str, arguments: list[str], seen: list[str]) -> tuple[str | None, str]:
    """Return the type at the beginning of ``text`` (None if it is of another kind), and the rest of the text.

    ``seen`` has the earlier names and types, to which substitutions (``S_``, ``S0_``) refer; the type is appended.
    """
    if reference := re.match(r"S([0-9A-Z]*)_", text):
        place = int(reference[1], 36) + 1 if reference[1] else 0
        return seen[place] if place < len(seen) else None, text[reference.end() :]
    if text[:1] in TYPES or text[:1] == "v":
        return TYPES.get(text[0], "void"), text[1:]
    if qualified := re.match("P|[rVK]+", text):
        kind, rest = _first_type(text[qualified.end() :], arguments, seen)
        if kind is not None and qualified[0] == "P":
            kind = "pointer"
    elif of_template := re.match(r"T(\d*)_", text):
        place = int(of_template[1]) + 1 if of_template[1] else 0
        kind, rest = arguments[place] if place < len(arguments) else None, text[of_template.end() :]
    elif named := re.match(r"(\d+)", text):
        end = named.end() + int(named[0])
        kind, rest = text[named.end() : end], text[end:]
        if rest[:1] == "I":
            kind = None
    else:
        kind, rest = None, text
    if kind is not None:
        seen.append(kind)
    return kind, rest


def _template_arguments(text: str, seen: list[str]) -> tuple[list[str], str]:
    """Return the arguments of a template, and the text behind them; empty text if one is of another kind."""
    arguments = []
    while text and text[0] != "E":
        value = re.match("L[a-z]n?[0-9a-f]+E", text)
        if value:
            kind, text = "a value", text[value.end() :]
        else:
            kind, text = _first_type(text, [], seen)
        if kind is None:
            return [], ""
        arguments.append(kind)
    return arguments, text[1:]


def _after_name(symbol: str) -> tuple[str, list[str]]:
    """Return the text behind the name of a function: its template arguments and the types of its parameters.

    The list has the names to which substitutions in these types refer: the scopes of the function, and its template.
    """
    if not symbol.startswith("_Z"):
        return "", []
    is_nested = symbol.startswith("_ZN")
    rest = symbol[3:] if is_nested else symbol[2:]
    names = []
    while True:
        name = re.match(r"L?(\d+)", rest)
        if not name:
            return "", []
        end = name.end() + int(name[1])
        names.append(rest[name.end() : end])
        rest = rest[end:]
        if not is_nested:
            return rest, names if rest[:1] == "I" else []
        if rest[:1] == "E":
            return rest[1:], names[:-1]
        if rest[:1] == "I":
            # A template in a namespace: the end of the nested name follows its arguments.
            following = _template_arguments(rest[1:], names.copy())[1]
            if following[:1] == "E":
                return rest[: len(rest) - len(following)] + following[1:], names


def advice(symbol: str, index: int, argument, size: int) -> str:
    """Return how to pass ``argument`` to a parameter of ``size`` bytes, naming only types that fit it."""
    types = parameter_types(symbol)
    kind = types[index] if types is not None and index < len(types) else None
    if isinstance(argument, (float, complex)) and kind is not None:
        return _advice_for(kind, argument)
    if isinstance(argument, float) and size in (1, 2, 4):
        floats = {2: "numpy.float16 for a __half", 4: "numpy.float32 for a float"}
        known = "the kernel's name does not contain the type of this parameter, only its size is known"
        return f"; {known}: pass {floats[size] + ', ' if size in floats else ''}an int for an integer"
    if isinstance(argument, complex) and size == 8:
        return "; only the size of this parameter is known: pass numpy.complex64 for a complex of floats"
    if isinstance(argument, int):
        return "; pass a structure as bytes, numpy.void or ctypes.Structure"
    return ""


def _advice_for(kind: str, argument) -> str:
    is_complex = isinstance(argument, complex)
    if kind in ("float", "double") and not is_complex:
        return f"; the parameter is a {kind}: use numpy.float{32 if kind == 'float' else 64}"
    if kind in INTEGERS:
        article = "an" if kind[0] in "aeiou" else "a"
        return f"; the parameter is {article} {kind}: pass an int"
    if kind == "pointer":
        return "; the parameter is a pointer: pass a Buffer, or an address as an int"
    if kind == "__half" and not is_complex:
        return "; the parameter is a __half: use numpy.float16"
    if kind == "bool":
        return "; the parameter is a bool: pass a bool"
    return f"; the parameter is a {kind}: pass its bytes, numpy.void or ctypes.Structure"
