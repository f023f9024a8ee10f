# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Raises an exception at each bytecode of a program, as a signal handler can, and looks for lost resources."""

from __future__ import annotations

import gc
import logging
import sys
import warnings

from support.processes import exempt_older_objects
from support.work import settle

SAMPLE = 200  # positions of a test


class Interrupt(KeyboardInterrupt):
    """The exception of the handler."""


def interrupt_everywhere(program, positions: int | None = SAMPLE, clean=settle) -> int:
    """Run a program once per position, raise an exception there, and return the number of positions.

    The exception must leave the program. The software device must have the same resources as before, and must not
    have rejected a call, such as a second release.

    Parameters
    ----------
    program : callable
        Creates and closes resources. Everything it needs must already be imported.
    positions : int, optional
        The number of positions to try, evenly spread. If None, all.
    clean : callable, optional
        Releases what the program keeps on purpose, such as a cache. By default, waits for deferred releases.
    """
    program()  # also imports what is imported on first use
    clean()
    _run(program, 0)  # free-threaded CPython 3.14 traces the bytecodes of code from its second traced run on
    clean()
    end = _run(program, 0)[0]
    clean()
    chosen = range(1, end + 1)
    if positions is not None and end > positions:
        chosen = sorted({1 + index * end // positions for index in range(positions)})
    exempt_older_objects()
    wrong = [fault for position in chosen for fault in _faults(program, clean, position)]
    assert not wrong, f"{len(wrong)} faults at {len(chosen)} positions:\n" + "\n".join(wrong[:20])
    program()
    clean()
    return len(chosen)


def _faults(program, clean, position: int) -> list[str]:
    """Interrupt the program at one position, and return descriptions of what went wrong."""
    from cuda.emulator import leaks

    unraisable = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda what: unraisable.append(repr(what.exc_value))
    old = leaks()
    try:
        with warnings.catch_warnings(record=True) as issued:
            warnings.simplefilter("always")
            _, place, error = _run(program, position)
            description = repr(error)
            is_ours = type(error) is Interrupt or place is None
            del error
            gc.collect(0)
            clean()
    finally:
        sys.unraisablehook = hook
    found = [] if is_ours else [f"{description} was raised"]
    # A failed release is a ResourceWarning; other warnings are of adaptors that look for memory in use.
    found += [f"warned: {item.message}" for item in issued if issubclass(item.category, ResourceWarning)]
    found += [f"unraisable: {error}" for error in unraisable]
    found += [f"lost: {leak}" for leak in leaks() if leak not in old]
    return [f"{place}: {fault}" for fault in found]


def _run(program, position: int):
    """Run the program and raise at one bytecode. Return the number of bytecodes, the place, and the exception."""
    count = 0
    place = None

    def trace(frame, event, _):
        nonlocal count, place
        if event == "call":
            # An exception in `logging`, between taking a lock and its try, would leave the lock of this process locked.
            if frame.f_code.co_filename in (__file__, logging.__file__):
                return None
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            count += 1
            if count == position:
                place = f"{frame.f_code.co_filename}:{frame.f_lineno} ({frame.f_code.co_qualname})"
                raise Interrupt(position)
        return trace

    error = None
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        program()
        for _ in range(2):  # an exception raised while a resource was freed is raised at the next bytecode
            pass
    except BaseException as raised:
        error = raised.with_traceback(None)
    finally:
        sys.settrace(before)
    return count, place, error
