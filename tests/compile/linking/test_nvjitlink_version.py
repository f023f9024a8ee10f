# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Which nvJitLink there is."""

import types

import pytest

from cuda.core._compile.linking import _nvjitlink_version as nvjitlink


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
def test_no_nvjitlink_or_one_that_is_too_old(module, monkeypatch, fresh_version):
    monkeypatch.setattr(nvjitlink.importlib, "import_module", lambda name: module)
    assert nvjitlink.nvjitlink_version() is None


def test_no_bindings_of_nvjitlink(monkeypatch, fresh_version):
    def fail(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(nvjitlink.importlib, "import_module", fail)
    assert nvjitlink.nvjitlink_version() is None


def test_oldest_nvjitlink(monkeypatch, fresh_version):
    monkeypatch.setattr(
        nvjitlink.importlib, "import_module", lambda name: types.SimpleNamespace(version=lambda: (12, 3))
    )
    assert nvjitlink.nvjitlink_version() == (12, 3)
