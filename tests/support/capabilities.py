# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What this machine can do: the one place that decides which tests are skipped."""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path


class Capabilities:
    """Checks the capabilities that tests state with the ``requires`` marker.

    Each public method but ``missing`` checks one capability: it takes the wanted value, and returns whether this
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
        from cuda.core import CUDAError, Device

        try:
            return len(Device.get_all_devices())
        except (RuntimeError, CUDAError):
            return 0

    def driver(self, wanted: bool) -> bool:
        """Return whether a CUDA driver is installed, with or without a device."""
        from support.bindings import driver_version

        try:
            driver_version()
        except RuntimeError:
            return not wanted
        except Exception:
            return wanted
        return wanted

    def device(self, wanted: bool) -> bool:
        """Return whether there is a device at all."""
        return (self.device_count > 0) == wanted

    def devices(self, wanted: int) -> bool:
        """Return whether there are at least this many devices."""
        return self.device_count >= wanted

    def memory(self, wanted: int) -> bool:
        """Return whether device 0 has at least this many bytes of memory."""
        from cuda.bindings import driver

        return self.device_count > 0 and driver.cuDeviceTotalMem(0)[1] >= wanted

    def _property(self, name: str) -> int:
        from cuda.core import Device

        return getattr(Device(0).properties, name) if self.device_count else 0

    def mempool(self, wanted: bool) -> bool:
        """Return whether device 0 has stream-ordered memory pools."""
        return bool(self._property("memory_pools_supported")) == wanted

    def ipc(self, wanted: bool) -> bool:
        """Return whether pools and events of device 0 can be shared between processes."""
        shares = self._property("mempool_supported_handle_types") & 1 and self._property("ipc_event_supported")
        return (sys.platform == "linux" and bool(shares)) == wanted

    def vmm(self, wanted: bool) -> bool:
        """Return whether device 0 has virtual memory management."""
        return bool(self._property("virtual_memory_management_supported")) == wanted

    def host_mempool(self, wanted: bool) -> bool:
        """Return whether device 0 supports memory pools in host memory."""
        return (self.cuda((13, 0)) and bool(self._property("host_memory_pools_supported"))) == wanted

    def managed_mempool(self, wanted: bool) -> bool:
        """Return whether device 0 supports managed memory pools, which host and device may access concurrently."""
        return (self.cuda((13, 0)) and bool(self._property("concurrent_managed_access"))) == wanted

    def numa_advice(self, wanted: bool) -> bool:
        """Return whether the driver keeps a NUMA node as the preferred location of managed memory."""
        return self._keeps_numa_advice == wanted

    @functools.cached_property
    def _keeps_numa_advice(self) -> bool:
        from cuda.bindings import driver

        from cuda.core import Device

        if not self.managed_mempool(True):
            return False
        Device(0).set_current()
        node = driver.CUmemLocation()
        node.type, node.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST_NUMA, 0
        _, pointer = driver.cuMemAllocManaged(4096, driver.CUmemAttach_flags.CU_MEM_ATTACH_GLOBAL.value)
        driver.cuMemAdvise(pointer, 4096, driver.CUmem_advise.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, node)
        kind = driver.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID
        _, kept = driver.cuMemRangeGetAttribute(4, kind, pointer, 4096)
        driver.cuMemFree(pointer)
        return kept == 0

    def cuda(self, wanted: tuple[int, int]) -> bool:
        """Return whether the driver supports at least this CUDA version."""
        from support.bindings import driver_version

        return self.device_count > 0 and driver_version() >= wanted

    def bindings(self, wanted: tuple[int, int]) -> bool:
        """Return whether ``cuda-bindings`` have at least this version, and with it the names of newer headers."""
        from support.bindings import binding_version

        return binding_version() >= wanted

    def compute(self, wanted: tuple[int, int]) -> bool:
        """Return whether device 0 has at least this compute capability."""
        from cuda.core import Device

        return self.device_count > 0 and Device(0).compute_capability >= wanted

    def clusters(self, wanted: bool) -> bool:
        """Return whether device 0 launches thread block clusters."""
        return bool(self._property("cluster_launch")) == wanted

    def property(self, wanted: str) -> bool:
        """Return whether a property of device 0 is true."""
        return bool(self._property(wanted))

    def cooperative(self, wanted: bool) -> bool:
        """Return whether device 0 launches cooperative grids."""
        return bool(self._property("cooperative_launch")) == wanted

    def peer(self, wanted: bool) -> bool:
        """Return whether devices 0 and 1 can access each other's memory."""
        from cuda.core import Device

        return (self.device_count > 1 and Device(0).can_access_peer(1)) == wanted

    def green(self, wanted: bool) -> bool:
        """Return whether the multiprocessors of device 0 can be divided among green contexts with streams."""
        return self._is_green == wanted

    @functools.cached_property
    def _is_green(self) -> bool:
        from cuda.core import CUDAError, Device

        try:
            return self.cuda((12, 5)) and Device(0).resources.sm.sm_count > 0
        except (RuntimeError, CUDAError):
            return False

    def checkpoint(self, wanted: bool) -> bool:
        """Return whether the driver checkpoints processes."""
        return self._checkpoints == wanted

    @functools.cached_property
    def _checkpoints(self) -> bool:
        from cuda.core import CUDAError, Device
        from cuda.core.checkpoint import Process

        if self.device_count == 0:
            return False
        Device(0).set_current()
        try:
            return Process(os.getpid()).state == "running"
        except (RuntimeError, CUDAError):
            return False

    def nvml(self, wanted: bool) -> bool:
        """Return whether NVML sees a device."""
        return self._has_nvml == wanted

    @functools.cached_property
    def _has_nvml(self) -> bool:
        from cuda.core import system

        try:
            return system.get_num_devices() > 0
        except (RuntimeError, system.NvmlError):
            return False

    def nvrtc(self, wanted: bool) -> bool:
        """Return whether the CUDA C++ compiler is installed."""
        from cuda.bindings import nvrtc

        try:
            return (nvrtc.nvrtcVersion()[0] == 0) == wanted
        except RuntimeError:
            return not wanted

    def nvrtc_version(self, wanted: tuple[int, int]) -> bool:
        """Return whether the CUDA C++ compiler has at least this version."""
        from cuda.bindings import nvrtc

        return self.nvrtc(True) and nvrtc.nvrtcVersion()[1:] >= wanted

    def nvrtc_path(self, wanted: bool) -> bool:
        """Return whether the CUDA C++ compiler is in a Python package, where it is found without loading it."""
        names = {"nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu12"}
        return any(package.name in names for package in importlib.metadata.distributions()) == wanted

    def nvjitlink(self, wanted: bool) -> bool:
        """Return whether nvJitLink is installed and new enough."""
        from cuda.core import Linker

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the driver's linker
            return (Linker.which_backend() == "nvJitLink") == wanted

    def nvjitlink_version(self, wanted: tuple[int, int]) -> bool:
        """Return whether nvJitLink has at least this version."""
        from cuda.bindings import nvjitlink

        return self.nvjitlink(True) and nvjitlink.version() >= wanted

    def nvvm(self, wanted: bool) -> bool:
        """Return whether the NVVM compiler and its library of mathematical functions are installed."""
        from cuda.pathfinder import locate_bitcode_lib

        from cuda.core import Program, ProgramOptions

        try:
            Program("; no functions", "nvvm", ProgramOptions(arch="sm_90")).close()
            return (locate_bitcode_lib("device") is not None) == wanted
        except (RuntimeError, ModuleNotFoundError):
            return not wanted

    def curand(self, wanted: bool) -> bool:
        """Return whether the library cuRAND is installed, which has the tables for Sobol numbers."""
        from cuda.core.driver.curandom import get_curand_version

        return (get_curand_version() is not None) == wanted

    def curand_headers(self, wanted: bool) -> bool:
        """Return whether the headers of cuRAND, and of CCCL, which they include, are installed."""
        from cuda.pathfinder import find_nvidia_header_directory

        return all(find_nvidia_header_directory(name) for name in ("curand", "cccl")) == wanted

    def cudadevrt(self, wanted: bool) -> bool:
        """Return whether the library of the CUDA runtime for device code is installed."""
        from cuda.pathfinder import find_static_lib

        try:
            return (find_static_lib("cudadevrt") is not None) == wanted
        except RuntimeError:
            return not wanted

    def compiler(self, wanted: bool) -> bool:
        """Return whether a C++ compiler is installed, for extensions built by the tests."""
        return (shutil.which("g++") is not None) == wanted

    def extensions(self, wanted: bool) -> bool:
        """Return whether tests can build extensions, with a C++ compiler and the installed bindings' CUDA headers."""
        from importlib import metadata

        try:
            versions = [metadata.version(name).split(".")[:2] for name in ("cuda-bindings", "nvidia-cuda-runtime")]
        except metadata.PackageNotFoundError:
            return not wanted
        return (self.compiler(True) and versions[0] == versions[1]) == wanted

    def opengl(self, wanted: bool) -> bool:
        """Return whether OpenGL works on device 0 without a window."""
        return self._has_opengl == wanted

    @functools.cached_property
    def _has_opengl(self) -> bool:
        from support.opengl import opengl

        if self.device_count == 0 or self.software(True):
            return False
        try:
            return opengl() is not None
        except OSError:
            return False

    def graphics_buffers(self, wanted: bool) -> bool:
        """Return whether graphics buffers can be registered: OpenGL buffers, or the software device's emulated ones."""
        return (self.device_count > 0 and (self.software(True) or self._has_opengl)) == wanted

    def source(self, wanted: bool) -> bool:
        """Return whether the tests lie in a checkout, beside the source."""
        return (Path(__file__).parents[2] / "setup.py").exists() == wanted

    def ptx(self, wanted: bool) -> bool:
        """Return whether the driver loads the PTX that the CUDA C++ compiler makes."""
        from cuda.bindings import nvrtc

        from support.bindings import driver_version

        return (self.device_count > 0 and driver_version() >= nvrtc.nvrtcVersion()[1:]) == wanted

    def multicast(self, wanted: bool) -> bool:
        """Return whether tests may make multicast objects, which join GPUs through a switch that they share.

        A fault can put all GPUs of a host out of service, those of other users, too, so whoever owns the host allows it
        with ``CUDA_CORE_TEST_MULTICAST=1``.
        """
        is_allowed = self.software(True) or os.environ.get("CUDA_CORE_TEST_MULTICAST") == "1"
        return (is_allowed and self.vmm(True) and bool(self._property("multicast_supported"))) == wanted

    def software(self, wanted: bool) -> bool:
        """Return whether the device of this process is the software device, which has its own compilers."""
        import cuda.core  # chooses the device
        import cuda.emulator

        return cuda.emulator.is_active() == wanted

    @functools.cached_property
    def _has_nvidia_compiler(self) -> bool:
        ask = "from cuda.bindings import nvrtc; nvrtc.nvrtcVersion()"
        environment = {key: value for key, value in os.environ.items() if key != "CUDA_CORE_DEVICE"}
        return subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True).returncode == 0

    def nvidia_compiler(self, wanted: bool) -> bool:
        """Return whether NVIDIA's compiler is installed, whatever the compiler of this process is."""
        return self._has_nvidia_compiler == wanted

    def nvdisasm(self, wanted: bool) -> bool:
        """Return whether NVIDIA's disassembler is on the path."""
        return (shutil.which("nvdisasm") is not None) == wanted

    def cuda_headers(self, wanted: bool) -> bool:
        """Return whether kernels can include CUDA headers, such as the cooperative groups headers."""
        from support.headers import header_folders

        return (header_folders() is not None) == wanted

    def cooperative_groups(self, wanted: bool) -> bool:
        """Return whether kernels can include the cooperative groups headers, which an incomplete toolkit might lack."""
        from cuda.pathfinder import find_nvidia_header_directory

        folder = find_nvidia_header_directory("cudart")
        has_all = folder is not None and Path(folder, "cooperative_groups/details/info.h").exists()
        return (self.software(True) or has_all) == wanted

    def modules(self, wanted: tuple[str, ...]) -> bool:
        """Return whether several optional Python packages are installed."""
        return all(self.module(name) for name in wanted)

    def triton(self, wanted: tuple[int, int]) -> bool:
        """Return whether Triton has at least this version."""
        try:
            return tuple(map(int, importlib.metadata.version("triton").split(".")[:2])) >= wanted
        except importlib.metadata.PackageNotFoundError:
            return False

    def module(self, wanted: str) -> bool:
        """Return whether an optional Python package is installed."""
        return importlib.util.find_spec(wanted) is not None


@functools.cache
def capabilities() -> Capabilities:
    """Return the capabilities of this machine, asked for once."""
    return Capabilities()
