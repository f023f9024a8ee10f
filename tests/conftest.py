# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Fixtures for devices and streams, and the one marker that states a test's needs."""

import os
import signal
import sys

import pytest

from support.capabilities import capabilities
from support.contexts import end_capture, end_captures, is_context_lost
from support.fakes import (  # noqa: F401
    any_driver_age,
    fake_os,
    nvrtc_12_6,
    own_tempdir,
    set_current_arch,
    set_driver_version,
    settle_at_once,
    unraisable,
    without_nvjitlink,
)
from support.processes import Child, exempt_older_objects, start_method


def pytest_configure(config):
    # A background job of a shell ignores Ctrl-C, and child processes of tests would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "requires(**needs): skip where the machine lacks a capability")
    config.addinivalue_line("markers", "nvidia: needs NVIDIA's own compilers; set by requires(software=False)")


def pytest_collection_modifyitems(items):
    for item in items:
        needs = {}
        fixtures = set(getattr(item, "fixturenames", ()))
        if {"device", "stream", "devices"} & fixtures:
            needs["device"] = True
        for mark in item.iter_markers("requires"):
            needs.update(mark.kwargs)
        if needs.get("software") is False:
            item.add_marker(pytest.mark.nvidia)
        reason = capabilities().missing(needs) if needs else None
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish():
    exempt_older_objects()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """End a worker of pytest-xdist whose context is lost, so that the tests after this one run in a new one."""
    report = yield
    if report.failed and "PYTEST_XDIST_WORKER" in os.environ and is_context_lost():
        print(f"{item.nodeid} lost the context:\n{report.longreprtext}", file=sys.__stderr__, flush=True)
        os._exit(1)
    return report


@pytest.fixture(autouse=True)
def no_capture_is_left():
    """End the captures that the test left open."""
    yield
    end_captures()


@pytest.fixture
def device():
    """Device 0, current on this thread."""
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    return device


@pytest.fixture
def devices(device):
    """All devices; number 0 is current."""
    from cuda.core import Device

    return Device.get_all_devices()


@pytest.fixture
def stream(device):
    """A new stream of device 0, idle and closed at the end."""
    stream = device.create_stream()
    yield stream
    if not stream.is_closed:
        end_capture(stream)
        stream.sync()
        stream.close()


@pytest.fixture
def spawned():
    """Start child processes without a fork, which would warn."""
    with start_method("spawn"):
        yield


@pytest.fixture(scope="module")
def child():
    """A child process that calls functions for the test."""
    child = Child()
    yield child
    assert child.stop() == 0
