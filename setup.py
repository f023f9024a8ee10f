# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Build the extensions of cuda.core, their type stubs, and the software device; the rest is in pyproject.toml.

Environment
-----------
CUDA_CORE_BUILD_JOBS
    How many compilers run concurrently. Default: the number of processors.
CUDA_CORE_BUILD_CACHE
    Directory that keeps the C++ that Cython generates between builds. Default: ``build/cython-cache``.
"""

import contextlib
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from Cython.Build import cythonize
from Cython.Compiler import Options
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist
from setuptools.modified import newer_group

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT / "cuda" / "core"
EMULATOR = ROOT / "cuda" / "emulator"
STUB_GENERATOR = ROOT / ".ci" / "stubs.py"
CALL_GENERATOR = ROOT / ".ci" / "library_calls.py"
# The generated declarations of driver and NVRTC functions.
CALLS = ROOT / "build" / "calls"
TRANSLATED = ROOT / "build" / "cython"
JOBS = int(os.environ.get("CUDA_CORE_BUILD_JOBS") or os.cpu_count() or 1)
CACHE = os.environ.get("CUDA_CORE_BUILD_CACHE") or str(ROOT / "build" / "cython-cache")

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


def cuda_include_dir() -> str:
    """Find ``cuda.h``: a build requirement brings it, so that no toolkit is needed."""
    from cuda.pathfinder import locate_nvidia_header_directory

    # In an isolated build environment cuda-pathfinder does not find that requirement, and may return the headers
    # of a toolkit of another version.
    try:
        runtime = importlib.metadata.distribution("nvidia-cuda-runtime")
        header = next(file for file in runtime.files or () if file.name == "cuda.h")
        return str(Path(runtime.locate_file(header)).parent)
    except (importlib.metadata.PackageNotFoundError, StopIteration):
        found = locate_nvidia_header_directory("cudart")
    if found is None:
        sys.exit("cuda.h was not found; install nvidia-cuda-runtime of the same minor version as cuda-bindings")
    return found.abs_path


def extension(path: Path) -> Extension:
    """Describe the extension of one ``.pyx`` file."""
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return Extension(
        name,
        [str(path.relative_to(ROOT))],
        language="c++",
        include_dirs=[cuda_include_dir(), "cuda/core/_handles", "cuda/core/_utils", "build/calls/cuda/core/_utils"],
        depends=[str(header.relative_to(ROOT)) for header in PACKAGE.rglob("*.hpp")],
        extra_compile_args=COMPILE_ARGS,
    )


def extensions() -> list[Extension]:
    """Translate all ``.pyx`` files; the generated C++ stays under ``build/``."""
    Options.docstrings = True
    load(CALL_GENERATOR).write_calls(CALLS, Path(cuda_include_dir()))
    with discarding_partial(TRANSLATED):
        return cythonize(
            [extension(path) for path in sorted(PACKAGE.rglob("*.pyx"))],
            nthreads=JOBS,
            build_dir=str(TRANSLATED.relative_to(ROOT)),
            include_path=[".", str(CALLS)],
            cache=CACHE,
            compiler_directives=DIRECTIVES,
            show_all_warnings=False,
            quiet=True,
        )


@contextlib.contextmanager
def discarding_partial(folder: Path) -> Iterator[None]:
    """Delete what an interrupted translation wrote to `folder`: Cython takes a half-written file for a finished one."""
    marker = folder / ".unfinished"
    if marker.exists():
        began = marker.stat().st_mtime
        for path in folder.rglob("*.cpp"):
            if path.stat().st_mtime >= began:
                path.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    marker.touch()
    yield
    marker.unlink()


class Bundle(Extension):
    """One shared object that contains several extensions, its parts; ``cuda/core/_utils/bundle.py`` lists them."""

    def __init__(self, name: str, parts: list[Extension]):
        super().__init__(name, [source for part in parts for source in part.sources], language="c++")
        self.parts = parts


def bundled(found: list[Extension]) -> list[Extension]:
    """Return the extensions, with those of the bundle replaced by the bundle."""
    bundle = load(PACKAGE / "_utils" / "bundle.py")
    names = {f"cuda.core.{name}" for name in bundle.MODULES}
    parts = [part for part in found if part.name in names]
    if missing := names - {part.name for part in parts}:
        sys.exit(f"cuda/core/_utils/bundle.py lists modules that are not extensions: {', '.join(sorted(missing))}")
    return [Bundle(f"cuda.core.{bundle.NAME}", parts), *(part for part in found if part.name not in names)]


def load(path: Path):
    """Import a module of the source tree by its file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class BuildExtensions(build_ext):
    """Compile in parallel, through ccache if it is installed; then build the software device.

    Each part of the bundle is also linked by itself, below ``build/``, so that it is compiled only after it changed.
    """

    def initialize_options(self) -> None:
        super().initialize_options()
        self.parallel = JOBS
        self.parts = frozenset()

    def run(self) -> None:
        super().run()
        # A file of a part, left by an older build, would be installed but never loaded.
        for name in self.parts:
            for folder in (self.build_lib, *((ROOT,) if self.inplace else ())):
                Path(folder, self.get_ext_filename(name)).unlink(missing_ok=True)
        if sys.platform == "linux" and platform.machine() == "x86_64":
            target = EMULATOR if self.inplace else Path(self.build_lib) / "cuda" / "emulator"
            load(EMULATOR / "build.py").build(target / "_emulator.so", ROOT / "build" / "emulator", JOBS)

    def build_extensions(self) -> None:
        ccache = shutil.which("ccache")
        if ccache and "CC" not in os.environ:
            for attribute in ("compiler_so", "compiler_so_cxx", "compiler_cxx"):
                command = getattr(self.compiler, attribute, None)
                if command and attribute != "compiler_cxx":
                    self.compiler.set_executable(attribute, [ccache, *command])
        whole = self.extensions
        parts = [part for extension in whole if isinstance(extension, Bundle) for part in extension.parts]
        for part in parts:
            part._full_name, part._needs_stub = part.name, False
        self.parts = frozenset(part.name for part in parts)
        self.extensions = [*parts, *(extension for extension in whole if not isinstance(extension, Bundle))]
        super().build_extensions()
        self.extensions = whole
        for extension in whole:
            if isinstance(extension, Bundle):
                self.link_bundle(extension)

    def get_ext_fullpath(self, name: str) -> str:
        if name in self.parts:
            return str(Path(self.build_temp, self.get_ext_filename(name)))
        return super().get_ext_fullpath(name)

    def link_bundle(self, bundle: Bundle) -> None:
        objects = self.compiler.object_filenames(bundle.sources, output_dir=self.build_temp)
        path = self.get_ext_fullpath(bundle.name)
        if self.force or newer_group([*objects, str(PACKAGE / "_utils" / "bundle.py")], path):
            Path(path).unlink(missing_ok=True)  # link_shared_object skips files that are newer than their objects
            self.compiler.link_shared_object(objects, path, target_lang="c++")


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
            load(STUB_GENERATOR).write_stubs(ROOT, PACKAGE, Path(self.build_lib))


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
        ext_modules=bundled(extensions()) if not {"clean", "egg_info", "dist_info", "sdist"} & set(sys.argv) else [],
        cmdclass={"build_ext": BuildExtensions, "build_py": BuildPackage, "sdist": SourceDistribution},
    )
