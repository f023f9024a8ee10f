# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Generates the declarations of driver and NVRTC functions: a .pxd and a list of C++ entries for each library.

The signatures are those of ``cuda.bindings``, a build requirement; the symbols come from the headers of CUDA, whose
macros name the version of each function. A .pxd declares the functions and cimports the types and constants of the
bindings, so that sources use it as they would use the bindings.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from pathlib import Path

HEADER = "# Written by tools/library_calls.py from {source}.pxd of cuda.bindings.\n"
FUNCTION = re.compile(r"^cdef (?P<result>\w+) (?P<name>\w+)\((?P<arguments>.*)\) (?P<error>except ?\?\w+) nogil$", re.M)
# The name of the .pxd, in the bindings and here; the name of our header, and of CUDA's.
LIBRARIES = (
    ("cydriver", "driver_calls", "cuda.h"),
    ("cynvrtc", "nvrtc_calls", "nvrtc.h"),
)
PACKAGE = Path("cuda", "core", "_utils")
# Functions of cudaGL.h, which would need the headers of OpenGL; their symbols have no version.
OPENGL = ("cuGraphicsGLRegisterBuffer", "cuGraphicsGLRegisterImage")
# Functions whose type is that of the bindings, because it is not in a header that is included, or differs there.
TYPED_BY_BINDINGS = (*OPENGL, "nvrtcSetFlowCallback")


def cuda_include_dir() -> Path:
    """Return the directory of ``cuda.h``, which a build requirement installs, so a build needs no toolkit."""
    runtime = importlib.metadata.distribution("nvidia-cuda-runtime")
    return next(Path(file.locate()).parent for file in runtime.files or () if file.name == "cuda.h")


def write_calls(target: Path, include: Path) -> None:
    """Write the files for all libraries.

    Parameters
    ----------
    target : Path
        The directory to write to. Files that would not change are not written.
    include : Path
        The directory of the CUDA headers.
    """
    (target / PACKAGE).mkdir(parents=True, exist_ok=True)
    bindings = Path(importlib.util.find_spec("cuda.bindings").submodule_search_locations[0])
    for source, name, header in LIBRARIES:
        text = (bindings / f"{source}.pxd").read_text()
        declared = set(re.findall(r"\b(cu\w+|nvrtc\w+)\s*\(", (include / header).read_text())).union(OPENGL)
        # Headers declare older versions only where the driver itself is compiled.
        functions = [
            found
            for found in FUNCTION.finditer(text)
            if found["name"] in declared and not re.search(r"_v\d$|^cuProfiler", found["name"])
        ]
        write(target / PACKAGE / f"{source}.pxd", declarations(source, name, text, functions))
        write(target / PACKAGE / f"{name}_list.hpp", entries(functions, include / header))


def declarations(source: str, name: str, text: str, functions: list) -> str:
    """Return the text of a .pxd."""
    lines = [HEADER.format(source=source), "from libc.stdint cimport uint32_t, uint64_t\n"]
    lines += [f"from cuda.bindings.{source} cimport ("]
    lines += [f"    {known}," for known in sorted(other_names(text))]
    lines += [")", "", 'cdef extern from "calls.hpp" nogil:']
    for found in functions:
        symbol = f'"cuda_core::{name}::{found["name"]}"'
        lines += [f"    {found['result']} {found['name']} {symbol}({found['arguments']}) {found['error']}"]
    return "\n".join(lines) + "\n"


def other_names(text: str) -> set[str]:
    """Return the names of the types and constants that a .pxd of the bindings declares."""
    names = set(re.findall(r"^ *(?:ctypedef|cdef) (?:struct|union|enum) (\w+)", text, re.M))
    names.update(re.findall(r"^ *ctypedef [^(\n]*?(\w+)(?: *['\"]\w+['\"])?$", text, re.M))
    names.update(re.findall(r"^ *ctypedef [^(\n]*\(\*(\w+)", text, re.M))
    names.update(re.findall(r"^cdef enum: *(\w+)", text, re.M))
    for block in re.findall(r"^ *(?:ctypedef|cdef) enum[^\n]*:\n((?: +\w+(?: *=[^\n]*)?\n)+)", text, re.M):
        names.update(re.findall(r"^ *(\w+)", block, re.M))
    return {name for name in names if not name.startswith("_")}


def entries(functions: list, header: Path) -> str:
    """Return the list of macros that the header includes: functions, and the version of the driver that they need."""
    lines = ["// Written by tools/library_calls.py."]
    macros = dict(re.findall(r"^#define (cu\w+) +(?:__CUDA_API_PT\w+\()?(cu\w+)\)? *$", header.read_text(), re.M))
    typedefs = header.with_name("cudaTypedefs.h").read_text() if header.name == "cuda.h" else ""
    for found in functions:
        name = found["name"]
        since = first_version(macros.get(name, name), typedefs)
        if name in TYPED_BY_BINDINGS:
            lines.append(f"CUDA_CORE_CALL_OF_TYPE({name}, {since}, {found['result']} (*)({found['arguments']}))")
        else:
            lines.append(f"CUDA_CORE_CALL({name}, {since})")
    return "\n".join(lines) + "\n"


def first_version(symbol: str, typedefs: str) -> int:
    """Return the first version of CUDA whose driver exports a symbol, or 0 if it is unknown.

    The typedefs number the variants of a function by versions of CUDA, the symbols number them by 2, 3 and so on.
    """
    name, suffix = re.fullmatch(r"(\w+?)(?:_v(\d))?", symbol).groups()
    versions = sorted({int(text) for text in re.findall(rf"\bPFN_{name}_v(\d+)\b", typedefs)})
    return versions[min(int(suffix or 1), len(versions)) - 1] if versions else 0


def write(path: Path, text: str) -> None:
    # A newer file would cause every source that includes it to be compiled again.
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
