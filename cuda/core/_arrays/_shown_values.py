# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The values of an array in device or host memory as text, for ``repr()``."""

from __future__ import annotations

import importlib
import itertools

from cuda.core._memory._buffer import Buffer
from cuda.core._utils import slots

__all__ = ["text_of_view"]

WHOLE = 64  # elements that are shown without a gap
MAX_AXES = 4  # of arrays that are shown with gaps


def text_of_view(view) -> str | None:
    """Return the type, the shape, the place and the first and last values of a view, or None if they are unknown.

    They are known of NumPy arrays and of memory that a memory resource has allocated: the address of any other memory
    might be wrong, and reading it might end the process. Values in device memory are read when all work of its context
    has completed. They are left out if they cannot be read, such as during a capture or after a kernel has failed.
    """
    numpy = importlib.import_module("numpy")
    try:
        dtype = view.dtype
    except (NotImplementedError, TypeError):
        return None
    exporter = view.exporting_obj
    is_buffer = isinstance(exporter, Buffer) and exporter.memory_resource is not None and view.is_device_accessible
    if dtype is None or dtype.hasobject or not (is_buffer or type(exporter) is numpy.ndarray):
        return None
    place = f"device {max(view.device_id, 0)}" if view.is_device_accessible else "the host"
    head = f"{type(view).__name__} {view.shape} {dtype} on {place}"
    try:
        values, has_gaps = _read(view, numpy, dtype)
    except Exception:  # repr() must not fail
        return f"<{head}>"
    if values is None:
        return f"<{head}>"
    text = numpy.array2string(values, separator=", ", threshold=0 if has_gaps else WHOLE, edgeitems=_edge(view))
    return f"<{head}:{chr(10) if chr(10) in text else ' '}{text}>"


def _read(view, numpy, dtype):
    """Return the values on the host, and whether some between the first and the last are missing."""
    has_gaps = view.size > WHOLE
    if has_gaps and len(view.shape) > MAX_AXES:
        return None, has_gaps
    # One element more than is shown on the left, so that NumPy knows of the gap.
    edge = _edge(view)
    axes = [(0, edge + 1, size - edge, size) if has_gaps and size > 2 * edge + 1 else (0, size) for size in view.shape]
    pieces = [[slice(*axis[:2])] + ([slice(*axis[2:])] if axis[2:] else []) for axis in axes]
    values = numpy.empty([sum(piece.stop - piece.start for piece in axis) for axis in pieces], dtype)
    if not view.is_device_accessible:
        _copy(view, values, pieces, edge, None)
        return values, has_gaps
    with slots.get("Device")(max(view.device_id, 0)) as device:
        device.sync()
        _copy(view, values, pieces, edge, device.default_stream)
    return values, has_gaps


def _copy(view, values, pieces, edge, stream):
    for source in itertools.product(*pieces):
        target = tuple(slice(edge + 1, None) if piece.start else slice(0, piece.stop) for piece in source)
        if values.size:
            view[source].to_host(values[(*target, ...)], stream=stream)


def _edge(view) -> int:
    return 3 if len(view.shape) <= 2 else 1
