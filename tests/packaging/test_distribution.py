# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The source distribution has every tracked file, so that it builds the same wheel as the checkout (`.ci/sdist`)."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (".ci", "benchmarks", "cuda", "docs", "examples", "tests", "tools")
GENERATED = {"PKG-INFO", "setup.cfg"}

pytestmark = pytest.mark.requires(source=True)


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> dict[str, bytes]:
    """The contents of a source distribution by name."""
    checkout, out = tmp_path_factory.mktemp("checkout") / "source", tmp_path_factory.mktemp("dist")
    # A copy, because setuptools writes metadata beside setup.py.
    for path in ROOT.iterdir():
        if path.name in FOLDERS:
            shutil.copytree(path, checkout / path.name)
        elif path.is_file() and not path.name.startswith("."):
            checkout.mkdir(exist_ok=True)
            shutil.copy(path, checkout)
    (checkout / "emulator").mkdir()
    shutil.copy(ROOT / "emulator" / "version.py", checkout / "emulator")
    (checkout / "cuda" / "core" / "left_over.so").touch()
    (checkout / "cuda" / "core" / "__pycache__").mkdir(exist_ok=True)
    (checkout / "cuda" / "core" / "__pycache__" / "left_over.pyc").touch()
    command = [sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", str(out)]
    subprocess.run(command, cwd=checkout, check=True, capture_output=True, timeout=60)
    with tarfile.open(next(out.iterdir())) as packed:
        members = [member for member in packed.getmembers() if member.isfile()]
        return {member.name.partition("/")[2]: packed.extractfile(member).read() for member in members}


def test_distribution_has_every_file_of_package_and_tests(archive):
    wanted = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    wanted = [path for path in wanted if is_source(path)]
    assert len(wanted) > 300
    assert [str(path) for path in wanted if archive.get(path.relative_to(ROOT).as_posix()) != path.read_bytes()] == []


def test_distribution_has_the_files_of_the_top_folder(archive):
    for name in ("README.md", "LICENSE", "pyproject.toml", "setup.py"):
        assert archive[name] == (ROOT / name).read_bytes()


def test_distribution_has_no_generated_files(archive):
    wrong = [name for name in archive if name.endswith((".so", ".pyc")) or "_build/" in name]
    assert wrong == []
    unknown = [name for name in archive if not (ROOT / name).exists() and ".egg-info/" not in name]
    assert set(unknown) <= GENERATED


def is_source(path: Path) -> bool:
    return path.suffix != ".so" and {
        "__pycache__",
        "_build",
        "generated",
        ".pytest_cache",
        ".hypothesis",
        "host",
    }.isdisjoint(path.parts)
