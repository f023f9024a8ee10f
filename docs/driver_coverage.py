# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Which names of CUDA's headers the package reaches, and how: the rows of the page ``api/driver-coverage``.

The names and versions come from the headers, the public names from docstrings and option tables. What neither these nor
the sources name has a row in ``driver_coverage.txt``, with its state and the reason.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tools"))

import library_calls  # noqa: E402

SUFFIXES = {".py", ".pyx", ".pxi", ".pxd", ".cpp", ".hpp"}
FUNCTION = re.compile(r"CUresult CUDAAPI\s+(cu\w+)\s*\(")
ENUMS = ("CUdevice_attribute", "CUfunction_attribute", "CUlaunchAttributeID")
# The list of options in the comments of a header, and the class that has them as fields.
OPTIONS = {
    "nvrtc.h": (r"^ \*     - \\c (--[\w-]+)(?:[^(\n]*\(\\c (-\w+))?", "nvrtc"),
    "nvJitLink.h": (r"^ \* - \\c (-[A-Za-z-]+)()", "nvjitlink"),
}


class Row(NamedTuple):
    """A name of a header: what brought it, whether it is reached, and the public names or the reason."""

    name: str
    since: str
    state: str  # "wrapped", "used", "older version", "through ...", "left out", "not yet", or "" without a row
    text: str


def sections(core: Path) -> dict[str, list[Row]]:
    """Return the rows of each group of names, for the package whose sources are in the directory ``core``."""
    include = library_calls.cuda_include_dir()
    header = (include / "cuda.h").read_text()
    used = reached(core)
    listed = dict(listed_rows())
    found = {"Functions": list(functions(include, header, used, listed))}
    for enum in ENUMS:
        found[enum] = list(attributes(enum, core, header, used, listed))
    for name, (pattern, backend) in OPTIONS.items():
        names = dict.fromkeys(re.findall(pattern, (include / name).read_text(), re.M))
        public = {flag: (field, since) for flag, field, since in options(backend)}
        found[f"Options of {name}"] = [option(flag, short, public, listed) for flag, short in names]
    found["NVML, as far as cuda.core.system goes"] = list(nvml_functions(core))
    return found


def nvml_functions(core: Path) -> Iterator[Row]:
    """Yield a row for each function of NVML that ``cuda.core.system`` calls, by the name that the bindings give it."""
    bindings = Path(importlib.util.find_spec("cuda.bindings").submodule_search_locations[0])
    declared = re.findall(r"cdef nvmlReturn_t (nvml\w+)\(", (bindings / "cynvml.pxd").read_text())
    sources = "\n".join(path.read_text() for path in sorted((core / "system").rglob("*.py")))
    called = {name.replace("_", "") for name in re.findall(r"(?:\bnvml\.|\")([a-z]+_[a-z0-9_]+)", sources)}
    for name in dict.fromkeys(declared):
        if re.sub(r"_v\d$", "", name).removeprefix("nvml").lower() in called:
            yield Row(name, "", "used", "``cuda.core.system``")


def reached(core: Path) -> set[str]:
    """Return the functions and the enumerators that the sources name."""
    sources = "\n".join(path.read_text() for path in sorted(core.rglob("*")) if path.suffix in SUFFIXES)
    found = set(re.findall(r"(?:cydriver\.|driver_calls::|\")(cu[A-Z]\w+)", sources))
    return found.union(re.findall(r"\bCU_[A-Z]\w+", sources))


def listed_rows() -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the names of the list, each with its state and the reason."""
    state = reason = ""
    for line in (HERE / "driver_coverage.txt").read_text().splitlines():
        if line.startswith(" "):
            yield from ((name, (state, reason)) for name in line.split())
        elif line and not line.startswith("#"):
            state, _, reason = line.partition(": ")


def functions(include: Path, header: str, used: set[str], listed: dict) -> Iterator[Row]:
    """Yield a row for each function that cuda.h declares, in its order."""
    typedefs = (include / "cudaTypedefs.h").read_text()
    macros = dict(re.findall(r"^#define (cu\w+) +(?:__CUDA_API_PT\w+\()?(cu\w+)\)? *$", header, re.M))
    public = documented_functions()
    for symbol in dict.fromkeys(FUNCTION.findall(header)):
        name = re.sub(r"_v\d$|_ptsz$", "", symbol)
        version = library_calls.first_version(symbol, typedefs)
        since = f"{version // 1000}.{version % 1000 // 10}" if version else ""
        if symbol.endswith("_ptsz"):
            yield Row(symbol, since, "older version", f"of ``{name}``, for the per-thread default stream")
        elif macros.get(name, name) not in (symbol, name) or (symbol == name and name in macros):
            yield Row(symbol, since, "older version", f"of ``{macros[name]}``")
        else:
            yield row(symbol, name, since, public.get(name), used, listed)


def row(symbol: str, name: str, since: str, public, used: set[str], listed: dict) -> Row:
    """Return the row of a name: documented, or else called, or else listed."""
    if symbol in listed:
        return Row(symbol, since, *listed[symbol])
    if public:
        return Row(symbol, since, "wrapped", ", ".join(f"``{path}``" for path in public))
    return Row(symbol, since, "used" if name in used else "", "")


def documented_functions() -> dict[str, list[str]]:
    """Return the public names whose docstrings name a function of the driver."""
    found = {}
    for path, doc in public_docstrings():
        for name in re.findall(r"``(cu[A-Z]\w+)(?:\(\))?``", doc or ""):
            if path not in found.setdefault(name, []):
                found[name].append(path)
    return found


def public_docstrings() -> Iterator[tuple[str, str | None]]:
    """Yield the public functions, classes and members, each with its docstring."""
    import cuda.core

    modules = pkgutil.walk_packages(cuda.core.__path__, "cuda.core.", onerror=lambda name: None)
    names = [info.name for info in modules if "._" not in info.name]
    seen = set()
    for module in ["cuda.core", *names]:
        if module.endswith(("experimental", "autoinit", "autoprimaryctx", "__main__")):
            continue
        home = importlib.import_module(module)
        for name in getattr(home, "__all__", ()):
            value = getattr(home, name)
            if id(value) in seen or not getattr(value, "__module__", "").startswith("cuda.core"):
                continue
            seen.add(id(value))
            path = f"{module}.{name}".removeprefix("cuda.core.")
            yield path, value.__doc__
            for member, item in vars(value).items() if isinstance(value, type) else ():
                if not member.startswith("_"):
                    yield f"{path}.{member}", getattr(item, "__doc__", None)


def attributes(enum: str, core: Path, header: str, used: set[str], listed: dict) -> Iterator[Row]:
    """Yield a row for each enumerator that is an attribute."""
    body = re.search(rf"^typedef enum {enum}_enum {{$(.*?)^}} {enum};", header, re.M | re.S)[1]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    values = {name: int(value) for name, value in re.findall(r"\b(CU_\w+) *= *(-?\d+)", body)}
    public = public_attributes(enum, core)
    for name, value in values.items():
        if not name.endswith(("_MAX", "_IGNORE")):
            yield row(name, name, "", public.get(value) or public.get(name), used, listed)


def public_attributes(enum: str, core: Path) -> dict[object, list[str]]:
    """Return the public names of the attributes of a kind, by name or by value."""
    if enum == "CUdevice_attribute":
        from cuda.core._device_properties import Attribute, DeviceProperties

        rows = [(item.code, name) for name, item in vars(DeviceProperties).items() if isinstance(item, Attribute)]
        prefix = "Device.properties."
    elif enum == "CUfunction_attribute":
        source = (core / "_code" / "_kernel_attributes.pyx").read_text()
        rows = [match[::-1] for match in re.findall(r"(\w+) = _Attribute\(\s*cydriver\.(CU_\w+)", source)]
        prefix = "Kernel.attributes."
    else:
        from cuda.core._launch_attributes import ATTRIBUTES, STREAM_ATTRIBUTES

        rows = [(item.id, f"LaunchConfig.{name}") for name, item in ATTRIBUTES.items()]
        rows += [(item.id, f"Stream.{name}") for name, item in STREAM_ATTRIBUTES.items()]
        prefix = ""
    found = {}
    for key, name in rows:
        found.setdefault(key, []).append(f"{prefix}{name}")
    return found


def options(backend: str) -> Iterator[tuple[str, str, str]]:
    """Yield the options of a compiler that a field sets: the flag, the field, and the version that it needs."""
    from dataclasses import fields

    from cuda.core import LinkerOptions, ProgramOptions

    cls = ProgramOptions if backend == "nvrtc" else LinkerOptions
    for field in fields(cls):
        renderer = field.metadata.get("renderers", {}).get(backend)
        if renderer and renderer.flag:
            since = ".".join(map(str, renderer.since)) if renderer.since else ""
            yield renderer.flag.partition("=")[0], f"{cls.__name__}.{field.name}", since


def option(flag: str, short: str, public: dict, listed: dict) -> Row:
    """Return the row of an option, which a field may set by its short spelling or with another number of dashes."""
    for spelled in (flag, short, flag.removeprefix("-"), f"-{flag}"):
        if spelled in public:
            name, since = public[spelled]
            return Row(flag, since, "wrapped", f"``{name}``")
    return Row(flag, "", *listed.get(flag, ("", "")))
