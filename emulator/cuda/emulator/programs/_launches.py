# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""C++ for the host: launches as calls, and no words of CUDA C++."""

from __future__ import annotations

from cuda.emulator.programs._host import ProgramError
from cuda.emulator.programs._tokens import Token, closing, closing_angle, next_word

_QUALIFIERS = {
    "__global__",
    "__device__",
    "__host__",
    "__constant__",
    "__managed__",
    "__noinline__",
    "__grid_constant__",
}
_WITH_PARENTHESES = {"__launch_bounds__", "__cluster_dims__", "__block_size__", "__maxnreg__"}


def host_text(tokens: list[Token]) -> list[str]:
    """Return C++ for the host, where ``kernel<<<a, b>>>(c)`` is ``(::cuda_program::configure(a, b), kernel(c))``."""
    texts = [token.text for token in tokens]
    in_body = False
    for i, token in enumerate(tokens):
        in_body |= token.text == "{"
        if token.text == "__device__" and in_body:
            raise ProgramError(f"{token.place}: device lambdas and local classes with device code are not supported")
        if token.text in _QUALIFIERS:
            texts[i] = ""
        elif token.text == "__forceinline__":
            texts[i] = "inline"
        elif token.text in _WITH_PARENTHESES:
            end = closing(tokens, next_word(tokens, i)) + 1
            texts[i:end] = [""] * (end - i)
        elif token.text.startswith("<<") and token.text.endswith("<"):
            _write_launch(tokens, texts, i)
    return texts


def _write_launch(tokens: list[Token], texts: list[str], launch: int) -> None:
    start, (end, after) = _start_of_kernel(tokens, launch), _end_of_launch(tokens, launch)
    kernel = "".join(texts[start:launch])
    texts[start:launch] = [""] * (launch - start)
    texts[launch] = "(::cuda_program::configure("
    texts[end:after] = ["\n" * token.text.count("\n") for token in tokens[end:after]]
    texts[end] = f"), {kernel}"
    arguments = next_word(tokens, after - 1)
    if arguments == len(tokens) or tokens[arguments].text != "(":
        raise ProgramError(f"{tokens[launch].place}: a launch without arguments in parentheses")
    texts[closing(tokens, arguments)] = "))"


def _end_of_launch(tokens: list[Token], launch: int) -> tuple[int, int]:
    """Return where the sign that ends a configuration begins and ends: ``>>>``, or with spaces ``>> >``."""
    for is_end in (_is_sign, _is_spaced_sign):
        i = launch + 1
        while i < len(tokens):
            if end := is_end(tokens, i):
                return i, end
            i = closing(tokens, i) + 1
    raise ProgramError(f"{tokens[launch].place}: <<< without >>>")


def _is_sign(tokens: list[Token], i: int) -> int:
    return i + 1 if tokens[i].text == ">>>" else 0


def _is_spaced_sign(tokens: list[Token], i: int) -> int:
    """Return the end of three ``>`` that begin here, or 0."""
    for count in range(3):
        if i >= len(tokens) or tokens[i].text != ">":
            return 0
        i = next_word(tokens, i) if count < 2 else i + 1
    return i


def _start_of_kernel(tokens: list[Token], launch: int) -> int:
    """Return the index where the expression before ``<<<`` begins, such as ``a::f<int>`` or ``table[2]``."""
    i = launch
    while True:
        i = next_word(tokens, i, -1)
        while i >= 0 and tokens[i].text in ("]", ")"):  # (*f), f[2]
            i = closing(tokens, i, -1)
            before = next_word(tokens, i, -1)
            if tokens[i].text == "(" and not _joins(tokens[before]):
                return i
            i = before
        if i >= 0 and tokens[i].text == ">":
            i = next_word(tokens, closing_angle(tokens, i, -1), -1)
        if i < 0 or tokens[i].kind != "word":
            raise ProgramError(f"{tokens[launch].place}: a kernel must stand before <<<")
        before = next_word(tokens, i, -1)
        if tokens[before].text not in ("::", ".", "->"):
            return i
        name = next_word(tokens, before, -1)
        if tokens[before].text == "::" and tokens[name].kind != "word" and tokens[name].text != ">":
            return before
        i = before


def _joins(token: Token) -> bool:
    return token.text in ("]", ")", ">") or (token.kind == "word" and token.text not in ("return", "else", "do"))
