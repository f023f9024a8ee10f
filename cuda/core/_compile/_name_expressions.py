# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Messages about name expressions that NVRTC rejects."""

from __future__ import annotations

import re

from cuda.core._code._loading import similar_names
from cuda.core._utils.errors import parse_diagnostics

__all__ = ["expression_errors"]

# The file and the line that NVRTC adds to a source for its name expressions.
_FILE = "__nv_name_map"
_LINE = "#pragma nv_mangled_name "


def expression_errors(log: str | None, source: bytes) -> list[str]:
    """Return one line for each name expression that NVRTC rejects, or an empty list if it rejects the source itself.

    Parameters
    ----------
    log : str or None
        The log of the compiler, which has several messages for each expression.
    source : bytes
        The source, whose kernels are suggested.
    """
    errors = [found for found in parse_diagnostics(log) if found.severity == "error"]
    if any(error.file != _FILE for error in errors):
        return []
    messages: dict[str, str] = {}
    for error in errors:
        messages.setdefault((error.excerpt or "").strip().removeprefix(_LINE), error.message)
    return [
        f"the name expression {expression!r} is not valid: {message}{_hint(expression, source)}"
        for expression, message in messages.items()
    ]


def _hint(expression: str, source: bytes) -> str:
    """Return the kernels with similar names, or what is missing after the name of a template."""
    name = expression.partition("<")[0].rpartition("::")[2].strip(" &")
    text = re.sub(r"__launch_bounds__\s*\([^)]*\)", "", source.decode(errors="replace"))
    names = sorted(set(re.findall(r"__global__[^;{}()]*?\b(\w+)\s*\(", text)))
    if not names:
        return "; the source has no kernels"
    if name not in names:
        return similar_names(name, names)
    template = rf"\btemplate\s*<[^;{{}}]*\b__global__\b[^;{{}}()]*\b{name}\s*\("
    if "<" in expression or not re.search(template, text):
        return ""
    return f"; {name!r} is a template, so the name needs arguments, as in '{name}<float>'"
