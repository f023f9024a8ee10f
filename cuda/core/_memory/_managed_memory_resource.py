# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory resource over a pool of managed memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cuda.core._memory._managed_buffer import ManagedBuffer
from cuda.core._memory._memory_pool import (
    _MemPool,
    adopt_managed_pool,
    allocate_as,
    check_threshold,
    create_managed_pool,
    current_device_id,
    has_concurrent_managed_access,
)
from cuda.core._memory._memory_resource import nearest_numa_node
from cuda.core._utils.cuda_utils import check_or_create_options, require_call
from cuda.core._utils.errors import warn_caller
from cuda.core._utils.options import Options, options
from cuda.core._utils.validators import check_str_enum
from cuda.core.typing import ManagedMemoryLocationType

if TYPE_CHECKING:
    from typing import Any

    from cuda.core._stream import Stream
    from cuda.core.graph import GraphBuilder

__all__ = ["ManagedMemoryResource", "ManagedMemoryResourceOptions"]


class ManagedMemoryResource(_MemPool):
    """Allocates managed memory in stream order from a memory pool, as :class:`ManagedBuffer` objects.

    Without options it uses the driver's current pool of managed memory (``cuMemGetMemPool``), which it does not own,
    with a release threshold as for :class:`DeviceMemoryResource`. With options it creates its own pool
    (``cuMemPoolCreate``).

    Parameters
    ----------
    options : :class:`ManagedMemoryResourceOptions` | dict, optional
        The options of a new pool. If None, the current pool is used.

    Raises
    ------
    TypeError
        If ``options`` has the wrong type.
    ValueError
        If ``preferred_location`` and ``preferred_location_type`` do not go together.
    RuntimeError
        If the driver is older than CUDA 13.0 or has no current pool of managed memory, or the NUMA node nearest to the
        current device is requested and unknown.

    Warns
    -----
    UserWarning
        Once per process, if the device does not support concurrent managed access.

    Examples
    --------
    >>> import numpy as np
    >>> from cuda.core import Device, ManagedMemoryResource
    >>> device = Device()
    >>> device.set_current()
    >>> stream = device.create_stream()
    >>> buffer = ManagedMemoryResource().allocate(64, stream=stream)
    >>> buffer.fill(1, stream=stream)
    >>> stream.sync()
    >>> int(np.asarray(buffer).sum())
    64
    """

    __slots__ = ()

    _accessible_by = ("device", "host")

    if TYPE_CHECKING:

        def allocate(self, size: int, *, stream: Stream | GraphBuilder) -> ManagedBuffer: ...

    def __init__(self, options: ManagedMemoryResourceOptions | dict[str, Any] | None = None):
        options = check_or_create_options(
            ManagedMemoryResourceOptions, options, "managed memory resource options", keep_none=True
        )
        require_call("cuMemGetMemPool", "a pool of managed memory")
        allocate_as(ManagedBuffer, self)
        if options is None:
            _check_pool(adopt_managed_pool(self))
        else:
            self._location = _preferred_location(options)
            kind, number = self._location or (None, None)
            self._device_id = number if kind == ManagedMemoryLocationType.DEVICE else -1
            create_managed_pool(self, kind, number or 0, options.release_threshold)
        _warn_without_concurrent_access(self._device_id)

    @property
    def preferred_location(self) -> tuple[ManagedMemoryLocationType, int | None] | None:
        """The preferred location as ``(type, id)``, where the id is None for the host, or None for no preference."""
        return self._location

    @property
    def is_managed(self) -> bool:
        """True: the memory migrates between the host and devices."""
        return True


@options
class ManagedMemoryResourceOptions(Options):
    """Options of the pool of a new :class:`ManagedMemoryResource`.

    The resource checks whether the two fields of the preferred location go together.

    Attributes
    ----------
    preferred_location : int, optional
        The ordinal of a device, or the number of a NUMA node. If ``preferred_location_type`` is None: a device, or -1
        for the host.
    preferred_location_type : :class:`~cuda.core.typing.ManagedMemoryLocationType` | str, optional
        The type of location. For ``"host"``, ``preferred_location`` must be None. For ``"host_numa"``, None means the
        NUMA node nearest to the current device.
    release_threshold : int, optional
        How many bytes of unused memory the pool keeps when a stream or event is synchronized; the rest is returned to
        the operating system. If None, the pool keeps all memory.
    """

    preferred_location: int | None = None
    preferred_location_type: ManagedMemoryLocationType | str | None = None
    release_threshold: int | None = None

    def _check(self):
        number = self.preferred_location
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            raise TypeError(f"preferred_location must be an int or None, not {type(number).__name__}")
        self.preferred_location_type = check_str_enum(
            self.preferred_location_type, ManagedMemoryLocationType, allow_none=True
        )
        check_threshold(self.release_threshold)


def reset_concurrent_access_warning() -> None:
    """Warn again for the next resource on a device without concurrent managed access."""
    global _has_warned
    _has_warned = False


def _preferred_location(options):
    number = options.preferred_location
    kind = options.preferred_location_type
    if kind is None:
        if number is None:
            return None
        if number == -1:
            return (ManagedMemoryLocationType.HOST, None)
        kind = ManagedMemoryLocationType.DEVICE
    if kind == ManagedMemoryLocationType.HOST:
        if number is not None:
            raise ValueError(f"preferred_location must be None with the type 'host', not {number}")
        return (kind, None)
    if kind == ManagedMemoryLocationType.HOST_NUMA and number is None:
        return (kind, nearest_numa_node())
    if number is None or number < 0:
        raise ValueError(f"preferred_location must be at least 0 with the type '{kind}', not {number}")
    return (kind, number)


_has_warned = False


def _warn_without_concurrent_access(device_id):
    # If the preferred location is not a device, check the current one.
    if not _has_warned:
        device_id = current_device_id() if device_id < 0 else device_id
        _warn_concurrent_access(device_id, has_concurrent_managed_access(device_id))


def _warn_concurrent_access(device_id: int, is_supported: bool) -> None:
    global _has_warned
    if is_supported or _has_warned:
        return
    _has_warned = True
    warn_caller(
        f"device {device_id} has no concurrent managed access: the host must not access managed memory while it works",
        UserWarning,
    )


def _check_pool(is_found: bool) -> None:
    if not is_found:
        raise RuntimeError("the driver has no current pool of managed memory; pass options to create a pool")
