# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Advice for headers that a compiler did not find: where they are, or which package to install."""

from __future__ import annotations

import importlib
import os
import re
from dataclasses import dataclass

__all__ = ["missing_header_advice"]

# Compiled at their use: that takes longer than the import.
_MISSING = r'(?:could not|cannot) open source file "([^"\n]+)"'


@dataclass(frozen=True)
class Origin:
    """A group of headers from one package.

    Attributes
    ----------
    pattern : str
        What their names begin with.
    package : str
        The package that has them, for the newest CUDA.
    library : str
        What ``cuda.pathfinder`` calls them.
    is_versioned : bool
        Whether the package for CUDA 12 has another name.
    is_bundled : bool
        Whether newer versions of NVRTC have them inside.
    """

    pattern: str
    package: str
    library: str
    is_versioned: bool = True
    is_bundled: bool = False


_ORIGINS = (
    Origin(r"(cuda|cub|thrust|nv)/", "nvidia-cuda-cccl", "cccl", is_bundled=True),
    Origin(r"curand", "nvidia-curand", "curand"),
    Origin(r"crt/", "nvidia-cuda-crt", "cudart"),
    Origin(r"(cutlass|cute)/", "nvidia-cutlass", "cutlass", is_versioned=False),
    Origin(r"cu(blas|fft|solver|rand)dx|commondx", "nvidia-mathdx", "mathdx", is_versioned=False),
    Origin(r"nvshmem", "nvidia-nvshmem-cu13", "nvshmem", is_versioned=False),
    Origin(
        r"cuda_(fp|bf16|tf32|pipeline|awbarrier)|cuComplex|cooperative_groups|mma\.h|math_constants",
        "nvidia-cuda-runtime",
        "cudart",
        is_bundled=True,
    ),
    Origin(
        r"cuda(_\w+)?\.h|(vector|device|driver|surface|texture)_|math_functions|sm_\d+_"
        r"|(host|builtin|library)_(types|config|defines)|channel_descriptor",
        "nvidia-cuda-runtime",
        "cudart",
    ),
)

# Headers of C that programs include, and the ones of C++ that have no ending.
_STANDARD = (
    r"(std(int|def|io|lib|bool|arg)|math|assert|limits|float|string|time|errno|inttypes|ctype|complex)\.h|[a-z_0-9]+"
)
_BUILT_IN = {"assert.h", "cassert", "cmath", "cstdio", "math.h", "stdio.h"}


def missing_header_advice(log: str | None, version: tuple[int, int], has_bundled_headers: bool) -> str:
    """Return advice for the first header that a log reports as missing; empty without one.

    Parameters
    ----------
    log : str or None
        The log of the compiler.
    version : tuple of int
        The CUDA version of the compiler.
    has_bundled_headers : bool
        Whether the compiler has headers inside.
    """
    found = re.search(_MISSING, log or "")
    if found is None or "on the software device" in log:  # which says itself what it has
        return ""
    header = found[1]
    for origin in _ORIGINS:
        if re.match(origin.pattern, header):
            return origin_advice(header, origin, version, has_bundled_headers and origin.is_bundled)
    if not re.fullmatch(_STANDARD, header):
        return f"the directory of {header!r} has to be in include_path"
    if header in _BUILT_IN:
        return f"device code needs no {header!r}: what it can use of that is built in, so leave the #include out"
    name = f"c{header[:-2]}" if header.endswith(".h") else header
    return (
        f"NVRTC has no headers of the host's standard library, such as {header!r}; "
        f"<cuda/std/{name}> of {package_of(_ORIGINS[0], version)} may have what is needed"
    )


def origin_advice(header: str, origin: Origin, version, is_bundled: bool) -> str:
    """Return where a header is, or how to get it."""
    other = ", or set use_bundled_headers=True" if is_bundled else ""
    directory = header_directory(origin.library)
    if directory is not None and os.path.isfile(os.path.join(directory, header)):
        return f"{header!r} is in {directory!r}: put that in include_path{other}"
    toolkit = "the CUDA Toolkit or " if origin.is_versioned else ""
    return (
        f"{header!r} comes with {toolkit}`pip install {package_of(origin, version)}`: "
        f"put its directory, cuda.pathfinder.find_nvidia_header_directory({origin.library!r}), in include_path{other}"
    )


def package_of(origin: Origin, version) -> str:
    """Return the name of a package for a version of CUDA."""
    return f"{origin.package}-cu12" if origin.is_versioned and version[0] == 12 else origin.package


def header_directory(library: str) -> str | None:
    """Return the directory of installed headers; None if there are none."""
    pathfinder = importlib.import_module("cuda.pathfinder")
    try:
        return pathfinder.find_nvidia_header_directory(library)
    except (AttributeError, RuntimeError, ValueError):  # not known to an older pathfinder
        return None
