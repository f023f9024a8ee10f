# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""PyTorch without CUDA in programs for Triton: ``device="cuda"`` means memory of the CPU, which kernels can access."""

import os
import sys
import time
import weakref

from cuda.emulator.triton._device import Allocation, Device
from cuda.emulator.triton._memory import forget, is_known, register


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


def _data_ptr(original, tensor):
    """Register the storage of a tensor for as long as it lives, and return the tensor's address."""
    if tensor.device.type == "cpu":
        storage = tensor.untyped_storage()
        address, size = storage.data_ptr(), storage.nbytes()
        if not is_known(address, size):
            register(address, size)
            weakref.finalize(storage, forget, address).atexit = False
    return original(tensor)


class Fresh:
    """Device memory that stands in for a tensor of ``torch.empty`` until the host writes to it.

    The device knows which bytes of its own memory were written, for the check ``initialized``.
    """

    def __init__(self, tensor):
        self.version = tensor._version
        self.size = tensor.untyped_storage().nbytes()
        self.memory = None

    def data_ptr(self):
        if self.memory is None:
            self.memory = Allocation(self.size)
        return self.memory.data_ptr()

    @staticmethod
    def of(tensor):
        """Return what stands in for an argument, or None."""
        fresh = getattr(tensor, "_fresh_memory", None)
        if fresh is not None and fresh.version != tensor._version:
            fresh = tensor._fresh_memory = None
        return fresh


def _is_checked():
    """Return whether the check ``initialized`` is on."""
    return not {"initialized", "all"}.isdisjoint(os.environ.get("CUDA_EMULATOR_CHECK", "").split(","))


def _change(torch):
    """Let a PyTorch without CUDA take the CPU's memory for the device's."""
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
            if is_checked and name in ("empty", "empty_like", "empty_strided", "new_empty") and out.numel():
                out._fresh_memory = Fresh(out)
            return out

    is_checked = _is_checked()
    Devices().__enter__()
    original = torch.Tensor.data_ptr
    torch.Tensor.data_ptr = lambda tensor: _data_ptr(original, tensor)
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
