# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The driver that Triton looks up for the device.

Triton compiles kernels to PTX as for a GPU. The driver stops there: it loads the PTX into the device, and launches it.
"""

import os
import time
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

from triton.backends.driver import DriverBase

import cuda.emulator
from cuda.emulator.triton._device import Device
from cuda.emulator.triton._memory import accept_arrays
from cuda.emulator.triton._torch import change_torch, interface

_PTX_VERSION = 88  # strides of tensor maps have been bytes since 8.6
_KEY = "software device, PTX 8.8, 1"


def is_wanted():
    return os.environ.get("CUDA_CORE_DEVICE") == "software" or cuda.emulator.is_active()


if is_wanted():  # NVIDIA's driver would find the device, too
    os.environ.setdefault("TRITON_DEFAULT_BACKEND", "software")
    cuda.emulator.activate()
    change_torch()


class SoftwareDriver(DriverBase):
    """Launches Triton's kernels on the software device."""

    def __init__(self):
        # Triton imports this module wherever the package is installed, so what needs a version of it comes later.
        try:
            from cuda.emulator.triton._launcher import Launcher
        except ImportError as error:
            version = metadata.version("triton")
            raise RuntimeError(
                f"the software device knows the interface of Triton 3.8 and 3.9, not that of {version}: {error}"
            ) from error
        cuda.emulator.activate()
        _stop_at_ptx()
        change_torch()
        accept_arrays()
        self.utils = Device()
        self.launcher_cls = Launcher
        self.get_device_capability = self.utils.get_device_capability
        self.get_current_device = self.utils.get_current_device
        self.set_current_device = self.utils.set_current_device
        self.get_current_stream = self.utils.get_default_stream

    @staticmethod
    def is_active():
        return is_wanted()

    def map_python_to_cpp_type(self, ty):
        from triton.backends.nvidia.driver import ty_to_cpp

        return ty_to_cpp(ty)

    def get_current_target(self):
        from triton.backends.compiler import GPUTarget

        major, minor = self.get_device_capability()
        return GPUTarget("cuda", 10 * major + minor, 32)

    def get_active_torch_device(self):
        import torch

        return torch.device("cpu")

    def get_device_interface(self):
        return SimpleNamespace(**interface(self.utils))

    def get_benchmarker(self):
        return _benchmark

    def get_empty_cache_for_benchmark(self):
        return None

    def clear_cache(self, cache):
        """Do nothing, because times on the device say little about a GPU."""

    def allocate_default_profile_scratch(self, size, alignment, stream):
        return self.utils.allocate(size)


SoftwareDriver.__abstractmethods__ = frozenset()  # import triton fails where a class lacks what its version requires


def _stop_at_ptx():
    """Make Triton's compiler return PTX, call no program of NVIDIA's, and link nothing of its libdevice."""
    from triton import knobs

    if not hasattr(knobs.runtime, "add_stages_inspection_hook"):
        raise RuntimeError("this version of Triton has no add_stages_inspection_hook, which the software device needs")
    knobs.nvidia.mock_ptx_version = _KEY
    knobs.nvidia.libdevice_path = str(Path(__file__).with_name("libdevice.ll"))
    knobs.runtime.add_stages_inspection_hook = _change_stages


def _change_stages(backend=None, stages=None, options=None, language=None, capability=None):
    """Replace the last stage. Triton calls this without arguments for the keys of its cache."""
    if stages is not None and "ptx" in stages:
        if options.ptx_version is None:  # Triton would ask NVIDIA's assembler
            object.__setattr__(options, "ptx_version", _PTX_VERSION)
        stages["cubin"] = lambda ptx, metadata: ptx.encode()
    return _KEY, _KEY


def _benchmark(call, *, quantiles=None, **_):
    """Time one call, in milliseconds."""
    begin = time.perf_counter()
    call()
    milliseconds = 1e3 * (time.perf_counter() - begin)
    return [milliseconds] * len(quantiles) if quantiles else milliseconds
