# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The capabilities of this machine, which decide which tests are skipped."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys

from support.paths import ROOT


class Capabilities:
    """Checks the capabilities that tests state with the ``requires`` marker.

    Each public method but ``missing`` checks one capability: it accepts the wanted value, and returns whether this
    machine has it.
    """

    def missing(self, needs: dict) -> str | None:
        """Return why a test with these needs cannot run here, or None if it can."""
        for need, wanted in needs.items():
            if not getattr(self, need)(wanted):
                return f"needs {need}={wanted!r}"
        return None

    @functools.cached_property
    def device_count(self) -> int:
        from cuda.bindings import driver

        try:
            driver.cuInit(0)
            return driver.cuDeviceGetCount()[1] or 0
        except RuntimeError:  # there is no driver
            return 0

    def software(self, wanted: bool) -> bool:
        """Whether the device of this process is the software device, which has its own compiler."""
        import cuda.emulator

        return cuda.emulator.is_active() == wanted

    def device(self, wanted: bool) -> bool:
        """Whether there is a device at all."""
        return (self.device_count > 0) == wanted

    def devices(self, wanted: int) -> bool:
        """Whether there are at least this many devices."""
        return self.device_count >= wanted

    def peer(self, wanted: bool) -> bool:
        """Whether device 1 can access the memory of device 0."""
        from cuda.bindings import driver

        return (self.device_count > 1 and driver.cuDeviceCanAccessPeer(1, 0)[1] == 1) == wanted

    def compute(self, wanted: tuple[int, int]) -> bool:
        """Whether device 0 has at least this compute capability."""
        return (self._attribute("COMPUTE_CAPABILITY_MAJOR"), self._attribute("COMPUTE_CAPABILITY_MINOR")) >= wanted

    def cooperative(self, wanted: bool) -> bool:
        """Whether device 0 launches cooperative grids."""
        return bool(self._attribute("COOPERATIVE_LAUNCH")) == wanted

    def _attribute(self, name: str) -> int:
        from cuda.bindings import driver

        attribute = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return driver.cuDeviceGetAttribute(attribute, 0)[1] if self.device_count else 0

    def nvrtc(self, wanted: bool) -> bool:
        """Whether there is a CUDA C++ compiler."""
        return (self._nvrtc_version is not None) == wanted

    def nvrtc_version(self, wanted: tuple[int, int]) -> bool:
        """Whether the CUDA C++ compiler has at least this version."""
        return self._nvrtc_version is not None and self._nvrtc_version >= wanted

    @functools.cached_property
    def _nvrtc_version(self) -> tuple[int, int] | None:
        from cuda.bindings import nvrtc

        try:
            return nvrtc.nvrtcVersion()[1:]
        except RuntimeError:
            return None

    @functools.cached_property
    def _has_nvidia_compiler(self) -> bool:
        ask = "from cuda.bindings import nvrtc; nvrtc.nvrtcVersion()"
        environment = {key: value for key, value in os.environ.items() if key != "CUDA_CORE_DEVICE"}
        return subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True).returncode == 0

    def nvidia_compiler(self, wanted: bool) -> bool:
        """Whether NVIDIA's compiler is installed, whichever compiler this process uses."""
        return self._has_nvidia_compiler == wanted

    def cuda_headers(self, wanted: bool) -> bool:
        """Whether kernels can include the CUDA headers, such as those of cooperative groups."""
        from support.kernel_files import header_folders

        return (header_folders() is not None) == wanted

    def cccl(self, wanted: bool) -> bool:
        """Whether kernels can include the headers of the CUDA Core Compute Libraries."""
        from support.kernel_files import cccl_folder

        return (cccl_folder() is not None and self.cuda_headers(True)) == wanted

    def curand_headers(self, wanted: bool) -> bool:
        """Whether kernels can include the cuRAND headers."""
        from support.kernel_files import curand_folder

        return (curand_folder() is not None) == wanted

    def compiler(self, wanted: bool) -> bool:
        """Whether g++ is installed, for programs that the tests build."""
        return (shutil.which("g++") is not None) == wanted

    def command(self, wanted: str) -> bool:
        """Whether a program is on the path; for zig, its Python package also counts."""
        return shutil.which(wanted) is not None or (wanted == "zig" and self.module("ziglang"))

    def module(self, wanted: str) -> bool:
        """Whether an optional Python package is installed."""
        return importlib.util.find_spec(wanted) is not None

    def distribution(self, wanted: str) -> bool:
        """Whether an optional distribution is installed; a directory of the tests may have its name."""
        try:
            importlib.metadata.version(wanted)
        except importlib.metadata.PackageNotFoundError:
            return False
        return True

    def triton(self, wanted: tuple[int, int]) -> bool:
        """Whether Triton has at least this version."""
        try:
            return tuple(map(int, importlib.metadata.version("triton").split(".")[:2])) >= wanted
        except importlib.metadata.PackageNotFoundError:
            return False

    def installed(self, wanted: bool) -> bool:
        """Whether the tested package was installed, and is not that of the checkout."""
        import cuda.emulator

        return (not cuda.emulator.library_path().startswith(str(ROOT))) == wanted

    def source(self, wanted: bool) -> bool:
        """Whether the tests lie in a checkout, beside the sources."""
        return (ROOT / "src").exists() == wanted

    def pages(self, wanted: bool) -> bool:
        """Whether the checkout contains the documentation, which describes the library as well."""
        return (ROOT.parent / "docs" / "guide").exists() == wanted


@functools.cache
def capabilities() -> Capabilities:
    """Return the capabilities of this machine, queried once."""
    return Capabilities()
