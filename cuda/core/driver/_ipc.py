# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory shared between processes."""

from __future__ import annotations

from cuda.core import LEGACY_DEFAULT_STREAM
from cuda.core._classic import open_shared_memory
from cuda.core.driver._array_memory import is_of_pool
from cuda.core.driver._checks import flags_argument
from cuda.core.driver._constants import ipc_mem_flags
from cuda.core.driver._context import context_for
from cuda.core.driver._device_memory import PointerHolderBase, as_pointer
from cuda.core.driver._errors import INVALID_HANDLE, INVALID_VALUE, call, called, logic_error
from cuda.core.driver._streams import handle_bytes, ipc_handle_argument

__all__ = ["IPCMemoryHandle", "mem_get_ipc_handle"]


class IPCMemoryHandle(PointerHolderBase):
    """Another process's memory (``cuIpcOpenMemHandle``), closed once nothing refers to this object.

    Parameters
    ----------
    handle : bytes-like
        The 64 bytes returned by :func:`mem_get_ipc_handle` in the other process.
    flags : ipc_mem_flags, optional
        How the memory is opened. Defaults to ``LAZY_ENABLE_PEER_ACCESS``.

    Raises
    ------
    LogicError
        If the handle does not have 64 bytes, the memory no longer exists, or no context is current.
    TypeError
        If ``handle`` is not bytes-like.
    """

    def __init__(self, handle, flags: int = ipc_mem_flags.LAZY_ENABLE_PEER_ACCESS):
        super().__init__()
        self._memory = None
        context = context_for("cuIpcOpenMemHandle")
        raw = ipc_handle_argument(handle, "cuIpcOpenMemHandle")
        flags = flags_argument("flags", flags, "cuIpcOpenMemHandle")
        self._memory = called(open_shared_memory, raw, flags, LEGACY_DEFAULT_STREAM)
        context._objects.add(self)

    def get_pointer(self) -> int:
        """Return the address in this process.

        Raises
        ------
        LogicError
            If the memory was closed, or its context is detached.
        """
        return self._open_memory("the device pointer").handle

    def close(self) -> None:
        """Close the memory (``cuIpcCloseMemHandle``).

        Raises
        ------
        LogicError
            If the memory was already closed, or its context is detached.
        """
        self._open_memory("cuIpcCloseMemHandle").close()

    def _open_memory(self, api: str):
        if self._memory is None or self._memory.is_closed:
            raise logic_error(api, INVALID_HANDLE, "the other process's memory was closed")
        return self._memory

    def _invalidate(self) -> None:
        if self._memory is not None:
            self._memory.close()


def mem_get_ipc_handle(devptr) -> bytearray:
    """Return 64 bytes that let another process open memory from :func:`mem_alloc` (``cuIpcGetMemHandle``).

    Parameters
    ----------
    devptr : int | :class:`DeviceAllocation` | :class:`GPUArray`
        The memory.

    Raises
    ------
    LogicError
        If the memory cannot be shared, for example because it belongs to a pool, or no context is current.
    """
    context_for("cuIpcGetMemHandle")
    if is_of_pool(devptr):
        raise logic_error(
            "cuIpcGetMemHandle",
            INVALID_VALUE,
            "pool memory, such as the results of array operations, cannot be shared; copy it to memory "
            "from mem_alloc()",
        )
    return handle_bytes(call("cuIpcGetMemHandle", as_pointer(devptr)))
