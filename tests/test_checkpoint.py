# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Process checkpoints: the driver calls and their arguments, errors, and restoring a child process."""

import copy
import inspect
import os
import pickle
import weakref

import numpy as np
import pytest

from cuda.core import CUDAError, NotSupportedError, checkpoint, system
from cuda.core.checkpoint import Process
from support import child_calls
from support.interpreter import run
from support.processes import Child

UUIDS = "0123456789abcdef0123456789abcdef", "FEDCBA98-7654-3210-fedc-ba9876543210"


class FakeDriver:
    """Replaces the bindings' calls and keeps the state of one process, as a driver with checkpoints does."""

    STATES = ("RUNNING", "LOCKED", "CHECKPOINTED", "FAILED")

    def __init__(self, monkeypatch):
        from cuda.bindings import driver

        self.driver = driver
        self.state, self.calls, self.result = "RUNNING", [], None
        self.version, self.binding_version, self.get_state = (13, 0, 0), (13, 0, 2), self.state_of
        calls = {
            "Lock": self.step("Lock", "RUNNING", "LOCKED"),
            "Checkpoint": self.step("Checkpoint", "LOCKED", "CHECKPOINTED"),
            "Restore": self.step("Restore", "CHECKPOINTED", "LOCKED"),
            "Unlock": self.step("Unlock", "LOCKED", "RUNNING"),
            "GetState": lambda pid: self.get_state(pid),
            "GetRestoreThreadId": lambda pid: (self.code(), pid + 1),
        }
        for name, call in calls.items():
            monkeypatch.setattr(driver, f"cuCheckpointProcess{name}", call)
        monkeypatch.setattr(checkpoint, "driver_version", lambda: self.version)
        monkeypatch.setattr(checkpoint, "_binding_version", lambda: self.binding_version)

    def code(self):
        return self.driver.CUresult.CUDA_SUCCESS if self.result is None else self.result

    def step(self, name, before, after):
        def call(pid, args):
            self.calls.append((name, pid, args))
            if self.result is None and self.state != before:
                return (self.driver.CUresult.CUDA_ERROR_ILLEGAL_STATE,)
            if self.result is None:
                self.state = after
            return (self.code(),)

        return call

    def state_of(self, pid):
        if self.state not in self.STATES:
            return (self.code(), self.state)
        return (self.code(), getattr(self.driver.CUprocessState, f"CU_PROCESS_STATE_{self.state}"))


@pytest.fixture
def fake(monkeypatch):
    return FakeDriver(monkeypatch)


def all_uses(process):
    return [
        lambda: process.state,
        lambda: process.restore_thread_id,
        process.lock,
        lambda: process.lock("soon"),
        process.checkpoint,
        process.restore,
        lambda: process.restore(5),
        process.unlock,
    ]


# ---------------------------------------------------------------------------------- the object


def test_module_has_one_class_with_these_signatures():
    assert checkpoint.__all__ == ["Process"]
    assert not hasattr(checkpoint, "ProcessStateType")
    parameters = {
        name: str(inspect.signature(getattr(Process, name))) for name in ("lock", "checkpoint", "restore", "unlock")
    }
    assert parameters["lock"] == "(self, timeout_ms: 'int' = 0) -> 'None'"
    assert parameters["restore"] == "(self, gpu_mapping: 'Mapping | None' = None) -> 'None'"
    assert parameters["checkpoint"] == parameters["unlock"] == "(self) -> 'None'"
    assert len(checkpoint._binding_version()) == 3


@pytest.mark.parametrize("pid", [True, False, 1.0, "1", None, np.int64(5)])
def test_pid_is_an_int(pid):
    with pytest.raises(TypeError, match=f"pid must be an int, not {type(pid).__name__}"):
        Process(pid)


@pytest.mark.parametrize("pid", [0, -1])
def test_pid_is_positive(pid):
    with pytest.raises(ValueError, match=f"pid must be positive, not {pid}"):
        Process(pid)


def test_processes_compare_by_identity_and_are_immutable():
    process = Process(pid=1 << 40)  # need not exist
    assert process.pid == 1 << 40 and repr(process) == f"<Process pid={1 << 40}>"
    assert process == process and process != Process(1 << 40) and len({process, Process(1 << 40)}) == 2
    for other in (pickle.loads(pickle.dumps(process)), copy.copy(process)):
        assert type(other) is Process and other.pid == process.pid
    for change in (
        lambda: setattr(process, "pid", 3),
        lambda: delattr(process, "pid"),
        lambda: setattr(process, "other", 3),
    ):
        with pytest.raises(AttributeError):
            change()
    with pytest.raises(TypeError):
        weakref.ref(process)


# ------------------------------------------------------------------------------------ the calls


def test_full_cycle(fake):
    process = Process(7)
    states = [process.state]
    for method in (process.lock, process.checkpoint, process.restore, process.unlock):
        assert method() is None
        states.append(process.state)
    assert states == ["running", "locked", "checkpointed", "locked", "running"]
    assert all(type(state) is str for state in states)
    assert [(name, pid) for name, pid, _ in fake.calls] == [
        ("Lock", 7),
        ("Checkpoint", 7),
        ("Restore", 7),
        ("Unlock", 7),
    ]
    assert [args for name, _, args in fake.calls if name != "Lock"] == [None] * 3
    assert process.restore_thread_id == 8


def test_too_large_a_pid_is_passed_to_the_driver_as_the_largest(fake):
    process = Process(1 << 40)
    assert process.state == "running"
    for method in (process.lock, process.checkpoint, process.restore, process.unlock):
        method()
    assert {pid for _, pid, _ in fake.calls} == {(1 << 31) - 1}


def test_failed_process_says_so_and_an_unknown_state_raises(fake):
    fake.state = "FAILED"
    assert Process(7).state == "failed"
    fake.state = 99
    with pytest.raises(RuntimeError, match="unknown CUprocessState, 99"):
        Process(7).state  # noqa: B018


def test_steps_in_the_wrong_order_raise_the_driver_error(fake):
    for call in (Process(7).checkpoint, Process(7).restore, Process(7).unlock):
        with pytest.raises(CUDAError, match="CUDA_ERROR_ILLEGAL_STATE"):
            call()


@pytest.mark.parametrize("timeout", [0, 1500, (1 << 32) - 1])
def test_lock_passes_the_timeout_to_the_driver(fake, timeout):
    Process(7).lock(timeout_ms=timeout)
    assert fake.calls[0][2].timeoutMs == timeout


@pytest.mark.parametrize(
    "timeout, error, message",
    [
        (True, TypeError, "timeout_ms must be an int, not bool"),
        (1.5, TypeError, "timeout_ms must be an int, not float"),
        (None, TypeError, "timeout_ms must be an int, not NoneType"),
        (np.int32(5), TypeError, "timeout_ms must be an int, not int32"),
        (-1, ValueError, "timeout_ms must be at least 0, not -1"),
        (1 << 32, OverflowError, "timeout_ms must have at most 32 bits"),
    ],
)
def test_bad_timeouts_are_rejected_before_any_call(fake, timeout, error, message):
    with pytest.raises(error, match=message):
        Process(7).lock(timeout)
    assert fake.calls == []


def test_lock_that_times_out_raises_the_driver_error(fake):
    fake.result = fake.driver.CUresult.CUDA_ERROR_NOT_READY
    with pytest.raises(CUDAError, match="CUDA_ERROR_NOT_READY"):
        Process(7).lock(5)


@pytest.mark.parametrize(
    "name, advice",
    [
        ("ILLEGAL_STATE", r"The order of the steps .* Process\(71\).state"),
        ("NOT_INITIALIZED", "The process 71 has not initialized CUDA"),
        ("OPERATING_SYSTEM", "There is no process 71"),
    ],
)
def test_errors_advise_about_the_other_process(fake, name, advice):
    fake.result = getattr(fake.driver.CUresult, f"CUDA_ERROR_{name}")
    for call in (Process(71).lock, lambda: Process(71).state):
        with pytest.raises(CUDAError, match=rf"CUDA_ERROR_{name}: .*\n{advice}") as caught:
            call()
        assert len(str(caught.value).splitlines()) == 2


@pytest.mark.requires(bindings=(13, 0))
def test_gpu_mapping_is_passed_as_uuid_pairs(fake):
    fake.state = "CHECKPOINTED"
    third = fake.driver.CUuuid()
    Process(7).restore({UUIDS[0]: UUIDS[1], third: UUIDS[0]})
    args = fake.calls[0][2]
    assert args.gpuPairsCount == 2
    first, second = args.gpuPairs
    assert bytes(first.oldUuid.bytes).hex() == UUIDS[0]
    assert bytes(first.newUuid.bytes).hex() == UUIDS[1].replace("-", "").lower()
    assert bytes(second.oldUuid.bytes) == bytes(16)


def test_bindings_without_mappings_are_an_error(fake, monkeypatch):
    monkeypatch.delattr(fake.driver, "CUcheckpointGpuPair", raising=False)
    with pytest.raises(RuntimeError, match="gpu_mapping needs cuda-bindings 13"):
        Process(7).restore({UUIDS[0]: UUIDS[1]})
    assert fake.calls == []


def test_empty_mapping_is_passed_as_none(fake):
    fake.state = "CHECKPOINTED"
    Process(7).restore(gpu_mapping={})
    assert fake.calls[0][2] is None


@pytest.mark.parametrize(
    "mapping, error, message",
    [
        (5, TypeError, "gpu_mapping must be a mapping of UUIDs, not int"),
        ([(UUIDS[0], UUIDS[1])], TypeError, "gpu_mapping must be a mapping of UUIDs, not list"),
        ({UUIDS[0]: 5}, TypeError, "must be a str or driver.CUuuid, not int"),
        ({5: UUIDS[0]}, TypeError, "must be a str or driver.CUuuid, not int"),
        ({UUIDS[0].encode(): UUIDS[0]}, TypeError, "must be a str or driver.CUuuid, not bytes"),
        ({f"GPU-{UUIDS[0]}": UUIDS[0]}, ValueError, "must have 32 hexadecimal digits"),
        ({UUIDS[0]: UUIDS[0][:-1]}, ValueError, "must have 32 hexadecimal digits"),
        ({UUIDS[0]: "x" * 32}, ValueError, "must have 32 hexadecimal digits"),
        ({UUIDS[0]: "\u0660" * 32}, ValueError, "must have 32 hexadecimal digits"),
        ({"": UUIDS[0]}, ValueError, "not ''"),
    ],
)
def test_bad_mappings_are_rejected_before_any_call(fake, mapping, error, message):
    with pytest.raises(error, match=message):
        Process(7).restore(mapping)
    assert fake.calls == []


# ----------------------------------------------------------------- drivers without checkpoints


def test_import_needs_no_driver():
    out = run("from cuda.core.checkpoint import Process; print(Process(1).pid)", CUDA_CORE_DEVICE="hardware")
    assert out.split() == ["1"]


@pytest.mark.requires(software=True)
def test_software_device_has_no_checkpoints():
    for use in all_uses(Process(os.getpid())):
        with pytest.raises((RuntimeError, TypeError)):
            use()
    with pytest.raises(NotSupportedError, match=r"not supported by the CUDA driver here; it needs Linux and .* 12\.8"):
        Process(os.getpid()).lock()


@pytest.mark.parametrize("code", ["CUDA_ERROR_NOT_SUPPORTED", "CUDA_ERROR_NOT_FOUND"])
def test_driver_without_checkpoints_is_named_by_each_call(fake, code):
    fake.result = getattr(fake.driver.CUresult, code)
    process = Process(7)
    uses = (lambda: process.state, process.lock, process.checkpoint, process.restore, process.unlock)
    for use in (*uses, lambda: process.restore_thread_id):
        with pytest.raises(NotSupportedError, match="not supported by the CUDA driver here"):
            use()


def test_older_driver_raises_before_arguments_are_read(fake):
    fake.version = (12, 7, 0)
    for use in all_uses(Process(7)):
        with pytest.raises(NotSupportedError, match="it needs Linux and a driver for CUDA 12.8 or later"):
            use()
    assert fake.calls == []


@pytest.mark.parametrize(
    "version, fits",
    [
        ((12, 7, 9), False),
        ((12, 8, 0), True),
        ((12, 9, 9), True),
        ((13, 0, 1), False),
        ((13, 0, 2), True),
        ((14, 0), True),
    ],
)
def test_only_bindings_with_these_calls_are_used(fake, version, fits):
    fake.binding_version = version
    if fits:
        assert checkpoint._get_driver() is fake.driver
    else:
        with pytest.raises(
            RuntimeError, match=r"need cuda-bindings 12\.8 or later.*, not " + ".".join(map(str, version))
        ):
            checkpoint._get_driver()


def test_function_that_the_driver_lacks_reads_as_not_supported(fake):
    def missing(pid):
        raise RuntimeError('Function "cuCheckpointProcessGetState" not found')

    fake.get_state = missing
    with pytest.raises(NotSupportedError, match="not supported by the CUDA driver here"):
        Process(7).state  # noqa: B018


def test_other_bindings_errors_are_not_changed(fake):
    def broken(pid):
        raise RuntimeError("something else")

    fake.get_state = broken
    with pytest.raises(RuntimeError, match="something else"):
        Process(7).state  # noqa: B018


# -------------------------------------------------------------------------------- a real process


@pytest.fixture
def target():
    """A child process with known contents in its device memory, and a Process of it."""
    child = Child()
    try:
        child.uuid = child.call(child_calls.fill, 1 << 20)
        yield child, Process(child.process.pid)
    finally:
        assert child.stop() == 0


@pytest.mark.requires(checkpoint=True)
def test_memory_contents_survive_checkpoint_and_restore(target):
    child, process = target
    assert process.state == "running" and process.restore_thread_id > 0
    for method, state in (
        (lambda: process.lock(10_000), "locked"),
        (process.checkpoint, "checkpointed"),
        (process.restore, "locked"),
        (process.unlock, "running"),
    ):
        assert method() is None
        assert process.state == state
    assert child.call(child_calls.check)


@pytest.mark.requires(checkpoint=True)
def test_mapping_to_an_unknown_gpu_fails_and_restore_still_works(target):
    child, process = target
    process.lock(10_000)
    process.checkpoint()
    with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE"):
        process.restore({child.uuid: "0" * 32})
    process.restore()
    process.unlock()
    assert child.call(child_calls.check)


@pytest.mark.requires(checkpoint=True, devices=2)
def test_gpus_of_a_process_change_at_its_restore(target):
    child, process = target
    uuids = [device.uuid_without_prefix for device in system.Device.get_all_devices()]
    mapping = dict(zip(uuids, uuids[1:] + uuids[:1], strict=True))
    process.lock(10_000)
    process.checkpoint()
    with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE"):
        process.restore({child.uuid: mapping[child.uuid]})  # the mapping has to name all GPUs
    assert process.state == "checkpointed"
    process.restore(mapping)
    assert process.state == "locked"
    process.unlock()
    assert child.call(child_calls.check)
    assert child.call(child_calls.uuid) == mapping[child.uuid]


@pytest.mark.requires(checkpoint=True)
def test_steps_out_of_order_leave_the_process_running(target):
    child, process = target
    for step in (process.checkpoint, process.restore, process.unlock):
        with pytest.raises(CUDAError):
            step()
    assert process.state == "running" and child.call(child_calls.check)
