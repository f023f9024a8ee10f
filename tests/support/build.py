# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Builds extensions in Cython and C++ against the installed package, once per test run."""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path


def build_extension(source: Path, *includes: str):
    """Compile a ``.pyx`` or ``.cpp`` file against the shipped declarations, and return the imported module."""
    import cuda.core

    package = Path(cuda.core.__file__).parent
    headers = b"".join(path.read_bytes() for path in sorted(package.rglob("*.hpp")))
    # The folder of the package is part of the key, because the result links to the package's core by its path.
    inputs = [source.read_bytes(), headers, sys.version.encode(), os.fsencode(package)]
    digest = hashlib.sha256(b"".join(inputs)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"cuda-core-tests-{os.getuid()}" / digest
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / (source.stem + sysconfig.get_config_var("EXT_SUFFIX"))
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            if source.suffix == ".pyx":
                _compile(source, folder, target, package)
            else:
                _compile_cpp(source, target, [*includes, str(package / "include")])
    spec = importlib.util.spec_from_file_location(source.stem, target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _compile(source: Path, folder: Path, target: Path, package: Path) -> None:
    generated = folder / (source.stem + ".cpp")
    # A folder that holds `cuda` on the path lets Cython find the .pxd files of both packages.
    command = [sys.executable, "-m", "cython", "--cplus", "-3", str(source), "-o", str(generated)]
    root = package.parents[1]
    for path in dict.fromkeys([str(root), str(root / "build" / "calls"), *filter(None, sys.path)]):
        command += ["-I", path]
    _run(command)
    includes = [
        sysconfig.get_path("include"),
        _cuda_include_dir(),
        str(package / "_native"),
        str(package / "_utils"),
        str(package.parents[1] / "build" / "calls" / "cuda" / "core" / "_utils"),  # of a checkout
        str(package.parents[1]),
    ]
    core = package / "_native" / f"_cuda_core{sysconfig.get_config_var('EXT_SUFFIX')}"
    unfinished = target.with_suffix(".tmp")
    _run(
        ["g++", "-shared", "-fPIC", "-O1", "-std=c++17", "-w", str(generated), "-o", str(unfinished)]
        + [f"-I{path}" for path in includes]
        # The core, for its functions and for the templates that call them.
        + [str(core), f"-Wl,-rpath,{core.parent}"]
    )
    unfinished.rename(target)


def _compile_cpp(source: Path, target: Path, includes: list[str]) -> None:
    includes = [sysconfig.get_path("include"), _cuda_include_dir(), *includes]
    unfinished = target.with_suffix(".tmp")
    command = ["g++", "-shared", "-fPIC", "-O1", "-std=c++17", "-fvisibility=hidden", "-Wall", "-Werror"]
    _run([*command, str(source), "-o", str(unfinished), *(f"-I{path}" for path in includes)])
    unfinished.rename(target)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def _cuda_include_dir() -> str:
    # The wheel and the bindings have the same version; a toolkit on the machine may be older.
    wheel = importlib.metadata.distribution("nvidia-cuda-runtime")
    header = next(file for file in wheel.files if file.name == "cuda.h")
    return str(Path(wheel.locate_file(header)).parent)
