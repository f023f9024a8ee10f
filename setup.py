# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Build the extensions of cuda.core, their type stubs, and the software device; the rest is in pyproject.toml.

``CUDA_CORE_BUILD_JOBS`` is the number of compilers that run concurrently, by default the number of processors.
"""

import importlib.metadata
import importlib.util
import itertools
import os
import platform
import shutil
import sys
from pathlib import Path, PurePosixPath

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT / "cuda" / "core"
EMULATOR = ROOT / "cuda" / "emulator"
CALLS = ROOT / "build" / "calls"  # the generated declarations of driver and NVRTC functions
TRANSLATED = ROOT / "build" / "cython"
CORE = "cuda.core._native._cuda_core"  # the extension that all others link to
JOBS = int(os.environ.get("CUDA_CORE_BUILD_JOBS") or os.cpu_count() or 1)

DIRECTIVES = {
    "language_level": 3,
    # Annotations are not C types: with an argument annotated as an int, 1.5 would be accepted.
    "annotation_typing": False,
    # An attribute of a typed variable that is None raises an exception instead of crashing.
    "nonecheck": True,
    "embedsignature": True,
    "embedsignature.format": "python",
    "freethreading_compatible": True,
    "warn.deprecated.IF": False,
}
COMPILE_ARGS = ["-std=c++17", "-O2", "-g0", "-fvisibility=hidden", "-Wno-unused-function", "-Wno-cpp"]


def load(path: Path):
    """Import a module of the source tree by its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cuda_include_dir() -> str:
    """Find ``cuda.h``: a build requirement brings it, so that no toolkit is needed."""
    # In an isolated build environment cuda-pathfinder does not find that requirement, and may return the headers
    # of a toolkit of another version.
    try:
        runtime = importlib.metadata.distribution("nvidia-cuda-runtime")
        header = next(file for file in runtime.files or () if file.name == "cuda.h")
        return str(Path(runtime.locate_file(header)).parent)
    except (importlib.metadata.PackageNotFoundError, StopIteration):
        found = importlib.import_module("cuda.pathfinder").locate_nvidia_header_directory("cudart")
    if found is None:
        sys.exit("cuda.h was not found; install nvidia-cuda-runtime of the same minor version as cuda-bindings")
    return found.abs_path


def extensions() -> list[Extension]:
    """Translate all ``.pyx`` files; the generated C++ stays under ``build/``."""
    load(ROOT / ".ci" / "library_calls.py").write_calls(CALLS, Path(cuda_include_dir()))
    marker = TRANSLATED / ".unfinished"
    if marker.exists():
        shutil.rmtree(TRANSLATED)  # Cython takes a half-written file for a finished one
    TRANSLATED.mkdir(parents=True, exist_ok=True)
    marker.touch()
    sources = [path.relative_to(ROOT) for path in sorted(PACKAGE.rglob("*.pyx"))]
    found = cythonize(
        [Extension(".".join(path.with_suffix("").parts), [str(path)], language="c++") for path in sources],
        nthreads=JOBS,
        build_dir=str(TRANSLATED.relative_to(ROOT)),
        include_path=[".", str(CALLS)],
        compiler_directives=DIRECTIVES,
        show_all_warnings=False,
    )
    marker.unlink()
    for extension in found:
        extension.include_dirs = [cuda_include_dir(), "cuda/core/_native", "cuda/core/_utils", "cuda/core/_memory"]
        extension.include_dirs += ["cuda/core/_arrays", "build/calls/cuda/core/_utils"]
        extension.depends = [str(header.relative_to(ROOT)) for header in PACKAGE.rglob("*.hpp")]
        if extension.name == CORE:
            extension.sources += [str(path.relative_to(ROOT)) for path in sorted((PACKAGE / "_native").glob("*.cpp"))]
    return found


class BuildExtensions(build_ext):
    """Compile in parallel, with a precompiled header; then build the software device."""

    def initialize_options(self) -> None:
        super().initialize_options()
        self.parallel = JOBS
        self.counter = itertools.count(1)

    def run(self) -> None:
        super().run()
        package = PACKAGE if self.inplace else Path(self.build_lib) / "cuda" / "core"
        load(ROOT / ".ci" / "host_headers.py").write_headers(package / "driver" / "include" / "host")
        if sys.platform == "linux" and platform.machine() == "x86_64":
            target = EMULATOR if self.inplace else Path(self.build_lib) / "cuda" / "emulator"
            load(EMULATOR / "build.py").build(target / "_emulator.so", ROOT / "build" / "emulator", JOBS)

    def build_extensions(self) -> None:
        command = [*getattr(self.compiler, "compiler_so_cxx", self.compiler.compiler_so), *COMPILE_ARGS]
        header = None if "clang" in command[0] else self.precompiled_header(command)
        whole = self.extensions
        core = next(extension for extension in whole if extension.name == CORE)
        rest = [extension for extension in whole if extension is not core]
        file = PurePosixPath(self.get_ext_filename(CORE))
        core.extra_link_args = [f"-Wl,-soname,{file.name}"]
        for extension in whole:
            extension.extra_compile_args = [*COMPILE_ARGS, *(["-include", header] if header else [])]
        for extension in rest:
            folder = PurePosixPath(self.get_ext_filename(extension.name)).parent
            rpath = f"-Wl,-rpath,$ORIGIN/{os.path.relpath(file.parent, folder)}"
            extension.extra_link_args = [rpath, "-Wl,--no-as-needed", self.get_ext_fullpath(CORE), "-Wl,--as-needed"]
        for self.extensions in ([core], rest):
            super().build_extensions()
        self.extensions = whole

    def precompiled_header(self, command: list[str]) -> str:
        """Compile the common headers once; GCC takes the result for the header if the flags are the same."""
        header = Path(self.build_temp).resolve() / "precompiled.hpp"
        header.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(PACKAGE / "_native" / "precompiled.hpp", header)
        includes = [f"-I{folder}" for folder in (cuda_include_dir(), *self.include_dirs)]
        self.spawn([*command, *includes, "-x", "c++-header", str(header), "-o", f"{header}.gch"])
        return str(header)

    def build_extension(self, extension: Extension) -> None:
        print(f"extension {next(self.counter)} of {len(self.distribution.ext_modules)}: {extension.name}", flush=True)
        super().build_extension(extension)


class BuildPackage(build_py):
    """Install the generated type stubs, and leave out modules that only the build needs."""

    def find_package_modules(self, package: str, package_dir: str) -> list[tuple[str, str, str]]:
        builders = {EMULATOR / "build.py", EMULATOR / "_generate.py"}
        modules = super().find_package_modules(package, package_dir)
        return [module for module in modules if ROOT / module[2] not in builders]

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            # Extensions of other packages are compiled against our .pxd files, which cimport these declarations.
            shutil.copytree(CALLS, self.build_lib, dirs_exist_ok=True)
            load(ROOT / ".ci" / "stubs.py").write_stubs(ROOT, PACKAGE, Path(self.build_lib))


class SourceDistribution(sdist):
    """Pack the whole checkout without generated files, so that a wheel, the tests and the docs need nothing else."""

    FOLDERS = (".ci", "benchmarks", "cuda", "docs", "examples", "tests")
    GENERATED = frozenset({"__pycache__", ".pytest_cache", ".cache", "_build", "generated"})

    def make_distribution(self) -> None:
        paths = (path for folder in self.FOLDERS for path in Path(folder).rglob("*"))
        self.filelist.extend(str(path) for path in paths if path.is_file() and self.is_source(path))
        self.filelist.remove_duplicates()
        super().make_distribution()

    def is_source(self, path: Path) -> bool:
        return path.suffix != ".so" and self.GENERATED.isdisjoint(path.parts)


# The worker processes of cythonize may import this file.
if __name__ == "__main__":
    setup(
        ext_modules=extensions() if not {"clean", "egg_info", "dist_info", "sdist"} & set(sys.argv) else [],
        cmdclass={"build_ext": BuildExtensions, "build_py": BuildPackage, "sdist": SourceDistribution},
    )
