# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Field values, which are read by their IDs."""

import pytest
from cuda.bindings import nvml

from cuda.core import system
from cuda.core.system.typing import FieldId

pytestmark = pytest.mark.requires(nvml=True)
TYPES = {
    "DOUBLE": ("d_val", 1.5),
    "UNSIGNED_INT": ("ui_val", 4_000_000_000),
    "UNSIGNED_LONG": ("ull_val", 1 << 40),
    "UNSIGNED_LONG_LONG": ("ull_val", 1 << 63),
    "SIGNED_LONG_LONG": ("sll_val", -(1 << 40)),
    "SIGNED_INT": ("si_val", -7),
    "UNSIGNED_SHORT": ("us_val", 65535),
}


def records(*kinds):
    """Return the records that NVML fills in for fields of these types."""
    made = nvml.FieldValue(len(kinds))
    made.field_id = list(range(91, 91 + len(kinds)))
    made.nvml_return = [nvml.Return.SUCCESS] * len(kinds)
    made.value_type = [getattr(nvml.ValueType, kind) for kind in kinds]
    for record, kind in zip(made, kinds, strict=True):
        member, value = TYPES[kind]
        record.value[member][0] = value
    return made


def test_every_type_of_nvml_has_a_row():
    assert set(nvml.ValueType.__members__) - {"COUNT"} == set(TYPES)


@pytest.mark.parametrize("kind", TYPES)
def test_value_is_read_by_its_type(gpu, fake, kind):
    fake("device_get_field_values", records(kind))
    values = gpu.get_field_values([91])
    (value,) = values.get_all_values()
    assert value == TYPES[kind][1] and type(value) is type(TYPES[kind][1]) and len(values) == 1


def test_values_of_many_types_are_read_in_one_call(gpu, fake):
    fake("device_get_field_values", records(*TYPES))
    values = gpu.get_field_values(list(range(91, 91 + len(TYPES))))
    assert values.get_all_values() == [value for _, value in TYPES.values()] == [entry.value for entry in values]


def error_of(call):
    """Return the name of the exception of a call that the device does not support, or None."""
    try:
        call()
    except system.NotSupportedError as error:
        return type(error).__name__


def test_values_of_a_device_have_ids_times_and_scopes(gpu):
    ids = [FieldId.DEV_NVLINK_LINK_COUNT, (FieldId.DEV_NVLINK_LINK_COUNT, 0), 91]
    values = gpu.get_field_values(ids)
    assert type(values).__name__ == "FieldValues" and type(values[0]).__name__ == "FieldValue"
    assert [value.field_id for value in values] == [FieldId.DEV_NVLINK_LINK_COUNT] * 3
    assert type(values[0].timestamp) is int and values[0].timestamp <= gpu.get_field_values(ids)[0].timestamp
    assert type(values[0].latency_usec) is int and values[1].scope_id == 0
    assert error_of(values.validate) == error_of(lambda: values[0].value)  # equal even without NVLink
    assert values[-1].field_id == values[2].field_id


def test_empty_list_of_fields_calls_nothing(gpu, fake):
    fake("device_get_field_values")
    fake("device_clear_field_values")
    values = gpu.get_field_values([])
    assert len(values) == 0 and values.get_all_values() == [] and values.validate() is None
    assert gpu.clear_field_values([]) is None and fake.calls == []


def test_missing_value_raises_when_it_is_read(gpu, fake):
    made = records("SIGNED_INT", "DOUBLE")
    made.nvml_return = [nvml.Return.ERROR_NOT_SUPPORTED, 0]
    fake("device_get_field_values", made)
    values = gpu.get_field_values([91, 92])
    assert values[1].value == 1.5
    for call in (values.validate, values.get_all_values, lambda: values[0].value):
        with pytest.raises(system.NotSupportedError):
            call()
    assert "value=<Not Supported>)" in repr(values)


def test_fields_are_cleared(gpu, fake):
    fake("device_clear_field_values")
    assert gpu.clear_field_values([FieldId.DEV_PCIE_REPLAY_COUNTER, (9, 1)]) is None
    assert fake.calls == [("device_clear_field_values", gpu._handle, [94, (9, 1)])]


@pytest.mark.parametrize(
    "field_ids, error, message",
    [
        (91, TypeError, "field_ids must be a list, not int"),
        ((91,), TypeError, "field_ids must be a list, not tuple"),
        ([[10**5000]], ValueError, "field_ids must hold field IDs or tuples of a field ID and a scope ID, not "),
        (["a"], ValueError, "not 'a'"),
        ([(1, 2, 3)], ValueError, r"not \(1, 2, 3\)"),
        ([(1, "x")], ValueError, "not"),
        ([1.5], ValueError, "not 1.5"),
        ([-1], ValueError, "not -1"),
        ([(91, 1 << 32)], ValueError, "not"),
    ],
)
def test_invalid_field_ids_are_rejected(gpu, field_ids, error, message):
    for method in (gpu.get_field_values, gpu.clear_field_values):
        with pytest.raises(error, match=message):
            method(field_ids)


def test_invalid_indices_are_rejected(gpu):
    values = gpu.get_field_values([91])
    with pytest.raises(IndexError):
        values[1]
    with pytest.raises(TypeError):
        values["first"]
