# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""How the extensions are built (``setup.py``)."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.requires(source=True)


@pytest.fixture(scope="module")
def build():
    """The module ``setup.py``, which builds nothing when it is imported."""
    spec = importlib.util.spec_from_file_location("build_of_the_package", ROOT / "setup.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_output_of_an_interrupted_translation_is_discarded(build, tmp_path):
    finished, partial = tmp_path / "finished.cpp", tmp_path / "package" / "partial.cpp"
    finished.touch()
    os.utime(finished, (1, 1))

    def interrupt():
        with build.discarding_partial(tmp_path):
            partial.parent.mkdir()
            partial.touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    with build.discarding_partial(tmp_path):
        assert (finished.exists(), partial.exists()) == (True, False)
        partial.touch()
    with build.discarding_partial(tmp_path):
        assert partial.exists()
