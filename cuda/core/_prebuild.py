# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Compile the kernels of a module before it is installed.

python -m cuda.core prebuild package.module --arch sm_80,sm_90 -o package/kernels

Finds every kernel of cuda.core.utils.kernel() in the module: its variables, and the lists, tuples and dicts among them.
Each is compiled for each architecture into a file of the directory, which a wheel can contain. At run time,
kernel(..., prebuilt="package.kernels") finds these files, and loads no compiler. No GPU is needed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from cuda.core._compile.cache._prebuilt import make_prebuilt, prebuilt_name
from cuda.core.utils._source_kernel import SourceKernel

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Compile the kernels, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m cuda.core prebuild", description=__doc__.splitlines()[0])
    parser.add_argument("module", nargs="+", help="the name of a module with kernels")
    parser.add_argument("--arch", required=True, help="architectures, such as sm_80,sm_90")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="the directory to write to")
    options = parser.parse_args(arguments)
    sys.path.insert(0, "")
    kernels = [kernel for name in options.module for kernel in kernels_in(importlib.import_module(name))]
    if not kernels:
        print(f"no kernels of cuda.core.utils.kernel() in {', '.join(options.module)}", file=sys.stderr)
        return 1
    os.makedirs(options.output, exist_ok=True)
    jobs = []
    for source in dict.fromkeys(kernel._source for kernel in kernels):
        own = source._options.arch
        jobs += [(source, arch) for arch in ([own] if own else options.arch.split(","))]
    with ThreadPoolExecutor(os.cpu_count()) as threads:  # compilers release the GIL
        for message in threads.map(lambda job: write(options.output, *job), jobs):
            print(message)
    return 0


def kernels_in(module) -> list[SourceKernel]:
    """Return the kernels among the variables of a module, and in its lists, tuples and dicts, each once."""
    found = []
    for value in vars(module).values():
        values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else [value]
        found += [item for item in values if isinstance(item, SourceKernel)]
    return list(dict.fromkeys(found))


def write(directory: str, source, arch: str) -> str:
    """Compile the kernels of a source for an architecture, write their file, and return a line about it."""
    what = source._text, source._expressions, source._code_type, source._options, arch
    path = os.path.join(directory, prebuilt_name(*what))
    content = make_prebuilt(*what)
    with open(path, "wb") as file:
        file.write(content)
    return f"{', '.join(source._expressions)} for {arch}: {len(content)} bytes in {path}"
