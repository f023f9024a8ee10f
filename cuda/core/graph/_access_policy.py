# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""L2 access policy windows of kernel nodes (AccessPolicyWindow)."""

from __future__ import annotations

import operator

from cuda.core._utils.options import Options, options_class
from cuda.core._utils.validators import address_argument, check_str_enum, shown
from cuda.core.typing import AccessPropertyType

__all__ = ["AccessPolicyWindow"]


@options_class
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
        The property of the other accesses: ``"streaming"``, the default, or ``"normal"``. The driver refuses
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

    def __post_init__(self):
        values = {"base_ptr": address_argument("base_ptr", self.base_ptr)}
        try:
            values["num_bytes"] = operator.index(self.num_bytes)
        except TypeError:
            raise TypeError(f"num_bytes must be an int, not {type(self.num_bytes).__name__}") from None
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
