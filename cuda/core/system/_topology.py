# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Topology: connections between devices, nearest devices, CPU and NUMA affinity."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Self

from cuda.core.system._attributes import check_int
from cuda.core.system._mappings import (
    _AFFINITY_SCOPE_MAPPING,
    _GPU_TOPOLOGY_LEVEL_MAPPING,
    _unpack_bitmask,
    choose,
)
from cuda.core.system._nvlink import NvlinkInfo
from cuda.core.system._support import nvml
from cuda.core.system.typing import AffinityScope, GpuTopologyLevel

__all__ = ["DeviceTopology"]

_NODE_WORDS = 16  # of 64 bits: as many NUMA nodes as Linux can have


class DeviceTopology:
    """The base of :class:`Device`: what it is connected with."""

    def get_nvlink_count(self) -> int:
        """Return how many NVLink connections the device has; 0 where it has no NVLink."""
        try:
            return self.get_field_values([nvml.FieldId.DEV_NVLINK_LINK_COUNT])[0].value
        except nvml.NotSupportedError:
            return 0

    def get_nvlink(self, link: int) -> NvlinkInfo:
        """Return an NVLink connection.

        Parameters
        ----------
        link : int
            Its number, below :meth:`get_nvlink_count`.

        Raises
        ------
        ValueError
            If there is no such connection.
        """
        return NvlinkInfo(self, check_int("link", link, self.get_nvlink_count()))

    def get_nvlinks(self) -> Iterator[NvlinkInfo]:
        """Yield the NVLink connections."""
        for link in range(self.get_nvlink_count()):
            yield NvlinkInfo(self, link)

    def get_topology_nearest_gpus(self, level: GpuTopologyLevel | str) -> Iterable[Self]:
        """Return the devices whose nearest common ancestor with this one is of a level. Linux only.

        Parameters
        ----------
        level : :class:`~cuda.core.system.typing.GpuTopologyLevel` | str
            The level.

        Raises
        ------
        ValueError
            If ``level`` is none of the choices.
        """
        code = choose(level, _GPU_TOPOLOGY_LEVEL_MAPPING, "level")
        handles = nvml.device_get_topology_nearest_gpus(self._handle, code)
        return [self._of_handle(int(handle)) for handle in handles]

    def get_cpu_affinity(self, scope: AffinityScope | str = AffinityScope.NODE) -> list[int]:
        """Return the processors near to the device, for :func:`os.sched_setaffinity`. Linux only.

        Parameters
        ----------
        scope : :class:`~cuda.core.system.typing.AffinityScope` | str, optional
            What counts as near. Default is the NUMA node.

        Raises
        ------
        ValueError
            If ``scope`` is none of the choices.
        """
        words = (os.sysconf("SC_NPROCESSORS_CONF") + 63) // 64
        return self._near(nvml.device_get_cpu_affinity_within_scope, words, scope)

    def get_memory_affinity(self, scope: AffinityScope | str = AffinityScope.NODE) -> list[int]:
        """Return the NUMA nodes or sockets whose memory is near to the device. Linux only.

        Parameters
        ----------
        scope : :class:`~cuda.core.system.typing.AffinityScope` | str, optional
            What counts as near. Default is the NUMA node.

        Raises
        ------
        ValueError
            If ``scope`` is none of the choices.
        """
        return self._near(nvml.device_get_memory_affinity, _NODE_WORDS, scope)

    def _near(self, query, words: int, scope: AffinityScope | str) -> list[int]:
        """Return the numbers that a query gives as bits of so many words."""
        code = choose(scope, _AFFINITY_SCOPE_MAPPING, "scope")
        return _unpack_bitmask(query(self._handle, words, code))

    def set_cpu_affinity(self) -> None:
        """Bind the calling thread to the processors near to the device (``nvml.device_set_cpu_affinity``)."""
        nvml.device_set_cpu_affinity(self._handle)

    def clear_cpu_affinity(self) -> None:
        """Let the calling thread run on all processors again (``nvml.device_clear_cpu_affinity``)."""
        nvml.device_clear_cpu_affinity(self._handle)
