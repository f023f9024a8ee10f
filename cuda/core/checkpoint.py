# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Process checkpointing: moving the GPU state of a process to host memory, and restoring it later."""

from __future__ import annotations

import ctypes
import string
from collections.abc import Mapping
from typing import TYPE_CHECKING

from cuda.core._utils.cuda_utils import CUDAError, TooOldError, UnavailableError, driver, driver_version, handle_return
from cuda.core._utils.cuda_utils import binding_version as _binding_version
from cuda.core._utils.enums import PROCESS_STATE
from cuda.core._utils.host_wait import run_interruptibly
from cuda.core._utils.validators import shown

if TYPE_CHECKING:  # Jedi fails on annotations that it can evaluate to a Literal
    from cuda.core.typing import ProcessStateType as _ProcessStateType

__all__ = ["Process"]

_ADVICE = {
    "CUDA_ERROR_ILLEGAL_STATE": "The order of the steps is lock, checkpoint, restore, unlock; "
    "Process({pid}).state has the current state.",
    "CUDA_ERROR_NOT_INITIALIZED": "The process {pid} has not initialized CUDA.",
    "CUDA_ERROR_OPERATING_SYSTEM": "There is no process {pid}, or this user has no permission to checkpoint it.",
}
_DRIVER = (12, 8)
# The driver accepts a C int. No process has this ID or a greater one.
_MAX_PID = (1 << 31) - 1
_UNSUPPORTED = (
    "process checkpointing is not supported by the CUDA driver here; "
    "it needs Linux and a driver for CUDA {}.{} or later".format(*_DRIVER)
)


class Process:
    """A process that uses CUDA, for checkpointing, usually from another process.

    The steps are :meth:`lock`, :meth:`checkpoint`, :meth:`restore` and :meth:`unlock`, in this order. Between
    :meth:`checkpoint` and :meth:`restore` the process holds no GPU resources. Constructing this object does not call
    the driver. All methods raise :class:`RuntimeError` if the bindings or the driver do not support checkpointing. To
    checkpoint processes of other users, a program needs administrator rights. Linux only.

    Parameters
    ----------
    pid : int
        The process ID. The process need not exist yet.

    Raises
    ------
    TypeError
        If ``pid`` is not an int.
    ValueError
        If ``pid`` is not from 1 to 2**63 - 1.
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
        """Lock the process: block its further CUDA calls (``cuCheckpointProcessLock``).

        Parameters
        ----------
        timeout_ms : int, optional
            How many milliseconds to wait for CUDA calls in progress. After that, the process stays unlocked. Default is
            0: no limit.

        Raises
        ------
        TypeError
            If ``timeout_ms`` is not an int.
        ValueError
            If ``timeout_ms`` is negative.
        OverflowError
            If ``timeout_ms`` is 2**32 or more.
        RuntimeError
            If checkpointing is not supported.
        CUDAError
            If the process does not exist, has not initialized CUDA, or could not be locked in time.
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
        """Checkpoint the locked process: move its GPU memory to host memory and release its GPUs
        (``cuCheckpointProcessCheckpoint``).

        Raises
        ------
        RuntimeError
            If checkpointing is not supported.
        CUDAError
            If the process is not locked.
        """
        _call("cuCheckpointProcessCheckpoint", self._pid, None)

    def restore(self, gpu_mapping: Mapping | None = None) -> None:
        """Restore the checkpointed process on its or other GPUs, and keep it locked (``cuCheckpointProcessRestore``).

        Parameters
        ----------
        gpu_mapping : mapping, optional
            Maps the UUID of each old GPU to the new one. A UUID is a ``driver.CUuuid`` or a string such as
            :attr:`Device.uuid`. It must contain all GPUs of the machine, including those that
            ``CUDA_VISIBLE_DEVICES`` hides. If None, the process is restored on the same GPUs.

        Raises
        ------
        TypeError
            If ``gpu_mapping`` is not a mapping, or a UUID has the wrong type.
        ValueError
            If a string is not a UUID.
        RuntimeError
            If checkpointing is not supported.
        CUDAError
            If the process is not checkpointed, or cannot be restored on these GPUs.
        """
        _get_driver()
        _call("cuCheckpointProcessRestore", self._pid, _restore_args(gpu_mapping))

    def unlock(self) -> None:
        """Unlock the process: allow its CUDA calls again (``cuCheckpointProcessUnlock``).

        Raises
        ------
        RuntimeError
            If checkpointing is not supported.
        CUDAError
            If the process is not locked.
        """
        _call("cuCheckpointProcessUnlock", self._pid, None)

    @property
    def pid(self) -> int:
        """The process ID."""
        return self._pid

    @property
    def state(self) -> _ProcessStateType:
        """The state: ``"running"``, ``"locked"``, ``"checkpointed"`` or ``"failed"`` (``cuCheckpointProcessGetState``).

        Raises
        ------
        RuntimeError
            If checkpointing is not supported, or the driver reports an unknown state.
        CUDAError
            If the process has not initialized CUDA.
        """
        return PROCESS_STATE.from_driver(_call("cuCheckpointProcessGetState", self._pid))

    @property
    def restore_thread_id(self) -> int:
        """The ID of the restore thread, which must exist for :meth:`restore`
        (``cuCheckpointProcessGetRestoreThreadId``).
        """
        return int(_call("cuCheckpointProcessGetRestoreThreadId", self._pid))


def _get_driver():
    """Return the driver module of the bindings.

    Raises
    ------
    RuntimeError
        If the bindings are too old for checkpoints.
    NotSupportedError
        If the driver is.
    """
    bindings = _binding_version()
    if bindings < (12, 8) or (13,) <= bindings < (13, 0, 2) or not hasattr(driver, "cuCheckpointProcessLock"):
        version = ".".join(map(str, bindings))
        raise UnavailableError(
            f"checkpoints need cuda-bindings 12.8 or later, or 13.0.2 or later of the 13 series, not {version}"
        )
    if driver_version()[:2] < _DRIVER:
        raise TooOldError(_UNSUPPORTED)
    return driver


def _call(name: str, pid: int, *args):
    function = getattr(_get_driver(), name)
    args = (min(pid, _MAX_PID), *args)
    try:
        # Queries return immediately, the other calls wait for the process. Ctrl-C ends the wait, not the operation.
        if name.startswith("cuCheckpointProcessGet"):
            result = function(*args)
        else:
            result = run_interruptibly(lambda: function(*args), _nothing, lambda: _nothing)
    except RuntimeError as error:
        # The bindings raise this for a function that the driver does not have.
        if "not found" in str(error):
            raise TooOldError(_UNSUPPORTED) from error
        raise
    if result[0] in (driver.CUresult.CUDA_ERROR_NOT_SUPPORTED, driver.CUresult.CUDA_ERROR_NOT_FOUND):
        raise TooOldError(_UNSUPPORTED)
    try:
        return handle_return(result)
    except CUDAError as error:
        if advice := _ADVICE.get(error.name):
            # The usual advice is about the calling process, not the checkpointed one.
            error.args = (f"{error.args[0].splitlines()[0]}\n{advice.format(pid=pid)}",)
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
    uuids = [(_uuid(old), _uuid(new)) for old, new in gpu_mapping.items()]
    if not uuids:
        return None
    if not hasattr(driver, "CUcheckpointGpuPair"):
        raise UnavailableError("gpu_mapping needs cuda-bindings 13.0.2 or later")
    pairs = []
    for old, new in uuids:
        pair = driver.CUcheckpointGpuPair()
        pair.oldUuid, pair.newUuid = old, new
        pairs.append(pair)
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
        raise ValueError(f"a UUID in gpu_mapping must have 32 hexadecimal digits, not {shown(value)}")
    uuid = driver.CUuuid()
    ctypes.memmove(uuid.getPtr(), bytes.fromhex(digits), 16)
    return uuid


def __dir__():
    return list(__all__)
