# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Clocks of a device."""

from __future__ import annotations

from cuda.core.system._attributes import DeviceView, Snapshot, check_int, field
from cuda.core.system._mappings import _CLOCK_ID_MAPPING, _CLOCK_TYPE_MAPPING, choose
from cuda.core.system._support import nvml
from cuda.core.system.typing import ClockId, ClockType

__all__ = ["ClockInfo", "ClockOffsets"]

_PSTATES = 16


class ClockInfo(DeviceView):
    """A clock domain of a device, from :meth:`Device.get_clock`. Frequencies are in MHz."""

    __slots__ = ("_code", "_type")

    def __init__(self, device, clock_type: ClockType | str):
        super().__init__(device)
        self._code = int(choose(clock_type, _CLOCK_TYPE_MAPPING, "clock_type"))
        self._type = ClockType(clock_type.lower())

    def __repr__(self):
        return f"<ClockInfo {self._type.value!r} of {self._device!r}>"

    def get_current_mhz(self, clock_id: ClockId | str = ClockId.CURRENT) -> int:
        """Return a frequency of the clock (``nvml.device_get_clock``).

        Parameters
        ----------
        clock_id : :class:`~cuda.core.system.typing.ClockId` | str, optional
            The frequency now, or the maximum boost frequency that the OEM defined. Default is ``"current"``.

        Raises
        ------
        ValueError
            If ``clock_id`` is not one of the enum's values.
        NvmlError
            If the device does not support the clock.
        """
        return nvml.device_get_clock(self._handle, self._code, choose(clock_id, _CLOCK_ID_MAPPING, "clock_id"))

    def get_max_mhz(self) -> int:
        """Return the maximum frequency of the clock (``nvml.device_get_max_clock_info``)."""
        return nvml.device_get_max_clock_info(self._handle, self._code)

    def get_max_customer_boost_mhz(self) -> int:
        """Return the customer-defined maximum boost frequency (``nvml.device_get_max_customer_boost_clock``)."""
        return nvml.device_get_max_customer_boost_clock(self._handle, self._code)

    def get_min_max_clock_of_pstate_mhz(self, pstate: int) -> tuple[int, int]:
        """Return the lowest and the highest frequency in a performance state.

        Parameters
        ----------
        pstate : int
            The performance state, from 0 (the highest performance) to 15.

        Returns
        -------
        tuple[int, int]
            The minimum and the maximum (``nvml.device_get_min_max_clock_of_p_state``).

        Raises
        ------
        TypeError
            If ``pstate`` is not an int.
        ValueError
            If ``pstate`` is not from 0 to 15.
        NvmlError
            If the device does not support the clock.
        """
        pstate = check_int("pstate", pstate, _PSTATES)
        return tuple(nvml.device_get_min_max_clock_of_p_state(self._handle, self._code, pstate))

    def get_offsets(self, pstate: int) -> ClockOffsets:
        """Return the offset of the clock in a performance state (``nvml.device_get_clock_offsets``).

        Parameters
        ----------
        pstate : int
            The performance state, from 0 (the highest performance) to 15.

        Raises
        ------
        TypeError
            If ``pstate`` is not an int.
        ValueError
            If ``pstate`` is not from 0 to 15.
        NvmlError
            If the clock has no offset in this state.
        """
        pstate = check_int("pstate", pstate, _PSTATES)
        return ClockOffsets(nvml.device_get_clock_offsets(self._handle, self._code, pstate))


class ClockOffsets(Snapshot):
    """The offset of a clock from its default, and its range, in MHz."""

    __slots__ = ()

    clock_offset_mhz = field("clock_offset_m_hz", "The offset now, in MHz.")
    max_offset_mhz = field("max_clock_offset_m_hz", "The highest allowed offset, in MHz.")
    min_offset_mhz = field("min_clock_offset_m_hz", "The lowest allowed offset, in MHz.")
