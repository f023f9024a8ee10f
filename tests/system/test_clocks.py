# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Clocks of a device."""

import pytest
from cuda.bindings import nvml

from cuda.core.system.typing import ClockId, ClockType

pytestmark = pytest.mark.requires(nvml=True)


@pytest.mark.parametrize("clock_type", list(ClockType))
def test_frequencies_of_each_clock_are_read(gpu, fake, clock_type):
    clock = gpu.get_clock(clock_type)
    code = getattr(nvml.ClockType, f"CLOCK_{clock_type.name}".replace("MEMORY", "MEM"))
    fake("device_get_clock", 1500)
    fake("device_get_max_clock_info", 1980)
    fake("device_get_max_customer_boost_clock", 1900)
    fake("device_get_min_max_clock_of_p_state", (300, 1200))
    assert type(clock).__name__ == "ClockInfo"
    assert clock.get_current_mhz() == clock.get_current_mhz("customer_boost_max") == 1500
    assert clock.get_max_mhz() == 1980 and clock.get_max_customer_boost_mhz() == 1900
    assert clock.get_min_max_clock_of_pstate_mhz(15) == (300, 1200)
    handle = gpu._handle
    assert fake.calls == [
        ("device_get_clock", handle, code, nvml.ClockId.CURRENT),
        ("device_get_clock", handle, code, nvml.ClockId.CUSTOMER_BOOST_MAX),
        ("device_get_max_clock_info", handle, code),
        ("device_get_max_customer_boost_clock", handle, code),
        ("device_get_min_max_clock_of_p_state", handle, code, 15),
    ]
    assert repr(clock) == f"<ClockInfo {clock_type.value!r} of {gpu!r}>"


def test_offsets_of_a_clock_are_read(gpu, fake):
    record = nvml.ClockOffset_v1()
    record.clock_offset_m_hz, record.max_clock_offset_m_hz, record.min_clock_offset_m_hz = -15, 200, -100
    fake("device_get_clock_offsets", record)
    offsets = gpu.get_clock("memory").get_offsets(pstate=2)
    assert type(offsets).__name__ == "ClockOffsets"
    assert repr(offsets) == "ClockOffsets(clock_offset_mhz=-15, max_offset_mhz=200, min_offset_mhz=-100)"


@pytest.mark.parametrize("pstate, error", [(16, ValueError), (-1, ValueError), ("0", TypeError)])
def test_invalid_performance_states_are_rejected(gpu, pstate, error):
    clock = gpu.get_clock("sm")
    for method in (clock.get_offsets, clock.get_min_max_clock_of_pstate_mhz):
        with pytest.raises(error, match="pstate must be"):
            method(pstate)


def test_unknown_clocks_are_rejected(gpu):
    with pytest.raises(ValueError, match="'gpu' is not a valid clock_type; it must be 'graphics', 'memory', 'sm'"):
        gpu.get_clock("gpu")
    with pytest.raises(ValueError, match="5 is not a valid clock_id"):
        gpu.get_clock("SM").get_current_mhz(5)
    assert len(ClockId) == 2
