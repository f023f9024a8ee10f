# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The context for programs that do not choose a device."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import os
import sys
import warnings

from cuda.core._utils.validators import shown
from cuda.core.driver._checks import callable_argument
from cuda.core.driver._contexts._context import Context, Device
from cuda.core.driver._errors import Error

__all__ = []

# Files in the home directory with the ordinal of the user's device.
_FILES = (".cuda_device", ".cuda-device")


def make_default_context(ctx_maker=None) -> Context:
    """Create a context on the device that the user chose, or on the first device that works, and make it current.

    The environment variable ``CUDA_DEVICE`` has the ordinal of the device, else the file ``.cuda_device`` in the
    home directory.

    Parameters
    ----------
    ctx_maker : callable, optional
        A function that returns a context for a :class:`Device`. Default is :meth:`Device.make_context`.

    Raises
    ------
    RuntimeError
        The builtin exception, if there is no device, or none works.
    """
    callable_argument("ctx_maker", ctx_maker)
    if ctx_maker is None:
        ctx_maker = Device.make_context
    chosen = _chosen_ordinal()
    if chosen is not None:
        return ctx_maker(Device(chosen))
    count = Device.count()
    failures = []
    for ordinal in range(count):
        try:
            return ctx_maker(Device(ordinal))
        except Error as error:
            failures.append(f"device {ordinal}: {error}")
    if failures:
        raise builtins.RuntimeError(f"no context could be created on any device; {'; '.join(failures)}")
    raise builtins.RuntimeError("there is no CUDA device")


def get_default_device(default: int = 0) -> Device:
    """Return the device that the user chose, else the one with a given ordinal. Deprecated.

    Parameters
    ----------
    default : int, optional
        The ordinal if the user chose no device. Default is 0.

    Warns
    -----
    DeprecationWarning
        Always; use :func:`make_default_context`.
    """
    warnings.warn("get_default_device is deprecated; use make_default_context", DeprecationWarning, stacklevel=2)
    chosen = _chosen_ordinal()
    return Device(default if chosen is None else chosen)


def _chosen_ordinal() -> int | None:
    source, text = "the environment variable CUDA_DEVICE", os.environ.get("CUDA_DEVICE")
    home = os.path.expanduser("~")
    for name in _FILES if text is None else ():
        path = os.path.join(home, name)
        with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
            source, text = path, file.read()
            break
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise builtins.RuntimeError(f"{source} must have the ordinal of a device, not {shown(text.strip())}") from None


def check_importer(name: str) -> None:
    """Warn if a program has ``import cuda.core.driver as cuda`` and now imports a submodule by its full name.

    Such an import rebinds the name ``cuda`` to the namespace package.
    """
    frame = sys._getframe(2)
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    if frame is None or frame.f_globals.get("cuda") is not sys.modules.get("cuda.core.driver"):
        return
    instructions = iter(importlib.import_module("dis").get_instructions(frame.f_code))
    following = next((next(instructions, None) for item in instructions if item.offset == frame.f_lasti), None)
    if following is not None and following.opname == "STORE_NAME" and following.argval == "cuda":
        last = name.rpartition(".")[2]
        warnings.warn(
            f"'import {name}' rebinds the name 'cuda', which was cuda.core.driver; "
            f"write 'from cuda.core.driver import {last}'",
            UserWarning,
            stacklevel=3,
        )


def finish(context: Context) -> None:
    """Pop the context of autoinit at exit, if it is still the current one."""
    tools = sys.modules.get("cuda.core.driver.tools")
    with contextlib.suppress(Exception):  # at exit nobody handles errors
        if tools is not None:
            tools.clear_context_caches()
    with contextlib.suppress(Error):
        if Context.get_current() is context:
            Context.pop()
