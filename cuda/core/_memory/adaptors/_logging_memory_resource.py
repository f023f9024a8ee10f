# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""An adaptor that logs the allocations and frees of another resource."""

from __future__ import annotations

import importlib

from cuda.core._memory.adaptors._accounting import AccountingMemoryResource
from cuda.core._utils.errors.uninitialized import raise_if_uninitialized
from cuda.core._utils.errors.values import hasattr_safe

__all__ = ["LoggingMemoryResource"]


@hasattr_safe
@raise_if_uninitialized("_logger")
class LoggingMemoryResource(AccountingMemoryResource):
    """Logs each allocation and each free of another resource.

    The log records have the attributes ``operation`` (``"allocate"``, ``"free"`` or ``"fail"``), ``size`` (in bytes),
    ``pointer`` and ``stream`` (the handle) for formatters and filters. A failed allocation is logged as a warning.

    Parameters
    ----------
    upstream : :class:`MemoryResource`
        The resource that the memory is allocated from.
    logger : logging.Logger | str, optional
        The logger, or its name. Default is ``"cuda.core.memory"``.
    level : int, optional
        The level of the records of allocations and frees. Default is ``logging.DEBUG``.

    Raises
    ------
    TypeError
        If ``upstream`` is not a :class:`MemoryResource`, ``logger`` not a logger, or ``level`` not an integer.
    """

    def __init__(self, upstream, logger="cuda.core.memory", level: int = 10):
        # Imported here, because programs that do not log need not import it.
        logging = importlib.import_module("logging")
        if isinstance(logger, str):
            logger = logging.getLogger(logger)
        if not isinstance(logger, (logging.Logger, logging.LoggerAdapter)):
            raise TypeError(f"logger must be a logging.Logger or a str, its name, not {type(logger).__name__}")
        if isinstance(level, bool) or not isinstance(level, int):
            raise TypeError(f"level must be an int, such as logging.DEBUG, not {type(level).__name__}")
        super().__init__(upstream)
        self._logger = logger
        self._level = level
        self._warning = logging.WARNING

    @property
    def logger(self):
        """The logger."""
        return self._logger

    def _failed(self, size, stream, error):
        reason = " ".join(str(error).splitlines()[:1])
        message = "failed to allocate %d bytes in stream %#x: %s: %s"
        facts = {"operation": "fail", "size": size, "pointer": 0, "stream": stream}
        self._logger.log(self._warning, message, size, stream, type(error).__name__, reason, extra=facts)

    def _allocated(self, pointer, size, stream):
        self._record("allocate", "allocated %d bytes at %#x in stream %#x", size, pointer, stream)

    def _freed(self, pointer, size, stream):
        self._record("free", "freed %d bytes at %#x in stream %#x", size, pointer, stream)

    def _record(self, operation, message, size, pointer, stream):
        facts = {"operation": operation, "size": size, "pointer": pointer, "stream": stream}
        self._logger.log(self._level, message, size, pointer, stream, extra=facts)
