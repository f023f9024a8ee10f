# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Core dumps of the GPU after a kernel has failed."""

from __future__ import annotations

import importlib
import os
import struct
from collections.abc import Callable

from cuda.core._native._completion import Notices, register_dumps, unregister_dumps
from cuda.core._utils.cuda_utils import call_driver, require_call, require_driver
from cuda.core._utils.validators import check_path

__all__ = ["coredump"]


# Of the function in use: a process has one, because the settings of core dumps are those of the process.
_notices: list[Notices] = []


def coredump(
    file: str | os.PathLike | None = None,
    *,
    lightweight: bool = False,
    aborts: bool = False,
    on_complete: Callable[[int, int], object] | None = None,
) -> None:
    """Write a core dump of the GPU when a kernel fails, for ``cuda-gdb`` (``cuCoredumpSetAttributeGlobal``).

    Call this before the first :meth:`Device.set_current() <cuda.core.Device.set_current>` of the process, because the
    driver applies it to contexts that are created later. The environment variables of ``cuda-gdb``, such as
    ``CUDA_ENABLE_COREDUMP_ON_EXCEPTION``, take precedence.

    Parameters
    ----------
    file : str | os.PathLike, optional
        The path of the core dump, of at most 1,023 bytes. The driver replaces ``%h`` by the name of the host and ``%p``
        by the process ID. Defaults to ``core_TIME_HOST_PID.nvcudmp`` in the working directory.
    lightweight : bool, optional
        Whether to leave out the memory of the device. Defaults to False.
    aborts : bool, optional
        Whether the process aborts after the core dump, as with ``cuda-gdb``'s variables. Defaults to False: the next
        call raises :class:`~cuda.core.LaunchError`.
    on_complete : callable, optional
        Called with the ordinal of the device and the process ID after a core dump was written
        (``cuCoredumpRegisterCompleteCallback``), for example to upload the file. It runs on a thread of this library,
        and the driver does not wait for it: with ``aborts`` the process may end first. It replaces the function of an
        earlier call; None removes it.

    Raises
    ------
    TypeError
        If ``file`` is not a path, or ``on_complete`` not callable.
    ValueError
        If ``file`` is longer than 1,023 bytes.
    NotSupportedError
        If the driver is older than CUDA 12.5, or than 13.2 with ``on_complete``.

    Examples
    --------
    >>> from cuda.core.utils import coredump
    >>> coredump("fault.nvcudmp", lightweight=True)  # doctest: +SKIP
    """
    if file is not None:
        check_path("file", file)
    path = None if file is None else os.fsencode(file)
    if path is not None and len(path) > 1023:
        raise ValueError(f"file must have at most 1023 bytes, not {len(path)}")
    if on_complete is not None and not callable(on_complete):
        raise TypeError(f"on_complete must be callable, not {type(on_complete).__name__}")
    require_driver(12050, "a core dump")  # where flags replace the single settings
    if on_complete is not None:
        require_call("cuCoredumpRegisterCompleteCallback", "on_complete")
    driver = importlib.import_module("cuda.bindings.driver")
    settings, flags = driver.CUcoredumpSettings, driver.CUCoredumpGenerationFlags
    chosen = flags.CU_COREDUMP_LIGHTWEIGHT_FLAGS if lightweight else flags.CU_COREDUMP_DEFAULT_FLAGS
    # Without this flag, the driver aborts the process.
    kept = flags.CU_COREDUMP_DEFAULT_FLAGS if aborts else flags.CU_COREDUMP_SKIP_ABORT
    call_driver("cuCoredumpSetAttributeGlobal", settings.CU_COREDUMP_GENERATION_FLAGS, int(chosen) | int(kept))
    if path is not None:
        call_driver("cuCoredumpSetAttributeGlobal", settings.CU_COREDUMP_FILE, path)
    call_driver("cuCoredumpSetAttributeGlobal", settings.CU_COREDUMP_ENABLE_ON_EXCEPTION, True)
    _call_after_dumps(on_complete)


def _call_after_dumps(function) -> None:
    new = []
    if function is not None:
        new = [Notices(register_dumps, unregister_dumps, lambda record: function(*struct.unpack("ii", record)))]
    old, _notices[:] = _notices[:], new
    for notices in old:
        notices.close()
