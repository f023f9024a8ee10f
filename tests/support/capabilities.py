# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What this machine can do: the one place that decides which tests are skipped."""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path


class Capabilities:
    """Answers the needs that tests state with the ``requires`` marker.

    Each method answers one need; it takes the value asked for and returns whether it is there.
    """

    def missing(self, needs: dict) -> str | None:
        """Return why a test with these needs cannot run here, or None if it can."""
        for need, wanted in needs.items():
            if not getattr(self, need)(wanted):
                return f"needs {need}={wanted!r}"
        return None

    @functools.cached_property
    def device_count(self) -> int:
        from cuda.core import Device
        from cuda.core._utils.cuda_utils import CUDAError

        try:
            return len(Device.get_all_devices())
        except (RuntimeError, CUDAError):
            return 0

    def driver(self, wanted: bool) -> bool:
        """Whether a CUDA driver is installed, with or without a device."""
        from cuda.core._utils.version import driver_version

        try:
            driver_version()
        except RuntimeError:
            return not wanted
        except Exception:
            return wanted
        return wanted

    def device(self, wanted: bool) -> bool:
        """Whether there is a device at all."""
        return (self.device_count > 0) == wanted

    def devices(self, wanted: int) -> bool:
        """Whether there are so many devices."""
        return self.device_count >= wanted

    def _property(self, name: str) -> int:
        from cuda.core import Device

        return getattr(Device(0).properties, name) if self.device_count else 0

    def mempool(self, wanted: bool) -> bool:
        """Whether device 0 has stream-ordered memory pools."""
        return bool(self._property("memory_pools_supported")) == wanted

    def compute(self, wanted: tuple[int, int]) -> bool:
        """Whether device 0 has at least this compute capability."""
        from cuda.core import Device

        return self.device_count > 0 and Device(0).compute_capability >= wanted

    def clusters(self, wanted: bool) -> bool:
        """Whether device 0 launches thread block clusters."""
        return self.compute((9, 0)) == wanted

    def cooperative(self, wanted: bool) -> bool:
        """Whether device 0 launches cooperative grids."""
        return bool(self._property("cooperative_launch")) == wanted

    def peer(self, wanted: bool) -> bool:
        """Whether devices 0 and 1 can access each other's memory."""
        from cuda.core import Device

        return (self.device_count > 1 and Device(0).can_access_peer(1)) == wanted

    def nvrtc(self, wanted: bool) -> bool:
        """Whether the CUDA C++ compiler is installed."""
        from cuda.bindings import nvrtc

        try:
            return (nvrtc.nvrtcVersion()[0] == 0) == wanted
        except RuntimeError:
            return not wanted

    def compiler(self, wanted: bool) -> bool:
        """Whether a C++ compiler is here, for extensions built by the tests."""
        return (shutil.which("g++") is not None) == wanted

    def source(self, wanted: bool) -> bool:
        """Whether the tests lie in a checkout, beside the source."""
        return (Path(__file__).parents[2] / "setup.py").exists() == wanted

    def ptx(self, wanted: bool) -> bool:
        """Whether the driver loads the PTX that the CUDA C++ compiler makes."""
        from cuda.core._compilers import nvrtc_version
        from cuda.core._utils.version import driver_version

        return (self.device_count > 0 and driver_version()[:2] >= nvrtc_version()) == wanted

    def software(self, wanted: bool) -> bool:
        """Whether the device of this process is the software device."""
        import cuda.core  # settles which device it is
        import cuda.emulator

        return cuda.emulator.is_active() == wanted

    @functools.cached_property
    def _has_nvidia_compiler(self) -> bool:
        ask = "from cuda.bindings import nvrtc; nvrtc.nvrtcVersion()"
        environment = {key: value for key, value in os.environ.items() if key != "CUDA_CORE_DEVICE"}
        return subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True).returncode == 0

    def nvidia_compiler(self, wanted: bool) -> bool:
        """Whether NVIDIA's compiler is installed, whatever the compiler of this process is."""
        return self._has_nvidia_compiler == wanted

    def cuda_headers(self, wanted: bool) -> bool:
        """Whether kernels can include the headers of CUDA, such as those of cooperative groups."""
        from support.kernel_files import header_folders

        return (header_folders() is not None) == wanted

    def module(self, wanted: str) -> bool:
        """Whether an optional Python package is installed."""
        return importlib.util.find_spec(wanted) is not None


@functools.cache
def capabilities() -> Capabilities:
    """Return the capabilities of this machine, asked for once."""
    return Capabilities()
