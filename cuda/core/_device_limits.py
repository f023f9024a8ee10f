# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The limits of a context, such as the memory of ``printf``, each of them a row of DeviceLimits."""

from __future__ import annotations

from cuda.core._utils.validators import int_argument, shown

__all__ = ["DeviceLimits"]


class Limit:
    """A limit, read from and written to the driver each time.

    Parameters
    ----------
    code : int
        The ``CUlimit``.
    doc : str
        What the limit means.
    is_settable : bool, optional
        Whether it can be changed. Defaults to True.
    """

    def __init__(self, code, doc, is_settable=True):
        self.code = code
        self.is_settable = is_settable
        self.__doc__ = doc

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, limits, owner=None) -> int:
        return self if limits is None else limits._read(limits._device, self.code)

    def __set__(self, limits, value: int) -> None:
        if not self.is_settable:
            raise AttributeError(f"{self.name} can only be read")
        number = int_argument(self.name, value, accepts_bool=False)
        if not 0 <= number < 1 << 64:
            raise ValueError(f"{self.name} must be from 0 to 2**64 - 1, not {shown(number)}")
        limits._write(limits._device, self.code, number)


class DeviceLimits:
    """The limits of a device's context (``cuCtxGetLimit``, ``cuCtxSetLimit``), from :attr:`Device.limits`.

    The driver can round a value up, or adjust it to the device. A limit that the device does not have raises
    :class:`NotSupportedError`.

    Examples
    --------
    >>> from cuda.core import Device
    >>> device = Device()
    >>> device.set_current()
    >>> device.limits.printf_fifo_size = 8 << 20  # before the first kernel that prints
    >>> device.limits.printf_fifo_size >= 8 << 20
    True
    """

    stack_size = Limit(0, "Bytes of stack of each thread.")
    printf_fifo_size = Limit(1, "Bytes of the buffer for the output of ``printf`` in kernels.")
    malloc_heap_size = Limit(2, "Bytes of the heap of ``malloc`` and ``new`` in kernels.")
    dev_runtime_sync_depth = Limit(3, "Largest depth of kernels that wait for kernels they have launched.")
    dev_runtime_pending_launch_count = Limit(4, "Most launches by kernels that can be pending.")
    max_l2_fetch_granularity = Limit(5, "Largest fetch of the L2 cache in bytes, from 0 to 128; a hint.")
    persisting_l2_cache_size = Limit(6, "Bytes of L2 cache that are set aside for persisting accesses.")
    shmem_size = Limit(
        7, "Bytes of shared memory of kernels in a context of CUDA in Graphics (CIG).", is_settable=False
    )
    cig_enabled = Limit(8, "Not 0 in a context of CUDA in Graphics (CIG).", is_settable=False)
    cig_shmem_fallback_enabled = Limit(9, "0 if kernels in a context of CUDA in Graphics fail beyond ``shmem_size``.")
    per_block_memory_size = Limit(10, "Bytes of memory of each block.")

    __slots__ = ("_device", "_read", "_write")

    def __init__(self, *args, **kwargs):
        raise RuntimeError("DeviceLimits cannot be constructed directly; use Device.limits")

    def __repr__(self):
        return f"<DeviceLimits of device {self._device.device_id}>"

    @classmethod
    def _of_device(cls, device, read, write):
        """Return the limits of a device. ``read(device, code)`` and ``write(device, code, value)`` call the driver."""
        self = cls.__new__(cls)
        self._device, self._read, self._write = device, read, write
        return self
