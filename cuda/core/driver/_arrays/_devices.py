# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""State per device for arrays: limits of the device, and the kernels chosen for operations by element type."""

from __future__ import annotations

from cuda.core import _device as core_device
from cuda.core.driver._contexts._context import Context, current_context
from cuda.core.driver._errors import INVALID_CONTEXT, logic_error

__all__ = ["ArrayDevice", "array_device", "check_device", "device_of"]


class ArrayDevice:
    """A device, as arrays need it.

    Attributes
    ----------
    ordinal : int
        Its number.
    arch : str
        What kernels are compiled for, such as ``"sm_90"``.
    multiprocessors : int
        How many multiprocessors it has.
    plans : dict
        By operation and types: what an operator does on this device.
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
    """Return the device of the current context; LogicError, in the name of a driver call, where there is none."""
    context = current_context(api)
    return context.array_device or device_of(context)


def device_of(context: Context) -> ArrayDevice:
    """Return the device of a context, and note it there."""
    ordinal = context._device._ordinal
    found = _devices.get(ordinal)
    if found is None:
        found = _devices.setdefault(ordinal, ArrayDevice(ordinal))
    context.array_device = found
    return found


def check_device(device: ArrayDevice, *others: ArrayDevice) -> None:
    """Refuse to work on arrays of several devices, or of another device than that of the current context."""
    for other in (array_device("cuLaunchKernel"), *others):
        if other is not device:
            raise logic_error(
                "cuLaunchKernel",
                INVALID_CONTEXT,
                f"an array is of a context of device {device.ordinal}, and another array or the current context is of "
                f"device {other.ordinal}",
            )


_devices: dict[int, ArrayDevice] = {}
