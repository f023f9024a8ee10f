# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The tokens of a preprocessed file, and what brackets, names and commas in them enclose."""

from __future__ import annotations

import re
from typing import NamedTuple

from cuda.emulator.programs._host import DEVICE_INCLUDE, INCLUDE, ProgramError

TOKEN = re.compile(
    r"""(?P<line>^[ \t]*\#.*)"""
    r"""|(?P<space>\n|[ \t\f\v\r]+)"""
    r"""|(?P<string>(?:u8|[uUL])?(?:R"(?P<mark>[^()\s\\]*)\((?s:.*?)\)(?P=mark)"|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'))"""
    r"""|(?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)"""
    r"""|(?P<word>[A-Za-z_]\w*)"""
    r"""|(?P<sign><<[ \t]*<|>>>|::|->|.)""",
    re.MULTILINE,
)
MARKER = re.compile(r'^# (\d+) "((?:\\.|[^"\\])*)"(.*)\n?', re.MULTILINE)
SPACES = ("home", "line", "space", "system")  # not part of the language
ATTRIBUTES = {  # with parentheses
    *("__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__"),
    *("__attribute__", "__align__", "alignas", "decltype"),
}


class Token(NamedTuple):
    text: str
    kind: str
    place: str


def tokens_of(text: str, path: str) -> list[Token]:
    """Return the tokens of a preprocessed file and of its own headers.

    Each run of text from headers of the system, of the runtime and of the device is one token.
    """
    tokens, position, system = [], 0, True
    line, name, home = 1, path, set()
    for marker in [*MARKER.finditer(text), None]:
        chunk = text[position : marker.start() if marker else len(text)]
        if system:
            tokens.append(Token(chunk, "system", name))
        else:
            for match in TOKEN.finditer(chunk):
                tokens.append(Token(match[0], match.lastgroup, f"{name}:{line}"))
                line += match[0].count("\n")
        if marker:
            line, name, position = int(marker[1]), marker[2], marker.end()
            # Macros from system headers are marked like these headers, but in the file that uses them.
            system = name.startswith(("<", INCLUDE, DEVICE_INCLUDE)) or (" 3" in marker[3] and name not in home)
            home |= set() if system else {name}
            tokens.append(Token(marker[0], "system" if system else "home", name))
    return tokens


def blank(token: Token) -> str:
    """Return what keeps the line numbers where a token is left out."""
    return token.text if token.kind in ("home", "system") else "\n" * token.text.count("\n")


def next_word(tokens: list[Token], i: int, step: int = 1) -> int:
    """Return the index of the next token that is not a space, or with step -1 of the previous one."""
    i += step
    while 0 <= i < len(tokens) and tokens[i].kind in SPACES:
        i += step
    return i


def closing(tokens: list[Token], start: int, step: int = 1) -> int:
    """Return the index of the bracket that closes, or with step -1 opens, the one at ``start``.

    Returns ``start`` if there is no bracket.
    """
    depth, i = 0, start
    while 0 <= i < len(tokens):
        if tokens[i].kind == "sign":
            depth += ((tokens[i].text in "([{") - (tokens[i].text in ")]}")) * step
        if depth <= 0:
            return i
        i += step
    raise ProgramError(f"{tokens[start].place}: unbalanced {tokens[start].text}")


def closing_angle(tokens: list[Token], start: int, step: int = 1) -> int:
    """Return the index of the angle bracket that closes, or with step -1 opens, the one at ``start``."""
    depth, i = 0, start
    while 0 <= i < len(tokens):
        text = tokens[i].text
        depth += (text == "<") - (text == ">") - 3 * (text == ">>>")
        if depth == 0:
            return i
        i += step
    raise ProgramError(f"{tokens[start].place}: unbalanced {tokens[start].text}")


def without_attributes(head: list[Token]) -> list[Token]:
    """Return a declaration without template parameters and attributes."""
    found, i = [], 0
    while i < len(head):
        following = head[i + 1].text if i + 1 < len(head) else ""
        if head[i].text == "template" and following == "<":
            i = closing_angle(head, i + 1)
        elif head[i].text in ATTRIBUTES and following == "(":
            i = closing(head, i + 1)
        else:
            found.append(head[i])
        i += 1
    return found


def parameters_of(head: list[Token]) -> int:
    """Return the index of the bracket that opens a function's parameters, or 0 if it is not a function."""
    i = 0
    while i < len(head) and head[i].text != "=":
        if head[i].text == "operator":
            return next((k for k in range(i + 2, len(head)) if head[k].text == "("), 0)
        before = head[i - 1] if i else None
        is_name = before and (before.kind == "word" or before.text in (">", ">>>"))
        if head[i].text == "(" and is_name and [t.text for t in head[i + 1 : i + 2]] != ["*"]:
            return i
        i = closing(head, i) + 1
    return 0


def split_at_commas(tokens: list[Token]) -> list[list[Token]]:
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in ("(", "[", "{", "<")) - (token.text in (")", "]", "}", ">")) - 3 * (token.text == ">>>")
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def before_initializer(tokens: list[Token]) -> list[Token]:
    return tokens[: next((i for i, token in enumerate(tokens) if token.text in ("=", "[", "{")), len(tokens))]


def declared_names(tokens: list[Token]) -> list[Token]:
    """Return the names that a declaration of variables declares."""
    parts = (before_initializer(part) for part in split_at_commas(without_attributes(tokens)))
    return [part[-1] for part in parts if part]


def parameter_names(head: list[Token], start: int, place: str) -> list[str]:
    """Return the names of a kernel's parameters, those of a parameter pack with ``...``."""
    names = []
    for part in split_at_commas(head[start + 1 : closing(head, start)]):
        texts = [token.text for token in before_initializer(part)]
        if texts in ([], ["void"]):
            continue
        name = texts[-1]
        for i in range(len(texts) - 2):
            if texts[i : i + 2] in (["(", "*"], ["(", "&"]):  # a pointer to an array or a function
                name = texts[i + 2]
        if len(texts) < 2 or not name.isidentifier() or name in ("int", "long", "const", "__restrict__"):
            raise ProgramError(f"{place}: the parameters of a kernel need names here")
        names.append(f"{name}..." if "." in texts else name)
    return names
