# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The version of the package, as text and as numbers."""

import runpy
from importlib import metadata
from pathlib import Path

import pytest

import cuda.core
from cuda.core import _version

ROOT = Path(cuda.core.__file__).parents[2]


@pytest.fixture
def executed(tmp_path):
    """A function that returns the variables of the module as it is in a build of a version."""

    def executed(version: str) -> dict:
        text = Path(_version.__file__).read_text().replace(f'"{_version.version}"', f'"{version}"')
        (tmp_path / "_version.py").write_text(text)
        return runpy.run_path(str(tmp_path / "_version.py"))

    return executed


def test_text_and_numbers_are_the_same_version():
    assert cuda.core.__version__ == _version.__version__ == _version.version
    numbers = tuple(map(int, _version.version.partition("+")[0].split(".")))
    assert _version.__version_tuple__[:3] == _version.version_tuple[:3] == numbers


@pytest.mark.parametrize(
    ("version", "numbers", "commit"),
    [
        ("1.3.0", (1, 3, 0), None),
        ("1.3.0+g12ab34cd", (1, 3, 0, "g12ab34cd"), "g12ab34cd"),
        ("1.3.0+source", (1, 3, 0, "source"), None),
    ],
)
def test_build_that_is_no_release_names_its_commit(executed, version, numbers, commit):
    found = executed(version)
    assert (found["__version__"], found["version_tuple"], found["commit_id"]) == (version, numbers, commit)


@pytest.mark.requires(source=True)
def test_checkout_is_not_mistaken_for_a_release():
    text = (Path(__file__).resolve().parents[1] / "cuda" / "core" / "_version.py").read_text()
    assert '+source"' in text


def test_installed_metadata_have_the_same_version():
    found = metadata.distributions(name="cuda-core", path=[str(ROOT)])
    installed = [one.version for one in found if one.read_text("RECORD")]  # others are left by a build in the checkout
    assert installed in ([], [cuda.core.__version__])
