# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Build the extensions of cuda.core, and their type stubs; docs/design/build.md explains how."""

import os
import re
import runpy
import shutil
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer

CORE = "cuda.core._native._cuda_core"  # the extension that all others link to
CALLS = Path("build", "calls")  # the generated declarations of driver and NVRTC functions
TRANSLATED = Path("build", "cython")
VERSION = Path("cuda", "core", "_version.py")
JOBS = int(os.environ.get("CUDA_CORE_BUILD_JOBS") or os.cpu_count() or 1)

DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,  # annotations are not C types: an int would accept 1.5
    "nonecheck": True,  # an attribute of None raises an exception instead of crashing
    "auto_pickle": False,  # classes that can be pickled say how
    "embedsignature": True,
    "embedsignature.format": "python",
    "freethreading_compatible": True,
}
COMPILE_ARGS = ["-std=c++17", "-O2", "-g0", "-fvisibility=hidden", "-Wno-unused-function", "-Wno-cpp"]


def extensions() -> list[Extension]:
    """Translate all ``.pyx`` files; the generated C++ stays under ``build/``."""
    library_calls = runpy.run_path("tools/library_calls.py")
    include = library_calls["cuda_include_dir"]()  # of a build requirement, so no toolkit is needed
    library_calls["write_calls"](CALLS, include)
    marker = TRANSLATED / "unfinished"
    if marker.exists():
        shutil.rmtree(TRANSLATED)  # Cython mistakes a half-written file for a finished one
    TRANSLATED.mkdir(parents=True, exist_ok=True)
    marker.touch()
    sources = sorted(Path("cuda", "core").rglob("*.pyx"))
    found = [Extension(".".join(path.with_suffix("").parts), [str(path)], language="c++") for path in sources]
    places = {"build_dir": str(TRANSLATED), "include_path": [".", str(CALLS)]}
    found = cythonize(found, nthreads=JOBS, compiler_directives=DIRECTIVES, **places)
    marker.unlink()
    for copied in TRANSLATED.rglob("*.hpp"):
        copied.unlink()  # Cython's copies of headers, which clang would include besides the originals
    for extension in found:
        extension.include_dirs = [str(include), "cuda/core/_native", str(CALLS / "cuda" / "core" / "_utils")]
        extension.depends = list(map(str, Path("cuda", "core").rglob("*.hpp")))
        if extension.name == CORE:
            extension.sources += sorted(map(str, Path("cuda/core/_native").glob("*.cpp")))
    # The longest first: at the end, it would keep a single compiler busy.
    return sorted(found, key=lambda extension: os.path.getsize(extension.sources[0]), reverse=True)


def build_version() -> str:
    """Return the version of this build: the release of the source, or also its commit."""
    release = runpy.run_path(str(VERSION))["version"].partition("+")[0]
    return runpy.run_path("emulator/version.py")["build_version"](release)


class BuildExtensions(build_ext):
    """Compile in parallel, with a precompiled header, and link to the core; add stubs."""

    def run(self) -> None:
        super().run()
        if not self.inplace:  # other packages compile against the declarations; type checkers read the stubs
            shutil.copytree(CALLS, self.build_lib, dirs_exist_ok=True)
            programs, outputs = f"{self.build_lib}/cuda/core/examples/programs", ("__pycache__", "*.png", "*.gif")
            shutil.copytree("examples", programs, ignore=shutil.ignore_patterns(*outputs), dirs_exist_ok=True)
            version = re.sub(r'"[\d.]+\+source"', f'"{self.distribution.get_version()}"', VERSION.read_text())
            Path(self.build_lib, VERSION).write_text(version)
            runpy.run_path("tools/stubs.py")["write_stubs"](
                Path.cwd(), Path("cuda/core").resolve(), Path(self.build_lib)
            )
        target = Path("." if self.inplace else self.build_lib, "cuda")
        runpy.run_path("tools/host_headers.py")["write_headers"](target / "core" / "driver" / "include" / "host")

    def build_extensions(self) -> None:
        whole, core, header = self.extensions, Path(self.get_ext_filename(CORE)), self.precompiled_header()
        for number, extension in enumerate(whole, 1):
            extension.progress = f"extension {number} of {len(whole)}: {extension.name}"
            extension.extra_compile_args = [*COMPILE_ARGS, "-include", header]
            way = os.path.relpath(core.parent, Path(self.get_ext_filename(extension.name)).parent)
            extension.extra_link_args = [f"-Wl,-rpath,$ORIGIN/{way}", self.get_ext_fullpath(CORE)]
            if extension.name == CORE:
                extension.extra_link_args = [f"-Wl,-soname,{core.name}"]
        for is_core in (True, False):
            self.extensions = [extension for extension in whole if (extension.name == CORE) == is_core]
            super().build_extensions()
        self.extensions = whole

    def precompiled_header(self) -> str:
        """Compile the common headers once. GCC uses the result instead of the header if all other arguments match."""
        command = [*getattr(self.compiler, "compiler_so_cxx", self.compiler.compiler_so), *COMPILE_ARGS]
        self.mkpath(self.build_temp)
        header = Path(self.build_temp, "precompiled.hpp").resolve()
        shutil.copy2("cuda/core/_native/precompiled.hpp", header)
        if "clang" not in command[0] and newer(str(header), f"{header}.gch"):
            includes = [f"-I{folder}" for folder in (*self.extensions[0].include_dirs, *self.include_dirs)]
            self.spawn([*command, *includes, "-x", "c++-header", str(header), "-o", f"{header}.gch"])
        return str(header)

    def build_extension(self, extension: Extension) -> None:
        print(extension.progress, flush=True)
        super().build_extension(extension)


class BuildWheel(bdist_wheel):
    """Add a software bill of materials."""

    def write_wheelfile(self, wheelfile_base: str, *arguments) -> None:
        super().write_wheelfile(wheelfile_base, *arguments)
        version = self.distribution.get_version()
        runpy.run_path("tools/sbom.py")["write_sbom"](Path(wheelfile_base, "sboms"), version)


if __name__ == "__main__":  # the worker processes of cythonize may import this file
    setup(
        version=build_version(),
        ext_modules=[] if {"clean", "egg_info", "dist_info", "sdist"} & set(sys.argv) else extensions(),
        cmdclass={"bdist_wheel": BuildWheel, "build_ext": BuildExtensions},
        options={"build_ext": {"parallel": JOBS}},
    )
