# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Messages of the driver, as it writes them."""

from __future__ import annotations

import contextlib
import logging

from cuda.core._native._completion import Notices, register_messages, unregister_messages

__all__ = ["driver_log"]

_LEVELS = {0: logging.ERROR, 1: logging.WARNING}  # CUlogLevel


@contextlib.contextmanager
def driver_log():
    """Pass the driver's messages to the logger ``cuda.core.driver`` in a ``with`` block (``cuLogsRegisterCallback``).

    The messages are those of all threads and libraries in the process, at level ERROR or WARNING. A thread of this
    library logs them as they come, so the driver never waits. Messages that come faster than that are lost.

    Raises
    ------
    NotSupportedError
        If the driver is older than CUDA 12.9.

    Examples
    --------
    >>> import logging
    >>> from cuda.core import CUDAError, ObjectCode
    >>> from cuda.core.utils import driver_log
    >>> logging.basicConfig(filename="/dev/null")
    >>> with driver_log():
    ...     try:
    ...         ObjectCode.from_cubin(b"not a cubin").get_kernel("f")
    ...     except CUDAError:
    ...         pass
    """
    logger = logging.getLogger("cuda.core.driver")

    def receive(record: bytes) -> None:
        logger.log(_LEVELS.get(record[0], logging.ERROR), "%s", record[1:].decode(errors="replace").rstrip("\0\n"))

    notices = Notices(register_messages, unregister_messages, receive)
    try:
        yield
    finally:
        notices.close()
