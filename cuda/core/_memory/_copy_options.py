# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Options of copies."""

from __future__ import annotations

from cuda.core._memory._copy_enums import MemcpyOverlapMode, MemcpySrcAccessOrder
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import check_str_enum

__all__ = ["CopyOptions"]


@options(frozen=True)
class CopyOptions(Options):
    """Options of a copy: hints for the driver (``CUmemcpyAttributes``).

    Attributes
    ----------
    src_access_order : :class:`MemcpySrcAccessOrder` | str, optional
        When the driver may read the source: ``"stream"`` (in stream order), ``"during_api_call"`` (before the call
        returns) or ``"any"`` (at any time before the copy completes). Default is ``"stream"``.
    src_location_hint, dst_location_hint : :class:`Device` | :class:`Host`, optional
        The location where the memory probably is. The driver uses it for managed and pageable memory only, and migrates
        nothing. If None, no hint.
    overlap_mode : :class:`MemcpyOverlapMode` | str, optional
        ``"prefer_overlap_with_compute"`` asks for a copy that overlaps with kernels. Default is ``"default"``.

    Raises
    ------
    ValueError
        If a string is not a member of its enum.

    Examples
    --------
    >>> from cuda.core import Device
    >>> from cuda.core.utils import CopyOptions
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> a, b = device.allocate(64, stream=stream), device.allocate(64, stream=stream)
    >>> b.copy_from(a, stream=stream, options=CopyOptions(overlap_mode="prefer_overlap_with_compute"))
    """

    src_access_order: MemcpySrcAccessOrder | str = "stream"
    src_location_hint: object = None
    dst_location_hint: object = None
    overlap_mode: MemcpyOverlapMode | str = "default"

    def _check(self):
        for name, kind in (("src_access_order", MemcpySrcAccessOrder), ("overlap_mode", MemcpyOverlapMode)):
            self.__dict__[name] = check_str_enum(getattr(self, name), kind)
