# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The source tree, as the house rules see it."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = ROOT / "cuda" / "core"


def core_files(*suffixes: str) -> list[Path]:
    """Return the source files of the package with these suffixes."""
    return sorted(path for path in CORE.rglob("*") if path.suffix in suffixes and "__pycache__" not in path.parts)


def module_name(path: Path) -> str:
    """Return the dotted name of a source file, such as ``cuda.core._stream``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> list[tuple[int, str, str]]:
    """Return ``(line number, indentation, module)`` of each import and cimport from ``cuda.core``."""
    found = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r"(\s*)(?:from|cimport|import)\s+(cuda\.core[\w.]*)(?:\s+c?import\s+([\w, ]+|\())?", line)
        if not match:
            continue
        indent, module, names = match.groups()
        # `from cuda.core._x import _y` may name a submodule.
        single = [name.split(" as ")[0].strip() for name in (names or "").split(",")]
        submodules = [f"{module}.{name}" for name in single if name and is_module(f"{module}.{name}")]
        found += [(number, indent, name) for name in submodules or [module]]
    return found


def is_module(name: str) -> bool:
    """Whether a dotted name is a module or package of the source tree."""
    base = ROOT / name.replace(".", "/")
    return base.is_dir() or any(base.with_suffix(suffix).exists() for suffix in (".py", ".pyx"))


def functions(path: Path) -> list[tuple[str, int]]:
    """Return the name and length in lines, less the docstring, of each function of a file."""
    lines = path.read_text().splitlines()
    pattern = re.compile(r"(\s*)(?:async\s+def|def|(?:cdef|cpdef)(?!\s+(?:class|cppclass|struct|enum|extern)))\b[^=]*?(\w+)\s*\(")
    found = []
    for start, line in enumerate(lines):
        match = pattern.match(line)
        if not match or (line.lstrip().startswith("cdef") and not _opens_block(lines, start)):
            continue
        end = _block_end(lines, start, len(match.group(1)))
        found.append((match.group(2), end - start - _docstring_length(lines[start:end])))
    return found


def _opens_block(lines: list[str], start: int) -> bool:
    for line in lines[start:]:
        code = line.split("#")[0].rstrip()
        if code.endswith(":"):
            return True
        if code.endswith(")") or not code:
            return False
    return False


def _block_end(lines: list[str], start: int, indent: int) -> int:
    end = start + 1
    for number in range(start + 1, len(lines)):
        line = lines[number]
        if line.strip() and len(line) - len(line.lstrip()) <= indent and not line.lstrip().startswith((")", "]")):
            break
        if line.strip():
            end = number + 1
    return end


def _docstring_length(block: list[str]) -> int:
    marks = [number for number, line in enumerate(block) if '"""' in line]
    return marks[1] - marks[0] + 1 if len(marks) > 1 and block[marks[0]].count('"""') == 1 else 0
