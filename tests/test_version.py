# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The version of the package, as text and as numbers."""

import re
import tomllib
from pathlib import Path

import pytest

import cuda.core
from cuda.core import _version


def test_text_and_numbers_are_the_same_version():
    assert cuda.core.__version__ == _version.__version__ == _version.version
    numbers = re.match(r"\d+\.\d+\.\d+", _version.version)[0]
    assert _version.__version_tuple__[:3] == _version.version_tuple[:3] == tuple(map(int, numbers.split(".")))


@pytest.mark.requires(source=True)
def test_version_matches_the_project():
    project = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text())["project"]
    assert project["version"] == _version.version
