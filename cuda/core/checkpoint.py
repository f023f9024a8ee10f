# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of processes: the state of a process on its GPUs goes to host memory, and comes back."""

from __future__ import annotations

import ctypes
import string
from collections.abc import Mapping

from cuda.core._utils.cuda_utils import CUDAError, driver, handle_return
from cuda.core._utils.enums import PROCESS_STATE
from cuda.core._utils.errors.initialised import needs_init
from cuda.core._utils.errors.values import answering, completed_as
from cuda.core._utils.validators import shown
from cuda.core._utils.version import binding_version as _binding_version
from cuda.core._utils.version import driver_version
from cuda.core._utils.waiting import call_interruptibly
from cuda.core.typing import ProcessStateType as _ProcessStateType

__all__ = ["Process"]

_ADVICE = {
    "CUDA_ERROR_ILLEGAL_STATE": "The order of the steps is lock, checkpoint, restore, unlock; "
    "Process({pid}).state says where the process stands.",
    "CUDA_ERROR_NOT_INITIALIZED": "The process {pid} does not use CUDA, or not yet.",
    "CUDA_ERROR_OPERATING_SYSTEM": "There is no process {pid}, or this user has no right to stop it.",
}
_DRIVER = (12, 8)
_UNSUPPORTED = (
    "process checkpointing is not supported by the CUDA driver here; "
    "it needs Linux and a driver for CUDA {}.{} or later".format(*_DRIVER)
)


@answering
@needs_init("_pid")
class Process:
    """A process that uses CUDA, to be stopped, put aside and resumed by another one.

    The order is :meth:`lock`, :meth:`checkpoint`, then whatever saves the process or uses the GPUs
    meanwhile, :meth:`restore` and :meth:`unlock`. Making this object calls no driver; every other use
    raises :class:`RuntimeError` where the bindings or the driver have no checkpoints. Processes of
    other users need the rights of an administrator. Linux only.

    Parameters
    ----------
    pid : int
        The process. It need not exist yet.

    Raises
    ------
    TypeError
        If ``pid`` is no int.
    ValueError
        If ``pid`` is not positive, or no 64-bit number.
    """

    __slots__ = ("_pid",)

    def __init__(self, pid: int):
        _check_int("pid", pid)
        if pid <= 0:
            raise ValueError(f"pid must be positive, not {shown(pid)}")
        if pid >> 63:
            raise ValueError(f"pid must be below 2**63, not {shown(pid)}")
        self._pid = pid

    def __repr__(self):
        return f"<Process pid={self._pid}>"

    def __reduce__(self):
        return type(self), (self._pid,)

    def lock(self, timeout_ms: int = 0) -> None:
        """Let the process make no further CUDA calls (``cuCheckpointProcessLock``).

        Parameters
        ----------
        timeout_ms : int, optional
            How many milliseconds to wait for calls in progress; then the process runs on. Default is
            0: no limit.

        Raises
        ------
        TypeError
            If ``timeout_ms`` is no int.
        ValueError
            If ``timeout_ms`` is negative.
        OverflowError
            If ``timeout_ms`` has more than 32 bits.
        RuntimeError
            If there are no checkpoints here.
        CUDAError
            If the process does not run, does not use CUDA, or did not come to rest in time.
        """
        _get_driver()
        _check_int("timeout_ms", timeout_ms)
        if timeout_ms < 0:
            raise ValueError(f"timeout_ms must be at least 0, not {shown(timeout_ms)}")
        if timeout_ms >> 32:
            raise OverflowError(f"timeout_ms must have at most 32 bits, not {shown(timeout_ms)}")
        args = driver.CUcheckpointLockArgs()
        args.timeoutMs = timeout_ms
        _call("cuCheckpointProcessLock", self._pid, args)

    def checkpoint(self) -> None:
        """Move what the locked process has on its GPUs to host memory, and release them
        (``cuCheckpointProcessCheckpoint``).

        Raises
        ------
        RuntimeError
            If there are no checkpoints here.
        CUDAError
            If the process is not locked.
        """
        _call("cuCheckpointProcessCheckpoint", self._pid, None)

    def restore(self, gpu_mapping: Mapping | None = None) -> None:
        """Bring back what a checkpoint has moved (``cuCheckpointProcessRestore``). The process stays locked.

        Parameters
        ----------
        gpu_mapping : mapping, optional
            From the UUIDs of the GPUs before to those on which the process goes on, each a
            ``driver.CUuuid`` or a string such as :attr:`Device.uuid`. All GPUs of the machine must be
            in it, also those that ``CUDA_VISIBLE_DEVICES`` hides. Default: the same GPUs.

        Raises
        ------
        TypeError
            If ``gpu_mapping`` is no mapping, or a UUID is of another type.
        ValueError
            If a string is no UUID.
        RuntimeError
            If there are no checkpoints here.
        CUDAError
            If there is no checkpoint of the process, or its GPUs cannot be changed in this way.
        """
        _get_driver()
        _call("cuCheckpointProcessRestore", self._pid, _restore_args(gpu_mapping))

    def unlock(self) -> None:
        """Let the process go on (``cuCheckpointProcessUnlock``).

        Raises
        ------
        RuntimeError
            If there are no checkpoints here.
        CUDAError
            If the process is not locked.
        """
        _call("cuCheckpointProcessUnlock", self._pid, None)

    @property
    def pid(self) -> int:
        """The process."""
        return self._pid

    @property
    @completed_as(str)
    def state(self) -> _ProcessStateType:
        """``"running"``, ``"locked"``, ``"checkpointed"`` or ``"failed"`` (``cuCheckpointProcessGetState``).

        Raises
        ------
        RuntimeError
            If there are no checkpoints here, or the driver gives a state that has no name.
        CUDAError
            If the process does not use CUDA.
        """
        return PROCESS_STATE.from_driver(_call("cuCheckpointProcessGetState", self._pid))

    @property
    def restore_thread_id(self) -> int:
        """The thread of the process that :meth:`restore` needs alive (``cuCheckpointProcessGetRestoreThreadId``)."""
        return int(_call("cuCheckpointProcessGetRestoreThreadId", self._pid))


def _get_driver():
    """Return the driver module of the bindings.

    Raises
    ------
    RuntimeError
        If the bindings or the driver are too old for checkpoints.
    """
    bindings = _binding_version()
    if bindings < (12, 8) or (13,) <= bindings < (13, 0, 2) or not hasattr(driver, "cuCheckpointProcessLock"):
        version = ".".join(map(str, bindings))
        raise RuntimeError(
            f"checkpoints need cuda-bindings 12.8 or later, or 13.0.2 or later of the 13 series, not {version}"
        )
    if driver_version()[:2] < _DRIVER:
        raise RuntimeError(_UNSUPPORTED)
    return driver


def _call(name: str, *args):
    function = getattr(_get_driver(), name)
    try:
        # Reading a state is quick; the others wait for the process. Ctrl-C leaves them to go on.
        if name.startswith("cuCheckpointProcessGet"):
            result = function(*args)
        else:
            result = call_interruptibly(lambda: function(*args), _nothing, lambda: _nothing)
    except RuntimeError as error:
        # The bindings raise this for a function that the driver does not have.
        if "not found" in str(error):
            raise RuntimeError(_UNSUPPORTED) from error
        raise
    if result[0] in (driver.CUresult.CUDA_ERROR_NOT_SUPPORTED, driver.CUresult.CUDA_ERROR_NOT_FOUND):
        raise RuntimeError(_UNSUPPORTED)
    try:
        return handle_return(result)
    except CUDAError as error:
        if advice := _ADVICE.get(error.name):
            # The driver's usual advice is about this process, not about the other one.
            error.args = (f"{error.args[0].splitlines()[0]}\n{advice.format(pid=args[0])}",)
        raise


def _nothing() -> None:
    pass


def _check_int(label: str, value: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{label} must be an int, not {type(value).__name__}")


def _restore_args(gpu_mapping):
    if gpu_mapping is None:
        return None
    if not isinstance(gpu_mapping, Mapping):
        raise TypeError(f"gpu_mapping must be a mapping of UUIDs, not {type(gpu_mapping).__name__}")
    pairs = []
    for old, new in gpu_mapping.items():
        pair = driver.CUcheckpointGpuPair()
        pair.oldUuid, pair.newUuid = _uuid(old), _uuid(new)
        pairs.append(pair)
    if not pairs:
        return None
    args = driver.CUcheckpointRestoreArgs()
    args.gpuPairs = pairs
    args.gpuPairsCount = len(pairs)
    return args


def _uuid(value):
    if isinstance(value, driver.CUuuid):
        return value
    if not isinstance(value, str):
        raise TypeError(f"a UUID in gpu_mapping must be a str or driver.CUuuid, not {type(value).__name__}")
    digits = value.replace("-", "")
    if len(digits) != 32 or not set(digits) <= set(string.hexdigits):
        raise ValueError(f"a UUID in gpu_mapping must have 32 hexadecimal digits, maybe hyphens, not {shown(value)}")
    uuid = driver.CUuuid()
    ctypes.memmove(uuid.getPtr(), bytes.fromhex(digits), 16)
    return uuid


def __dir__():
    return list(__all__)
