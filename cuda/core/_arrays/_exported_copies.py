# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Copies of views for consumers of DLPack that want the elements on the host, or for themselves."""

from __future__ import annotations

import importlib
import math

from cuda.core._memory._buffer import Buffer
from cuda.core._stream import Stream
from cuda.core._utils import slots
from cuda.core._utils.late import LateModule

__all__ = ["exported_copy"]

_managed = LateModule("cuda.core._memory._managed_memory_resource")
_page_locked = LateModule("cuda.core._memory._page_locked")

CPU, CUDA, CUDA_HOST = 1, 2, 3  # device types of DLPack


def exported_copy(view, dl_device: tuple[int, int], stream: int | None, order):
    """Return a view of a copy in C order on a DLPack device: the host, or the device of the view.

    Copies in device memory are made in stream order on the consumer's stream, if there is one. All others are complete.

    Parameters
    ----------
    stream : int | None
        The consumer's stream, as ``__dlpack__`` takes it.
    order : callable
        Orders later work of a stream, by its address, after the work that the elements need.

    Raises
    ------
    BufferError
        If the element type is unknown or has no dtype.
    """
    try:
        dtype = view.dtype
    except (NotImplementedError, TypeError) as error:
        raise BufferError(f"elements of this type cannot be copied: {error}") from error
    if dtype is None:
        raise BufferError("the element type is unknown; create the view with a dtype to export it")
    size = math.prod(view.shape) * dtype.itemsize
    if not view.is_device_accessible:
        copy = _on_host(size).view(view.shape, dtype)
        copy.copy_from(view, None)
        return copy
    with slots.get("Device")(max(view.device_id, 0)) as device:
        is_ordered = dl_device[0] == CUDA and stream not in (None, -1)
        mine = Stream.from_handle(stream) if is_ordered else device.default_stream
        copy = _allocate(dl_device[0], device, size, mine).view(view.shape, dtype)
        order(int(mine.handle))
        copy.copy_from(view, mine, blocking=not is_ordered)
    return copy


def _allocate(device_type: int, device, size: int, stream) -> Buffer:
    if device_type == CPU:
        return _on_host(size)
    if device_type == CUDA:
        return device.allocate(size, stream=stream)
    if device_type == CUDA_HOST:
        return _page_locked.LegacyPinnedMemoryResource().allocate(size)
    return _managed.ManagedMemoryResource().allocate(size, stream=stream)


def _on_host(size: int) -> Buffer:
    memory = importlib.import_module("numpy").empty(size, "u1")
    return Buffer.from_handle(memory.ctypes.data, size, owner=memory)
