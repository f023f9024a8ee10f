# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Details of errors and warnings: compiler diagnostics, the driver's log, and the line of the caller."""

from __future__ import annotations

import re
import sys
import warnings
from _thread import get_native_id
from typing import NamedTuple

__all__ = [
    "Diagnostic",
    "last_failure",
    "parse_diagnostics",
    "warn_caller",
]


# --- Diagnostics of compilers ---------------------------------------------------------------------


class Diagnostic(NamedTuple):
    """One message of a compiler.

    Attributes
    ----------
    file : str or None
        The name of the source, or the path of the header. None if the message names none.
    line : int or None
        The line number, from 1.
    column : int or None
        The column, from 1. None if the compiler does not show it.
    severity : str
        ``"error"``, ``"warning"``, ``"note"``, ``"remark"``, ``"fatal"``, ``"catastrophic error"`` or
        ``"internal error"``.
    message : str
        The message. Lines after the first name the template instantiations.
    excerpt : str or None
        The line of the source. None if the compiler does not show it.
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
            # Keep tabs, so the caret stands below its character.
            gap = "".join(character if character == "\t" else " " for character in self.excerpt[: self.column - 1])
            lines += [f"  {self.excerpt}", f"  {gap.ljust(self.column - 1)}^"]
        return "\n".join(lines)


# First lines of messages: from the C++ front end, from the PTX assembler, and from tools that name no file.
_FIRST_LINES = (
    r"(?P<file>.+?)\((?P<line>\d+)\): (?P<severity>catastrophic error|internal error|error|warning|remark|note)"
    r"(?: #\d+(?:-D)?)?: (?P<message>.*)",
    r"ptxas (?P<file>.+?), line (?P<line>\d+); (?P<severity>fatal|error|warning) *: (?P<message>.*)",
    r"(?:\w+:? +)?(?P<severity>fatal|error|warning) *: (?P<message>.*)",
)
# The number of spaces that the front end writes before an excerpt of the source, and before the caret line below it.
_MARGIN = 2


def parse_diagnostics(log: str | None) -> tuple[Diagnostic, ...]:
    """Return the messages in a log, in order, without other lines such as counts."""
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
    """Return the record of one message, from the parts of its first line and the lines that follow."""
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


# --- The driver's log -----------------------------------------------------------------------------

# [time][thread][source][severity][entry point] message, as in the CUDA Programming Guide. Other lines of a message have
# no such head.
_HEAD = r"\[[\d:.]+\]\[(\d+)\]\[\w+\]\[\w\]\[(\w+)\] ?"

# Interruptible waits query instead of blocking, or make the call on a helper thread (`docs/design/waiting.md`). The log
# names the query, or the ID of the helper thread.
_QUERIED_INSTEAD = {"cuStreamSynchronize": "cuStreamQuery", "cuEventSynchronize": "cuEventQuery"}
_ON_HELPER_THREAD = frozenset(
    {
        "cuArrayDestroy",
        "cuCtxSynchronize",
        "cuLibraryGetKernelCount",
        "cuLibraryGetModule",
        "cuLibraryLoadData",
        "cuLibraryLoadFromFile",
        "cuLibraryUnload",
        "cuLinkAddData",
        "cuLinkAddFile",
        "cuLinkComplete",
        "cuMemFree",
        "cuMemFreeHost",
        "cuMipmappedArrayDestroy",
    }
)


def last_failure(log: bytes, name: str, api: str | None) -> str | None:
    """Return the driver's messages about the last failed call of this thread.

    Parameters
    ----------
    log : bytes
        The log, oldest message first.
    name : str
        The code of the failure, such as ``"CUDA_ERROR_INVALID_VALUE"``.
    api : str or None
        The entry point that failed, without a version suffix. None if unknown.

    Returns
    -------
    str or None
        The messages without their heads, and without the message that only repeats the code. None if there are none, or
        if the last failure in the log is not ``name`` from ``api``.
    """
    texts: list[str] = []
    call = None
    for thread, entry, text in _newest_first(log.decode(errors="replace")):
        if thread != get_native_id() and not (api in _ON_HELPER_THREAD and entry == api):
            continue
        if call is None:
            call = entry
        elif entry != call or text.startswith("Returning"):  # the last message of an earlier failure
            break
        texts.insert(0, text)
    joined = " ".join(texts)
    is_other_code = "CUDA_ERROR_" in joined and not re.search(rf"\b{name}\b", joined)
    if (
        call is None
        or is_other_code
        or (not call.startswith((api, _QUERIED_INSTEAD.get(api, api))) if api else "CUDA_ERROR_" not in joined)
    ):
        return None
    message = "\n".join(text for text in texts if not text.startswith("Returning"))
    return message.replace(*_POOL_ACCESS) or None


# The driver names its own function; programs set a property.
_POOL_ACCESS = ("cuMemPoolSetAccess", "DeviceMemoryResource.peer_accessible_by (cuMemPoolSetAccess)")


def _newest_first(log):
    following: list[str] = []
    for line in reversed(log.splitlines()):
        head = re.match(_HEAD, line)
        if head is None:
            following.insert(0, line)
            continue
        yield int(head[1]), head[2], "\n".join([line[head.end() :], *(row.removeprefix("  ") for row in following)])
        following = []


# --- Warnings -------------------------------------------------------------------------------------


def warn_caller(message: str, category: type[Warning]) -> None:
    """Issue a warning for the innermost line of the call stack outside this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("cuda.core."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
