# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""State of arrays per device: its limits, and the plans (kernels) of operations."""

from __future__ import annotations

from cuda.core import _device as core_device
from cuda.core.driver._context import Context, current_context
from cuda.core.driver._errors import INVALID_CONTEXT, logic_error

__all__ = ["ArrayDevice", "array_device", "check_device", "device_of"]


class ArrayDevice:
    """The properties of a device that arrays need, and the plans of operations on it.

    Attributes
    ----------
    ordinal : int
        The ordinal of the device.
    arch : str
        The target architecture of kernels, such as ``"sm_90"``.
    multiprocessors : int
        The number of multiprocessors.
    plans : dict
        The plans of operations, by operation and operand types.
    """

    def __init__(self, ordinal: int):
        device = core_device.Device(ordinal)
        self.ordinal = ordinal
        self.arch = f"sm_{device.arch}"
        self.multiprocessors = device.properties.multiprocessor_count
        self.plans: dict = {}

    def __repr__(self):
        return f"<device {self.ordinal} of arrays, {self.arch}>"


def array_device(api: str = "cuMemAlloc") -> ArrayDevice:
    """Return the device of the current context; LogicError of the driver call ``api`` if there is none."""
    context = current_context(api)
    return context.array_device or device_of(context)


def device_of(context: Context) -> ArrayDevice:
    """Return the device of a context, and cache it there."""
    ordinal = context._device._ordinal
    found = _devices.get(ordinal)
    if found is None:
        found = _devices.setdefault(ordinal, ArrayDevice(ordinal))
    context.array_device = found
    return found


def check_device(device: ArrayDevice, *others: ArrayDevice) -> None:
    """Raise LogicError if arrays are on several devices, or on another device than the current context."""
    for other in (array_device("cuLaunchKernel"), *others):
        if other is not device:
            raise logic_error(
                "cuLaunchKernel",
                INVALID_CONTEXT,
                f"an array is of a context of device {device.ordinal}, and another array or the current context is of "
                f"device {other.ordinal}",
            )


_devices: dict[int, ArrayDevice] = {}
