# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Observers of launches: waiting for each kernel, and showing launches to profilers.

An observer is a context manager function that accepts a :class:`Launch` and surrounds the driver call. Launches without
observers pay one comparison.
"""

from __future__ import annotations

import contextlib
import os

from cuda.core._utils.cuda_utils import CUDAError
from cuda.core._utils.variables import is_switched_on

__all__ = ["Launch", "observed", "observers_of_environment", "wait_for_graph"]


class Launch:
    """One launch of a kernel, as observers see it.

    Attributes
    ----------
    name : str
        The name of the kernel, without namespaces and template arguments.
    kernel : Kernel
    config : LaunchConfig
    stream : Stream
    arguments : tuple
        The arguments of the kernel, by position.
    is_captured : bool
        Whether the stream captures, so nothing runs.
    file : str
        The Python file that launches the kernel, outside this package.
    line : int
        The line number in that file.
    """

    def __init__(self, name, kernel, config, stream, arguments, is_captured, frame):
        self.name, self.kernel, self.config, self.stream = name, kernel, config, stream
        self.arguments, self.is_captured = arguments, is_captured
        self.file, self.line = (frame.f_code.co_filename, frame.f_lineno) if frame else ("native code", 0)

    def __str__(self):
        arguments = ", ".join(map(_shown, self.arguments)) or "none"
        return (
            f"kernel {self.name!r}, launched at {self.file}:{self.line} with {self.config!r} on {self.stream!r}; "
            f"arguments: {arguments}"
        )


def _shown(argument) -> str:
    text = repr(argument)
    return text if len(text) <= 80 and "\n" not in text else f"<{type(argument).__name__}>"


def observed(observers, launch: Launch) -> contextlib.ExitStack:
    """Return a context manager that enters all observers of a launch."""
    stack = contextlib.ExitStack()
    with stack:
        for observer in observers:
            stack.enter_context(observer(launch))
        return stack.pop_all()


def observers_of_environment() -> list:
    """Return the observers that ``CUDA_CORE_DEBUG`` and ``CUDA_CORE_NVTX`` switch on."""
    found = []
    if is_switched_on("CUDA_CORE_NVTX"):
        found.append(nvtx_observer())
    if is_switched_on("CUDA_CORE_DEBUG"):
        found.append(wait_for_kernel)
    return found


@contextlib.contextmanager
def wait_for_kernel(launch: Launch):
    """Wait for each kernel, so that its errors are raised by its launch."""
    yield
    if launch.is_captured:
        return
    try:
        launch.stream.sync()
    except CUDAError as error:
        error.add_note(f"while CUDA_CORE_DEBUG waited for {launch}")
        raise


def wait_for_graph(graph, stream) -> None:
    """Wait for a launch of an executable graph, so that its errors are raised by the launch."""
    try:
        stream.sync()
    except CUDAError as error:
        error.add_note(f"while CUDA_CORE_DEBUG waited for {graph!r} on {stream!r}")
        raise


def nvtx_observer():
    """Return an observer that shows each launch as a range in profilers, with its kernel and source line.

    Raises
    ------
    ModuleNotFoundError
        If the package ``nvtx`` is not installed.
    """
    try:
        import nvtx
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("CUDA_CORE_NVTX needs the package nvtx; install it, or unset the variable") from error

    def show_range(launch: Launch):
        return nvtx.annotate(f"{launch.name} {os.path.basename(launch.file)}:{launch.line}", domain="cuda.core")

    return show_range
