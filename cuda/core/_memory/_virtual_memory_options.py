# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""How virtual memory is allocated."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cuda.core._utils.options import Options
from cuda.core._utils.validators import check_str_enum
from cuda.core.typing import (
    VirtualMemoryAccessType,
    VirtualMemoryAllocationType,
    VirtualMemoryGranularityType,
    VirtualMemoryHandleType,
    VirtualMemoryLocationType,
)

__all__ = ["VirtualMemoryResourceOptions"]


@dataclass
class VirtualMemoryResourceOptions(Options):
    """How a :class:`VirtualMemoryResource` allocates.

    Attributes
    ----------
    allocation_type : :class:`~cuda.core.typing.VirtualMemoryAllocationType`, optional
        ``"pinned"``, the default, or ``"managed"``, which needs CUDA 13.
    location_type : :class:`~cuda.core.typing.VirtualMemoryLocationType`, optional
        Where the memory is. Default is ``"device"``; ``"host_numa"`` means the node nearest to it.
    handle_type : :class:`~cuda.core.typing.VirtualMemoryHandleType`, optional
        How the memory can be exported to other processes. Default is ``"posix_fd"``; None for not at all.
    granularity : :class:`~cuda.core.typing.VirtualMemoryGranularityType`, optional
        What sizes are rounded up to. Default is ``"recommended"``.
    gpu_direct_rdma : bool, optional
        Whether other devices on the bus, such as network adapters, reach the memory. Default is False.
    addr_hint : int, optional
        The address wished for; 0, the default, leaves that to the driver.
    addr_align : int, optional
        The alignment of the address, a power of two in bytes. If None, the granularity.
    peers : iterable of :class:`Device` or int, optional
        Further devices that get access.
    self_access : :class:`~cuda.core.typing.VirtualMemoryAccessType`, optional
        What the owner may do. Default is ``"rw"``; None for nothing.
    peer_access : :class:`~cuda.core.typing.VirtualMemoryAccessType`, optional
        What the peers may do. Default is ``"rw"``; None for nothing.
    """

    allocation_type: VirtualMemoryAllocationType | str = VirtualMemoryAllocationType.PINNED
    location_type: VirtualMemoryLocationType | str = VirtualMemoryLocationType.DEVICE
    handle_type: VirtualMemoryHandleType | str | None = VirtualMemoryHandleType.POSIX_FD
    granularity: VirtualMemoryGranularityType | str = VirtualMemoryGranularityType.RECOMMENDED
    gpu_direct_rdma: bool = False
    addr_hint: int | None = 0
    addr_align: int | None = None
    peers: Iterable[int] = ()
    self_access: VirtualMemoryAccessType | str | None = VirtualMemoryAccessType.READ_WRITE
    peer_access: VirtualMemoryAccessType | str | None = VirtualMemoryAccessType.READ_WRITE

    def __post_init__(self):
        self.allocation_type = check_str_enum(self.allocation_type, VirtualMemoryAllocationType)
        self.location_type = check_str_enum(self.location_type, VirtualMemoryLocationType)
        # A kind of Windows that has no member, and that the resource refuses when it is used.
        if not (isinstance(self.handle_type, str) and self.handle_type.lower() == "win32"):
            self.handle_type = check_str_enum(self.handle_type, VirtualMemoryHandleType, allow_none=True)
        self.granularity = check_str_enum(self.granularity, VirtualMemoryGranularityType)
        self.self_access = check_str_enum(self.self_access, VirtualMemoryAccessType, allow_none=True)
        self.peer_access = check_str_enum(self.peer_access, VirtualMemoryAccessType, allow_none=True)
        self.addr_hint = _check_number("addr_hint", 0 if self.addr_hint is None else self.addr_hint)
        if self.addr_align is not None:
            _check_number("addr_align", self.addr_align)
            if self.addr_align & (self.addr_align - 1):
                raise ValueError(f"addr_align must be a power of two, not {self.addr_align}")
        self.peers = tuple([_check_number("peers", getattr(peer, "device_id", peer)) for peer in self.peers])


def _check_number(name: str, value) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, not {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name} must be at least 0, not {value}")
    return value
