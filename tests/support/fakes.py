# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures that replace a part of the process or of the machine for one test; ``conftest.py`` provides them to all."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import pytest


@pytest.fixture
def own_tempdir(monkeypatch, tmp_path):
    """Temporary files are created in ``tmp_path``."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def unraisable(monkeypatch):
    """The exceptions that could not be raised: a list of objects with their ``kind``, ``text`` and ``object``."""
    reports = []

    def hook(report):
        reports.append(SimpleNamespace(kind=report.exc_type, text=str(report.exc_value), object=report.object))

    monkeypatch.setattr(sys, "unraisablehook", hook)
    return reports


@pytest.fixture
def set_driver_version(monkeypatch):
    """A function that sets the driver version that programs compare with NVRTC's, or the error of querying it."""
    from cuda.core import _program

    def set_version(version):
        def driver_version():
            if isinstance(version, Exception):
                raise version
            return version

        monkeypatch.setattr(_program, "driver_version", driver_version)
        _program.is_newer_than_driver.cache_clear()

    yield set_version
    _program.is_newer_than_driver.cache_clear()


@pytest.fixture
def any_driver_age(set_driver_version):
    """No compiler counts as newer than the driver, whichever driver this machine has."""
    set_driver_version((99, 9, 0))


@pytest.fixture
def set_current_arch(monkeypatch):
    """A function that sets the architecture of the current device for options, or the error of asking for it."""
    from cuda.core._compile import _options

    def set_arch(arch):
        def current():
            if isinstance(arch, Exception):
                raise arch
            return SimpleNamespace(arch=arch)

        monkeypatch.setattr(_options, "Device", current)

    return set_arch


@pytest.fixture
def settle_at_once(monkeypatch):
    """A function that lets a header count as settled even if it has just changed."""
    from cuda.core._compile.cache import _headers

    return lambda: monkeypatch.setattr(_headers, "_UNSETTLED", -10_000_000_000)


@pytest.fixture
def fake_os(monkeypatch):
    """A function that replaces a function of the module ``os``, or lets it fail with an ``OSError`` of that number."""

    def replace(name, function):
        def fail(*args, **kwargs):
            raise OSError(function, os.strerror(function))

        monkeypatch.setattr(os, name, fail if isinstance(function, int) else function)

    return replace


@pytest.fixture
def without_nvjitlink(monkeypatch):
    """The bindings of nvJitLink cannot be imported, and nothing has asked for them yet."""
    from cuda.core import _linker
    from cuda.core._compile import _nvjitlink

    def forget():
        _nvjitlink.nvjitlink_version.cache_clear()
        _linker._decision.cache_clear()

    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "cuda.bindings.nvjitlink", None)
        forget()
        yield
    forget()


@pytest.fixture
def nvrtc_12_6(monkeypatch):
    """NVRTC seems to have version 12.6."""
    from cuda.core._compile import _nvrtc

    monkeypatch.setattr(_nvrtc, "nvrtc_version", lambda: (12, 6))
