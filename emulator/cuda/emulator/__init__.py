# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""A CUDA device implemented on the CPU: runs unchanged CUDA programs without a GPU.

``activate()`` loads a library that replaces the driver, NVRTC, nvJitLink and NVML in this process. Call
it before anything else uses CUDA; ``python -m cuda.emulator program.py`` and
``CUDA_CORE_DEVICE=software`` do so.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

from cuda.emulator import _runtime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any, Self

    import numpy as np

    from cuda.core import Kernel, LaunchConfig

__all__ = [
    "INTERFACE",
    "GraphicsBuffer",
    "Plan",
    "activate",
    "check",
    "describe",
    "end_kernels",
    "fail",
    "has_gpu",
    "is_active",
    "leaks",
    "library_path",
    "reset",
    "settle_interrupts",
    "sweep",
    "unsupported_calls",
]

# The version of what cuda.core relies on: activate, describe, has_gpu, is_active, reset and settle_interrupts. It
# increases when a newer cuda.core would not work with an older device.
INTERFACE = 2

_HERE = os.path.dirname(os.path.abspath(__file__))
_REPLACED = ("libcuda.so.1", "libnvrtc.so.13", "libnvrtc.so.12")
_library = None


def __dir__():
    return list(__all__)


def library_path() -> str:
    """Return the path of the shared library of the software device."""
    return os.path.join(_HERE, "_emulator.so")


def describe() -> dict[str, str | None]:
    """Return the path of the library, and what identifies the code that it compiles.

    Returns
    -------
    dict
        ``library``: the path of the library, or None if it was not built. ``code``: a str that changes with everything
        besides a program that determines its compiled code: the build of the device, the host compiler, the checks of
        ``CUDA_EMULATOR_CHECK``, and the CUDA version. None if the software device is not active. Keys of caches for
        compiled code must contain it.

    Examples
    --------
    >>> import cuda.emulator
    >>> sorted(cuda.emulator.describe())
    ['code', 'library']
    """
    path = library_path()
    return {
        "library": path if os.path.exists(path) else None,
        "code": _text(_library.emulator_code_identity) if is_active() else None,
    }


def is_active() -> bool:
    """Return whether this process uses the software device.

    Examples
    --------
    >>> import cuda.emulator
    >>> cuda.emulator.is_active()
    True
    """
    return _library is not None or _adopt()


def has_gpu() -> bool:
    """Return whether NVIDIA's driver is installed and reports a GPU; False if the software device is active."""
    if is_active():
        return False
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0:
        return True
    import _ctypes

    _ctypes.dlclose(driver._handle)  # the software device can take the place only of a driver that is not loaded
    return False


def activate() -> None:
    """Make the software device the CUDA driver of this process.

    Raises
    ------
    RuntimeError
        If another driver or compiler is already loaded, which cannot be undone, or if the
        library was not built or cannot be loaded on this system.
    ValueError
        If a ``CUDA_EMULATOR_*`` variable has a wrong value; the message names it and what is allowed.
    """
    if not is_active():
        _take_place()
    error = _text(_library.emulator_error_of_variables)
    if error:
        raise ValueError(error)


def _take_place():
    """Load the library, unless another one has its place."""
    global _library
    for name in _REPLACED:
        if _is_loaded(name):
            raise RuntimeError(
                f"{name} is already loaded in this process and cannot be replaced; "
                "activate the software device before anything uses CUDA, "
                "or start the program with: python -m cuda.emulator program.py"
            )
    path = library_path()
    if not os.path.exists(path):
        raise RuntimeError(_not_built(path))
    try:
        _library = _load(os.RTLD_NOW)
    except OSError as error:
        raise RuntimeError(f"the software device cannot be loaded: {error}") from None


def _not_built(path):
    checkout = os.path.dirname(os.path.dirname(_HERE))
    if os.path.exists(os.path.join(checkout, "CMakeLists.txt")):
        todo = (
            f"this is the source checkout {checkout}: to use an installed software device, start Python in another "
            "directory or with -P (such as `python -P -m cuda.emulator program.py`); to use the checkout, run "
            "`cmake -S . -B build -G Ninja && cmake --build build` in it"
        )
    else:
        todo = "it is built on Linux on x86-64 and AArch64 only"
    return f"the software device was not built: {path} is missing; {todo}"


def unsupported_calls() -> dict[str, int]:
    """Return the driver functions that were called and are not implemented: a dict of names and counts."""
    rows = _text(_active().emulator_unsupported).splitlines()
    return {name: int(count) for name, count in (row.split() for row in rows)}


def end_kernels() -> None:
    """Stop all running kernels of this process, and drop the work enqueued after them.

    Ctrl-C does the same if it raises ``KeyboardInterrupt``, and so does the end of the process.
    Contexts stay usable; waiting for dropped work returns ``CUDA_ERROR_LAUNCH_FAILED``, once for each
    stream.
    """
    _active().emulator_end_work(0)


def settle_interrupts() -> bool:
    """Wait until a Ctrl-C, if there was one, has stopped the kernels, and return whether there was one.

    A program that continues after Ctrl-C calls this first, so that its next launches are not stopped as well.
    """
    return bool(_active().emulator_settle_interrupts(10_000))


def reset() -> None:
    """Make all contexts of this process usable again after a faulty kernel.

    As on a GPU, every call returns the error of a faulty kernel, such as ``CUDA_ERROR_ILLEGAL_ADDRESS``, until its
    context is destroyed. On the software device this function ends that state, so that one faulty kernel does not fail
    all later tests of a process. Streams, buffers, kernels and other objects stay valid, and so does the contents of
    memory. Open captures end, and so do kernels that still run after one second.

    Raises
    ------
    RuntimeError
        If the software device is not active.
    """
    _active().emulator_recover(1000)


def leaks() -> list[str]:
    """Return descriptions of the resources that were not released, as a list of str.

    Primary contexts and default memory pools are not listed: they live as long as the process.

    Examples
    --------
    >>> import cuda.emulator
    >>> from cuda.core import Device
    >>> Device().set_current()
    >>> stream = Device().create_stream()
    >>> any("stream" in leak for leak in cuda.emulator.leaks())
    True
    """
    return _text(_active().emulator_leaks).splitlines()


class Plan:
    """A context manager from :func:`fail` that injects faults: driver calls fail while its block runs."""

    def __init__(self, text: str):
        self.text = text
        self._id = 0
        self._state = (0, 0, "")

    def __enter__(self) -> Self:
        error = ctypes.create_string_buffer(256)
        self._id = _active().emulator_fail(self.text.encode(), error, len(error))
        if not self._id:
            raise ValueError(f"{self.text!r}: {error.value.decode()}")
        return self

    def __exit__(self, *_: object) -> None:
        self._state = self._read()
        _active().emulator_fail_end(self._id)
        self._id = 0

    def _read(self) -> tuple[int, int, str]:
        if not self._id:
            return self._state
        matched, fired = ctypes.c_uint64(), ctypes.c_uint64()
        last = ctypes.create_string_buffer(128)
        _active().emulator_fail_state(self._id, ctypes.byref(matched), ctypes.byref(fired), last, len(last))
        return matched.value, fired.value, last.value.decode()

    @property
    def matched(self) -> int:
        """The number of calls that matched the names."""
        return self._read()[0]

    @property
    def fired(self) -> int:
        """The number of calls that failed."""
        return self._read()[1]

    @property
    def last(self) -> str:
        """The name of the last call that failed."""
        return self._read()[2]

    def __repr__(self):
        return f"<Plan {self.text!r}>"


def fail(
    calls: str, code: str | int = "CUDA_ERROR_OUT_OF_MEMORY", *, nth: int | None = None, when: str = "before"
) -> Plan:
    """Return a context manager that makes driver calls fail.

    Parameters
    ----------
    calls : str
        Names of driver functions, separated by commas; ``*`` and ``?`` are wildcards, and a name after
        ``!`` is excluded.
    code : str or int
        The error code that the calls return: a name or a value of ``CUresult``.
    nth : int, optional
        The number of the only matching call that fails, counted from 1. Default: all fail.
    when : str
        When the call fails: ``"before"`` its effect; ``"after"`` its effect; ``"later"``: the call succeeds and
        the context fails, as after an error of a kernel; ``"hang"``: the call does not return before the end of
        the block, and then succeeds, whatever ``code`` is.

    Returns
    -------
    Plan
        The context manager, which counts the calls.

    Examples
    --------
    >>> import cuda.emulator
    >>> from cuda.core import Device, OutOfMemoryError
    >>> device = Device()
    >>> device.set_current()
    >>> with cuda.emulator.fail("cuMemAlloc*", "CUDA_ERROR_OUT_OF_MEMORY"):
    ...     try:
    ...         device.allocate(1024, stream=device.default_stream)
    ...     except OutOfMemoryError:
    ...         print("handled")
    handled
    """
    at = "" if nth is None else f"@{int(nth)}"
    return Plan(f"{calls}{at}:{when}={getattr(code, 'value', code)}")


# Calls that release a resource: if they failed before their effect, the resource would leak.
_RELEASING = ("cu*Destroy*", "cu*Free*", "cu*Release*", "cu*Unload*", "cu*Unmap*", "cu*Unregister*", "cu*PopCurrent*")
_EXEMPT = ("cuGetError*", "cuLogs*", "cuDriverGetVersion", "cuInit")
_RUNS_TO_END = 40


def sweep(
    function: Callable[[], object],
    code: str | int = "CUDA_ERROR_OUT_OF_MEMORY",
    *,
    calls: str = "*",
    must_raise: bool = True,
    check: Callable[[str, Exception], object] | None = None,
    most: int = 10_000,
) -> list[str]:
    """Run ``function`` repeatedly, with its 1st, 2nd, ... driver call failing in turn.

    Checks each time that it raised an exception, or reported the failure by a warning or, in a
    destructor, through ``sys.unraisablehook``; and that no resource leaked on the device. Calls that
    release a resource fail after their effect, and need not be reported.

    Parameters
    ----------
    function : callable
        Takes no arguments, and makes the same driver calls every time. It first runs once without a failure.
    code : str or int
        The error code that the calls return.
    calls : str
        Names of driver functions to fail, as for :func:`fail`.
    must_raise : bool
        Whether a failed call that is not reported raises an ``AssertionError``.
    check : callable, optional
        Called with the name of the call that failed and the exception that ``function`` raised.
    most : int
        The maximum number of calls that fail.

    Returns
    -------
    list of str
        The names of the calls that failed, in order.

    Raises
    ------
    AssertionError
        If a failure was not reported, or a resource leaked.

    Examples
    --------
    >>> import cuda.emulator
    >>> from cuda.core import Device
    >>> device = Device()
    >>> device.set_current()
    >>> failed = cuda.emulator.sweep(lambda: device.create_stream().close())
    >>> "cuStreamCreateWithPriority" in failed
    True
    """
    function()
    _collect()
    failed = []
    for names, when in ((f"{calls},!{',!'.join(_RELEASING + _EXEMPT)}", "before"), (",".join(_RELEASING), "after")):
        for number in range(1, most + 1):
            for _ in range(3):  # a run may make fewer calls, if work that other runs wait for has already completed
                plan = fail(names, code, nth=number, when=when)
                if _sweep_once(function, plan, must_raise and when == "before", check):
                    break
            else:
                break
            failed.append(plan.last)
    return failed


def _sweep_once(function, plan, must_raise, check):
    """Run and check ``function`` with the plan, and return whether the call that was to fail was made."""
    import warnings

    before = set(leaks())
    reports = []
    hook, sys.unraisablehook = sys.unraisablehook, lambda args: reports.append(str(args.exc_value))
    try:
        with plan, warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = lambda message, *_, **__: reports.append(str(message))
            try:
                function()
            except Exception as error:
                reports.append(str(error))
                if check is not None:
                    check(plan.last, error)
            _collect()
    finally:
        sys.unraisablehook = hook
    if plan.fired and must_raise and not reports:
        raise AssertionError(f"{plan.last} failed ({plan.text}) and no exception was raised")
    leaked = set(leaks()) - before
    for _ in range(_RUNS_TO_END):  # a deferred release, which waits for work to complete, is made by one of these runs
        if not leaked:
            break
        time.sleep(0.005)
        function()
        _collect()
        leaked &= set(leaks())
    if leaked:
        raise AssertionError(f"{plan.last} failed ({plan.text}) and these leaked: {'; '.join(sorted(leaked))}")
    return plan.fired


def check(
    kernel: Kernel,
    reference: Callable[..., Any],
    shapes: int | Sequence[int | tuple[int, ...]] = 1,
    *,
    dtypes: np.typing.DTypeLike | Sequence[np.typing.DTypeLike] = "float32",
    config: LaunchConfig | Callable[[tuple[int, ...]], LaunchConfig] | None = None,
    arguments: Callable[..., Sequence[Any]] | None = None,
    strided: bool = False,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    orders: int = 2,
    seed: int = 0,
) -> None:
    """Compare a kernel with a NumPy function on random inputs, with shapes at which kernels tend to fail.

    Outputs are filled with NaN before the kernel runs, so elements that it does not write are wrong. Inputs must not
    change. On the software device each shape runs with several orders of blocks and threads, and with the checks of
    ``CUDA_EMULATOR_CHECK``: pass ``--cuda-check=all`` to pytest for all of them. On a GPU, padding around the arrays
    shows accesses beside them.

    Parameters
    ----------
    kernel : cuda.core.Kernel
        The kernel. By default its parameters are pointers to the inputs, pointers to the outputs, and the extents of
        the shape as ``int``.
    reference : callable
        Takes the inputs as NumPy arrays, one for each parameter without a default, and returns the output or a tuple
        of outputs.
    shapes : int or sequence of tuple of int
        The shapes of the inputs, or a number of dimensions, for which shapes with tails are chosen.
    dtypes : numpy.dtype or sequence of numpy.dtype
        The type of all inputs, or of each.
    config : LaunchConfig or callable, optional
        The launch configuration, or a function of the shape that returns it. Default: one thread for each element, in
        blocks of 128.
    arguments : callable, optional
        Takes the lists of the addresses of inputs and outputs, the shape, and with ``strided`` a list of the strides of
        all arrays, in elements; returns the kernel's arguments.
    strided : bool
        Whether the arrays have gaps between elements and rows, filled with NaN. The kernel then gets the strides of
        each array, in elements as ``int``, after the extents.
    rtol, atol : float
        The tolerances for outputs of floating-point types, as for ``numpy.isclose``.
    orders : int
        The number of orders for each shape.
    seed : int
        The seed of shapes and inputs.

    Raises
    ------
    AssertionError
        If a result is wrong, an input changes, or the kernel has a fault; the message names the shape.
    ValueError
        If ``dtypes`` has another length than the reference has parameters.
    TypeError
        If arrays of a type in ``dtypes`` cannot be generated.
    """
    from cuda.emulator import _oracle

    library = _library if is_active() else None
    return _oracle.check(
        library, kernel, reference, shapes, dtypes, config, arguments, strided, rtol, atol, orders, seed
    )


class GraphicsBuffer:
    """A stand-in for a buffer of OpenGL, which the software device does not have: zeroed memory with a name.

    ``cuGraphicsGLRegisterBuffer`` takes the name. As with OpenGL, the program reads and writes the memory while it
    is not mapped, and kernels while it is mapped. As a context manager it is deleted at the end of the block.

    Parameters
    ----------
    size : int
        The size in bytes.

    Raises
    ------
    RuntimeError
        If the software device is not active.
    MemoryError
        If the device does not have that much memory.
    """

    def __init__(self, size: int):
        self.size = size
        self.name = _active().emulator_graphics_create(size)
        if not self.name:
            raise MemoryError(f"a graphics buffer of {size} bytes cannot be allocated")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.delete()

    def read(self) -> bytes:
        """Return the contents, or raise RuntimeError if the buffer is mapped or deleted."""
        data = ctypes.create_string_buffer(self.size)
        if not _active().emulator_graphics_read(self.name, 0, data, self.size):
            raise RuntimeError("the graphics buffer is mapped or deleted")
        return data.raw

    def write(self, data: Any, offset: int = 0) -> None:
        """Write bytes at an offset in bytes, or raise RuntimeError if the buffer is mapped, deleted or too small."""
        data = bytes(data)
        if offset < 0 or not _active().emulator_graphics_write(self.name, offset, data, len(data)):
            raise RuntimeError("the graphics buffer is mapped, deleted, or too small")

    def delete(self) -> None:
        """Delete the buffer. Registered memory is kept until it is unregistered."""
        _active().emulator_graphics_delete(self.name)


def _collect():
    import gc

    gc.collect()


def _text(function):
    """Return the text that a function of the library writes to a buffer."""
    size = 4096
    while True:
        buffer = ctypes.create_string_buffer(size)
        needed = function(buffer, size)
        if needed <= size:
            return buffer.value.decode()
        size = needed + 1024


def _active():
    if not is_active():
        raise RuntimeError("the software device is not active: call cuda.emulator.activate() first")
    return _library


def _is_loaded(name):
    try:
        ctypes.CDLL(name, mode=os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


def _adopt():
    """Use the library if it is already loaded (by LD_PRELOAD or another package), and return whether it is."""
    global _library
    if not sys.platform.startswith("linux") or not os.path.exists(library_path()):
        return False
    try:
        _library = _load(os.RTLD_NOLOAD)
    except OSError:
        return False
    return True


def _load(mode):
    library = _declare(ctypes.CDLL(library_path(), mode=mode | os.RTLD_GLOBAL))
    library.emulator_set_python(os.fsencode(sys.executable or ""))
    library.emulator_set_interrupt_policy(_will_raise_interrupt)
    _runtime.serve(library, _text)
    atexit.register(_end, library)
    return library


def _end(library):
    # Host functions cannot call an interpreter that exits; those that are running get half a second to return.
    library.emulator_stop_callbacks(500)
    # Destructors wait for kernels, so kernels must not run forever.
    library.emulator_end_work(100)


# A program with its own handler may continue after Ctrl-C, so kernels are stopped only for Python's default handler.
@ctypes.CFUNCTYPE(ctypes.c_int)
def _will_raise_interrupt():
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _declare(library):
    size, text = ctypes.c_size_t, ctypes.c_char_p
    counter = ctypes.POINTER(ctypes.c_uint64)
    library.emulator_leaks.argtypes = library.emulator_unsupported.argtypes = (text, size)
    library.emulator_leaks.restype = library.emulator_unsupported.restype = size
    library.emulator_runtime_functions.argtypes = (text, size)
    library.emulator_runtime_functions.restype = size
    library.emulator_missing_runtime_function.argtypes = (text,)
    library.emulator_missing_runtime_function.restype = ctypes.c_void_p
    library.emulator_error_of_variables.argtypes = library.emulator_code_identity.argtypes = (text, size)
    library.emulator_error_of_variables.restype = library.emulator_code_identity.restype = size
    library.emulator_set_python.argtypes = (text,)
    library.emulator_set_python.restype = None
    library.emulator_stop_callbacks.argtypes = library.emulator_end_work.argtypes = (ctypes.c_int,)
    library.emulator_stop_callbacks.restype = library.emulator_end_work.restype = None
    library.emulator_set_interrupt_policy.argtypes = (type(_will_raise_interrupt),)
    library.emulator_set_interrupt_policy.restype = None
    library.emulator_recover.argtypes = library.emulator_wait.argtypes = (ctypes.c_int,)
    library.emulator_recover.restype = None
    library.emulator_shuffle.argtypes = (ctypes.c_int, ctypes.c_uint64)
    library.emulator_shuffle.restype = None
    library.emulator_set_locator.argtypes = (ctypes.c_void_p,)
    library.emulator_set_locator.restype = None
    library.emulator_unreported_faults.argtypes = (text, size)
    library.emulator_unreported_faults.restype = size
    library.emulator_settle_interrupts.argtypes = (ctypes.c_int,)
    name = ctypes.c_uint
    library.emulator_graphics_create.argtypes = (size,)
    library.emulator_graphics_create.restype = name
    library.emulator_graphics_delete.argtypes = (name,)
    library.emulator_graphics_read.argtypes = library.emulator_graphics_write.argtypes = (name, size, text, size)
    library.emulator_fail.argtypes = (text, text, size)
    library.emulator_fail_end.argtypes = (ctypes.c_int,)
    library.emulator_fail_state.argtypes = (ctypes.c_int, counter, counter, text, size)
    return library
