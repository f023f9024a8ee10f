# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NVML is initialized once, on first use, and again after a fork. Without its library, each query raises."""

import os

import pytest
from cuda.pathfinder import DynamicLibNotFoundError

from cuda.core import system
from cuda.core.system import _nvml_context
from support.interpreter import run
from support.threads import run_in_threads


@pytest.fixture
def uninitialized(monkeypatch):
    """NVML as before its initialization, for this test."""
    monkeypatch.setattr(_nvml_context, "_state", 0)


def test_initialization_is_thread_safe(uninitialized, fake):
    fake("init_v2")
    assert run_in_threads(lambda number: _nvml_context.initialize()) == []
    assert fake.calls == [("init_v2",)]
    assert _nvml_context.is_initialized() is True and _nvml_context._get_nvml_state() == 1


def test_failed_initialization_is_tried_again(uninitialized, fake):
    fake("init_v2", system.DriverNotLoadedError(9))
    for _ in range(2):
        with pytest.raises(system.DriverNotLoadedError):
            _nvml_context.initialize()
    assert len(fake.calls) == 2 and _nvml_context._get_nvml_state() == 0


# The error is created in the test, because the bindings need NVML's library to create it.
@pytest.mark.parametrize("cls, cause", [(DynamicLibNotFoundError, "no nvml"), (system.LibraryNotFoundError, 12)])
def test_without_the_library_each_query_raises(uninitialized, fake, cls, cause):
    error = cls(cause)
    fake("init_v2", error)
    for query in (system.get_num_devices, system.get_user_mode_driver_version, lambda: system.Device(index=0)):
        with pytest.raises(type(error)):
            query()
    with pytest.raises(ValueError):
        system.Device()
    assert _nvml_context._get_nvml_state() == 2 and _nvml_context.is_initialized() is False
    with pytest.raises(system.LibraryNotFoundError):
        _nvml_context.validate()


def test_errors_can_be_created_without_the_library(monkeypatch):
    class NeedsLibrary(Exception):
        def __init__(self, status):
            raise DynamicLibNotFoundError("no nvml")

    error = _nvml_context._error(NeedsLibrary, 12, "NVML Shared Library Not Found")
    assert (type(error), error.status, str(error)) == (NeedsLibrary, 12, "NVML Shared Library Not Found")


@pytest.mark.requires(software=True)
def test_validate_names_a_missing_library():
    out = run(
        "from cuda.core.system import _nvml_context as c\n"
        "try: c.validate()\n"
        "except Exception as error: print(type(error).__name__)\n"
        "try: c.initialize()\n"
        "except RuntimeError: pass\n"
        "try: c.validate()\n"
        "except Exception as error: print(type(error).__name__)\n"
        "print(c._get_nvml_state())",
        CUDA_CORE_DEVICE="hardware",
    ).split()
    assert out[0] == "UninitializedError"
    assert out[1:] == (["LibraryNotFoundError", "2"] if out[-1] == "2" else ["1"])


def test_validate_before_the_initialization_raises(uninitialized):
    with pytest.raises(system.UninitializedError):
        _nvml_context.validate()


def test_validate_without_a_gpu_raises(uninitialized, fake):
    fake("init_v2")
    fake("device_get_count_v2", 0)
    _nvml_context.initialize()
    with pytest.raises(system.GpuNotFoundError):
        _nvml_context.validate()


@pytest.mark.requires(nvml=True)
def test_validate_with_a_gpu_returns_none():
    _nvml_context.initialize()
    _nvml_context.initialize()
    assert _nvml_context.validate() is None


def test_importing_does_not_initialize_nvml():
    code = (
        "from cuda.core import system; from cuda.core.system import _nvml_context as c\n"
        "print(c._get_nvml_state(), c.is_initialized())"
    )
    assert run(code).split() == ["0", "False"]
    assert run(code, CUDA_CORE_DEVICE="hardware").split() == ["0", "False"]


@pytest.mark.requires(nvml=True)
def test_nvml_is_shut_down_at_exit():
    out = run(
        "import atexit\nfrom cuda.bindings import nvml\n"
        "real = nvml.shutdown\n"
        "def shutdown(): real(); print('shut down')\n"
        "nvml.shutdown = shutdown\n"
        "from cuda.core import system; d = system.Device(index=0); events = d.register_events([])\n"
        "print(d.index)"
    )
    assert out.split() == ["0", "shut", "down"]


def test_nvml_is_not_shut_down_if_it_was_not_initialized():
    out = run(
        "from cuda.bindings import nvml\nnvml.shutdown = lambda: print('shut down')\nfrom cuda.core import system"
    )
    assert out == ""


@pytest.mark.requires(nvml=True)
def test_forked_child_initializes_nvml_again():
    out = run(
        "import os, warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from cuda.core import system; from cuda.core.system import _nvml_context as c\n"
        "d = system.Device(index=0); e = d.register_events([])\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    print(c._get_nvml_state(), d.name == system.Device(index=0).name, c._get_nvml_state(), flush=True)\n"
        "    del e\n"
        "    os._exit(0)\n"
        "assert os.waitpid(pid, 0)[1] == 0\n"
        "print(c._get_nvml_state())"
    )
    assert out.split() == ["0", "True", "1", "1"]


@pytest.mark.requires(nvml=True)
def test_forked_child_finds_a_device_of_its_parent_again():
    out = run(
        "import os, warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from cuda.core import system\n"
        "from cuda.bindings import nvml\n"
        "d = system.Device(index=0); old = d._handle; total = d.memory_info.total; mine = d.mig\n"
        "def child(depth):\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        print(d.memory_info.total == total, d.index, d.mig.is_mig_device == mine.is_mig_device, flush=True)\n"
        "        if depth: child(depth - 1)\n"
        "        os._exit(0)\n"
        "    assert os.waitpid(pid, 0)[1] == 0\n"
        "child(1)\n"
        "print(d._handle == old, d.memory_info.total == total)"
    )
    assert out.split() == ["True", "0", "True"] * 2 + ["True", "True"]


@pytest.mark.requires(nvml=True)
def test_device_without_a_handle_raises(fake):
    device = system.Device.__new__(system.Device)
    with pytest.raises(system.UninitializedError):
        device.memory_info  # noqa: B018
    assert "handle=0x0" in repr(device)


@pytest.mark.requires(nvml=True, software=True)
def test_forked_child_rejects_a_handle_of_its_parent():
    out = run(
        "import os, warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from cuda.bindings import nvml\n"
        "import cuda.core\n"
        "nvml.init_v2(); old = nvml.device_get_handle_by_index_v2(0)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    nvml.init_v2()\n"
        "    try: nvml.device_get_name(old)\n"
        "    except nvml.UninitializedError: print('rejected', flush=True)\n"
        "    print(nvml.device_get_handle_by_index_v2(0) != old, flush=True)\n"
        "    os._exit(0)\n"
        "assert os.waitpid(pid, 0)[1] == 0"
    )
    assert out.split() == ["rejected", "True"]


@pytest.mark.requires(nvml=True)
def test_child_forked_during_initialization_can_initialize_nvml():
    out = run(
        "import os, warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from cuda.core.system import _nvml_context as c\n"
        "c._lock.acquire()\n"  # like a thread that is initializing NVML
        "pid = os.fork()\n"
        "if pid == 0: c.initialize(); print(c.is_initialized(), flush=True); os._exit(0)\n"
        "assert os.waitpid(pid, 0)[1] == 0; c._lock.release()"
    )
    assert out.split() == ["True"]


@pytest.mark.requires(nvml=True)
def test_spawned_child_initializes_nvml_itself():
    from multiprocessing import get_context

    with get_context("spawn").Pool(1) as pool:
        assert pool.apply(_nvml_context._get_nvml_state) == 0
        assert pool.apply(system.get_num_devices) == system.get_num_devices()
        assert pool.apply(_nvml_context._get_nvml_state) == 1
        assert pool.apply(os.getpid) != os.getpid()
