# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Parsing of compiler logs into records."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Diagnostic", "parse_diagnostics"]

# First lines of messages: from the C++ front end, from the PTX assembler, and from tools that give no file name.
_FIRST_LINES = (
    r"(?P<file>.+?)\((?P<line>\d+)\): (?P<severity>catastrophic error|internal error|error|warning|remark|note)"
    r"(?: #\d+(?:-D)?)?: (?P<message>.*)",
    r"ptxas (?P<file>.+?), line (?P<line>\d+); (?P<severity>fatal|error|warning) *: (?P<message>.*)",
    r"(?:\w+:? +)?(?P<severity>fatal|error|warning) *: (?P<message>.*)",
)
# The number of spaces that the front end writes before an excerpt of the source, and before the caret line below it.
_MARGIN = 2


@dataclass(frozen=True)
class Diagnostic:
    """One message of a compiler.

    Attributes
    ----------
    file : str or None
        The name of the source, or the path of the header; None if the message names none.
    line : int or None
        The line number, from 1.
    column : int or None
        The column, from 1; None if the compiler does not show it.
    severity : str
        ``"error"``, ``"warning"``, ``"note"``, ``"remark"``, ``"fatal"``, ``"catastrophic error"`` or
        ``"internal error"``.
    message : str
        The text. Lines after the first one name the template instantiations.
    excerpt : str or None
        The line of the source; None if the compiler does not show it.
    """

    file: str | None
    line: int | None
    column: int | None
    severity: str
    message: str
    excerpt: str | None = None

    def __str__(self):
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        lines = [f"{place}: {self.severity}: {self.message}" if place else f"{self.severity}: {self.message}"]
        if self.excerpt is not None:
            # Keep tabs, so that the caret stands below its character.
            gap = "".join(character if character == "\t" else " " for character in self.excerpt[: self.column - 1])
            lines += [f"  {self.excerpt}", f"  {gap.ljust(self.column - 1)}^"]
        return "\n".join(lines)


def parse_diagnostics(log: str | None) -> tuple[Diagnostic, ...]:
    """Return the messages in a log, in order; other lines, such as counts, are skipped."""
    found = []
    body = None
    for line in (log or "").splitlines():
        match = next(filter(None, (re.fullmatch(first, line) for first in _FIRST_LINES)), None)
        if match:
            body = []
            found.append((match.groupdict(), body))
        elif not line.startswith(" "):
            body = None  # the lines of a message are indented
        elif body is not None:
            body.append(line)
    return tuple(make_diagnostic(parts, body) for parts, body in found)


def make_diagnostic(parts: dict, body: list[str]) -> Diagnostic:
    """Return the record of one message: ``parts`` of its first line, and the lines that follow."""
    message, excerpt, column = [parts["message"]], None, None
    caret = next((index for index, line in enumerate(body) if index and line.strip() == "^"), None)
    if caret is not None:
        excerpt = body[caret - 1][_MARGIN:]
        column = body[caret].index("^") - _MARGIN + 1
        body = body[: caret - 1] + body[caret + 1 :]
    message += [line.strip() for line in body]
    line = parts.get("line")
    return Diagnostic(
        parts.get("file"), int(line) if line else None, column, parts["severity"], "\n".join(message), excerpt
    )
