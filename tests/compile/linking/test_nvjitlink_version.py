# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The version of the installed nvJitLink."""

import types

import pytest

from cuda.core._compile import _nvjitlink as nvjitlink


@pytest.fixture
def fresh_version():
    nvjitlink.nvjitlink_version.cache_clear()
    yield
    nvjitlink.nvjitlink_version.cache_clear()


def raising(kind):
    def fail():
        raise kind("not found")

    return types.SimpleNamespace(version=fail)


@pytest.mark.parametrize(
    "module",
    [
        types.SimpleNamespace(version=lambda: (12, 2)),
        types.SimpleNamespace(),
        raising(RuntimeError),
    ],
)
def test_a_missing_or_too_old_nvjitlink_has_no_version(module, monkeypatch, fresh_version):
    monkeypatch.setattr(nvjitlink.importlib, "import_module", lambda name: module)
    assert nvjitlink.nvjitlink_version() is None


def test_without_bindings_there_is_no_version(monkeypatch, fresh_version):
    def fail(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(nvjitlink.importlib, "import_module", fail)
    assert nvjitlink.nvjitlink_version() is None


def test_the_oldest_supported_nvjitlink_has_its_version(monkeypatch, fresh_version):
    monkeypatch.setattr(
        nvjitlink.importlib, "import_module", lambda name: types.SimpleNamespace(version=lambda: (12, 3))
    )
    assert nvjitlink.nvjitlink_version() == (12, 3)
