# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The topology of a device: NVLink links, nearest devices, CPU and NUMA affinity."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator
from typing import Self

from cuda.core._utils.validators import shown
from cuda.core.system._attributes import DeviceView, check_int, nvml_property
from cuda.core.system._mappings import (
    _AFFINITY_SCOPE_MAPPING,
    _GPU_TOPOLOGY_LEVEL_MAPPING,
    _NVLINK_VERSION_MAPPING,
    _unpack_bitmask,
    choose,
)
from cuda.core.system._support import nvml
from cuda.core.system.typing import AffinityScope, GpuTopologyLevel

__all__ = ["DeviceTopology", "NvlinkInfo"]

_NODE_WORDS = 16  # 64-bit words of a node mask: Linux has at most 1024 NUMA nodes


class DeviceTopology:
    """The base of :class:`Device` with its queries of the topology."""

    def get_nvlink_count(self) -> int:
        """Return the number of NVLink links, or 0 if the device does not support NVLink.

        Reads the field ``DEV_NVLINK_LINK_COUNT`` (``nvml.device_get_field_values``).
        """
        try:
            return self.get_field_values([nvml.FieldId.DEV_NVLINK_LINK_COUNT])[0].value
        except nvml.NotSupportedError:
            return 0

    def get_nvlink(self, link: int) -> NvlinkInfo:
        """Return an NVLink link.

        Parameters
        ----------
        link : int
            The number of the link, less than :meth:`get_nvlink_count`.

        Raises
        ------
        TypeError
            If ``link`` is not an int.
        ValueError
            If there is no such link.
        """
        return NvlinkInfo(self, check_int("link", link, self.get_nvlink_count()))

    def get_nvlinks(self) -> Iterator[NvlinkInfo]:
        """Yield the NVLink links."""
        for link in range(self.get_nvlink_count()):
            yield NvlinkInfo(self, link)

    def get_topology_nearest_gpus(self, level: GpuTopologyLevel | str) -> Iterable[Self]:
        """Return the devices that are nearest to this one at a topology level. Linux only.

        Calls ``nvml.device_get_topology_nearest_gpus``.

        Parameters
        ----------
        level : :class:`~cuda.core.system.typing.GpuTopologyLevel` | str
            The nearest common ancestor.

        Raises
        ------
        ValueError
            If ``level`` is not one of the levels.
        """
        code = choose(level, _GPU_TOPOLOGY_LEVEL_MAPPING, "level")
        handles = nvml.device_get_topology_nearest_gpus(self._handle, code)
        return [self._of_handle(int(handle)) for handle in handles]

    def get_cpu_affinity(self, scope: AffinityScope | str = AffinityScope.NODE) -> list[int]:
        """Return the numbers of the processors with an affinity to the device. Linux only.

        :func:`os.sched_setaffinity` takes the result. Calls ``nvml.device_get_cpu_affinity_within_scope``.

        Parameters
        ----------
        scope : :class:`~cuda.core.system.typing.AffinityScope` | str, optional
            Processors of the same NUMA node, or of the same socket. Default is the NUMA node.

        Raises
        ------
        ValueError
            If ``scope`` is not one of the scopes.
        """
        words = (os.sysconf("SC_NPROCESSORS_CONF") + 63) // 64
        return self._affinity(nvml.device_get_cpu_affinity_within_scope, words, scope)

    def get_memory_affinity(self, scope: AffinityScope | str = AffinityScope.NODE) -> list[int]:
        """Return the numbers of the NUMA nodes with an affinity to the device. Linux only.

        Calls ``nvml.device_get_memory_affinity``.

        Parameters
        ----------
        scope : :class:`~cuda.core.system.typing.AffinityScope` | str, optional
            The NUMA node, or the nodes of the same socket. Default is the NUMA node.

        Raises
        ------
        ValueError
            If ``scope`` is not one of the scopes.
        """
        return self._affinity(nvml.device_get_memory_affinity, _NODE_WORDS, scope)

    def _affinity(self, query, words: int, scope: AffinityScope | str) -> list[int]:
        """Return the bit numbers of the mask of ``words`` 64-bit words that an affinity query returns."""
        code = choose(scope, _AFFINITY_SCOPE_MAPPING, "scope")
        return _unpack_bitmask(query(self._handle, words, code))

    def set_cpu_affinity(self) -> None:
        """Bind the calling thread to the processors nearest to the device (``nvml.device_set_cpu_affinity``)."""
        nvml.device_set_cpu_affinity(self._handle)

    def clear_cpu_affinity(self) -> None:
        """Clear the affinity of the calling thread, which may then run on all processors
        (``nvml.device_clear_cpu_affinity``).
        """
        nvml.device_clear_cpu_affinity(self._handle)


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
