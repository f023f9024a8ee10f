# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Names of kernels and variables, for messages about missing ones; imported when the first one is missing."""

from __future__ import annotations

import difflib
import re

from cuda.core._code._elf import elf_variables
from cuda.core._utils.validators import format_or_list

__all__ = ["similar_names", "source_names", "variable_names"]

_MAX_LISTED = 5


def similar_names(name, names, what="kernels"):
    """Return the part of a message that lists the names most similar to ``name``."""
    if names is None:
        return ""
    if not names:
        return f", which has no {what} at all"
    # A mangled name contains the name in the source.
    like = [known for known in names if name in known] or difflib.get_close_matches(name, names, _MAX_LISTED, 0.5)
    if like:
        return f"; did you mean {format_or_list(like[:_MAX_LISTED])}?"
    listed = ", ".join(sorted(names)[:_MAX_LISTED])
    return f"; it has {listed}" if len(names) <= _MAX_LISTED else f"; it has {len(names)} {what}, such as {listed}"


def source_names(names, mapping):
    """Return the names of symbols, with name expressions in place of their mangled names."""
    if names is None or not mapping:
        return names
    expressions = {
        symbol.decode() if isinstance(symbol, bytes) else symbol: expression for expression, symbol in mapping.items()
    }
    return [expressions.get(name, name) for name in names]


def variable_names(code, code_type: str) -> list[str] | None:
    """Return the names of the variables in PTX or a CUBIN, which the driver cannot list; None if unknown."""
    if not isinstance(code, (bytes, bytearray)):
        return None
    if code_type == "ptx":
        space = rb"^[ \t]*(?:\.\w+[ \t]+)*\.(?:global|const)\b(?:[ \t]*\.attribute\([^)]*\))?"
        found = re.findall(space + rb"[^;=(]*?([\w$]+)[ \t]*(?:\[[^;=]*)?[;=]", code, re.MULTILINE)
        names = {name.decode() for name in found}
    elif code_type == "cubin" and code[:4] == b"\x7fELF":
        names = set(elf_variables(bytes(code)))
    else:
        return None
    # Variables of the compiler have names that are not valid in C++.
    return sorted(name for name in names if name[0] not in ".$")
