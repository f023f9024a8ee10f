# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Field values: many counters and readings of a device with one call, by their field IDs."""

from __future__ import annotations

import ctypes

from cuda.core._utils.validators import shown
from cuda.core.system._attributes import Items, Snapshot, field, nvml_property
from cuda.core.system._support import nvml
from cuda.core.system.typing import FieldId

__all__ = ["FieldValue", "FieldValues", "clear_field_values", "read_field_values"]

# The bindings read 4 bytes of an unsigned long, which has 8 except on Windows.
_UNSIGNED_LONG = "ull_val" if ctypes.sizeof(ctypes.c_ulong) == 8 else "ul_val"

# For each value type the member of NVML's union, and the Python type.
_MEMBERS = {
    nvml.ValueType.DOUBLE: ("d_val", float),
    nvml.ValueType.UNSIGNED_INT: ("ui_val", int),
    nvml.ValueType.UNSIGNED_LONG: (_UNSIGNED_LONG, int),
    nvml.ValueType.UNSIGNED_LONG_LONG: ("ull_val", int),
    nvml.ValueType.SIGNED_LONG_LONG: ("sll_val", int),
    nvml.ValueType.SIGNED_INT: ("si_val", int),
    nvml.ValueType.UNSIGNED_SHORT: ("us_val", int),
}


class FieldValue(Snapshot):
    """The value of one field of a device, or the error that NVML returned for it."""

    __slots__ = ()

    field_id = field("field_id", "The field, a :class:`~cuda.core.system.typing.FieldId`.", FieldId)
    scope_id = field("scope_id", "The scope ID, such as the number of a link, for fields that have one.")
    timestamp = field("timestamp", "The time of the reading, in µs since 1970.")
    latency_usec = field("latency_usec", "How long NVML took to update the value, in µs.")

    @nvml_property
    def value(self) -> int | float:
        """The value.

        Raises
        ------
        NvmlError
            If NVML returned an error for the field.
        """
        nvml.check_status(self._record.nvml_return)
        member, convert = _MEMBERS[self._record.value_type]
        return convert(self._record.value[member][0])


class FieldValues(Items):
    """Field values in the order of the request, a sequence of :class:`FieldValue`."""

    __slots__ = ()

    def __init__(self, records):
        super().__init__(records, FieldValue)

    def validate(self) -> None:
        """Raise the error of the first value that has one.

        Raises
        ------
        NvmlError
            If NVML returned an error for a field.
        """
        for value in self._items:
            nvml.check_status(value._record.nvml_return)

    def get_all_values(self) -> list[int | float]:
        """Return the values as a list of numbers.

        Raises
        ------
        NvmlError
            If NVML returned an error for a field.
        """
        return [value.value for value in self._items]


def read_field_values(handle: int, field_ids: list) -> FieldValues:
    """Return the values of fields (:meth:`Device.get_field_values`)."""
    requests = _check(field_ids)
    return FieldValues(nvml.device_get_field_values(handle, requests) if requests else ())


def clear_field_values(handle: int, field_ids: list) -> None:
    """Reset counters to 0 (:meth:`Device.clear_field_values`)."""
    if requests := _check(field_ids):
        nvml.device_clear_field_values(handle, requests)


def _check(field_ids) -> list:
    if not isinstance(field_ids, list):
        raise TypeError(f"field_ids must be a list, not {type(field_ids).__name__}")
    for entry in field_ids:
        parts = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry,)
        if not all(isinstance(part, int) and 0 <= part < 1 << 32 for part in parts):
            raise ValueError(
                f"field_ids must hold field IDs or tuples of a field ID and a scope ID, not {shown(entry)}"
            )
    return field_ids
