# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The version of the installed nvJitLink."""

import sys
import types

import pytest

from cuda.core._compile import _nvjitlink as nvjitlink


@pytest.fixture
def installed(monkeypatch):
    """A function that sets the module of the bindings, None for none, and returns the version."""

    def version_of(module):
        monkeypatch.setitem(sys.modules, "cuda.bindings.nvjitlink", module)
        nvjitlink.nvjitlink_version.cache_clear()
        return nvjitlink.nvjitlink_version()

    yield version_of
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
def test_a_missing_or_too_old_nvjitlink_has_no_version(module, installed):
    assert installed(module) is None


def test_without_bindings_there_is_no_version(installed):
    assert installed(None) is None


def test_the_oldest_supported_nvjitlink_has_its_version(installed):
    assert installed(types.SimpleNamespace(version=lambda: (12, 3))) == (12, 3)
