# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The reason for missing extension modules, found from the place of the package."""

from __future__ import annotations

from cuda.core._utils.importing.unbuilt import diagnosis


def test_checkout_is_recognized_by_its_setup_script(tmp_path):
    (tmp_path / "setup.py").touch()
    what, todo = diagnosis(str(tmp_path / "cuda" / "core"))
    assert f"the source checkout {tmp_path}" in what
    assert "python -P" in todo


def test_incomplete_installation_should_be_reinstalled(tmp_path):
    what, todo = diagnosis(str(tmp_path / "cuda" / "core"))
    assert "incomplete" in what
    assert "pip install --force-reinstall" in todo
