# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The CUDA headers of installed packages, and advice for headers that a compiler did not find."""

from __future__ import annotations

import functools
import importlib
import os
import re
from typing import NamedTuple

from cuda.core._utils import libraries

__all__ = ["added_include_paths", "installed_header_directories", "missing_header_advice"]

# A pattern, which `re` compiles on first use, because that takes longer than the import.
_NOT_FOUND = r'(?:could not|cannot) open source file "([^"\n]+)"'


class HeaderPackage(NamedTuple):
    """A package of headers.

    Attributes
    ----------
    pattern : str
        A regular expression for the beginning of the headers' names.
    package : str
        The name on PyPI, for the newest CUDA version.
    library : str
        The name in ``cuda.pathfinder``.
    is_versioned : bool
        Whether the package for CUDA 12 has the suffix ``-cu12``.
    is_bundled : bool
        Whether newer versions of NVRTC have the headers built in.
    """

    pattern: str
    package: str
    library: str
    is_versioned: bool = True
    is_bundled: bool = False


_PACKAGES = (
    HeaderPackage(r"(cuda|cub|thrust|nv)/", "nvidia-cuda-cccl", "cccl", is_bundled=True),
    HeaderPackage(r"curand", "nvidia-curand", "curand"),
    HeaderPackage(r"crt/", "nvidia-cuda-crt", "cudart"),
    HeaderPackage(r"(cutlass|cute)/", "nvidia-cutlass", "cutlass", is_versioned=False),
    HeaderPackage(r"cu(blas|fft|solver|rand)dx|commondx", "nvidia-mathdx", "mathdx", is_versioned=False),
    HeaderPackage(r"nvshmem", "nvidia-nvshmem-cu13", "nvshmem", is_versioned=False),
    HeaderPackage(
        r"cuda_(fp|bf16|tf32|pipeline|awbarrier)|cuComplex|cooperative_groups|mma\.h|math_constants",
        "nvidia-cuda-runtime",
        "cudart",
        is_bundled=True,
    ),
    HeaderPackage(
        r"cuda(_\w+)?\.h|(vector|device|driver|surface|texture)_|math_functions|sm_\d+_"
        r"|(host|builtin|library)_(types|config|defines)|channel_descriptor",
        "nvidia-cuda-runtime",
        "cudart",
    ),
)

# Those that the software device reads from the packages for GPUs.
_ADDED_TO_SOFTWARE = r"(cuda|cub|nv|thrust)/|curand"

# Headers of the C standard library, and those of C++, whose names have no suffix.
_STANDARD = (
    r"(std(int|def|io|lib|bool|arg)|math|assert|limits|float|string|time|errno|inttypes|ctype|complex)\.h|[a-z_0-9]+"
)
# Standard headers whose functions NVRTC provides without an #include.
_BUILT_IN = {"assert.h", "cassert", "cmath", "cstdio", "math.h", "stdio.h"}


def missing_header_advice(log: str | None, version: tuple[int, int], has_bundled_headers: bool) -> str:
    """Return advice for the first header that a log reports as missing, or an empty string if there is none.

    Parameters
    ----------
    log : str or None
        The log of the compiler.
    version : tuple of int
        The CUDA version of the compiler.
    has_bundled_headers : bool
        Whether the compiler has CUDA headers built in.
    """
    found = re.search(_NOT_FOUND, log or "")
    if found is None:
        return ""
    header = found[1]
    if "on the software device" in log and not re.match(_ADDED_TO_SOFTWARE, header):
        return ""  # its own message says which headers it has
    package = package_of(header)
    if package is not None:
        return package_advice(header, package, version, has_bundled_headers and package.is_bundled)
    if not re.fullmatch(_STANDARD, header):
        return f"add the directory of {header!r} to include_path"
    if header in _BUILT_IN:
        return f"remove the #include of {header!r}: NVRTC has the functions that device code can use of it built in"
    name = f"c{header[:-2]}" if header.endswith(".h") else header
    return (
        f"NVRTC has no headers of the host's standard library, such as {header!r}; "
        f"<cuda/std/{name}> of {package_name(_PACKAGES[0], version)} might replace it"
    )


def installed_header_directories(source: str, options) -> list[str]:
    """Return the directories of the installed CUDA headers, which NVRTC searches after ``include_path``.

    Empty for a source that includes nothing, and with ``use_bundled_headers``. The software device has headers of its
    own, and searches these only for others; see :func:`added_include_paths`.
    """
    has_includes = "include" in source or options.pre_include
    if not has_includes or options.use_bundled_headers:
        return []
    return find_installed_headers("curand" if libraries.compiler_build() else "cudart")


@functools.cache
def find_installed_headers(library: str) -> list[str]:
    """Return the directories of a library's headers and of CCCL, if they are installed."""
    found = [header_directory(library), header_directory("cccl")]
    return [directory for directory in dict.fromkeys(found) if directory is not None]


def added_include_paths(log: str | None, arguments: list[bytes]) -> list[bytes]:
    """Return the argument with which the software device finds a missing header in an installed package.

    Its own headers would not fit to those of CCCL, so it searches there only if a compilation needs one. Empty if it
    was already passed, or if the header is not installed.
    """
    found = re.search(_NOT_FOUND, log or "")
    if found is None or not libraries.compiler_build() or not re.match(_ADDED_TO_SOFTWARE, found[1]):
        return []
    directory = directory_of(found[1], package_of(found[1]))
    if directory is None:
        return []
    argument = os.fsencode(f"--include-path={directory}")
    return [] if argument in arguments else [argument]


def package_of(header: str) -> HeaderPackage | None:
    """Return the package that has a header, or None."""
    return next((package for package in _PACKAGES if re.match(package.pattern, header)), None)


def directory_of(header: str, package: HeaderPackage) -> str | None:
    """Return the directory of a package that is installed and has a header, or None."""
    directory = header_directory(package.library)
    return directory if directory is not None and os.path.isfile(os.path.join(directory, header)) else None


def package_advice(header: str, package: HeaderPackage, version, is_bundled: bool) -> str:
    """Return the directory of a header, or how to install it."""
    other = ", or set use_bundled_headers=True" if is_bundled else ""
    directory = directory_of(header, package)
    if directory is not None:
        return f"{header!r} is in {directory!r}: add this directory to include_path{other}"
    toolkit = "the CUDA Toolkit or " if package.is_versioned else ""
    return (
        f"{header!r} comes with {toolkit}`pip install {package_name(package, version)}`: "
        f"add its directory, cuda.pathfinder.find_nvidia_header_directory({package.library!r}), to include_path{other}"
    )


def package_name(package: HeaderPackage, version) -> str:
    """Return the name of the package for a version of CUDA."""
    return f"{package.package}-cu12" if package.is_versioned and version[0] == 12 else package.package


def header_directory(library: str) -> str | None:
    """Return the directory of the installed headers, or None if they are not installed."""
    pathfinder = importlib.import_module("cuda.pathfinder")
    try:
        return pathfinder.find_nvidia_header_directory(library)
    except (AttributeError, RuntimeError, ValueError):  # unknown to an older pathfinder
        return None
