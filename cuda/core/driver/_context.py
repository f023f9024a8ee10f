# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Initialization, devices, contexts, and the context stack of each thread."""

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

from cuda.core import _device as core_device
from cuda.core._stream import LEGACY_DEFAULT_STREAM
from cuda.core._utils.cuda_utils import CUDAError, driver_version
from cuda.core._utils.validators import shown
from cuda.core.driver._checks import callable_argument, text_argument, whole
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
    """Initialize the driver (``cuInit``). Optional: all functions of this package do so themselves.

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
    core_device.Device.get_all_devices()


def get_version() -> tuple[int, int, int]:
    """Return the CUDA version this interface is built for, such as ``(13, 0, 0)``."""
    return CUDA_VERSION


def get_driver_version() -> int:
    """Return the latest CUDA version that the driver supports, 13000 for 13.0 (``cuDriverGetVersion``)."""
    major, minor = driver_version()[:2]
    return 1000 * major + 10 * minor


def have_gl_ext() -> bool:
    """Return True: :mod:`cuda.core.driver.gl` is always available."""
    return True


class _Debugging:
    is_on = False


def set_debugging(flag: bool = True) -> None:
    """Compile later sources with debug information (``-g -G``), keep the compiler's files, and bypass the cache."""
    _Debugging.is_on = bool(flag)


def is_debugging() -> bool:
    """Return whether :func:`set_debugging` has turned debugging on."""
    return _Debugging.is_on


class Device:
    """A CUDA device.

    Parameters
    ----------
    number : int | str
        The ordinal, or the PCI address, such as ``"0000:01:00.0"``.

    Raises
    ------
    LogicError
        If there is no such device.
    TypeError
        If ``number`` is neither an int nor a str.
    """

    def __init__(self, number: int | str):
        if isinstance(number, str):
            number = int(call("cuDeviceGetByPCIBusId", text_argument("number", number).encode()))
        number = whole("number", number)
        try:
            core_device.Device(number)
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
        attribute = device_attribute.names.get(name.upper()) if name.islower() else None
        if attribute is None or name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.get_attribute(attribute)

    @staticmethod
    def count() -> int:
        """Return the number of devices (``cuDeviceGetCount``)."""
        return len(_all_devices())

    def name(self) -> str:
        """Return the name of the product (``cuDeviceGetName``)."""
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
            If ``attr`` is not an attribute, or the driver does not know it.
        """
        attribute = member_of(device_attribute, attr, "cuDeviceGetAttribute")
        value = int(call("cuDeviceGetAttribute", attribute, self._ordinal))
        return compute_mode.values.get(value, value) if attribute == device_attribute.COMPUTE_MODE else value

    def get_attributes(self) -> dict[device_attribute, int]:
        """Return all attributes that the driver knows, by member of :class:`device_attribute`, sorted by name.

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
        """Return whether this device can access the memory of another (``cuDeviceCanAccessPeer``)."""
        if not isinstance(dev, Device):
            raise TypeError(f"dev must be a Device, not {type(dev).__name__}")
        return self._core.can_access_peer(dev._ordinal)

    def make_context(self, flags: int = ctx_flags.SCHED_AUTO) -> Context:
        """Return a new :class:`Context`, and push it on the stack of this thread.

        All contexts of a device are the primary context, so they share memory with each other and with other
        libraries.

        Parameters
        ----------
        flags : ctx_flags | int, optional
            How the host waits for the device. Other values than ``SCHED_AUTO`` set the flags of the primary context
            (``cuDevicePrimaryCtxSetFlags``). ``MAP_HOST`` is ignored: page-locked memory is always mapped.
        """
        return Context(self, flags)

    def retain_primary_context(self) -> Context:
        """Return a :class:`Context` for the primary context, without making it current."""
        return _context_of(self)

    @property
    def _core(self):
        return core_device.Device(self._ordinal)


# This attribute and the following ones came with CUDA 13 drivers or newer.
_FIRST_OF_NEWER_DRIVERS = 140


@translated
def _all_devices():
    return core_device.Device.get_all_devices()


class Context:
    """A context of a device, which owns resources and is pushed on context stacks of threads.

    Creating a context pushes it on the stack of this thread. Static methods act on the context on top of this
    stack or, if it is empty, on the context that another library made current.

    Parameters
    ----------
    dev : :class:`Device`
        The device.
    flags : ctx_flags | int, optional
        How the host waits for the device. See :meth:`Device.make_context`.
    """

    def __init__(self, dev: Device, flags: int = 0):
        if not isinstance(dev, Device):
            raise TypeError(f"dev must be a Device, not {type(dev).__name__}")
        flags = operator.index(flags) & ~ctx_flags.MAP_HOST  # which the driver rejects: host memory is always mapped
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
        """Push this context on the stack of this thread, which can contain it several times.

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
        """Pop the top context off the stack of this thread, and return it. The one below becomes current.

        Raises
        ------
        LogicError
            If the stack is empty.
        """
        _drop_detached()
        if not _thread.stack:
            raise logic_error("cuCtxPopCurrent", INVALID_CONTEXT, "the stack of contexts of this thread is empty")
        context = _thread.stack.pop()
        _restore_current()
        return context

    def detach(self) -> None:
        """Detach this context: its resources become invalid, and it is removed from all stacks.

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
        """Push the driver's current context, perhaps of another library, and return it (``cuCtxGetCurrent``).

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
        """Return the top context of this thread's stack, else the driver's current context, else None."""
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
        return current_context("cuCtxGetDevice")._device

    @staticmethod
    @translated
    def synchronize() -> None:
        """Wait for all work of the current context (``cuCtxSynchronize``)."""
        context = current_context("cuCtxSynchronize")
        context._make_current()
        context._device._core.sync()
        context._kept.clear()

    @staticmethod
    def set_limit(limit_: int, value: int) -> None:
        """Set a limit of the current context, a member of :class:`limit` (``cuCtxSetLimit``)."""
        current_context("cuCtxSetLimit")
        call("cuCtxSetLimit", member_of(limit, limit_, "cuCtxSetLimit"), operator.index(value))

    @staticmethod
    def get_limit(limit_: int) -> int:
        """Return a limit of the current context, a member of :class:`limit` (``cuCtxGetLimit``)."""
        current_context("cuCtxGetLimit")
        return int(call("cuCtxGetLimit", member_of(limit, limit_, "cuCtxGetLimit")))

    @staticmethod
    def get_cache_config() -> func_cache:
        """Return the preferred split of on-chip memory into shared memory and L1 (``cuCtxGetCacheConfig``)."""
        current_context("cuCtxGetCacheConfig")
        return func_cache(int(call("cuCtxGetCacheConfig")))

    @staticmethod
    def set_cache_config(cc: int) -> None:
        """Set the preferred split of on-chip memory, a member of :class:`func_cache` (``cuCtxSetCacheConfig``)."""
        current_context("cuCtxSetCacheConfig")
        call("cuCtxSetCacheConfig", member_of(func_cache, cc, "cuCtxSetCacheConfig"))

    @staticmethod
    def get_shared_config() -> shared_config:
        """Return ``FOUR_BYTE_BANK_SIZE``, the only bank size of current devices."""
        current_context("cuCtxGetSharedMemConfig")
        return shared_config.FOUR_BYTE_BANK_SIZE

    @staticmethod
    def set_shared_config(sc: int) -> None:
        """Accept a bank size, a member of :class:`shared_config`, which has no effect on current devices."""
        current_context("cuCtxSetSharedMemConfig")
        member_of(shared_config, sc, "cuCtxSetSharedMemConfig")

    @staticmethod
    def enable_peer_access(peer: Context, flags: int = 0) -> None:
        """Let the current context access the memory of ``peer`` (``cuCtxEnablePeerAccess``)."""
        mine = current_context("cuCtxEnablePeerAccess")
        call("cuCtxEnablePeerAccess", handle_of(peer, "cuCtxEnablePeerAccess"), flags)
        _change_peers(peer, mine, set.add)

    @staticmethod
    def disable_peer_access(peer: Context) -> None:
        """Undo :meth:`enable_peer_access` (``cuCtxDisablePeerAccess``)."""
        mine = current_context("cuCtxDisablePeerAccess")
        call("cuCtxDisablePeerAccess", handle_of(peer, "cuCtxDisablePeerAccess"))
        _change_peers(peer, mine, set.discard)

    def get_api_version(self) -> int:
        """Return the API version of the context (``cuCtxGetApiVersion``)."""
        self._check("cuCtxGetApiVersion")
        return int(call("cuCtxGetApiVersion", self._core))

    @property
    def handle(self) -> int:
        """The ``CUcontext`` as an int."""
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
    """Weak references to the resources of a context, which detaching it invalidates."""

    def __init__(self):
        # By the identity of the reference, because members of the same memory are equal.
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
        """Return the members that still exist, and drop references to the others."""
        living = []
        for key, reference in self.references.copy().items():  # garbage collection can change the dict
            member = reference()
            if member is None:
                self.references.pop(key, None)
            else:
                living.append(member)
        return living


class _Thread(threading.local):
    """State per thread: the context stack, and the driver's current context before the first push."""

    def __init__(self):
        self.stack = []
        self.outside = None


_thread = _Thread()
# Contexts that other libraries made current, by their handles.
_foreign = {}
# For each device ordinal, the ordinals with access to its memory, and callbacks for changes of that access.
peer_access: dict[int, set[int]] = {}
peer_listeners: list = []


def current_context(api: str) -> Context:
    """Return the current context, or raise LogicError for the driver call ``api`` if there is none."""
    stack = _thread.stack
    if stack and not stack[-1]._is_detached:
        return stack[-1]
    context = Context.get_current()
    if context is None:
        raise logic_error(api, INVALID_CONTEXT, "no context is current on this thread; create one or import autoinit")
    return context


def handle_of(context: Context, api: str):
    """Return the :mod:`cuda.core` context that calls accept for a context, or raise LogicError if it is detached."""
    if not isinstance(context, Context):
        raise TypeError(f"context must be a Context, not {type(context).__name__}")
    context._check(api)
    return context._core


def member_of(space, value, api: str):
    """Return the member of an enum for an int, or raise LogicError for the driver call ``api`` if it has none."""
    if isinstance(value, space):
        return value
    member = space.values.get(whole(space.__name__, value))
    if member is None:
        raise logic_error(api, INVALID_VALUE, f"{shown(value)} is not a {space.__name__}")
    return member


def _change_peers(owner: Context, accessor: Context, change) -> None:
    """Record that a device gains or loses access to the memory of another, and call the listeners."""
    ordinal = owner._device._ordinal
    peers = peer_access.setdefault(ordinal, set())
    change(peers, accessor._device._ordinal)
    for listener in peer_listeners:
        listener(ordinal, peers)


def _context_of(dev: Device, context: Context | None = None) -> Context:
    """Set up a Context for the primary context of a device, without changing the current context."""
    before = call("cuCtxGetCurrent")
    try:
        dev._core.set_current()
        return _fill(context, dev, dev._core.context, True)
    except CUDAError as error:
        raise classic_error(error) from None
    finally:
        call("cuCtxSetCurrent", before)


def _fill(context: Context | None, dev: Device, core_context, is_primary: bool) -> Context:
    if context is None:
        context = Context.__new__(Context)
    context._device = dev
    context._core = core_context
    context._handle = int(core_context.handle)
    context._is_primary = is_primary
    context._is_detached = False
    context._objects = _Members()
    context._kept = {}
    # Set by arrays: the allocators of their results, functions that release their memory, and their device.
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
        context = _foreign[handle] = _fill(None, dev, LEGACY_DEFAULT_STREAM.context, False)
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
    """Create a context on the device that the user chose, or on the first device that works, and make it current.

    The environment variable ``CUDA_DEVICE`` contains the device ordinal, else the file ``.cuda_device`` in the
    home directory.

    Parameters
    ----------
    ctx_maker : callable, optional
        A function that returns a context for a :class:`Device`. Defaults to :meth:`Device.make_context`.

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
        The ordinal if the user chose no device. Defaults to 0.

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


def finish(context: Context) -> None:
    """Pop the context of autoinit at exit, if it is still the current one."""
    tools = sys.modules.get("cuda.core.driver.tools")
    with contextlib.suppress(Exception):  # at exit nobody handles errors
        if tools is not None:
            tools.clear_context_caches()
    with contextlib.suppress(Error):
        if Context.get_current() is context:
            Context.pop()
