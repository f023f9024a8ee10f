# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Messages to the logger ``cuda.core``, if the program uses :mod:`logging`."""

from __future__ import annotations

import sys
from time import perf_counter

__all__ = ["debug", "elapsed_ms"]

_logger = None  # found once: a look-up takes a lock of logging, which an exception of a signal handler may leave locked


def debug(message: str, *arguments) -> None:
    """Log a message at level DEBUG."""
    global _logger
    if _logger is None:
        # A program that has not imported it has no handler, and importing it takes longer than importing this package.
        # It may be half imported on another thread.
        logging = sys.modules.get("logging")
        if logging is None or not hasattr(logging, "NullHandler"):
            return
        logger = logging.getLogger("cuda.core")
        logger.addHandler(logging.NullHandler())  # without a handler of the program, logging would print to stderr
        _logger = logger
    _logger.debug(message, *arguments)


def elapsed_ms(start: float) -> float:
    """Return the time since ``start``, a result of :func:`time.perf_counter`, in milliseconds."""
    return (perf_counter() - start) * 1000
