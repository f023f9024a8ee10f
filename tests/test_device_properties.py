# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Device properties: each driver attribute has one row, which reads the driver's value."""

import inspect
import re

import pytest

from cuda.core import Device
from support.contract import DeviceProperties
from support.threads import in_thread

ROWS = {name: row for name, row in vars(DeviceProperties).items() if hasattr(row, "driver_name")}
VOLATILE = {
    "clock_rate",
    "compute_mode",
    "kernel_exec_timeout",
    "memory_clock_rate",
    "single_to_double_precision_perf_ratio",
}


class FakeDriver:
    """Reads attributes from a dictionary and records each query."""

    def __init__(self, values):
        self.values = values
        self.queries = []

    def __call__(self, device_id, code):
        self.queries.append((device_id, code))
        return self.values.get(code)


def properties_of(values):
    driver = FakeDriver(values)
    return DeviceProperties._of_device(3, driver), driver


@pytest.mark.requires(bindings=(13, 5))
def test_driver_knows_every_row_by_its_name():
    from cuda.bindings import driver

    for row in ROWS.values():
        assert int(getattr(driver.CUdevice_attribute, row.driver_name)) == row.code


def test_no_driver_attribute_has_two_rows():
    assert len({row.code for row in ROWS.values()}) == len(ROWS)


def test_sentence_of_each_flag_begins_with_whether():
    properties, _ = properties_of(dict.fromkeys((row.code for row in ROWS.values()), 1))
    for name, row in ROWS.items():
        assert isinstance(getattr(properties, name), bool) == row.__doc__.startswith("Whether"), name


def test_each_property_is_documented_by_a_sentence():
    for name, row in ROWS.items():
        assert re.fullmatch(r"[A-Z3].*\.", row.__doc__), name
        assert inspect.getdoc(getattr(DeviceProperties, name)) == row.__doc__


def test_properties_that_may_change_say_so():
    assert {name for name, row in ROWS.items() if row.is_volatile} == VOLATILE
    assert {name for name, row in ROWS.items() if "queried at each access" in row.__doc__} == VOLATILE


def test_constant_value_is_read_once():
    properties, driver = properties_of({10: 32})
    assert [properties.warp_size, properties.warp_size] == [32, 32]
    assert driver.queries == [(3, 10)]


def test_volatile_value_is_read_each_time():
    properties, driver = properties_of({13: 100})
    assert properties.clock_rate == 100
    driver.values[13] = 50
    assert properties.clock_rate == 50
    assert driver.queries == [(3, 13)] * 2


def test_flags_are_bools():
    properties, _ = properties_of({120: 1, 95: 0})
    assert properties.cluster_launch is True
    assert properties.cooperative_launch is False


def test_attribute_unknown_to_the_driver_reads_as_its_default():
    properties, _ = properties_of({10: 0})
    assert properties.warp_size == 0
    assert properties.max_pitch == 0
    assert properties.cluster_launch is False
    assert properties.mem_sync_domain_count == 1
    assert properties.host_numa_id == -1
    assert properties.is_supported("warp_size")
    assert not properties.is_supported("max_pitch")
    assert not properties.is_supported("host_numa_id")


@pytest.mark.parametrize("name", ["", "nothing", "is_supported", "__doc__", "_read"])
def test_is_supported_rejects_unknown_names(name):
    with pytest.raises(ValueError, match="name of a property"):
        properties_of({})[0].is_supported(name)


def test_is_supported_rejects_other_types():
    with pytest.raises(TypeError, match="name must be a str"):
        properties_of({})[0].is_supported(10)


def test_no_direct_construction():
    with pytest.raises(RuntimeError, match=r"Device\.properties"):
        DeviceProperties()


def test_properties_are_read_only():
    properties, _ = properties_of({10: 32})
    for name in ("warp_size", "surprise"):
        with pytest.raises(AttributeError, match="read-only"):
            setattr(properties, name, 1)
        with pytest.raises(AttributeError, match="read-only"):
            delattr(properties, name)
    assert properties.warp_size == 32


def test_repr_lists_all_values():
    properties, _ = properties_of({10: 32})
    names = [name for name in dir(properties) if not name.startswith("_") and name != "is_supported"]
    lines = repr(properties).splitlines()
    assert lines[0] == "<DeviceProperties of device 3:"
    assert "    warp_size = 32" in lines
    assert sorted(line.split()[0] for line in lines[1:]) == names
    assert properties._repr_html_().count("<tr>") == len(names)


# --- On a device -----------------------------------------------------------------------------------


@pytest.mark.requires(bindings=(13, 0))
def test_every_row_agrees_with_the_driver(device):
    from cuda.bindings import driver

    for name, row in ROWS.items():
        error, value = driver.cuDeviceGetAttribute(driver.CUdevice_attribute(row.code), 0)
        assert int(error) in (0, 1), name
        assert device.properties.is_supported(name) == (int(error) == 0), name
        if name not in VOLATILE:
            assert getattr(device.properties, name) == (row.default if int(error) else value), name
        assert type(getattr(device.properties, name)) is row.convert, name


def test_values_are_plausible(device):
    properties = device.properties
    assert properties.warp_size == 32
    assert properties.max_threads_per_block >= 512
    assert properties.multiprocessor_count > 0
    assert properties.max_shared_memory_per_block_optin >= properties.max_shared_memory_per_block > 0
    assert properties.total_constant_memory == 65536
    assert properties.unified_addressing is True


def test_device_object_has_one_properties_object(device):
    assert device.properties is device.properties


@pytest.mark.requires(device=True)
def test_properties_need_no_context():
    assert in_thread(lambda: Device(0).properties.warp_size) == 32


@pytest.mark.requires(software=True)
def test_attribute_newer_than_the_driver_reads_as_unknown():
    import cuda.emulator

    with cuda.emulator.fail("cuDeviceGetAttribute", "CUDA_ERROR_INVALID_VALUE"):
        found = in_thread(lambda: (Device(0).properties.max_pitch, Device(0).properties.is_supported("max_pitch")))
    assert found == (0, False)
