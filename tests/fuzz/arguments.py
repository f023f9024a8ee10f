# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Plausible arguments for all parameters but the hostile one, by their names and annotations."""

from __future__ import annotations

import inspect
import os
import random

import numpy as np

from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, graph
from support import subjects


def _buffer():
    return LegacyPinnedMemoryResource().allocate(64)


def _stream():
    return Device(0).create_stream()


BY_NAME = {
    "alloc_handle": lambda: 0,
    "arch": lambda: f"sm_{Device(0).arch}",
    "arg_indices": lambda: (0,),
    "axes": lambda: (0,),
    "axis": lambda: 0,
    "axis_order": lambda: (1, 0),
    "block": lambda: 1,
    "block_size": lambda: 32,
    "block_size_limit": lambda: 64,
    "buf": _buffer,
    "buffer": _buffer,
    "buffers": lambda: [_buffer()],
    "child": graph.GraphDefinition,
    "code": lambda: subjects.SOURCE,
    "code_type": lambda: "c++",
    "config": lambda: LaunchConfig(grid=1, block=1),
    "count": lambda: 2,
    "data": lambda: b"x",
    "default": lambda: None,
    "device": lambda: 0,
    "device_id": lambda: 0,
    "devices": lambda: [0],
    "dptr": lambda: _buffer().handle,
    "dst": _buffer,
    "dsts": lambda: [_buffer()],
    "event": lambda: _stream().record(),
    "event_or_stream": _stream,
    "events": list,
    "fn": lambda: print,
    "func": lambda: lambda *arguments: None,
    "function": lambda: lambda *arguments: None,
    "grid": lambda: 1,
    "handle": lambda: 0,
    "index": lambda: 0,
    "itemsize": lambda: 4,
    "kernel": subjects.kernel,
    "key": lambda: b"key",
    "limit": lambda: 1 << 20,
    "location": lambda: Device(0),
    "locations": lambda: [Device(0)],
    "max_itemsize": lambda: 16,
    "memory_resource": LegacyPinnedMemoryResource,
    "mode": lambda: None,
    "module": lambda: subjects.image(),
    "mr": lambda: None,
    "name": lambda: "sample",
    "ndim": lambda: 2,
    "num_blocks_per_multiprocessor": lambda: 1,
    "obj": lambda: np.zeros(64, np.uint8),
    "object_codes": lambda: ObjectCode.from_cubin(subjects.image()),
    "options": lambda: None,
    "other": set,
    "path": lambda: os.devnull,
    "peer": lambda: 0,
    "pid": lambda: 4321,
    "ptr": lambda: 0,
    "resource": LegacyPinnedMemoryResource,
    "shape": lambda: (2, 3),
    "size": lambda: 64,
    "sizes": lambda: [64],
    "src": _buffer,
    "srcs": lambda: [_buffer()],
    "stream": _stream,
    "stream_ptr": lambda: -1,
    "strides": lambda: None,
    "target_type": lambda: "cubin",
    "timeout_ms": lambda: 1,
    "upstream": LegacyPinnedMemoryResource,
    "value": lambda: 1,
    "width": lambda: 1,
}
BY_ANNOTATION = {
    "Buffer": _buffer,
    "Device": lambda: Device(0),
    "Event": lambda: _stream().record(),
    "GraphCondition": lambda: graph.GraphDefinition().create_condition(0),
    "GraphDefinition": graph.GraphDefinition,
    "Kernel": subjects.kernel,
    "LaunchConfig": lambda: LaunchConfig(grid=1, block=1),
    "MemoryResource": LegacyPinnedMemoryResource,
    "Stream": _stream,
    "bool": lambda: True,
    "bytes": lambda: b"x",
    "int": lambda: 1,
    "str": lambda: "x",
    "tuple": lambda: (),
    "list": list,
}


def plausible(name: str, parameter: inspect.Parameter):
    """Return a plausible argument for a parameter."""
    if name in BY_NAME:
        return BY_NAME[name]()
    annotation = str(parameter.annotation)
    for word, make in BY_ANNOTATION.items():
        if annotation.startswith(word) or f"| {word}" in annotation or f"'{word}" in annotation:
            return make()
    return None


def arguments_of(function, *, rng: random.Random | None = None) -> tuple[list, dict]:
    """Return plausible arguments for the required parameters, and with ``rng`` for some of the others."""
    positional, named = [], {}
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return [], {}
    for name, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        # Without a timeout a call may wait forever.
        is_needed = parameter.default is parameter.empty or name == "timeout_ms"
        if not is_needed and not (rng is not None and rng.random() < 0.5):
            continue
        value = plausible(name, parameter)
        if parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            named[name] = value
    return positional, named


def call(function):
    """Call a function with plausible arguments, and return the result."""
    positional, named = arguments_of(function)
    return function(*positional, **named)
