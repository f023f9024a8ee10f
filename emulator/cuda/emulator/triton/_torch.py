# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""PyTorch in programs for Triton: ``device="cuda"`` means memory of the CPU, which kernels can access."""

import ctypes
import os
import sys
import threading
import time
import weakref

from cuda.emulator.triton._device import Allocation, Device
from cuda.emulator.triton._memory import forget, is_known, register

_PATTERN = 0xFD  # of what torch.empty returns while the check `initialized` is on


class Event:
    """A point in time: launches return when kernels have ended."""

    def __init__(self, *_, **__):
        self.time = 0.0

    def record(self, stream=None):
        self.time = time.perf_counter()

    def synchronize(self):
        """Return: the event has occurred."""

    wait = synchronize

    def query(self):
        return True

    def elapsed_time(self, other):
        return 1e3 * (other.time - self.time)


class Stream:
    """A stream, on which nothing is ever pending; it is also the context manager that selects it."""

    cuda_stream = 0

    def __init__(self, *_, **__):
        """Take the arguments of ``torch.cuda.Stream``."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def synchronize(self):
        """Return: no launch is pending."""

    def wait_stream(self, other):
        """Return: no launch is pending."""

    wait_event = wait_stream

    def record_event(self, event=None):
        event = event or Event()
        event.record()
        return event


def interface(device):
    """Return stand-ins for functions of ``torch.cuda``, for a device with Triton's ``utils``."""
    from types import SimpleNamespace

    major, minor = device.get_device_capability()
    found = device.get_device_properties(0)
    properties = SimpleNamespace(
        name="software device",
        major=major,
        minor=minor,
        multi_processor_count=found["multiprocessor_count"],
        shared_memory_per_block_optin=found["max_shared_mem"],
        regs_per_multiprocessor=found["max_num_regs"],
        warp_size=32,
        total_memory=1 << 34,
        L2_cache_size=1 << 20,
    )
    nothing = {
        name: lambda *_, **__: None
        for name in ("synchronize", "set_device", "empty_cache", "manual_seed", "manual_seed_all", "_lazy_init", "init")
    }
    streams = dict.fromkeys(("stream", "current_stream", "default_stream", "ExternalStream"), Stream)
    return dict(
        nothing,
        **streams,
        Event=Event,
        Stream=Stream,
        is_available=lambda: True,
        is_initialized=lambda: True,
        current_device=lambda: 0,
        device_count=lambda: 1,
        get_device_capability=lambda device=None: (major, minor),
        get_device_properties=lambda device=None: properties,
        get_device_name=lambda device=None: properties.name,
    )


def _on_cpu(device):
    """Return the device that stands in for a device of CUDA; other values as they are."""
    kind = getattr(device, "type", device)
    return "cpu" if isinstance(kind, str) and kind.partition(":")[0] == "cuda" else device


class Fresh:
    """Device memory that stands in for the storage of a new tensor while only kernels write to it.

    The device knows which bytes of its own memory were written, for the check ``initialized``. After each launch, the
    storage gets a copy.
    """

    exists = False

    def __init__(self, tensor):
        storage = tensor.untyped_storage()
        Fresh.exists = True
        self.address, self.size = storage.data_ptr(), storage.nbytes()
        ctypes.memset(self.address, _PATTERN, self.size)
        self.memory = None
        self.copy = self._contents()
        storage.fresh_memory = self

    def _contents(self):
        return ctypes.string_at(self.address, self.size)

    def update(self):
        """Copy what kernels have written to the storage."""
        self.memory.copy_to(self.address)
        self.copy = self._contents()

    @staticmethod
    def of(tensor):
        """Return what stands in for the storage of a tensor; None if the host has written to it, or has its address."""
        storage = tensor.untyped_storage() if Fresh.exists and hasattr(tensor, "untyped_storage") else None
        fresh = getattr(storage, "fresh_memory", None)
        if fresh is not None and fresh._contents() != fresh.copy:
            fresh = storage.fresh_memory = None
        return fresh

    @staticmethod
    def pointer_to(tensor):
        """Return the address of what stands in for a tensor, or None."""
        fresh = Fresh.of(tensor)
        if fresh is None:
            return None
        if fresh.memory is None:
            fresh.memory = Allocation(fresh.size)
        return fresh.memory.data_ptr() + tensor.seen_by_triton.data_ptr() - fresh.address


def _is_checked():
    """Return whether the check ``initialized`` is on."""
    return not {"initialized", "all"}.isdisjoint(os.environ.get("CUDA_EMULATOR_CHECK", "").split(","))


def _has_memory(tensor):
    return tensor.device.type == "cpu" and str(tensor.layout) == "torch.strided" and tensor.numel() > 0


class Seen:
    """What Triton reads of a tensor for the type of an argument."""

    __slots__ = ("_address", "dtype")

    def __init__(self, tensor, address):
        self.dtype, self._address = tensor.dtype, address

    def data_ptr(self):
        return self._address


def _register(tensor, address):
    """Register the storage of a tensor, which has an address, for as long as it lives; return the address."""
    if tensor.device.type == "cpu":
        storage = tensor.untyped_storage()
        begin, size = storage.data_ptr(), storage.nbytes()
        if not is_known(begin, size):
            register(begin, size)
            weakref.finalize(storage, forget, begin).atexit = False
        storage.fresh_memory = None  # kernels can get the address from others than the launcher
    return address


def _enter(mode):
    """Enter a mode in this thread, and let later ones enter it.

    PyTorch leaves the mode while it runs one of its functions, such as ``Tensor.backward``, which calls functions of
    the program.
    """
    import torch

    mode().__enter__()
    for owner, name in ((threading.Thread, "_bootstrap_inner"), (torch.autograd.function.BackwardCFunction, "apply")):
        setattr(owner, name, _within(mode, getattr(owner, name)))


def _within(mode, function):
    def run(*arguments):
        with mode():
            return function(*arguments)

    return run


def _change(torch):
    """Let PyTorch take the CPU's memory for the device's."""
    from torch.overrides import TorchFunctionMode

    class Devices(TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), named=None):
            named = dict(named or {})
            if "device" in named:
                named["device"] = _on_cpu(named["device"])
            name = getattr(function, "__name__", "")
            if name == "cuda":
                return arguments[0]
            if name == "to":
                arguments = tuple(map(_on_cpu, arguments))
            out = function(*arguments, **named)
            if is_checked and name in ("empty", "empty_like", "empty_strided", "new_empty") and _has_memory(out):
                Fresh(out)
            return out

    is_checked = _is_checked()
    _enter(Devices)
    original, plain = torch.Tensor.data_ptr, torch._C.DisableTorchFunction

    def data_ptr(tensor):
        with plain():
            return _register(tensor, original(tensor))

    def seen_by_triton(tensor):
        with plain():
            return Seen(tensor, original(tensor))

    torch.Tensor.data_ptr = data_ptr
    torch.Tensor.seen_by_triton = property(seen_by_triton)
    torch.Tensor.is_cuda = property(lambda tensor: True)
    for name, value in interface(Device()).items():
        setattr(torch.cuda, name, value)


class _AfterImport:
    """Finds PyTorch as before, and changes it when it has been imported."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        from importlib.util import find_spec

        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                load(module)
                change_torch()

            spec.loader.exec_module = exec_module
        return spec


def change_torch():
    """Change PyTorch, now or when it is imported."""
    torch = sys.modules.get("torch")
    if torch is None:
        if not any(isinstance(finder, _AfterImport) for finder in sys.meta_path):
            sys.meta_path.insert(0, _AfterImport())
    elif hasattr(torch, "Tensor") and not hasattr(torch.cuda, "software_device"):
        torch.cuda.software_device = True
        _change(torch)
