# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel signatures: the C types and the names of a kernel's parameters.

The types of a C++ kernel are in its mangled name. Those of an ``extern "C"`` kernel are read from its definition in the
source, as are all names. Where macros or headers may have a part in a definition, the kernel counts as unknown.
"""

from __future__ import annotations

import functools
import re
import struct
from collections import namedtuple

__all__ = ["C_TYPES", "Declarations", "Parameter", "function_of", "parameters_of", "size_of"]


Parameter = namedtuple("Parameter", ("name", "type"))
Parameter.__doc__ = "A parameter: its name, and its C type, such as ``const float*``. Each is None if unknown."

# The values of each C type as letters of the module struct, of which "c" is a char of either sign, "E" a bfloat16, and
# "n" and "N" are 128-bit integers. The types have the sizes of 64-bit Linux.
C_TYPES = {
    "bool": "?", "char": "c", "signed char": "b", "unsigned char": "B", "char8_t": "B", "short": "h",
    "unsigned short": "H", "char16_t": "H", "int": "i", "wchar_t": "i", "unsigned int": "I", "char32_t": "I",
    "long": "q", "long long": "q", "unsigned long": "Q", "unsigned long long": "Q", "__int128": "n",
    "unsigned __int128": "N", "float": "f", "double": "d", "__half": "e", "__nv_bfloat16": "E", "__half2": "ee",
    "__nv_bfloat162": "EE", "dim3": "III", "std::complex<float>": "ff", "std::complex<double>": "dd",
}  # fmt: skip
for _base, _letter in zip(
    ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong", "ulonglong", "float", "double"),
    "bBhHiIqQqQfd",
    strict=True,
):
    C_TYPES |= {f"{_base}{count}": _letter * count for count in (1, 2, 3, 4)}

# Names that headers define.
_ALIASES = {
    "int8_t": "signed char", "uint8_t": "unsigned char", "int16_t": "short", "uint16_t": "unsigned short",
    "int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long", "uint64_t": "unsigned long",
    "size_t": "unsigned long", "ptrdiff_t": "long", "intptr_t": "long", "uintptr_t": "unsigned long",
    "uint": "unsigned int", "ushort": "unsigned short", "half": "__half", "half2": "__half2",
    "nv_bfloat16": "__nv_bfloat16", "nv_bfloat162": "__nv_bfloat162", "__int128_t": "__int128",
    "__uint128_t": "unsigned __int128", "cuComplex": "float2", "cuFloatComplex": "float2",
    "cuDoubleComplex": "double2", "CUdeviceptr": "unsigned long long", "CUtexObject": "unsigned long long",
    "cudaTextureObject_t": "unsigned long long", "CUsurfObject": "unsigned long long",
    "cudaSurfaceObject_t": "unsigned long long", "cudaGraphConditionalHandle": "unsigned long long",
}  # fmt: skip

_WORDS = frozenset(
    "bool char short int long unsigned signed float double void wchar_t char8_t char16_t char32_t __int128".split()
)
_QUALIFIERS = frozenset(
    "const volatile restrict __restrict __restrict__ __grid_constant__ struct class union enum typename".split()
)
_LIBRARY = re.compile(r"(?:::)?(?:(?:cuda::)?std|thrust)::(?:__\w+::|_V\w+::)*")


@functools.cache
def size_of(type: str) -> int | None:
    """Return the size of a type in bytes, or None if only the kernel knows it, as for a struct."""
    if type.endswith("*"):
        return 8
    letters = C_TYPES.get(type)
    if letters is None:
        return None
    return sum(
        16 if letter in "nN" else 2 if letter == "E" else 1 if letter == "c" else struct.calcsize(letter)
        for letter in letters
    )


def parameters_of(
    symbol: str, demangled: str | None, declarations: Declarations | None, marks_structures: bool = False
) -> list[Parameter] | None:
    """Return the parameters of a kernel, or None if nothing is known about them.

    Parameters
    ----------
    symbol : str
        The symbol of the kernel.
    demangled : str | None
        The C++ function that the symbol stands for, such as ``void scale<float>(float*, float)``, or None.
    declarations : Declarations | None
        The kernels in the source, if there is one.
    marks_structures : bool
        Whether types that the source defines as structures begin with ``struct``.
    """
    known = declarations.kernels() if declarations is not None else {}
    if demangled is None:
        found = [Parameter(*item) for item in known[symbol]] if symbol in known else None
        return found if marks_structures or found is None else [_unmarked(*item) for item in found]
    name, text = function_of(demangled)
    if name is None:
        return None
    types = [_parameter(tokens, {}, False).type for tokens in _split(_tokens(text))]
    defined = known.get(f"{name}/{len(types)}") or [(None, None)] * len(types)
    # Of an overload, which may be in a header, the types differ.
    if any(_differ(c_type, other) for c_type, (_, other) in zip(types, defined, strict=True)):
        defined = [(None, None)] * len(types)
    if marks_structures:
        types = [
            f"struct {c_type}" if c_type and _same_structure(c_type, other) else c_type
            for c_type, (_, other) in zip(types, defined, strict=True)
        ]
    return [Parameter(name, c_type) for (name, _), c_type in zip(defined, types, strict=True)]


def _unmarked(name: str | None, c_type: str | None) -> Parameter:
    return Parameter(name, c_type and c_type.removeprefix("struct "))


def _same_structure(c_type: str, declared: str | None) -> bool:
    """Return whether a declared type is a structure with the name of another type, apart from namespaces."""
    marked, _, name = (declared or "").partition(" ")
    return marked == "struct" and name.rpartition("::")[2] == c_type.rpartition("::")[2]


def _differ(first: str | None, second: str | None) -> bool:
    """Return whether two types are known, so that neither is a template parameter, and not the same."""
    pair = [(c_type or "").removeprefix("const ").rstrip("*") for c_type in (first, second)]
    return first != second and all(c_type in C_TYPES for c_type in pair)


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
    """The kernels that sources define, which are parsed on first use.

    Parameters
    ----------
    *sources : tuple[str, tuple[bytes, ...]] | dict | Declarations
        Each is a source and the compiler's arguments, which may define macros; or kernels already parsed; or the
        declarations of an input of a linker.
    """

    __slots__ = ("_sources",)

    def __init__(self, *sources):
        self._sources = sources

    def __reduce__(self):
        return Declarations, (self.kernels(),)

    def kernels(self) -> dict:
        """Return the kernels as lists of pairs of name and type.

        The key is the symbol for ``extern "C"``, and otherwise function and count, such as ``"scope::scale/2"``.
        """
        sources = self._sources
        if len(sources) == 1 and isinstance(sources[0], dict):
            return sources[0]
        kernels, conflicts = {}, set()
        for source in sources:
            if isinstance(source, Declarations):
                source = source.kernels()
            elif isinstance(source, tuple):
                source = _kernels_in(*source)
            for name, found in source.items():
                if kernels.setdefault(name, found) != found:
                    conflicts.add(name)
        for name in conflicts:
            del kernels[name]
        self._sources = (kernels,)
        return kernels


# --- Sources ----------------------------------------------------------------------------------------------------------

# Comments and spaces, preprocessor directives, literals, and the tokens that declarations consist of.
_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<directive>\#(?:/\*.*?\*/|(?!//|/\*)[^\n])*)
    |(?P<raw>(?:u8|[uUL])?R"(?P<end>[^()\s\\"]*)\(.*?\)(?P=end)")
    |(?P<literal>(?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
    |(?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign>::|\[\[|\]\]|\.\.\.|.)""",
    re.VERBOSE | re.DOTALL,
)
_DEFINE = re.compile(r"#\s*define\s+(\w+)")
_MACRO = re.compile(rb"--define-macro=(\w+)")
_CONDITION = re.compile(r"#\s*(if|endif)")
_ATTRIBUTES = re.compile(r"__\w+__|__declspec|alignas|decltype")
_SCOPES = {"{": 1, "}": -1, "(": 1, ")": -1, "[": 1, "]": -1, "[[": 1, "]]": -1}


def _tokens(text: str) -> list[str]:
    """Return the tokens of a source, without spaces and comments, with each literal as one token."""
    text = text.replace("\\\r\n", "").replace("\\\n", "")
    return [found[0] for found in _TOKEN.finditer(text) if found.lastgroup != "skip"]


def _kernels_in(source: str, arguments: tuple[bytes, ...]) -> dict:
    """Return the kernels that a source defines, as :meth:`Declarations.kernels` does."""
    if "__global__" not in source:
        return {}
    tokens = _tokens(source)
    macros = {found[1] for token in tokens if (found := _DEFINE.match(token))}
    macros |= {found[1].decode() for argument in arguments if (found := _MACRO.match(argument))}
    kernels, conflicts = {}, set()
    for name, is_c, parameters in _definitions(tokens, macros):
        value = [tuple(item) for item in parameters]
        key = name.rpartition("::")[2] if is_c else f"{name}/{len(parameters)}"
        if kernels.setdefault(key, value) != value:
            conflicts.add(key)
    return {key: value for key, value in kernels.items() if key not in conflicts}


def _definitions(tokens: list[str], macros: set[str]):
    """Yield the name of each defined kernel with its namespaces, whether it has C linkage, and its parameters."""
    types = _local_types(tokens, macros)
    structures = _structures(tokens)
    scopes, conditions, start = [], 0, 0
    # Without these headers, another one might define the names.
    for header, names in (("cuda_fp16", ("half", "half2")), ("cuda_bf16", ("nv_bfloat16", "nv_bfloat162"))):
        if not any(token[0] == "#" and header in token for token in tokens):
            types |= {name: types.get(name) for name in names}
    for place, token in enumerate(tokens):
        if token == "{":
            scopes.append(_scope(tokens[start:place]))
        elif token == "}" and scopes:
            scopes.pop()
        elif condition := _CONDITION.match(token):
            conditions += 1 if condition[1] == "if" else -1
        if token in ("{", "}", ";") or token[0] == "#":
            start = place + 1
        if token != "__global__" or conditions:
            continue
        is_c = '"C"' in scopes or '"C"' in tokens[start:place]
        names = [scope for scope in scopes if scope != '"C"']
        found = _definition(tokens, start, place, macros, dict.fromkeys(types) if names else types)
        if found:
            yield "::".join([*names, found[0]]), is_c, [_marked(item, structures) for item in found[1]]


def _scope(tokens: list[str]) -> str:
    """Return the name of a scope that begins after these tokens: of a namespace, or ``"C"`` in quotes."""
    if tokens == ["extern", '"C"']:
        return '"C"'
    if "namespace" not in tokens:
        return "?"
    return "".join(tokens[tokens.index("namespace") + 1 :]) or "(anonymous namespace)"


def _definition(tokens, start: int, place: int, macros, types) -> tuple[str, list[Parameter]] | None:
    """Return the name and the parameters of a kernel, or None if it is no definition or might contain a macro.

    The declaration begins at ``start``, and its qualifier ``__global__`` is at ``place``.
    """
    head = tokens[start:place]
    while place < len(tokens) and tokens[place] != "(":
        has_arguments = tokens[place + 1 : place + 2] == ["("] and _ATTRIBUTES.fullmatch(tokens[place])
        if has_arguments or tokens[place] == "[[":
            place = _closing(tokens, place + bool(has_arguments)) + 1
        else:
            head.append(tokens[place])
            place += 1
    end = _closing(tokens, place)
    inner = tokens[place + 1 : end]
    if tokens[end + 1 : end + 2] != ["{"] or "void" not in head or not re.fullmatch(r"[^\W\d]\w*", head[-1]):
        return None
    if any(token in macros or token[0] == "#" for token in head + inner):
        return None
    return head[-1], [_parameter(part, types, True) for part in _split(inner)]


def _closing(tokens, place: int) -> int:
    """Return the place of the bracket that closes the one at ``place``, or the end."""
    depth = 0
    for index in range(place, len(tokens)):
        depth += _SCOPES.get(tokens[index], 0)
        if depth == 0:
            return index
    return len(tokens)


def _split(tokens: list[str]) -> list[list[str]]:
    """Split the tokens of a parameter list at its commas."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += _SCOPES.get(token, 0) + {"<": 1, ">": -1}.get(token, 0)
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [] if parts in ([[]], [["void"]]) else parts


def _structures(tokens: list[str]) -> set[str]:
    """Return the names that a source gives to structures, classes and unions, and to nothing else."""
    structures, others = set(), set()
    for place, token in enumerate(tokens):
        before, following = tokens[place - 1 : place], (tokens[place + 1 : place + 2] or [""])[0]
        if token in ("struct", "class", "union"):
            name = following
            if before == ["typedef"] and "{" in tokens[place : place + 3]:
                end = _closing(tokens, tokens.index("{", place))
                structures.add((tokens[end + 1 : end + 2] or [""])[0])
            (others if before in (["enum"], ["<"], [","]) else structures).add(name)
        elif token in ("enum", "typename", "using"):
            others.add(following)
        elif token == "typedef" and following not in ("struct", "class", "union"):
            end = next((index for index in range(place, len(tokens)) if tokens[index] == ";"), len(tokens))
            others.add(tokens[end - 1])
    return {name for name in structures - others if name.isidentifier()}


def _marked(parameter: Parameter, structures: set[str]) -> Parameter:
    is_structure = parameter.type is not None and parameter.type.rpartition("::")[2] in structures
    return Parameter(parameter.name, f"struct {parameter.type}") if is_structure else parameter


def _local_types(tokens: list[str], macros) -> dict[str, str | None]:
    """Return the types that a source defines by name: what an alias at file scope stands for, or None."""
    types: dict[str, str | None] = {}
    depth = conditions = 0
    for place, token in enumerate(tokens):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if condition := _CONDITION.match(token):
            conditions += 1 if condition[1] == "if" else -1
        name, value = "", []
        following = tokens[place + 1 : place + 3]
        if token in ("struct", "class", "union", "enum", "typename"):
            name = (following or [""])[following[:1] in (["class"], ["struct"])]
        elif token == "typedef" or (token == "using" and following[1:] == ["="]):
            end = next((index for index in range(place, len(tokens)) if tokens[index] == ";"), len(tokens))
            name = following[0] if token == "using" else tokens[end - 1]
            value = tokens[place + 3 : end] if token == "using" else tokens[place + 1 : end - 1]
        if not name.isidentifier():
            continue
        is_plain = depth == 0 and not conditions and not {"const", ",", *macros}.intersection(value)
        is_first = name not in types
        types[name] = _parameter(value, types, False).type if is_plain and is_first and value else None
    return types


# --- Parameters -------------------------------------------------------------------------------------------------------


def _parameter(tokens: list[str], types: dict, may_have_name: bool) -> Parameter:
    """Return the parameter that tokens declare. ``types`` are the types that the source defines."""
    if "=" in tokens:
        tokens = tokens[: tokens.index("=")]
    is_array = "[" in tokens
    if is_array:
        tokens = tokens[: tokens.index("[")]
    if not tokens or {"(", "&", "...", "{", "[["}.intersection(tokens):
        return Parameter(None, " ".join(tokens) or None)
    stars = tokens.count("*")
    before = tokens[: tokens.index("*")] if stars else tokens
    after = [token for token in tokens[len(before) :] if token != "*" and token not in _QUALIFIERS]
    is_const = "const" in before
    before = [token for token in before if token not in _QUALIFIERS]
    name = None
    if may_have_name:
        if stars:
            name = after.pop() if after else None
        elif len(before) > 1 and before[-2] != "::" and before[-1].isidentifier() and before[-1] not in _WORDS:
            name = before.pop()
    base = _base_type(before, types)
    if base is None or after:
        return Parameter(name, None)
    if base.endswith("*"):  # an alias of a pointer type, whose const is that of the pointer
        return Parameter(name, base + "*" * (stars + is_array))
    if not stars and not is_array:
        return Parameter(name, base)
    return Parameter(name, f"{'const ' if is_const else ''}{base}{'*' * (stars + is_array)}")


def _base_type(tokens: list[str], types: dict) -> str | None:
    """Return the type without qualifiers and pointers, by its only spelling in :data:`C_TYPES` if it is there."""
    if not tokens:
        return None
    if len(tokens) == 1 and tokens[0] in types:
        # A local type of the name of another one is unknown.
        return types[tokens[0]] or (None if tokens[0] in C_TYPES or tokens[0] in _ALIASES else tokens[0])
    if _WORDS.issuperset(tokens):
        words = sorted(set(tokens) - {"signed", "int"}) or ["int"]
        if tokens.count("long") == 2:
            words.insert(words.index("long"), "long")
        words.sort(key=lambda word: word != "unsigned")
        text = " ".join(words)
        text = {"unsigned": "unsigned int", "char": "signed char" if "signed" in tokens else "char"}.get(text, text)
        return text if text in C_TYPES or text == "void" else None
    text = re.sub(r"(?<!\w) | (?!\w)", "", " ".join(tokens))
    if text.lstrip(":").partition("::")[0] in types:
        return text
    plain, is_library = _LIBRARY.subn("", text, count=1)
    if is_library and plain.startswith("complex<"):
        plain = f"std::{plain}"  # all of them have this layout
    plain = _ALIASES.get(plain, plain)
    return plain if plain in C_TYPES else text
