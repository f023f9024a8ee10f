# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Processes that use a device."""

from __future__ import annotations

from cuda.core.system._attributes import Snapshot, field
from cuda.core.system._support import nvml

__all__ = ["ProcessInfo"]

_NO_INSTANCE = 0xFFFFFFFF


def _instance_id(value: int) -> int:
    if value == _NO_INSTANCE:
        raise nvml.NotSupportedError(nvml.Return.ERROR_NOT_SUPPORTED)
    return int(value)


class ProcessInfo(Snapshot):
    """A process with a context on a device.

    Without MIG the instance IDs raise :class:`~cuda.core.system.NotSupportedError`.
    """

    __slots__ = ()

    pid = field("pid", "The process ID.")
    used_gpu_memory = field("used_gpu_memory", "Bytes of device memory that the process uses.")
    gpu_instance_id = field("gpu_instance_id", "The ID of the GPU instance that the process uses.", _instance_id)
    compute_instance_id = field(
        "compute_instance_id", "The ID of the compute instance that the process uses.", _instance_id
    )
