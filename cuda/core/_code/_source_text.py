# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What the text of a source suggests: kernels and structures to ask the compiler about, and the names of parameters.

Nothing here decides a type or a layout. The names of parameters serve only arguments by keyword, and a kernel has none
if another declaration, a condition or a macro might have a part in its definition. Macros outside functions are
expanded if they might contain a kernel, a structure or C linkage.
"""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["OPTIONAL", "SourceText", "split_list", "tokens_of"]

# Comments and spaces, preprocessor directives, literals, and the tokens that declarations consist of.
_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?(?:\*/|\Z))
    |(?P<directive>(?:\#|%:)\s*(?:include\s*<[^>\n]*>)?
        (?:/\*.*?(?:\*/|\Z)|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[^\n])*)
    |(?P<raw>(?:u8|[uUL])?R"(?P<end>[^()\s\\"]*)\(.*?\)(?P=end)")
    |(?P<literal>(?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign>::|\[\[|\]\]|\.\.\.|<%|%>|<:(?!:[^:>])|:>|.)""",
    re.VERBOSE | re.DOTALL,
)
_DIGRAPHS = {"<%": "{", "%>": "}", "<:": "[", ":>": "]"}
_TRIGRAPH = re.compile(r"\?\?[=/'()!<>-]")
_PASTE = "@"  # stands for ##
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_DIRECTIVE = re.compile(r"(?:#|%:)\s*(\w+)\s*(\w*)(?:\(([^()]*)\))?(.*)", re.DOTALL)
_MACRO = re.compile(rb"--define-macro=(\w+)=?(.*)", re.DOTALL)
_MOST_EXPANSIONS = 1000
_ATTRIBUTES = re.compile(r"__\w+__|__declspec|alignas|_Alignas|decltype")
_BRACKETS = {"{": 1, "}": -1, "(": 1, ")": -1, "[": 1, "]": -1, "[[": 1, "]]": -1}
_CLASSES = ("struct", "class", "union")
_NO_FIELDS = frozenset("static using typedef friend template static_assert operator constexpr".split())


# A name that no structure has, so that the fields of one that cannot be read are unknown.
NO_FIELD = "cuda_core_no_field"
OPTIONAL = "?"  # before a field that a condition might leave out


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a source, without spaces and comments, with each literal or directive as one token."""
    tokens = [found[0] for found in _TOKEN.finditer(text) if found.lastgroup != "skip"]
    return [_DIGRAPHS.get(token, token) for token in tokens]


def split_list(tokens: list[str], separator: str = ",") -> list[list[str]]:
    """Split tokens at the separators outside brackets."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += _BRACKETS.get(token, 0) + {"<": 1, ">": -1}.get(token, 0)
        if token == separator and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [] if parts in ([[]], [["void"]]) else parts


class SourceText:
    """The kernels and the structures that a source seems to declare.

    Parameters
    ----------
    source : str
        The source.
    arguments : iterable of bytes, optional
        The compiler's arguments, which may define macros.

    Attributes
    ----------
    kernels : list of str
        The kernels that seem to have C linkage and parameters, with namespaces.
    structures : dict
        The fields of structures: the name with namespaces -> the names of fields. A name that begins with ``*`` is that
        of a field whose type has no name, and one with ``?`` before that might be left out by a condition.
    names : dict
        Function without namespaces -> the names of its parameters, or None if there might be others.
    """

    def __init__(self, source: str, arguments=()):
        self.kernels: list[str] = []
        self.structures: dict[str, tuple[str, ...]] = {}
        self.names: dict[str, tuple[str | None, ...] | None] = {}
        self._macros: set[str] = set()
        self._bodies: dict[str, tuple[list[str] | None, list[str]]] = {}  # macro -> parameters, tokens
        self._expansions = 0
        self._made_end = 0  # the tokens before this place are, or follow, those of a macro
        self._is_made = False  # whether the current declaration begins with these
        self._lists: set[str] = set()  # macros that might declare several fields
        self._scopes: list[str | None] = []  # a namespace, "" for a linkage specification, None for all others
        self._conditions: list[list[str | None]] = []  # the scopes at the beginning of each open condition
        self._words: Counter[str] = Counter()  # outside function bodies
        self._declared: Counter[str] = Counter()
        self._has_hidden = False  # a macro contains the qualifier of kernels
        source = source.replace("\\\r\n", "").replace("\\\n", "")
        if "__global__" not in source:
            return
        for argument in arguments:
            if found := _MACRO.match(argument):
                self._define(found[1].decode(), None, found[2].decode(errors="replace"))
        self._read(tokens_of(source))
        for name, count in self._declared.items():
            if self._has_hidden or name in self._macros or self._words[name] != count or _TRIGRAPH.search(source):
                self.names[name] = None
        self.kernels = [name for name in dict.fromkeys(self.kernels) if not self._macros.intersection(name.split("::"))]
        for name in self.kernels:  # a function hides a structure of its name
            self.structures.pop(name, None)

    def _read(self, tokens: list[str]) -> None:
        start = place = 0
        while place < len(tokens):
            token = tokens[place]
            self._is_made = start < self._made_end
            if _is_directive(token):
                self._directive(token)
                start = place + 1
            elif token in self._bodies and None not in self._scopes and self._expand(tokens, place):
                continue
            elif token == "{":
                place = self._open(tokens, start, place)
                start = place + 1
            elif token == "}":
                if self._scopes:
                    self._scopes.pop()
                start = place + 1
            elif token == ";":
                start = place + 1
            elif None not in self._scopes:
                self._words[token] += 1
                if token == "__global__":
                    self._kernel(tokens, start, place)
            place += 1

    # --- Directives and macros ---

    def _directive(self, token: str) -> None:
        found = _DIRECTIVE.match(_COMMENT.sub(" ", token))
        word, name, parameters, body = found.groups() if found else ("", "", None, "")
        if word in ("if", "ifdef", "ifndef"):
            self._conditions.append(list(self._scopes))
        elif word in ("else", "elif", "elifdef", "elifndef") and self._conditions:
            self._scopes = list(self._conditions[-1])
        elif word == "endif" and self._conditions:
            self._conditions.pop()
        elif word == "define":
            self._define(name, parameters, body)
        elif word == "undef":
            self._bodies.pop(name, None)

    def _define(self, name: str, parameters: str | None, body: str) -> None:
        self._macros.add(name)
        if ";" in body or "," in body:
            self._lists.add(name)
        self._has_hidden |= "__global__" in body
        names = None if parameters is None else parameters.replace("...", "__VA_ARGS__").replace(",", " ").split()
        self._bodies[name] = names, tokens_of(body.replace("##", _PASTE).replace("#", " "))

    def _expand(self, tokens: list[str], place: int) -> bool:
        """Replace the macro at ``place`` by its tokens, if it matters here."""
        parameters, body = self._bodies[tokens[place]]
        is_called = tokens[place + 1 : place + 2] == ["("] or parameters is None
        if not is_called or not self._matters(tokens[place], set()) or self._expansions == _MOST_EXPANSIONS:
            return False
        end, values = place, {}
        if parameters is not None:
            end = _closing(tokens, place + 1)
            given = split_list(tokens[place + 2 : end])
            values = {name: given[index] if index < len(given) else [] for index, name in enumerate(parameters)}
            if parameters[-1:] == ["__VA_ARGS__"]:
                rest = [token for part in given[len(parameters) - 1 :] for token in (",", *part)]
                values["__VA_ARGS__"] = rest[1:]
        found: list[str] = []
        for index, token in enumerate(body):
            new = values.get(token, [token] if token != _PASTE else [])
            if found and new and index and body[index - 1] == _PASTE:
                found[-1] += new[0]
                new = new[1:]
            found += new
        tokens[place : end + 1] = found
        self._expansions += 1
        self._made_end = max(self._made_end - end - 1, place) + len(found)
        return True

    def _matters(self, macro: str, seen: set[str]) -> bool:
        """Return whether a macro might contain a kernel, a structure, C linkage or a bracket of a scope."""
        seen.add(macro)
        words = set(self._bodies[macro][1])
        if not words.isdisjoint(("__global__", '"C"', "{", "}", *_CLASSES)):
            return True
        return any(word in self._bodies and word not in seen and self._matters(word, seen) for word in words)

    def _open(self, tokens: list[str], start: int, place: int) -> int:
        """Enter the scope that begins at ``place``, or read it whole, and return the place to go on from."""
        head = tokens[start:place]
        if head == ["extern", '"C"']:
            self._scopes.append("")
        elif "namespace" in head:
            names = _plain(head[head.index("namespace") + 1 :])
            self._scopes.append("".join(token for token in names if token != "inline") or "(anonymous namespace)")
        elif None not in self._scopes and (kind := _class_of(head)) is not None:
            end = _closing(tokens, place)
            body = [token for token in tokens[place + 1 : end] if not _is_directive(token)]
            has_condition = len(body) < end - place - 1
            if kind:
                tail = tokens[end + 1 : end + 3] if head[:1] == ["typedef"] else []
                self._structure(head, body, self._path(), tail, has_condition)
            # A condition inside it might open or close a bracket.
            if kind and not has_condition:
                return end
            self._scopes.append(None)
        else:
            self._scopes.append(None)
        return place

    def _path(self) -> list[str]:
        return [scope for scope in self._scopes if scope and scope[0] != "("]

    # --- Kernels ---

    def _kernel(self, tokens: list[str], start: int, place: int) -> None:
        """Note the kernel whose declaration begins at ``start`` and has its qualifier at ``place``."""
        head = tokens[start:place]
        if "template" in head and head[head.index("template") + 1 : head.index("template") + 2] != ["<"]:
            return self._skip(tokens, place)  # an explicit instantiation
        is_c = "" in self._scopes or '"C"' in head
        while place < len(tokens) and tokens[place] not in (";", "{", "}"):
            if tokens[place] == "(" and (name := _name_before(tokens, start, place)):
                end = _closing(tokens, place)
                if tokens[end + 1 : end + 2] in (["{"], [";"], ["-"], ["noexcept"]):
                    return self._declare(name, tokens[start:place], tokens[place + 1 : end], is_c)
                place = end
            elif tokens[place] in ("(", "[["):
                place = _closing(tokens, place)
            place += 1

    def _skip(self, tokens: list[str], place: int) -> None:
        """Do not count the words of an explicit instantiation, which declares nothing new."""
        end = next((index for index in range(place, len(tokens)) if tokens[index] in ";{"), len(tokens))
        self._words.subtract(tokens[place + 1 : end])

    def _declare(self, name: str, head: list[str], inner: list[str], is_c: bool) -> None:
        self._declared[name] += 1
        if is_c and inner not in ([], ["void"]):
            self.kernels.append("::".join([*self._path(), name]))
        found = tuple(_parameter_name(part) for part in split_list(inner))
        is_special = head[-1:] == [">"] or ["template", "<", ">"] == head[:3]
        is_plain = not self._conditions and not is_special and not self._macros.intersection([name, *head, *inner])
        is_plain = is_plain and not self._is_made and not any(map(_is_directive, inner))
        self.names[name] = found if is_plain and self.names.get(name, found) == found else None

    # --- Structures ---

    def _structure(self, head: list[str], body: list[str], path: list[str], tail: list[str], has_condition) -> None:
        """Note a structure and those inside it. ``tail`` are the tokens that follow it in a typedef."""
        name = _class_name(head) or (tail[0] if tail[1:] in ([";"], [","]) else "")
        if name and "template" not in head and "(anonymous namespace)" not in self._scopes:
            fields = self._fields(body, [*path, name])
            if has_condition:
                fields = [field if field == NO_FIELD else OPTIONAL + field for field in fields]
            # The fields of a macro, or those of a base: only one class of a structure of standard layout has fields.
            if self._lists.intersection(body) or (":" in _plain(head) and not fields):
                fields.append(NO_FIELD)
            self.structures["::".join([*path, name])] = tuple(dict.fromkeys(fields))

    def _fields(self, body: list[str], path: list[str]) -> list[str]:
        fields: list[str] = []
        for member in _members(body):
            kind = _class_of(_head(member)) if "{" in member else None
            if kind:
                place = member.index("{")
                end = _closing(member, place)
                if end + 1 == len(member) and not _class_name(member[:place]):  # its members are members of this one
                    fields += self._fields(member[place + 1 : end], path)
                    continue
                if _class_name(member[:place]):
                    self._structure(member[:place], member[place + 1 : end], path, [], False)
                    member = [*member[:place], *member[end + 1 :]]
                fields += _declarators(member, "{" in member)
            else:
                member = _plain(member)
                is_call = member[1:2] in ([], ["("]) and member[1:3] != ["(", "*"]
                is_macro = is_call and member[0].isidentifier() and member[0] != path[-1]
                fields += [NO_FIELD] if is_macro else _declarators(member, kind is False)
        return fields


def _is_directive(token: str) -> bool:
    return token[0] == "#" or token[:2] == "%:"


def _plain(tokens: list[str]) -> list[str]:
    """Return tokens without attributes."""
    plain, place = [], 0
    while place < len(tokens):
        token = tokens[place]
        if token == "[[":
            place = _closing(tokens, place)
        elif not _ATTRIBUTES.fullmatch(token):
            plain.append(token)
        else:
            plain += [token] if token == "decltype" else []
            if tokens[place + 1 : place + 2] == ["("]:
                place = _closing(tokens, place + 1)
        place += 1
    return plain


def _class_of(head: list[str]) -> bool | None:
    """Return whether a scope after these tokens is that of a structure, or None if it is no class or enumeration."""
    plain = _plain(head)
    words = [token for token in plain if token in (*_CLASSES, "enum")]
    if not words or "(" in plain or "=" in plain:
        return None
    return words[-1] != "enum" and "enum" not in words


def _class_name(head: list[str]) -> str:
    """Return the name in the head of a structure, or an empty string if it has none."""
    plain = _plain(head)
    after = plain[max(index for index, token in enumerate(plain) if token in _CLASSES) + 1 :]
    after = after[: after.index(":")] if ":" in after else after
    words = [token for token in after if token != "final"]
    return words[-1] if words and words[-1].isidentifier() and "::" not in words else ""


def _closing(tokens, place: int) -> int:
    """Return the place of the bracket that closes the one at ``place``, or the end."""
    depth = 0
    for index in range(place, len(tokens)):
        depth += _BRACKETS.get(tokens[index], 0)
        if depth == 0:
            return index
    return len(tokens)


def _name_before(tokens: list[str], start: int, place: int) -> str | None:
    """Return the function whose parameters begin at ``place``, or None if they are those of an attribute."""
    before = place - 1
    if tokens[before] == ">":  # the arguments of a specialization
        depth = 0
        while before > start:
            depth += {">": 1, "<": -1}.get(tokens[before], 0)
            before -= 1
            if depth == 0:
                break
    name = tokens[before]
    return name if _is_name(name) and before > start else None


def _is_name(token: str) -> bool:
    return token.isidentifier() and not _ATTRIBUTES.fullmatch(token)


def _parameter_name(tokens: list[str]) -> str | None:
    """Return the name of the parameter that tokens declare, or None if it has none that can be recognized."""
    if "=" in tokens:
        tokens = tokens[: tokens.index("=")]
    tokens = _plain(tokens)
    if "(" in tokens:
        return None
    if "[" in tokens:
        tokens = tokens[: tokens.index("[")]
    words = [token for token in tokens if token not in ("const", "volatile", "restrict", "__restrict")]
    last = words[-1] if len(words) > 1 else ""
    is_name = last.isidentifier() and words[-2] not in ("::", *_CLASSES, "enum", "typename") and last not in _WORDS
    return last if is_name else None


_WORDS = frozenset("bool char short int long unsigned signed float double void wchar_t __int128 auto".split())


def _members(body: list[str]) -> list[list[str]]:
    """Return the declarations in the body of a structure, without those of functions."""
    members: list[list[str]] = [[]]
    place = 0
    while place < len(body):
        token = body[place]
        if token == ";":
            members.append([])
        elif token in ("public", "private", "protected") and body[place + 1 : place + 2] == [":"]:
            place += 1
        elif token in ("(", "{", "[", "[["):
            end = _closing(body, place)
            is_function = token == "{" and "(" in _plain(members[-1]) and "=" not in members[-1]
            members[-1] += body[place : end + 1]
            if is_function:
                members[-1] = []
            place = end
        else:
            members[-1].append(token)
        place += 1
    return [member for member in members if member and not _NO_FIELDS.intersection(_head(member))]


def _head(member: list[str]) -> list[str]:
    """Return the tokens of a member before a body."""
    return member[: member.index("{")] if "{" in member else member


def _declarators(member: list[str], has_no_type_name: bool) -> list[str]:
    """Return the names that a member declares, after ``*`` if its type has no name. Bit fields have no address."""
    if has_no_type_name:
        member = ["int", *member[_closing(member, member.index("{")) + 1 :]]
    names = []
    for part in split_list(_plain(member)):
        for mark in ("=", "[", "{"):
            part = part[: part.index(mark)] if mark in part else part
        is_field = part and part[-1].isidentifier() and not {"(", ":", "&"}.intersection(part)
        if ["(", "*"] in (part[place : place + 2] for place in range(len(part))):  # a pointer to a function or an array
            name = part[part.index("*") + 1 :]
            names.append(name[0] if name[1:2] == [")"] else NO_FIELD)
        elif is_field and (names or len(part) > 1):
            names.append(("*" if has_no_type_name else "") + part[-1])
    return names
