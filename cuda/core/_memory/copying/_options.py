# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Options of copies."""

from __future__ import annotations

from cuda.core._memory._copy_enums import MemcpyOverlapMode, MemcpySrcAccessOrder
from cuda.core._utils.options import FrozenOptions, options_class
from cuda.core._utils.validators import check_str_enum

__all__ = ["CopyOptions"]


@options_class
class CopyOptions(FrozenOptions):
    """Options of a copy, as hints for the driver.

    Attributes
    ----------
    src_access_order : :class:`MemcpySrcAccessOrder` | str, optional
        When the source may be read: ``"stream"``, in stream order, is the default;
        ``"during_api_call"`` before the call returns; ``"any"`` at any time until the copy is done.
    src_location_hint, dst_location_hint : :class:`Device` | :class:`Host`, optional
        Where the memory probably is. Used for managed and pageable memory only; it does not migrate anything.
    overlap_mode : :class:`MemcpyOverlapMode` | str, optional
        ``"prefer_overlap_with_compute"`` is a wish. Default is ``"default"``.

    Raises
    ------
    ValueError
        If a string is none of the choices.
    """

    src_access_order: MemcpySrcAccessOrder | str = "stream"
    src_location_hint: object = None
    dst_location_hint: object = None
    overlap_mode: MemcpyOverlapMode | str = "default"

    def __post_init__(self):
        for name, kind in (("src_access_order", MemcpySrcAccessOrder), ("overlap_mode", MemcpyOverlapMode)):
            self.__dict__[name] = check_str_enum(getattr(self, name), kind)
