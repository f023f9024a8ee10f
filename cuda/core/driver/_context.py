# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Initialization, devices, contexts, and per-thread context stacks."""

from __future__ import annotations

import builtins
import contextlib
import dis
import operator
import os
import sys
import threading
import warnings
import weakref

from cuda import core
from cuda.core import LEGACY_DEFAULT_STREAM, CUDAError
from cuda.core._classic import driver_version, shown
from cuda.core.driver._checks import callable_argument, checked_int, text_argument
from cuda.core.driver._constants import compute_mode, ctx_flags, device_attribute, func_cache, limit, shared_config
from cuda.core.driver._errors import (
    INVALID_CONTEXT,
    INVALID_DEVICE,
    INVALID_VALUE,
    Error,
    LogicError,
    call,
    classic_error,
    logic_error,
    translated,
)

__all__ = ["Context", "Device", "get_driver_version", "get_version", "have_gl_ext", "init", "set_debugging"]

# The CUDA version of this interface.
CUDA_VERSION = (13, 0, 0)


@translated
def init(flags: int = 0) -> None:
    """Initialize the driver (``cuInit``).

    Calling this is optional, because every function in this package initializes the driver itself.

    Parameters
    ----------
    flags : int, optional
        Must be 0.

    Raises
    ------
    LogicError
        If ``flags`` is not 0.
    """
    if flags != 0:
        raise logic_error("cuInit", INVALID_VALUE, f"flags must be 0, not {shown(flags)}")
    core.Device.get_all_devices()


def get_version() -> tuple[int, int, int]:
    """Return the CUDA version this interface is built for, such as ``(13, 0, 0)``."""
    return CUDA_VERSION


def get_driver_version() -> int:
    """Return the latest CUDA version that the driver supports, such as 13000 for 13.0 (``cuDriverGetVersion``)."""
    major, minor = driver_version()[:2]
    return 1000 * major + 10 * minor


def have_gl_ext() -> bool:
    """Return True, because :mod:`cuda.core.driver.gl` is always available."""
    return True


class _Debugging:
    is_on = False


def set_debugging(flag: bool = True) -> None:
    """Turn debugging of compiled sources on or off.

    Sources compiled while debugging is on have debug information (``-g -G``) and bypass the cache, and the compiler's
    files are kept.

    Parameters
    ----------
    flag : bool, optional
        Whether to turn debugging on. Defaults to True.
    """
    _Debugging.is_on = bool(flag)


def is_debugging() -> bool:
    """Return whether :func:`set_debugging` has turned debugging on."""
    return _Debugging.is_on


class Device:
    """A CUDA device.

    Parameters
    ----------
    number : int | str
        The ordinal, or a PCI address such as ``"0000:01:00.0"``.

    Raises
    ------
    LogicError
        If there is no such device.
    TypeError
        If ``number`` is neither an int nor a str.

    Examples
    --------
    >>> import cuda.core.driver as drv
    >>> drv.init()
    >>> drv.Device(0).compute_capability() >= (5, 0)
    True
    """

    def __init__(self, number: int | str):
        if isinstance(number, str):
            number = int(call("cuDeviceGetByPCIBusId", text_argument("number", number).encode()))
        number = checked_int("number", number)
        try:
            core.Device(number)
        except (ValueError, OverflowError) as error:
            raise logic_error("cuDeviceGet", INVALID_DEVICE, str(error)) from None
        self._ordinal = number

    def __eq__(self, other):
        return self._ordinal == other._ordinal if isinstance(other, Device) else NotImplemented

    def __hash__(self):
        return hash((Device, self._ordinal))

    def __repr__(self):
        return f"<cuda.core.driver.Device {self._ordinal}: {self.name()}>"

    def __reduce__(self):
        return Device, (self._ordinal,)

    def __getattr__(self, name):
        attribute = device_attribute.names.get(name.upper()) if name.islower() or name.isupper() else None
        if attribute is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.get_attribute(attribute)

    @staticmethod
    def count() -> int:
        """Return the number of devices (``cuDeviceGetCount``)."""
        return len(_all_devices())

    def name(self) -> str:
        """Return the product name (``cuDeviceGetName``)."""
        return self._core.name

    def pci_bus_id(self) -> str:
        """Return the PCI address (``cuDeviceGetPCIBusId``)."""
        return self._core.pci_bus_id

    def compute_capability(self) -> tuple[int, int]:
        """Return the compute capability, ``(major, minor)``."""
        return tuple(self._core.compute_capability)

    def total_memory(self) -> int:
        """Return the device memory size in bytes (``cuDeviceTotalMem``)."""
        return int(call("cuDeviceTotalMem", self._ordinal))

    def get_attribute(self, attr: int) -> int:
        """Return an attribute (``cuDeviceGetAttribute``).

        Parameters
        ----------
        attr : device_attribute | int
            The attribute.

        Raises
        ------
        LogicError
            If ``attr`` is not an attribute, or the driver does not recognize it.
        """
        attribute = classic_member(device_attribute, attr, "cuDeviceGetAttribute")
        value = int(call("cuDeviceGetAttribute", attribute, self._ordinal))
        return compute_mode.values.get(value, value) if attribute == device_attribute.COMPUTE_MODE else value

    def get_attributes(self) -> dict[device_attribute, int]:
        """Return all attributes that the driver recognizes, keyed by :class:`device_attribute` and sorted by name.

        Warns
        -----
        UserWarning
            If the driver rejects an attribute that it should recognize.
        """
        attributes, rejected = {}, []
        newest = get_driver_version() >= CUDA_VERSION[0] * 1000 + 500
        for attribute in sorted(device_attribute, key=str):
            try:
                attributes[attribute] = self.get_attribute(attribute)
            except LogicError:
                # Older drivers do not recognize newer attributes.
                if attribute < _FIRST_OF_NEWER_DRIVERS or newest:
                    rejected.append(str(attribute))
        if rejected:
            warnings.warn(f"the driver rejects these attributes: {', '.join(rejected)}", UserWarning, stacklevel=2)
        return attributes

    def can_access_peer(self, dev: Device) -> bool:
        """Return whether this device can access another device's memory (``cuDeviceCanAccessPeer``).

        Parameters
        ----------
        dev : :class:`Device`
            The other device.

        Raises
        ------
        TypeError
            If ``dev`` is not a Device.
        """
        if not isinstance(dev, Device):
            raise TypeError(f"dev must be a Device, not {type(dev).__name__}")
        return self._core.can_access_peer(dev._ordinal)

    def make_context(self, flags: int = ctx_flags.SCHED_AUTO) -> Context:
        """Return a new :class:`Context`, and push it onto this thread's stack.

        All contexts of a device are its primary context, so they share memory with each other and with other
        libraries.

        Parameters
        ----------
        flags : ctx_flags | int, optional
            How the host waits for the device. Values other than ``SCHED_AUTO`` set the flags of the primary context
            (``cuDevicePrimaryCtxSetFlags``). ``MAP_HOST`` is ignored, because page-locked memory is always mapped.

        Raises
        ------
        LogicError
            If the driver rejects the flags.
        """
        return Context(self, flags)

    def retain_primary_context(self) -> Context:
        """Return a :class:`Context` for the primary context, without making it current."""
        return _context_of(self)

    @property
    def _core(self):
        return core.Device(self._ordinal)


# CUDA 13 drivers or newer introduced this attribute and the following ones.
_FIRST_OF_NEWER_DRIVERS = 140


@translated
def _all_devices():
    return core.Device.get_all_devices()


class Context:
    """A device context, which owns resources and is pushed onto the context stacks of threads.

    Creating a context pushes it onto this thread's stack. Static methods act on the context on top of this stack or,
    if it is empty, on the context that another library made current.

    Parameters
    ----------
    dev : :class:`Device`
        The device.
    flags : ctx_flags | int, optional
        How the host waits for the device. See :meth:`Device.make_context`.

    Raises
    ------
    TypeError
        If ``dev`` is not a Device.
    LogicError
        If the driver rejects the flags.
    """

    def __init__(self, dev: Device, flags: int = 0):
        if not isinstance(dev, Device):
            raise TypeError(f"dev must be a Device, not {type(dev).__name__}")
        # The driver rejects MAP_HOST, because host memory is always mapped.
        flags = operator.index(flags) & ~ctx_flags.MAP_HOST
        if flags:
            call("cuDevicePrimaryCtxSetFlags", dev._ordinal, flags)
        _context_of(dev, self)
        self.push()

    def __eq__(self, other):
        return self._handle == other._handle if isinstance(other, Context) else NotImplemented

    def __hash__(self):
        return hash(self._handle)

    def __repr__(self):
        state = " detached" if self._is_detached else ""
        return f"<cuda.core.driver.Context {self._handle:#x} of device {self._device._ordinal}{state}>"

    def __reduce__(self):
        raise TypeError("a Context cannot be pickled")

    def push(self) -> None:
        """Push this context onto this thread's stack, which can contain it several times.

        Raises
        ------
        LogicError
            If the context is detached.
        """
        self._check("cuCtxPushCurrent")
        stack = _thread.stack
        if not stack:
            _thread.outside = call("cuCtxGetCurrent")
        stack.append(self)
        self._make_current()

    @staticmethod
    def pop() -> Context:
        """Pop the top context off this thread's stack, and return it. The context below it becomes current.

        Raises
        ------
        LogicError
            If the stack is empty.
        """
        _drop_detached()
        if not _thread.stack:
            raise logic_error("cuCtxPopCurrent", INVALID_CONTEXT, "this thread's context stack is empty")
        context = _thread.stack.pop()
        _restore_current()
        return context

    def detach(self) -> None:
        """Detach this context, which invalidates its resources and removes it from all stacks.

        The primary context stays active for other contexts of the device and for other libraries.

        Raises
        ------
        LogicError
            If the context is already detached.
        """
        self._check("cuCtxDetach")
        self._is_detached = True
        self._objects.invalidate()
        self._kept.clear()
        ends, self._ends = self._ends, []
        self.take_result = self.take_array = None
        for end in ends:
            end()
        _drop_detached()

    @staticmethod
    def attach(flags: int = 0) -> Context:
        """Push the driver's current context, which can belong to another library, and return it (``cuCtxGetCurrent``).

        Parameters
        ----------
        flags : int, optional
            Ignored.

        Raises
        ------
        LogicError
            If no context is current.
        """
        context = _from_outside()
        if context is None:
            raise logic_error("cuCtxAttach", INVALID_CONTEXT, "no context is current on this thread")
        context.push()
        return context

    @staticmethod
    def get_current() -> Context | None:
        """Return the top context of this thread's stack, or else the driver's current context, or None."""
        _drop_detached()
        return _thread.stack[-1] if _thread.stack else _from_outside()

    @staticmethod
    def get_device() -> Device:
        """Return the device of the current context.

        Raises
        ------
        LogicError
            If no context is current.
        """
        return context_for("cuCtxGetDevice")._device

    @staticmethod
    @translated
    def synchronize() -> None:
        """Wait for all work in the current context (``cuCtxSynchronize``).

        Raises
        ------
        LogicError
            If no context is current, or earlier work failed with a fault.
        LaunchError
            If a kernel failed.
        """
        context = context_for("cuCtxSynchronize")
        context._make_current()
        context._device._core.sync()
        context._kept.clear()

    @staticmethod
    def set_limit(limit_: int, value: int) -> None:
        """Set a limit of the current context (``cuCtxSetLimit``).

        Parameters
        ----------
        limit_ : limit | int
            The limit.
        value : int
            The new value, in bytes for sizes.

        Raises
        ------
        LogicError
            If the limit is unknown, the driver rejects the value, or no context is current.
        """
        context_for("cuCtxSetLimit")
        call("cuCtxSetLimit", classic_member(limit, limit_, "cuCtxSetLimit"), operator.index(value))

    @staticmethod
    def get_limit(limit_: int) -> int:
        """Return a limit of the current context (``cuCtxGetLimit``).

        Parameters
        ----------
        limit_ : limit | int
            The limit.

        Raises
        ------
        LogicError
            If the limit is unknown, or no context is current.
        """
        context_for("cuCtxGetLimit")
        return int(call("cuCtxGetLimit", classic_member(limit, limit_, "cuCtxGetLimit")))

    @staticmethod
    def get_cache_config() -> func_cache:
        """Return the preferred split of on-chip memory into shared memory and L1 (``cuCtxGetCacheConfig``).

        Raises
        ------
        LogicError
            If no context is current.
        """
        context_for("cuCtxGetCacheConfig")
        return func_cache(int(call("cuCtxGetCacheConfig")))

    @staticmethod
    def set_cache_config(cc: int) -> None:
        """Set the preferred split of on-chip memory into shared memory and L1 (``cuCtxSetCacheConfig``).

        Parameters
        ----------
        cc : func_cache | int
            The preferred split.

        Raises
        ------
        LogicError
            If ``cc`` is invalid, or no context is current.
        """
        context_for("cuCtxSetCacheConfig")
        call("cuCtxSetCacheConfig", classic_member(func_cache, cc, "cuCtxSetCacheConfig"))

    @staticmethod
    def get_shared_config() -> shared_config:
        """Return ``FOUR_BYTE_BANK_SIZE``, the only bank size of current devices."""
        context_for("cuCtxGetSharedMemConfig")
        return shared_config.FOUR_BYTE_BANK_SIZE

    @staticmethod
    def set_shared_config(sc: int) -> None:
        """Check a bank size, which has no effect on current devices.

        Parameters
        ----------
        sc : shared_config | int
            The bank size.

        Raises
        ------
        LogicError
            If ``sc`` is invalid, or no context is current.
        """
        context_for("cuCtxSetSharedMemConfig")
        classic_member(shared_config, sc, "cuCtxSetSharedMemConfig")

    @staticmethod
    def enable_peer_access(peer: Context, flags: int = 0) -> None:
        """Let the current context access another context's memory (``cuCtxEnablePeerAccess``).

        Parameters
        ----------
        peer : :class:`Context`
            The other context.
        flags : int, optional
            Must be 0.

        Raises
        ------
        LogicError
            If access is not supported or already enabled, ``peer`` is detached, or no context is current.
        TypeError
            If ``peer`` is not a Context.
        """
        mine = context_for("cuCtxEnablePeerAccess")
        call("cuCtxEnablePeerAccess", handle_of(peer, "cuCtxEnablePeerAccess"), flags)
        _change_access(peer, mine, set.add)

    @staticmethod
    def disable_peer_access(peer: Context) -> None:
        """Revoke the current context's access to another context's memory (``cuCtxDisablePeerAccess``).

        Parameters
        ----------
        peer : :class:`Context`
            The other context.

        Raises
        ------
        LogicError
            If access is not enabled, ``peer`` is detached, or no context is current.
        TypeError
            If ``peer`` is not a Context.
        """
        mine = context_for("cuCtxDisablePeerAccess")
        call("cuCtxDisablePeerAccess", handle_of(peer, "cuCtxDisablePeerAccess"))
        _change_access(peer, mine, set.discard)

    def get_api_version(self) -> int:
        """Return the API version of the context (``cuCtxGetApiVersion``)."""
        self._check("cuCtxGetApiVersion")
        return int(call("cuCtxGetApiVersion", self._core))

    @property
    def handle(self) -> int:
        """The ``CUcontext`` as an int.

        Raises
        ------
        LogicError
            If the context is detached.
        """
        self._check("the handle of a context")
        return self._handle

    def _check(self, api: str) -> None:
        if self._is_detached:
            raise logic_error(api, INVALID_CONTEXT, "the context is detached")

    def _make_current(self) -> None:
        try:
            if self._is_primary:
                self._device._core.set_current()
            else:
                self._device._core.set_current(self._core)
        except CUDAError as error:
            raise classic_error(error) from None


class _Members:
    """Weak references to a context's resources, which are invalidated when the context is detached."""

    def __init__(self):
        # Keyed by the identity of the reference, because buffers over the same memory are equal.
        self.references = {}
        self._limit = 256

    def add(self, member) -> None:
        reference = weakref.ref(member)
        references = self.references
        references[id(reference)] = reference
        if len(references) > self._limit:
            self._limit = 2 * len(self._living()) + 256

    def invalidate(self) -> None:
        for member in self._living():
            member._invalidate()

    def _living(self) -> list:
        """Return the members that still exist, and drop dead references."""
        living = []
        for key, reference in self.references.copy().items():  # because garbage collection can change the dict
            member = reference()
            if member is None:
                self.references.pop(key, None)
            else:
                living.append(member)
        return living


class _Thread(threading.local):
    """Per-thread state: the context stack, and the driver's current context before the first push."""

    def __init__(self):
        self.stack = []
        self.outside = None


_thread = _Thread()
# Contexts that other libraries made current, keyed by handle.
_foreign = {}
# The ordinals that can access each device's memory, keyed by device ordinal, and callbacks for changes in access.
peer_access: dict[int, set[int]] = {}
peer_listeners: list = []


def context_for(api: str) -> Context:
    """Return the current context, or raise LogicError for the driver call ``api`` if there is none."""
    stack = _thread.stack
    if stack and not stack[-1]._is_detached:
        return stack[-1]
    context = Context.get_current()
    if context is None:
        raise logic_error(api, INVALID_CONTEXT, "no context is current on this thread; create one or import autoinit")
    return context


def handle_of(context: Context, api: str):
    """Return the :mod:`cuda.core` context to pass to driver calls, or raise LogicError if the context is detached."""
    if not isinstance(context, Context):
        raise TypeError(f"context must be a Context, not {type(context).__name__}")
    context._check(api)
    return context._core


def classic_member(space, value, api: str):
    """Return the enum member for an int, or raise LogicError for the driver call ``api`` if there is none."""
    if isinstance(value, space):
        return value
    member = space.values.get(checked_int(space.__name__, value))
    if member is None:
        raise logic_error(api, INVALID_VALUE, f"{shown(value)} is not a {space.__name__}")
    return member


def _change_access(owner: Context, accessor: Context, change) -> None:
    """Record that a device gains or loses access to another device's memory, and call the listeners."""
    ordinal = owner._device._ordinal
    peers = peer_access.setdefault(ordinal, set())
    change(peers, accessor._device._ordinal)
    for listener in peer_listeners:
        listener(ordinal, peers)


def _context_of(dev: Device, context: Context | None = None) -> Context:
    """Set up a Context for a device's primary context, without changing the current context."""
    before = call("cuCtxGetCurrent")
    try:
        dev._core.set_current()
        return _set_up(context, dev, dev._core.context, True)
    except CUDAError as error:
        raise classic_error(error) from None
    finally:
        call("cuCtxSetCurrent", before)


def _set_up(context: Context | None, dev: Device, core_context, is_primary: bool) -> Context:
    if context is None:
        context = Context.__new__(Context)
    context._device = dev
    context._core = core_context
    context._handle = int(core_context.handle)
    context._is_primary = is_primary
    context._is_detached = False
    context._objects = _Members()
    context._kept = {}
    # The array modules set these: functions that allocate and release array memory, and the array device.
    context.take_result = context.take_array = context.array_device = None
    context._ends = []
    return context


def _from_outside() -> Context | None:
    handle = int(call("cuCtxGetCurrent"))
    if not handle:
        return None
    context = _foreign.get(handle)
    if context is None or context._is_detached:
        dev = Device(int(call("cuCtxGetDevice")))
        context = _foreign[handle] = _set_up(None, dev, LEGACY_DEFAULT_STREAM.context, False)
    context._make_current()
    return context


def _drop_detached() -> None:
    stack = _thread.stack
    if any(context._is_detached for context in stack):
        stack[:] = [context for context in stack if not context._is_detached]
        _restore_current()


def _restore_current() -> None:
    """Make the top context of the stack current, or the context that was current before the first push."""
    if _thread.stack:
        _thread.stack[-1]._make_current()
    else:
        outside, _thread.outside = _thread.outside, None
        call("cuCtxSetCurrent", outside)


# Files in the home directory that contain the ordinal of the user's device.
_FILES = (".cuda_device", ".cuda-device")


def make_default_context(ctx_maker=None) -> Context:
    """Create a context on the user's chosen device, or on the first device that works, and make it current.

    The device ordinal is read from the environment variable ``CUDA_DEVICE``, or else from the file ``.cuda_device`` or
    ``.cuda-device`` in the home directory.

    Parameters
    ----------
    ctx_maker : callable, optional
        A function that returns a context for a :class:`Device`. Defaults to :meth:`Device.make_context`.

    Raises
    ------
    RuntimeError
        The builtin exception, if there is no device, no device works, or the chosen ordinal is not a number.
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
    raise builtins.RuntimeError("no CUDA device was found")


def get_default_device(default: int = 0) -> Device:
    """Return the user's chosen device, or else the device with a given ordinal (deprecated).

    Parameters
    ----------
    default : int, optional
        The ordinal if the user did not choose a device. Defaults to 0.

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
        raise builtins.RuntimeError(f"{source} must contain a device ordinal, not {shown(text.strip())}") from None


def check_importer(name: str) -> None:
    """Warn if a program that has run ``import cuda.core.driver as cuda`` imports a submodule by its full name.

    Such an import rebinds the name ``cuda`` to the namespace package.
    """
    frame = sys._getframe(2)
    while frame is not None and "importlib" in frame.f_code.co_filename:
        frame = frame.f_back
    if frame is None or frame.f_globals.get("cuda") is not sys.modules.get("cuda.core.driver"):
        return
    instructions = iter(dis.get_instructions(frame.f_code))
    following = next((next(instructions, None) for item in instructions if item.offset == frame.f_lasti), None)
    if following is not None and following.opname == "STORE_NAME" and following.argval == "cuda":
        last = name.rpartition(".")[2]
        warnings.warn(
            f"'import {name}' rebinds the name 'cuda', which was cuda.core.driver; "
            f"write 'from cuda.core.driver import {last}'",
            UserWarning,
            stacklevel=3,
        )


def leave_at_exit(context: Context) -> None:
    """Pop the autoinit context at exit, if it is still the current context."""
    tools = sys.modules.get("cuda.core.driver.tools")
    with contextlib.suppress(Exception):  # nobody handles errors at exit
        if tools is not None:
            tools.clear_context_caches()
    with contextlib.suppress(Error):
        if Context.get_current() is context:
            Context.pop()
