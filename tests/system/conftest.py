# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NVML devices, and replacements for NVML functions."""

import inspect

import pytest


@pytest.fixture
def gpu():
    """The first NVML device."""
    from cuda.core import system

    return system.Device(index=0)


@pytest.fixture
def gpus():
    """All NVML devices."""
    from cuda.core import system

    return list(system.Device.get_all_devices())


class FakeNvml:
    """``fake(name, value)`` replaces an NVML function: it returns, raises or calls the value.

    ``calls`` has the names and arguments of the calls of replaced functions.
    """

    def __init__(self, monkeypatch):
        self.monkeypatch = monkeypatch
        self.calls = []

    def __call__(self, name, value=None):
        from cuda.bindings import nvml

        def function(*arguments):
            self.calls.append((name, *arguments))
            if isinstance(value, BaseException):
                raise value
            return value(*arguments) if inspect.isfunction(value) else value

        assert hasattr(nvml, name)
        self.monkeypatch.setattr(nvml, name, function)


@pytest.fixture
def fake(monkeypatch):
    """Replace NVML functions for a test."""
    return FakeNvml(monkeypatch)


@pytest.fixture
def not_supported():
    """The NVML exception for a query that a device does not support."""
    from cuda.bindings import nvml

    return nvml.NotSupportedError(nvml.Return.ERROR_NOT_SUPPORTED)


@pytest.fixture
def run_without_nvml():
    """A function that runs a program with bindings that have no NVML module, and returns its output."""
    from support.interpreter import run

    without = "import sys; sys.modules['cuda.bindings.nvml'] = None\nfrom cuda.core import system\n"
    return lambda program: run(without + program)
