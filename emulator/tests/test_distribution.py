# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The distribution ``cuda-emulator``: its source archive, its installed files, and the libraries beside the device."""

import ctypes
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import types
from importlib import metadata
from pathlib import Path

import pytest

import cuda.emulator

DEVICE = Path(__file__).resolve().parents[1]
PACKAGE = Path(cuda.emulator.__file__).parent
FOLDERS = ("benchmarks", "cuda", "src", "tests")
NAMES = {
    "libnvrtc.so.12": "nvrtcVersion",
    "libnvrtc.so.13": "nvrtcVersion",
    "libnvJitLink.so.12": "nvJitLinkVersion",
    "libnvJitLink.so.13": "nvJitLinkVersion",
    "libnvidia-ml.so.1": "nvmlInit_v2",
}


def is_source(path):
    return path.is_file() and ".so" not in path.suffixes and not {"__pycache__", ".pytest_cache"} & {*path.parts}


def installed():
    """Return the distribution that the tested package was installed from."""
    (found,) = metadata.distributions(name="cuda-emulator", path=[str(PACKAGE.parents[1])])
    return found


@pytest.mark.requires(source=True, module="scikit_build_core")
def test_source_archive_has_every_file_and_no_built_one(tmp_path):
    copy = tmp_path / "copy"
    wanted = [path for folder in FOLDERS for path in (DEVICE / folder).rglob("*") if is_source(path)]
    wanted += [path for path in DEVICE.iterdir() if path.is_file()]
    for path in wanted:
        target = copy / path.relative_to(DEVICE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    for built in ("cuda/emulator/_emulator.so", "cuda/emulator/libnvrtc.so.13", "build/CMakeCache.txt"):
        (copy / built).parent.mkdir(exist_ok=True)
        (copy / built).touch()
    code = "import sys, scikit_build_core.build as build; build.build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=copy, check=True, capture_output=True)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert names - {"PKG-INFO"} == {path.relative_to(DEVICE).as_posix() for path in wanted}


@pytest.fixture
def version(tmp_path, monkeypatch):
    """A checkout with a commit, and functions that run git in it and return the version of its builds."""
    build_version = runpy.run_path(str(DEVICE / "version.py"))["build_version"]
    author = ("-c", "user.name=A", "-c", "user.email=a@b.invalid")

    def git(*arguments):
        subprocess.run(["git", *author, *arguments], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    (tmp_path / "pyproject.toml").write_text("first")
    git("add", "pyproject.toml")
    git("commit", "--message=first")
    monkeypatch.chdir(tmp_path)
    return types.SimpleNamespace(git=git, of_build=lambda: build_version("1.3.0"), folder=tmp_path)


COMMIT = r"1\.3\.0\+g[0-9a-f]{8}"


@pytest.mark.requires(source=True, command="git")
def test_only_the_tagged_commit_has_the_version_of_the_release(version):
    assert re.fullmatch(COMMIT, version.of_build())
    version.git("tag", "v1.2.0")
    assert re.fullmatch(COMMIT, version.of_build())
    version.git("tag", "v1.3.0")
    assert version.of_build() == "1.3.0"
    (version.folder / "pyproject.toml").write_text("second")
    assert re.fullmatch(COMMIT + r"\.dirty", version.of_build())
    version.git("commit", "--all", "--message=second")
    assert re.fullmatch(COMMIT, version.of_build())


@pytest.mark.requires(source=True, command="git")
def test_copy_has_an_unknown_version_even_inside_of_a_checkout(version, monkeypatch):
    version.git("tag", "v1.3.0")
    copy = version.folder / "build"
    copy.mkdir()
    (copy / "pyproject.toml").write_text("first")
    monkeypatch.chdir(copy)
    assert version.of_build() == "1.3.0+unknown"
    monkeypatch.chdir(version.folder)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert version.of_build() == "1.3.0+unknown"


@pytest.mark.requires(source=True, command="git")
def test_source_distribution_keeps_the_version_that_it_states(version):
    (version.folder / "PKG-INFO").write_text("Metadata-Version: 2.2\nName: x\nVersion: 1.2.3+g1\n\nVersion: text\n")
    assert version.of_build() == "1.2.3+g1"


@pytest.mark.requires(installed=True)
def test_installed_files_are_those_of_the_package():
    found = {str(path) for path in installed().files if path.parts[0] == "cuda" and "__pycache__" not in path.parts}
    wanted = {path.relative_to(PACKAGE.parents[1]).as_posix() for path in PACKAGE.rglob("*") if path.is_file()}
    assert found == {name for name in wanted if "__pycache__" not in name}
    assert {f"cuda/emulator/{name}" for name in ("py.typed", "_emulator.so", "device_include/mma.h", *NAMES)} <= found


@pytest.mark.requires(installed=True)
def test_one_wheel_serves_every_python_and_requires_nothing():
    distribution = installed()
    (tag,) = [line for line in distribution.read_text("WHEEL").splitlines() if line.startswith("Tag: ")]
    assert tag.startswith("Tag: py3-none-")
    assert [line for line in distribution.requires or () if "extra ==" not in line] == []
    assert {(entry.group, entry.value) for entry in distribution.entry_points} == {
        ("pytest11", "cuda.emulator.pytest_plugin"),
        ("triton.backends", "cuda.emulator.triton"),
    }


@pytest.mark.requires(software=True)
@pytest.mark.parametrize("name", NAMES)
def test_library_of_this_name_is_the_device(name):
    assert ctypes.cast(getattr(ctypes.CDLL(name), NAMES[name]), ctypes.c_void_p).value == (
        ctypes.cast(getattr(ctypes.CDLL(cuda.emulator.library_path()), NAMES[name]), ctypes.c_void_p).value
    )


def test_only_names_of_interfaces_are_exported():
    listed = subprocess.run(
        ["nm", "-D", "--defined-only", cuda.emulator.library_path()], capture_output=True, text=True
    )
    names = {line.split()[-1] for line in listed.stdout.splitlines()}
    assert {"cuInit", "nvrtcVersion", "nvJitLinkVersion", "nvmlInit_v2", "emu_barrier"} <= names
    assert [name for name in names if not re.match("cu[A-Z]|nvrtc|(__)?nvJitLink|nvml|emu_|emulator_", name)] == []


def test_other_libraries_of_the_names_are_not_looked_for(tmp_path):
    for name in NAMES:
        (tmp_path / name).write_text("no library")
    code = "import cuda.emulator, ctypes; cuda.emulator.activate(); print(ctypes.CDLL('libnvrtc.so.13').nvrtcVersion)"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "_FuncPtr" in done.stdout, done.stderr
