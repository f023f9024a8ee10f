# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Core dumps of the GPU after a kernel has failed."""

from __future__ import annotations

import importlib
import os

from cuda.core._utils.cuda_utils import call_driver, require_driver
from cuda.core._utils.validators import check_path

__all__ = ["coredump"]


def coredump(file: str | os.PathLike | None = None, *, lightweight: bool = False, aborts: bool = False) -> None:
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

    Raises
    ------
    TypeError
        If ``file`` is not a path.
    ValueError
        If ``file`` is longer than 1,023 bytes.
    NotSupportedError
        If the driver is older than CUDA 12.5, or the device is the software device, which reports the source line of a
        fault instead.

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
    require_driver(12050, "a core dump")  # where flags replace the single settings
    driver = importlib.import_module("cuda.bindings.driver")
    settings, flags = driver.CUcoredumpSettings, driver.CUCoredumpGenerationFlags
    chosen = flags.CU_COREDUMP_LIGHTWEIGHT_FLAGS if lightweight else flags.CU_COREDUMP_DEFAULT_FLAGS
    # Without this flag, the driver aborts the process.
    kept = flags.CU_COREDUMP_DEFAULT_FLAGS if aborts else flags.CU_COREDUMP_SKIP_ABORT
    call_driver("cuCoredumpSetAttributeGlobal", settings.CU_COREDUMP_GENERATION_FLAGS, int(chosen) | int(kept))
    if path is not None:
        call_driver("cuCoredumpSetAttributeGlobal", settings.CU_COREDUMP_FILE, path)
    call_driver("cuCoredumpSetAttributeGlobal", settings.CU_COREDUMP_ENABLE_ON_EXCEPTION, True)
