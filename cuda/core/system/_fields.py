# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Field values: numbers of a device by their ids, many with one call."""

from __future__ import annotations

import ctypes

from cuda.core._utils.validators import shown
from cuda.core.system._attributes import Items, Snapshot, answering, field
from cuda.core.system._support import nvml
from cuda.core.system.typing import FieldId

__all__ = ["FieldValue", "FieldValues", "clear_field_values", "read_field_values"]

# The bindings take the lower half of an unsigned long alone, which has 8 bytes here but on Windows.
_UNSIGNED_LONG = "ull_val" if ctypes.sizeof(ctypes.c_ulong) == 8 else "ul_val"

# The member of NVML's union for each type of value, and ours.
_MEMBERS = {
    nvml.ValueType.DOUBLE: ("d_val", float),
    nvml.ValueType.UNSIGNED_INT: ("ui_val", int),
    nvml.ValueType.UNSIGNED_LONG: (_UNSIGNED_LONG, int),
    nvml.ValueType.UNSIGNED_LONG_LONG: ("ull_val", int),
    nvml.ValueType.SIGNED_LONG_LONG: ("sll_val", int),
    nvml.ValueType.SIGNED_INT: ("si_val", int),
    nvml.ValueType.UNSIGNED_SHORT: ("us_val", int),
}


@answering
class FieldValue(Snapshot):
    """The value of one field of a device, or the error that NVML returned for it."""

    __slots__ = ()

    field_id = field("field_id", "The field, a :class:`~cuda.core.system.typing.FieldId`.", FieldId)
    scope_id = field("scope_id", "The scope of the field, such as the number of a link, where it has one.")
    timestamp = field("timestamp", "The time of the read, in µs since 1970.")
    latency_usec = field("latency_usec", "The duration of the read, in µs.")

    @property
    def value(self) -> int | float:
        """The number.

        Raises
        ------
        NvmlError
            If the device has no value for the field.
        """
        nvml.check_status(self._record.nvml_return)
        member, convert = _MEMBERS[self._record.value_type]
        return convert(self._record.value[member][0])


class FieldValues(Items):
    """Numbers of a device, in the order in which they were asked for: a sequence of :class:`FieldValue`."""

    __slots__ = ()

    def __init__(self, records):
        super().__init__(records, FieldValue)

    def validate(self) -> None:
        """Raise the first error that a value has.

        Raises
        ------
        NvmlError
            If any value is missing.
        """
        for value in self._items:
            nvml.check_status(value._record.nvml_return)

    def get_all_values(self) -> list[int | float]:
        """Return the numbers.

        Raises
        ------
        NvmlError
            If any value is missing.
        """
        return [value.value for value in self._items]


def read_field_values(handle: int, field_ids: list) -> FieldValues:
    """Return the values of fields."""
    requests = _check(field_ids)
    return FieldValues(nvml.device_get_field_values(handle, requests) if requests else ())


def clear_field_values(handle: int, field_ids: list) -> None:
    """Set counters back to 0."""
    if requests := _check(field_ids):
        nvml.device_clear_field_values(handle, requests)


def _check(field_ids) -> list:
    if not isinstance(field_ids, list):
        raise TypeError(f"field_ids must be a list, not {type(field_ids).__name__}")
    for entry in field_ids:
        parts = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry,)
        if not all(isinstance(part, int) and 0 <= part < 1 << 32 for part in parts):
            raise ValueError(f"field_ids must hold field ids or tuples of a field id and a scope, not {shown(entry)}")
    return field_ids
