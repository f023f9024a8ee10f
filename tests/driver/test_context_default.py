# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The default context: its device is chosen by the environment, by a file, or is the first that works."""

import builtins

import pytest

import cuda.core.driver as drv
from cuda.core.driver.tools import get_default_device, make_default_context
from support.interpreter import run


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path, device):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CUDA_DEVICE", raising=False)
    return tmp_path


def made_on(*arguments):
    context = make_default_context(*arguments)
    try:
        assert drv.Context.get_current() is context
        return context.get_device()
    finally:
        context.detach()


def test_first_device_is_the_default():
    assert made_on() == drv.Device(0)


@pytest.mark.requires(software=True)
def test_first_device_that_works_is_taken():
    code = (
        "import cuda.core.driver as drv\nfrom cuda.core.driver.tools import make_default_context\ntried = []\n"
        "def make(dev):\n"
        "    tried.append(dev)\n"
        "    if len(tried) == 1: raise drv.LogicError('no')\n"
        "    return dev.make_context()\n"
        "context = make_default_context(make)\n"
        "print(tried == [drv.Device(0), drv.Device(1)], context.get_device() == drv.Device(1))\ncontext.detach()"
    )
    assert run(code, CUDA_EMULATOR_DEVICES="2") == "True True\n"


def test_environment_chooses_the_device(monkeypatch):
    last = drv.Device.count() - 1
    monkeypatch.setenv("CUDA_DEVICE", str(last))
    assert made_on() == drv.Device(last)


@pytest.mark.parametrize("name", [".cuda_device", ".cuda-device"])
def test_file_in_the_home_directory_chooses_the_device(home, name):
    last = drv.Device.count() - 1
    (home / name).write_text(f"{last}\n")
    assert made_on() == drv.Device(last)
    with pytest.warns(DeprecationWarning, match="make_default_context"):
        assert get_default_device() == drv.Device(last)


def test_get_default_device_falls_back_to_the_given_ordinal():
    with pytest.warns(DeprecationWarning):
        assert get_default_device(0) == drv.Device(0)


def test_chosen_device_must_be_an_ordinal(monkeypatch):
    monkeypatch.setenv("CUDA_DEVICE", "fast one")
    with pytest.raises(builtins.RuntimeError, match="CUDA_DEVICE must contain a device ordinal"):
        make_default_context()


def test_no_device_raises_the_builtin_runtime_error():
    code = (
        "import cuda.core.driver as drv\nfrom cuda.core.driver.tools import make_default_context\n"
        "drv.Device.count = staticmethod(lambda: 0)\n"
        "try: make_default_context()\nexcept RuntimeError as error: print(error)"
    )
    assert "no CUDA device was found" in run(code)


def test_no_device_that_works_raises_the_builtin_runtime_error():
    def make(dev):
        raise drv.LogicError("cuCtxCreate failed")

    with pytest.raises(builtins.RuntimeError, match="no context could be created on any device; device 0: cuCtxCreate"):
        make_default_context(make)


@pytest.mark.parametrize("end", ["", "context.pop()", "context.detach()", "context.pop(); context.detach()"])
def test_process_exits_after_default_contexts_are_popped(end):
    code = f"import sys; sys.stderr = sys.stdout\nfrom cuda.core.driver.autoinit import context\n{end}"
    assert run(code) == ""
