# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The bundle: one shared object with the extension modules that a first result loads."""

from __future__ import annotations

import ast
import importlib
import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path

import pytest

import cuda.core
from cuda.core._utils import bundle

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "benchmarks" / "first_result" / "program.py"
PACKAGE = Path(cuda.core.__file__).parent
# The extension modules that a program has loaded, with their files.
SHOW = f"""
import sys
for name, module in sorted(sys.modules.items()):
    path = getattr(module, "__file__", None) or ""
    if name.startswith("cuda.core") and path.endswith({EXTENSION_SUFFIXES[0]!r}):
        print(name, path)
"""


@pytest.mark.requires(device=True, nvrtc=True, source=True)
@pytest.mark.parametrize("is_cached", [False, True])
def test_first_result_opens_no_other_extension(is_cached, tmp_path):
    arguments = [str(tmp_path)] if is_cached else []
    code = f"exec(open({str(PROGRAM)!r}).read())\n{SHOW}"
    done = subprocess.run([sys.executable, "-P", "-c", code, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    files = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert "cuda.core._launcher" in files
    assert {name for name, path in files.items() if Path(path).name.partition(".")[0] != bundle.NAME} == set()


@pytest.mark.parametrize("name", bundle.MODULES)
def test_modules_have_their_own_name_and_the_file_of_the_bundle(name):
    module = importlib.import_module(f"cuda.core.{name}")
    path = bundle.bundle_path(str(PACKAGE))
    assert module.__name__ == module.__spec__.name == f"cuda.core.{name}"
    assert module.__file__ == module.__spec__.origin == path
    assert not (PACKAGE / (name.replace(".", "/") + EXTENSION_SUFFIXES[0])).exists()


def test_last_parts_of_names_are_unique():
    ends = {name.rpartition(".")[2] for name in bundle.MODULES}
    assert len(ends) == len(bundle.MODULES) and bundle.NAME not in ends


def test_finder_finds_only_modules_of_the_package():
    finder = bundle.BundleFinder("/there/_bundle.so")
    assert finder.find_spec("cuda.core._stream").origin == "/there/_bundle.so"
    for name in ("cuda.core", "cuda.core._utils", "cuda.core._stream.x", "cuda.core.typing", "_stream", "numpy"):
        assert finder.find_spec(name) is None


@pytest.mark.requires(source=True)
@pytest.mark.parametrize("name", bundle.PACKAGES)
def test_packages_keep_their_path_and_have_only_a_docstring(name):
    folder = PACKAGE / name.replace(".", "/")
    package = importlib.import_module(f"cuda.core.{name}")
    assert list(package.__path__) == [str(folder)]
    (only,) = ast.parse((folder / "__init__.py").read_text()).body
    assert isinstance(only, ast.Expr) and isinstance(only.value.value, str)


@pytest.mark.parametrize("name", ["typing", "_utils.importing.deferred", "_compile._options"])
def test_modules_in_python_have_the_spec_of_the_path_finder(name):
    module = importlib.import_module(f"cuda.core.{name}")
    package = importlib.import_module(module.__package__)
    plain = PathFinder.find_spec(module.__name__, package.__path__)
    found = bundle.BundleFinder("/there/_bundle.so").find_spec(module.__name__, package.__path__)
    assert (found.origin, found.cached, found.has_location) == (plain.origin, plain.cached, True)
    assert (type(found.loader), found.loader.path) == (type(plain.loader), plain.loader.path)
    assert (module.__file__, module.__cached__) == (plain.origin, plain.cached)


def test_missing_modules_raise_the_error_of_python():
    with pytest.raises(ModuleNotFoundError, match="cuda.core._compile._nothing"):
        importlib.import_module("cuda.core._compile._nothing")


def test_there_is_one_finder_which_comes_before_that_of_python():
    found = [finder for finder in sys.meta_path if type(finder).__name__ == "BundleFinder"]
    assert len(found) == 1
    assert sys.meta_path.index(found[0]) < [getattr(f, "__name__", "") for f in sys.meta_path].index("PathFinder")


def test_a_missing_bundle_has_no_path(tmp_path):
    assert bundle.bundle_path(str(tmp_path)) is None
    path = tmp_path / f"{bundle.NAME}{EXTENSION_SUFFIXES[0]}"
    path.touch()
    assert bundle.bundle_path(str(tmp_path)) == os.fspath(path)


def test_bundle_itself_cannot_be_imported():
    with pytest.raises(ImportError):
        importlib.import_module(f"cuda.core.{bundle.NAME}")
