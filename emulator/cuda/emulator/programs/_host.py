# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The compiler of the host part of programs, and its messages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

_HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(_HERE, "include")
DEVICE_INCLUDE = os.path.join(os.path.dirname(_HERE), "device_include")

# What the software device does not have, by the beginnings of the names of headers and libraries.
_MISSING = {
    "cuBLAS": "cublas",
    "cuSOLVER": "cusolver",
    "cuSPARSE": "cusparse",
    "cuFFT": "cufft",
    "cuRAND": "curand",
    "cuDNN": "cudnn",
    "cuTENSOR": "cutensor",
    "NPP": "npp",
    "nvJPEG": "nvjpeg",
    "NCCL": "nccl",
    "NVSHMEM": "nvshmem",
    "Thrust": "thrust/",
    "CUB": "cub/",
    "CUTLASS": "cutlass/",
    "OpenGL": "GL/|GL$|GLU$|GLFW|glut|glfw|GLEW|cuda_gl_interop|helper_gl|rendercheck_gl",
    "MPI": r"mpi(\.h|$|_cxx$)",
}
_PROVIDED = {"cuda", "cudart", "cudart_static", "cudadevrt"}


class ProgramError(Exception):
    """The program cannot be compiled or started; the message is for the user."""


def compiler() -> str:
    """Return the path of the compiler of the host part."""
    found = shutil.which("g++") or shutil.which("clang++")
    if not found:
        raise ProgramError("programs in CUDA C++ need g++ or clang++ for their host part, and neither is installed")
    return found


def run(command: list[str]) -> str:
    """Run a command, and return its output; raise ProgramError with its messages if it fails."""
    finished = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, check=False, encoding="utf-8", errors="surrogateescape"
    )
    if finished.returncode:
        raise ProgramError(finished.stderr.rstrip() or f"{command[0]} failed with status {finished.returncode}")
    return finished.stdout


def _missing_library(name: str) -> str:
    return next((title for title, begin in _MISSING.items() if re.match(begin, name)), "")


def check_library(name: str) -> bool:
    """Return whether a library is linked to; raise ProgramError if the software device does not have it."""
    if title := _missing_library(name):
        raise ProgramError(f"-l{name}: the software device does not have {title}")
    return name not in _PROVIDED


def preprocess(path: str, standard: str, flags: list[str], arch: int) -> str:
    """Return a preprocessed file: its device part for a compute capability such as 900, its host part for 0."""
    command = [compiler(), "-E", "-x", "c++", f"-std={standard}", "-I", INCLUDE, "-I", DEVICE_INCLUDE]
    command += ["-I", os.path.join(DEVICE_INCLUDE, "without_cccl"), "-include", f"{INCLUDE}/cuda_runtime.h"]
    command += ["-D__CUDACC__", "-D__NVCC__", "-D__CUDACC_VER_MAJOR__=12", "-D__CUDACC_VER_MINOR__=9"]
    try:
        text = run([*command, *([f"-D__CUDA_ARCH__={arch}"] if arch else []), *flags, path])
    except ProgramError as error:
        found = re.search(r"fatal error: '?([^\s']+?)'?(: No such file| file not found)", str(error))
        title = _missing_library(found[1]) if found else ""
        raise ProgramError(f"{error}\n{_not_here(found[1], title)}" if title else str(error)) from None
    for name in re.findall(r'^# \d+ ".*?/include/(.*?)"', text, re.MULTILINE):
        if (title := _missing_library(name)) and title != "cuRAND":  # its kernels' part is in headers
            raise ProgramError(f"{path}: {_not_here(name, title)}")
    return text


def _not_here(name: str, title: str) -> str:
    if name == "curand_kernel.h":
        return f"{name} is in the package nvidia-curand (pip install nvidia-curand): name its directory include with -I"
    return f"{name} belongs to {title}, which the software device does not have"


def compile_c(path: str, target: str, flags: list[str]) -> bool:
    """Compile a file in C that includes no header of CUDA; return whether this is one."""
    command = [compiler(), "-x", "c", "-w", "-fPIC", *flags]
    try:
        run([*command, "-E", path])
    except ProgramError:
        return False
    run([*command, "-c", path, "-o", target])
    return True


def compile_object(source: str, path: str, standard: str, options: list[str]) -> None:
    """Compile a preprocessed host part."""
    own = [] if compiler().endswith("clang++") else ["-fno-gnu-unique"]
    run([compiler(), f"-std={standard}", "-w", "-fPIC", *own, *options, "-c", source, "-o", path])


def symbols_of(path: str, *options: str) -> list[tuple[str, int]]:
    """Return the names and addresses of the symbols an object or library defines, in a fixed order."""
    lines = run(["nm", "-p", "--defined-only", *options, path]).splitlines()
    return [(line.split(" ", 2)[2], int(line.split(" ", 1)[0], 16)) for line in lines]
