# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Versions of the driver and of NVML, the number of devices, names of processes."""

from __future__ import annotations

from cuda.core._utils.cuda_utils import driver, driver_version, handle_return
from cuda.core.system._attributes import check_int
from cuda.core.system._nvml_context import initialize
from cuda.core.system._support import CUDA_BINDINGS_NVML_IS_COMPATIBLE, nvml, require

__all__ = [
    "CUDA_BINDINGS_NVML_IS_COMPATIBLE",
    "get_driver_branch",
    "get_kernel_mode_driver_version",
    "get_num_devices",
    "get_nvml_version",
    "get_process_name",
    "get_user_mode_driver_version",
]


def get_user_mode_driver_version() -> tuple[int, ...]:
    """Return the CUDA version that the driver supports, as ``(major, minor)``, such as ``(13, 0)``.

    Calls ``nvml.system_get_cuda_driver_version_v2``, or ``cuDriverGetVersion`` if the bindings have no
    compatible NVML module.

    Raises
    ------
    RuntimeError
        If the machine has no driver.
    """
    if not CUDA_BINDINGS_NVML_IS_COMPATIBLE:
        return driver_version()[:2]
    initialize()
    version = nvml.system_get_cuda_driver_version_v2()
    return (version // 1000, version % 1000 // 10)


def get_kernel_mode_driver_version() -> tuple[int, ...]:
    """Return the version of the kernel-mode driver, such as ``(580, 65, 6)`` (``nvml.system_get_driver_version``).

    Under WSL it has two numbers.

    Raises
    ------
    RuntimeError
        If the bindings have no compatible NVML module, or the machine has no NVML library.
    """
    require("get_kernel_mode_driver_version")
    initialize()
    return _numbers(nvml.system_get_driver_version())


def get_nvml_version() -> tuple[int, ...]:
    """Return the version of NVML, such as ``(13, 580, 65, 6)`` (``nvml.system_get_nvml_version``).

    It is the CUDA major version, followed by the version of the driver.

    Raises
    ------
    RuntimeError
        If the bindings have no compatible NVML module, or the machine has no NVML library.
    """
    require("get_nvml_version")
    initialize()
    return _numbers(nvml.system_get_nvml_version())


def get_driver_branch() -> str:
    """Return the branch from which the driver was built, such as ``"r580_00"`` (``nvml.system_get_driver_branch``).

    Raises
    ------
    RuntimeError
        If the bindings have no compatible NVML module, or the machine has no NVML library.
    """
    require("get_driver_branch")
    initialize()
    return nvml.system_get_driver_branch()


def get_num_devices() -> int:
    """Return the number of devices.

    Calls ``nvml.device_get_count_v2``, which also counts devices that ``CUDA_VISIBLE_DEVICES`` hides; or
    ``cuDeviceGetCount``, which does not, if the bindings have no compatible NVML module.

    Raises
    ------
    RuntimeError
        If the machine has no driver.
    """
    if not CUDA_BINDINGS_NVML_IS_COMPATIBLE:
        handle_return(driver.cuInit(0))
        return handle_return(driver.cuDeviceGetCount())
    initialize()
    return nvml.device_get_count_v2()


def get_process_name(pid: int) -> str:
    """Return the name of a process that uses a device (``nvml.system_get_process_name``).

    Parameters
    ----------
    pid : int
        The process ID.

    Raises
    ------
    NotFoundError
        If no process with this ID uses a device.
    TypeError
        If ``pid`` is not an int.
    ValueError
        If ``pid`` is negative or needs more than 32 bits.
    """
    require("get_process_name")
    pid = check_int("pid", pid, 1 << 32)
    initialize()
    return nvml.system_get_process_name(pid)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))
