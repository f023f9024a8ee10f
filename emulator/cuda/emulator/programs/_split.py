# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Splits a file into a host part and a device part."""

from __future__ import annotations

import itertools
import os
import re

from cuda.emulator.programs._host import DEVICE_INCLUDE, INCLUDE, ProgramError
from cuda.emulator.programs._launches import host_text
from cuda.emulator.programs._tokens import (
    ATTRIBUTES,
    MARKER,
    SPACES,
    Token,
    before_initializer,
    blank,
    closing,
    closing_angle,
    declared_names,
    next_word,
    parameter_names,
    parameters_of,
    without_attributes,
)

# Headers of the device that host code can use as well; it does without the others.
_SHARED_HEADERS = {
    *("emulator_vectors.h", "emulator_errors.h", "emulator_driver_types.h"),
    *("emulator_rounding.h", "emulator_narrow.h", "emulator_half.h"),
    *("cuda_fp16.h", "cuda_bf16.h", "cuComplex.h", "cuda.h", "library_types.h"),
}
_CLASS_KEYS = {"class", "struct", "union", "enum"}
_TYPES = {"typedef", "using", "static_assert", "friend", "namespace", "concept"}
_SCALARS = {"bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double"}
_VARIABLES = {"__device__", "__constant__", "__managed__"}
# Names of host headers that kernels can use, too.
_ON_DEVICE = re.compile(r"u?int(ptr|max|\d+)_t|s?size_t|ptrdiff_t|clock_t|time_t|va_list|u_?(int|short|long|char)")
STD_ON_DEVICE = {
    *("numeric_limits", "enable_if", "enable_if_t", "conditional", "conditional_t", "is_same", "is_same_v"),
    *("is_integral", "is_integral_v", "is_floating_point", "is_floating_point_v", "is_arithmetic", "is_signed"),
    *("is_unsigned", "is_pointer", "remove_reference", "remove_reference_t", "remove_cv", "remove_cv_t", "true_type"),
    *("false_type", "integral_constant", "bool_constant", "is_trivially_copyable", "is_base_of", "declval"),
    *("move", "forward"),
}
# Those that the device has in the global namespace.
GLOBAL_ON_DEVICE = {
    *(
        "abs",
        "fabs",
        "sqrt",
        "cbrt",
        "pow",
        "exp",
        "log",
        "sin",
        "cos",
        "tan",
        "atan2",
        "tanh",
        "floor",
        "ceil",
        "round",
    ),
    *("fmin", "fmax", "fma", "isinf", "isnan", "isfinite", "size_t", "ptrdiff_t", "intptr_t", "uintptr_t"),
    *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}


class Splitter:
    """Writes each declaration of a file to the host part, the device part, or both.

    Declarations omitted from a part become empty lines, so both parts keep the file's line numbers.
    """

    def __init__(self, tokens: list[Token], mark: str = "cuda_kernel"):
        self.tokens, self.position, self.mark = tokens, 0, mark
        self.host: list[str] = []
        self.device: list[str] = []
        self.namespaces: list[str] = []
        self.functions: set[str] = set()  # of the device alone
        self.host_variables: set[str] = set()
        self.variables: list[str] = []  # on the device
        self.managed: list[str] = []
        self.headers: list[str] = []  # of the device
        self._find_host_types()
        self.scope()
        if self.position < len(tokens):
            raise ProgramError(f"{tokens[self.position].place}: unbalanced braces")

    def _find_host_types(self) -> None:
        """Find the types that only host headers declare, which the device part does without."""
        theirs, ours = [], []
        for token in self.tokens:
            if token.kind == "system" and not token.place.startswith(DEVICE_INCLUDE):
                (ours if token.place.startswith(INCLUDE) else theirs).append(token.text)
        text = "".join(theirs)
        self.std_types = {*re.findall(r"\b(?:class|struct)\s+(\w+)", text), "string"} - STD_ON_DEVICE - {"std"}
        aliases = re.findall(r"\btypedef\b[^;{}()]*?\b(\w+)\s*;|\busing\s+(\w+)\s*=", text)
        self.std_names = self.std_types.union(*aliases) - STD_ON_DEVICE - GLOBAL_ON_DEVICE
        # C headers declare their types at the beginning of a line, std indents its own.
        names = re.findall(r"^typedef\b[^;{}()]*?\b(\w+)\s*(?:\[[^;]*\])?;", text, re.MULTILINE)
        names += re.findall(r"^}\s*(\w+)\s*;", text, re.MULTILINE)
        names += re.findall(r"^(?:struct|union|enum)\s+(cuda\w+)", "".join(ours), re.MULTILINE)
        names += re.findall(r"^typedef\b[^;]*?\b(cuda\w+)\)?(?:\([^;]*)?;", "".join(ours), re.MULTILINE)
        self.host_types = {name for name in names if not _ON_DEVICE.fullmatch(name)}
        self.uses_std = False

    def is_for_host(self, texts: list[str]) -> bool:
        """Return whether a declaration names a type that only the host has."""
        for i, text in enumerate(texts):
            if text in self.host_types:
                return True
            if text == "std" and texts[i + 1 : i + 2] == ["::"] and self.std_names & {*texts[i + 2 : i + 3]}:
                return True
            after = texts[i + 1] if i + 1 < len(texts) else ""
            is_type = after in ("<", "&", "*", "::") or after.isidentifier()
            if self.uses_std and is_type and text in self.std_types:
                return True
        return False

    def emit(self, end: int, *, host: bool = True, device: bool = True, without: tuple[str, ...] = ()) -> None:
        """Write the tokens from the current position to ``end``; the device part without some words."""
        tokens = self.tokens[self.position : end]
        self.position = end
        start = len(self.host)
        self.host += host_text(tokens) if host else map(blank, tokens)
        for i, token in enumerate(tokens, start):
            if token.kind == "system":
                self._system(token, i)
            elif token.kind == "home":
                marker = MARKER.match(token.text)
                self.device.append(f'#line {max(int(marker[1]), 1)} "{marker[2]}"\n')
            else:
                self.device.append(token.text if device and token.text not in without else blank(token))

    def _system(self, token: Token, i: int) -> None:
        """Note a header of the device, which the device part includes whole and the host part does without."""
        if not token.place.startswith(DEVICE_INCLUDE):
            return
        name = os.path.relpath(token.place, DEVICE_INCLUDE).removeprefix("without_cccl/")
        if not MARKER.match(token.text):
            self.host[i] = re.sub("__(host|device)__", "", token.text) if name in _SHARED_HEADERS else ""
        if not name.startswith("emulator_") and name not in self.headers:
            self.headers.append(name)

    def scope(self, *, is_class: bool = False) -> None:
        """Write declarations up to the brace that closes them."""
        while self.position < len(self.tokens) and (token := self.tokens[self.position]).text != "}":
            if token.kind in SPACES or token.text == ";":
                self.emit(self.position + 1)
            elif is_class and token.text in ("public", "private", "protected"):
                self.emit(self.find(":"))
            elif is_class and token.text == ":":
                self.emit(self.position + 1)
            else:
                self.declaration(is_class)

    def find(self, *texts: str) -> int:
        """Return the index of the next token with one of some texts, outside brackets."""
        i = self.position
        while i < len(self.tokens):
            if self.tokens[i].text in texts:
                return i
            i = closing(self.tokens, i) + 1
        place = self.tokens[min(self.position, len(self.tokens) - 1)].place
        raise ProgramError(f"{place}: this declaration has no end")

    def declaration(self, is_class: bool) -> None:
        first, end = self.tokens[self.position], self.find(";", "{", "}")
        head = [token for token in self.tokens[self.position : end] if token.kind not in SPACES]
        bare = without_attributes(head)
        words = {token.text for token in bare}
        has_body, is_function = self.tokens[end].text == "{", parameters_of(bare) > 0
        if has_body and not is_function:
            if "namespace" in words or (first.text == "extern" and len(head) == 2):
                self.namespace([token.text for token in head])
                return
            if words & {"class", "struct", "union"} and not words & {"enum", "="}:
                self.type_body(end, bare, is_class)
                return
        self.uses_std |= {"using", "namespace", "std"} <= words
        if any(a.text == "texture" and b.text == "<" for a, b in itertools.pairwise(bare)):
            raise ProgramError(f"{first.place}: texture references were removed from CUDA 12: use texture objects")
        if "__global__" in words:
            self.kernel(end, bare)
        elif is_function:
            if "__device__" in words and "__host__" not in words:
                self.functions |= {token.text for token in bare[parameters_of(bare) - 1 :][:1] if token.kind == "word"}
            self.function(end, has_body, words)
        else:
            self.variable_or_type(words, is_class)

    def function(self, end: int, has_body: bool, words: set[str]) -> None:
        stop = self.end_of_body(end) if has_body else end
        device = "__device__" in words
        if not device and "constexpr" in words and not self.is_for_host(texts_of(self.tokens[self.position : stop])):
            # Kernels may call it in constants, and the device part knows no functions of the host.
            start = len(self.device) + after_template(self.tokens[self.position : stop])
            self.emit(stop + 1)
            self.device[start] = f"__host__ __device__ {self.device[start]}"
        else:
            self.emit(stop + 1, host="__host__" in words or not device, device=device)

    def end_of_body(self, start: int) -> int:
        """Return the end of a function whose first brace, at ``start``, can initialize a constructor's member."""
        stop = closing(self.tokens, start)
        while (i := next_word(self.tokens, stop)) < len(self.tokens) and self.tokens[i].text in (",", "{"):
            while i < len(self.tokens) and self.tokens[i].text != "{":
                i = closing(self.tokens, i) + 1
            if i == len(self.tokens):
                raise ProgramError(f"{self.tokens[start].place}: this function has no body")
            stop = closing(self.tokens, i)
        return stop

    def namespace(self, head: list[str]) -> None:
        if "namespace" in head:
            name = [text for text in head[head.index("namespace") + 1 :] if text not in ("[", "]")]
            self.namespaces.append("".join(name))
        self.emit(self.find("{") + 1)
        self.scope()
        self.emit(self.find("}") + 1)
        if "namespace" in head:
            self.namespaces.pop()

    def type_body(self, end: int, bare: list[Token], is_class: bool) -> None:
        """Write a class, also to the device part unless it uses a type that only the host has."""
        texts = [token.text for token in bare]
        at = next(i for i, text in enumerate(texts) if text in ("class", "struct", "union"))
        names = texts[at + 1 : at + 2]
        self.host_types -= {*names}
        self.std_types -= {*names}
        start = len(self.device)
        self.emit(end + 1)
        self.scope(is_class=True)
        last = self.find(";")
        declared = [token.text for token in self.tokens[self.position : last] if token.kind == "word"]
        if is_class or "typedef" in texts:
            names += declared
            self.emit(last + 1)
        else:  # variables of the host
            self.host_variables |= {*declared}
            self.emit(self.position + 1)
            while self.tokens[at := next_word(self.tokens, self.position - 1)].text in ATTRIBUTES:
                self.emit(closing(self.tokens, next_word(self.tokens, at)) + 1)
            self.emit(last, device=False)
            self.emit(last + 1)
        unnamed = not names and not is_class
        if unnamed or self.is_for_host([text for text in self.device[start:] if not text.isspace()]):
            self.device[start:] = ["\n" * text.count("\n") for text in self.device[start:]]
            self.host_types |= {*names}

    def variable_or_type(self, words: set[str], is_class: bool) -> None:
        end = self.find(";")
        tokens = [token for token in self.tokens[self.position : end] if token.kind not in SPACES]
        if words & _VARIABLES:
            self.device_variable(end, tokens, words)
            return
        if "__shared__" in words:
            self.emit(end + 1, host=False)
            return
        if texts_of(tokens[:3]) == ["using", "std", "::"]:
            name = tokens[3].text
            self.host_types |= {name} & self.std_names
            self.emit(end + 1, device=name in STD_ON_DEVICE | GLOBAL_ON_DEVICE)
            return
        if "template" in texts_of(without_attributes(tokens)[:2]):  # an instantiation, which kernels do not need
            self.emit(end + 1, device=False)
            return
        # A class is in the device part with all of its members, or not at all.
        is_for_host = not is_class and self.is_for_host([token.text for token in tokens])
        if is_for_host and "typedef" in words:
            self.host_types.add(tokens[-1].text)
        elif is_for_host and tokens[0].text == "using" and "=" in words:
            self.host_types.add(tokens[1].text)
        device = is_class or is_type(tokens, words)
        if not device:
            device = is_constant(tokens) and not self.host_variables & words
            self.host_variables |= set() if device else {name.text for name in declared_names(tokens)}
        self.emit(end + 1, device=device and not is_for_host)

    def device_variable(self, end: int, tokens: list[Token], words: set[str]) -> None:
        """Write a variable of the device. The host part has one of the same name, which stands for it."""
        names, whole = declared_names(tokens), self.tokens[self.position : end]
        start = len(self.host)
        self.emit(end + 1, without=("static",))
        if not words & {"static", "extern", "inline"}:  # each file has its own
            first = start + after_template(whole)
            self.host[first] = f"static {self.host[first]}"
        if self.functions & {token.text for token in whole}:  # a pointer to a function that the host does not have
            at = next((i for i, token in enumerate(whole) if token.text == "="), len(whole))
            self.host[start + at : start + len(whole)] = map(blank, whole[at:])
        full = ["::".join([*filter(None, self.namespaces), name.text]) for name in names]
        if "__managed__" not in words:
            self.variables += full
            return
        self.managed += full
        for name in names:  # the host's name is a reference to the memory that both share
            at = start + next(i for i, token in enumerate(whole) if token is name)
            self.host[at] = f"cuda_managed_{name.text}"
            self.host.append(
                f" static decltype(cuda_managed_{name.text})& {name.text}"
                f" = ::cuda_program::managed(cuda_managed_{name.text});"
            )

    def kernel(self, end: int, head: list[Token]) -> None:
        """Write a kernel, and for the host a function with the same signature that launches it."""
        place = self.tokens[self.position].place
        if self.tokens[end].text == ";":
            self.emit(end, without=("static",))
            return
        names = parameter_names(head, parameters_of(head), place)
        self.emit(end, without=("static",))
        arguments = "".join(f"(void*)&{name}, " for name in names)
        sizes = "".join(f"sizeof({name.removesuffix('...')}){name[-3:] if '.' in name else ''}, " for name in names)
        self.host.append(
            f"{{ static void* volatile {self.mark}; void* cuda_arguments[] = {{{arguments}nullptr}}; "
            f"const size_t cuda_sizes[] = {{{sizes}0}}; "
            f"::cuda_program::launch({self.mark}, cuda_arguments, cuda_sizes); }}"
        )
        self.emit(closing(self.tokens, end) + 1, host=False)


def is_type(tokens: list[Token], words: set[str]) -> bool:
    """Return whether a declaration declares a type, or anything else that is no variable."""
    bare = without_attributes(tokens)
    head = texts_of(before_initializer(bare))
    is_defined = len(head) < len(bare) and bare[len(head)].text == "{"
    is_scoped = head[:2] in (["enum", "class"], ["enum", "struct"])
    is_declared = len(head) == 2 or head[-1:] == [">"] or ":" in head or is_scoped
    return bool(words & _TYPES) or (bool(words & _CLASS_KEYS) and (is_defined or is_declared))


def texts_of(tokens: list[Token]) -> list[str]:
    return [token.text for token in tokens if token.kind not in SPACES]


def after_template(tokens: list[Token]) -> int:
    """Return the index of a declaration's first token after ``template <...>``."""
    i = 0
    while tokens[i].text == "template" and tokens[next_word(tokens, i)].text == "<":
        i = next_word(tokens, closing_angle(tokens, next_word(tokens, i)))
    return i


def is_constant(tokens: list[Token]) -> bool:
    """Return True if kernels may use a host variable: a scalar constant that calls no function."""
    bare, parameters = without_attributes(tokens), {token.text for token in tokens[: after_template(tokens)]}
    texts, before = {token.text for token in bare}, {token.text for token in before_initializer(bare)}
    types = {"sizeof", *_SCALARS, *parameters}
    calls = any(a.kind == "word" and b.text == "(" and a.text not in types for a, b in itertools.pairwise(bare))
    return "=" in texts and bool({"const", "constexpr"} & texts) and not {"*", "[", "&"} & before and not calls
