# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A device of NVML, and a way to let NVML say what this machine has not."""

import pytest


@pytest.fixture
def gpu():
    """The first device of NVML."""
    from cuda.core import system

    return system.Device(index=0)


@pytest.fixture
def gpus():
    """All devices of NVML."""
    from cuda.core import system

    return list(system.Device.get_all_devices())


class Told:
    """``told(name, value)`` makes a function of NVML give a value, or raise an exception.

    ``calls`` has the names and arguments of the calls.
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
            return value

        assert hasattr(nvml, name)
        self.monkeypatch.setattr(nvml, name, function)


@pytest.fixture
def told(monkeypatch):
    return Told(monkeypatch)


@pytest.fixture
def refused():
    """The exception of NVML for what a device has not."""
    from cuda.bindings import nvml

    return nvml.NotSupportedError(nvml.Return.ERROR_NOT_SUPPORTED)
