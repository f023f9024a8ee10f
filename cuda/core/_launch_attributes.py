# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The table of rarely used launch attributes: their values in Python, and the bytes that the driver reads."""

from __future__ import annotations

import operator
import struct
from typing import NamedTuple

from cuda.core._event import Event
from cuda.core._utils import slots
from cuda.core._utils.cuda_utils import driver_version
from cuda.core._utils.enums import ACCESS_PROPERTY
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import address_argument, check_str_enum, find_str_enum, int_argument, shown
from cuda.core.typing import AccessPropertyType

__all__ = ["ATTRIBUTES", "STREAM_ATTRIBUTES", "AccessPolicyWindow", "newer_than_driver", "pack"]


@options
class AccessPolicyWindow(Options):
    """An L2 access policy window: how the L2 cache treats accesses to a range of memory (``CUaccessPolicyWindow``).

    Attributes
    ----------
    base_ptr : int
        The start address of the range, such as ``buffer.handle`` of a :class:`~cuda.core.Buffer`.
    num_bytes : int
        The size of the range in bytes, at most ``max_access_policy_window_size`` of the device.
    hit_ratio : float, optional
        The fraction of the accesses, from 0 to 1, that get the property ``hit``; the others get ``miss``.
        Default is 1.
    hit : :class:`~cuda.core.typing.AccessPropertyType`, optional
        The property of that fraction. Default is ``"persisting"``.
    miss : :class:`~cuda.core.typing.AccessPropertyType`, optional
        The property of the other accesses: ``"streaming"``, the default, or ``"normal"``. The driver rejects
        ``"persisting"``.

    Raises
    ------
    TypeError
        If a value has a wrong type.
    ValueError
        If ``hit_ratio`` is not from 0 to 1, an int does not fit 64 bits, or a property is not valid.
    """

    base_ptr: int
    num_bytes: int
    hit_ratio: float = 1.0
    hit: AccessPropertyType = AccessPropertyType.PERSISTING
    miss: AccessPropertyType = AccessPropertyType.STREAMING

    def _check(self):
        values = {"base_ptr": address_argument("base_ptr", self.base_ptr)}
        values["num_bytes"] = int_argument("num_bytes", self.num_bytes)
        for name, value in values.items():
            if not 0 <= value < 1 << 64:
                raise ValueError(f"{name} must be from 0 to 2**64 - 1, not {shown(value)}")
        try:
            values["hit_ratio"] = float(self.hit_ratio)
        except (TypeError, ValueError):
            raise TypeError(f"hit_ratio must be a float, not {type(self.hit_ratio).__name__}") from None
        if not 0 <= values["hit_ratio"] <= 1:
            raise ValueError(f"hit_ratio must be from 0 to 1, not {values['hit_ratio']}")
        for name in ("hit", "miss"):
            values[name] = AccessPropertyType(check_str_enum(getattr(self, name), AccessPropertyType))
        for name, value in values.items():
            setattr(self, name, value)


class Attribute(NamedTuple):
    """A launch attribute: its ``CUlaunchAttributeID``, the format of its value, and the check of a value."""

    id: int
    format: str  # of the module struct
    check: object  # returns the value to store, and the numbers to pack; raises for others
    is_for_nodes: bool = True  # whether a kernel node that is added to a graph can have it
    since: tuple[int, int] = (12, 2)  # the CUDA version of the first driver that knows it


def pack(name: str, value) -> tuple[object, bytes, object]:
    """Return the checked value of an attribute, its bytes for the driver, and what must stay alive with them."""
    row = ATTRIBUTES.get(name) or STREAM_ATTRIBUTES[name]
    value, numbers, kept = row.check(name, value)
    return value, struct.pack(row.format, *numbers), kept


def newer_than_driver(config) -> str:
    """Return a sentence about an attribute of a configuration that the driver does not know, or an empty string."""
    version = driver_version()[:2]
    for name, row in ATTRIBUTES.items():
        if row.since > version and getattr(config, name) is not None:
            return f"{name} needs a driver for CUDA {row.since[0]}.{row.since[1]}, not {version[0]}.{version[1]}"
    return ""


def _flag(name, value):
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be a bool or None, not {type(value).__name__}")
    return value, (value,), None


def _updatable(name, value):
    return value, (*_flag(name, value)[1], 0), None


def _choice(*choices):
    """Return the check for strings whose places are the values of the driver's enum."""

    def check(name, value):
        value = find_str_enum(value, choices, name)
        return value, (choices.index(value),), None

    return check


def _int(name, value, least, most):
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise TypeError(f"{name} must consist of ints, not {type(value).__name__}")
    number = operator.index(value)
    if not least <= number <= most:
        raise ValueError(f"{name} must be from {least} to {most}, not {shown(value)}")
    return number


def _carveout(name, value):
    number = _int(name, value, -1, 100)
    return number, (number,), None


def _ints(count, least, most):
    """Return the check for a tuple of ints."""

    def check(name, value):
        if not isinstance(value, (tuple, list)) or len(value) != count:
            raise TypeError(f"{name} must be a tuple of {count} ints, not {shown(value)}")
        numbers = tuple([_int(name, item, least, most) for item in value])
        return numbers, numbers, None

    return check


def _event(name, value):
    if not isinstance(value, Event):
        raise TypeError(f"{name} must be an Event or None, not {type(value).__name__}")
    if value.is_timing_enabled or value.is_ipc_enabled:
        raise ValueError(f"{name} must be an event without timing that is not shared between processes")
    pinned = value._pin()
    return value, (int(pinned.handle), 0), pinned


def _programmatic_event(name, value):
    is_at_start = False
    if isinstance(value, tuple) and len(value) == 2:
        value, is_at_start = value
        _flag(f"{name}[1]", is_at_start)
    event, numbers, pinned = _event(name, value)
    return (event, is_at_start), (*numbers, is_at_start), pinned


def _window(name, value):
    if not isinstance(value, AccessPolicyWindow):
        raise TypeError(f"{name} must be an AccessPolicyWindow or None, not {type(value).__name__}")
    value._check()
    properties = [int(ACCESS_PROPERTY.to_driver(item)) for item in (value.hit, value.miss)]
    return value, (value.base_ptr, value.num_bytes, value.hit_ratio, *properties), None


_DOMAINS = ("default", "remote")
_MODES = ("default", "require_portable", "allow_non_portable")

ATTRIBUTES = {
    "access_policy_window": Attribute(1, "QQfii", _window),
    "programmatic_event": Attribute(7, "Qii", _programmatic_event, False),
    "mem_sync_domain_map": Attribute(9, "BB", _ints(2, 0, 255)),
    "mem_sync_domain": Attribute(10, "i", _choice(*_DOMAINS)),
    "preferred_cluster": Attribute(11, "III", _ints(3, 1, 2**32 - 1)),
    "launch_completion_event": Attribute(12, "Qi", _event, False),
    "device_updatable_node": Attribute(13, "iQ", _updatable),
    "shared_memory_carveout": Attribute(14, "i", _carveout, False),
    "nvlink_util_centric_scheduling": Attribute(16, "I", _flag),
    "portable_cluster_size_mode": Attribute(17, "i", _choice(*_MODES), since=(13, 2)),
    "shared_memory_mode": Attribute(18, "i", _choice(*_MODES, "allow_oversized", "prefer_oversized"), since=(13, 2)),
}


def _read_window(base_ptr, num_bytes, hit_ratio, *properties):
    if num_bytes == 0:
        return None
    hit, miss = [ACCESS_PROPERTY.from_driver(code) for code in properties]
    return AccessPolicyWindow(base_ptr, num_bytes, hit_ratio, hit, miss)


_POLICIES = ("auto", "spin", "yield", "blocking_sync")  # CUsynchronizationPolicy begins with 1


def _policy(name, value):
    value = find_str_enum(value, _POLICIES, name)
    return value, (_POLICIES.index(value) + 1,), None


def _priority(name, value):
    number = _int(name, value, -(2**31), 2**31 - 1)
    return number, (number,), None


# The attributes that streams have, and how the numbers that the driver returns become a value.
STREAM_ATTRIBUTES = {
    **{
        name: ATTRIBUTES[name]
        for name in ("access_policy_window", "mem_sync_domain_map", "mem_sync_domain", "nvlink_util_centric_scheduling")
    },
    "sync_policy": Attribute(3, "i", _policy),
    "priority": Attribute(8, "i", _priority),
}
_READERS = {
    "access_policy_window": _read_window,
    "mem_sync_domain_map": lambda *numbers: numbers,
    "mem_sync_domain": _DOMAINS.__getitem__,
    "nvlink_util_centric_scheduling": bool,
    "sync_policy": lambda code: _POLICIES[code - 1],
    "priority": int,
}


def id_of(name: str) -> int:
    """Return the ``CUstreamAttrID`` of an attribute of streams."""
    return STREAM_ATTRIBUTES[name].id


def unpack(name: str, content: bytes):
    """Return the value of an attribute of streams from the bytes that the driver returns."""
    return _READERS[name](*struct.unpack_from(STREAM_ATTRIBUTES[name].format, content))


slots.register("stream attributes", (id_of, pack, unpack))
