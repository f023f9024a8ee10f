# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""NVLink links of a device."""

from __future__ import annotations

import warnings

from cuda.core._utils.validators import shown
from cuda.core.system._attributes import DeviceView, check_int, nvml_property
from cuda.core.system._mappings import _NVLINK_VERSION_MAPPING
from cuda.core.system._support import nvml

__all__ = ["NvlinkInfo"]


class _MaxLinks(type):
    """Metaclass with the deprecated ``NvlinkInfo.max_links``, which instances do not have."""

    @property
    def max_links(cls) -> int:
        """The maximum number of links of any device. Deprecated: use :meth:`Device.get_nvlink_count`."""
        warnings.warn(
            "NvlinkInfo.max_links is deprecated; use Device.get_nvlink_count(), the number of links of a device",
            DeprecationWarning,
            stacklevel=2,
        )
        return nvml.NVLINK_MAX_LINKS


class NvlinkInfo(DeviceView, metaclass=_MaxLinks):
    """One NVLink link of a device, from :meth:`Device.get_nvlink`.

    Parameters
    ----------
    device : :class:`Device`
        The device.
    link : int
        The number of the link.

    Raises
    ------
    TypeError
        If ``link`` is not an int.
    ValueError
        If ``link`` is negative or needs more than 32 bits.
    """

    __slots__ = ("_link",)

    def __init__(self, device: Device, link: int):  # noqa: F821
        super().__init__(device)
        self._link = check_int("link", link, 1 << 32)

    def __repr__(self):
        return f"<NvlinkInfo {self._link} of {shown(self._device)}>"

    @nvml_property
    def version(self) -> tuple[int, int]:
        """The version of NVLink, as ``(major, minor)`` (``nvml.device_get_nvlink_version``).

        Raises
        ------
        RuntimeError
            If NVML returns a version that has no number here.
        """
        code = nvml.device_get_nvlink_version(self._handle, self._link)
        if code not in _NVLINK_VERSION_MAPPING:
            raise RuntimeError(f"NVML returned an unknown NVLink version for link {self._link}: {code}")
        return _NVLINK_VERSION_MAPPING[code]

    @nvml_property
    def state(self) -> bool:
        """Whether the link is active (``nvml.device_get_nvlink_state``)."""
        return nvml.device_get_nvlink_state(self._handle, self._link) == nvml.EnableState.FEATURE_ENABLED
