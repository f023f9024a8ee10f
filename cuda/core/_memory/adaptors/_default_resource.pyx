# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The default memory resource of a ``with`` block or of the process."""

from __future__ import annotations

from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

from cuda.core._memory._memory_resource cimport MemoryResource

import contextlib
from contextvars import ContextVar

from cuda.core._handles import _late
from cuda.core._utils.importing.deferred import Deferred

__all__ = ["set_memory_resource", "use_memory_resource"]

cdef extern from "Python.h":
    int PyContextVar_Get(object variable, PyObject* default, PyObject** value) except -1

# Both map ordinals to resources, with -1 for every device. The choices of a block are replaced, never changed; those of
# the process are changed key by key, because other threads read them without a lock.
cdef object _of_block = ContextVar("cuda.core memory resources")
cdef dict _of_process = {}

is_chosen = False

_pools = Deferred("cuda.core._memory._device_memory_resource")
_legacy = Deferred("cuda.core._memory._legacy")


def use_memory_resource(mr: MemoryResource, device: Device | int | None = None):
    """Return a context manager that sets the memory resource of :meth:`Device.allocate` in its block.

    The setting is a :class:`contextvars.ContextVar`: it applies to the code of the block and to ``asyncio`` tasks
    started in it, but not to other threads. If threads inherit the context (``sys.flags.thread_inherit_context``, the
    default of free-threaded Python), it also applies to threads started in the block. Blocks nest; the innermost one
    for a device takes precedence over :attr:`Device.memory_resource` and :func:`set_memory_resource`. It can also be
    used as a decorator.

    Parameters
    ----------
    mr : :class:`MemoryResource`
        The memory resource.
    device : :class:`Device` | int, optional
        The device that the resource is used for. If None, the device of the resource, or all devices if it belongs to
        none.

    Returns
    -------
    context manager
        The context manager, whose ``as`` target is ``mr``.

    Raises
    ------
    TypeError
        If ``mr`` is not a :class:`MemoryResource`, or ``device`` neither a device nor an int.
    ValueError
        If there is no such device.
    """
    return _use(mr, ordinal_of(mr, device))


def set_memory_resource(mr: MemoryResource | None, device: Device | int | None = None) -> None:
    """Set the memory resource of :meth:`Device.allocate` for all threads of the process.

    A resource set with :func:`use_memory_resource` or :attr:`Device.memory_resource` takes precedence.

    Parameters
    ----------
    mr : :class:`MemoryResource` | None
        The memory resource; None restores the default.
    device : :class:`Device` | int, optional
        The device that the resource is used for. If None, the device of ``mr``, or all devices if it belongs to none,
        which replaces all earlier settings. With ``mr=None``, None means all devices.

    Raises
    ------
    TypeError
        If ``mr`` is not a :class:`MemoryResource` or None, or ``device`` neither a device nor an int.
    ValueError
        If there is no such device.
    """
    global is_chosen
    if mr is not None:
        ordinal = ordinal_of(mr, device)
        _of_process[ordinal] = mr
        is_chosen = True
        if ordinal < 0:
            keep_choices([-1])
    elif device is not None:
        _of_process.pop(int(_late.device_of(device)), None)
    else:
        keep_choices([])


@contextlib.contextmanager
def _use(mr, ordinal):
    global is_chosen
    token = _of_block.set(with_choice(_of_block.get({}), mr, ordinal))
    # Not reset after the block: a task that was started in it may run longer.
    is_chosen = True
    try:
        yield mr
    finally:
        _of_block.reset(token)


cdef dict with_choice(dict choices, MemoryResource mr, int ordinal):
    # A setting for all devices replaces the others.
    return {-1: mr} if ordinal < 0 else {**choices, ordinal: mr}


cdef int keep_choices(list ordinals) except -1:
    for ordinal in list(_of_process):
        if ordinal not in ordinals:
            _of_process.pop(ordinal, None)
    return 0


cdef int ordinal_of(object mr, object device) except -2:
    if not isinstance(mr, MemoryResource):
        raise TypeError(f"mr must be a MemoryResource, not {type(mr).__name__}")
    if device is not None:
        return int(_late.device_of(device))
    try:
        return mr.device_id
    except RuntimeError:
        return -1  # page-locked host memory belongs to no device


cdef MemoryResource chosen_resource(int device_id, bint has_own):
    cdef PyObject* found = NULL
    cdef MemoryResource resource = None
    PyContextVar_Get(_of_block, NULL, &found)
    if found != NULL:
        resource = choice_of(<dict>found, device_id)
        Py_DECREF(<object>found)
    if resource is None and not has_own:
        resource = choice_of(_of_process, device_id)
    return resource


cdef MemoryResource choice_of(dict choices, int device_id):
    found = choices.get(device_id)
    return choices.get(-1) if found is None else found


cdef MemoryResource new_resource(int device_id, bint has_pools):
    return _pools.DeviceMemoryResource(device_id) if has_pools else _legacy._SynchronousMemoryResource(device_id)
