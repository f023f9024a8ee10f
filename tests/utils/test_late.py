# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Modules that are imported on first use."""

import sys

import pytest

from cuda.core._utils.late import LateModule


def test_late_module_is_imported_when_an_attribute_is_read(tmp_path, monkeypatch):
    (tmp_path / "comes_late.py").write_text("value = []\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = LateModule("comes_late")
    assert "comes_late" not in sys.modules
    try:
        assert module.value is module.value is sys.modules["comes_late"].value
        with pytest.raises(AttributeError, match="'comes_late' has no attribute 'other'"):
            module.other  # noqa: B018
    finally:
        sys.modules.pop("comes_late", None)


def test_late_module_that_does_not_exist_is_an_error():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        LateModule("no_such_module").value  # noqa: B018
