# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The InfoROM: what the board of a device keeps without power."""

from __future__ import annotations

from cuda.core.system._attributes import DeviceView, answering, reading
from cuda.core.system._mappings import _INFOROM_OBJECT_MAPPING, choose
from cuda.core.system._support import nvml
from cuda.core.system.typing import InforomObject

__all__ = ["InforomInfo"]


@answering
class InforomInfo(DeviceView):
    """The InfoROM of a device, from :attr:`Device.inforom`."""

    __slots__ = ()

    def get_version(self, inforom: InforomObject | str) -> str:
        """Return the version of an object (``nvml.device_get_inforom_version``).

        Parameters
        ----------
        inforom : :class:`~cuda.core.system.typing.InforomObject` | str
            The object.

        Raises
        ------
        ValueError
            If ``inforom`` is none of the choices.
        NvmlError
            If the device has no such object.
        """
        return nvml.device_get_inforom_version(self._handle, choose(inforom, _INFOROM_OBJECT_MAPPING, "inforom"))

    def validate(self) -> None:
        """Check the InfoROM against its checksum (``nvml.device_validate_inforom``).

        Raises
        ------
        CorruptedInforomError
            If it is damaged.
        """
        nvml.device_validate_inforom(self._handle)

    image_version = reading("device_get_inforom_image_version", "The version of the whole, a str.")
    configuration_checksum = reading(
        "device_get_inforom_configuration_checksum", "A checksum of the configuration, an int; equal on equal boards."
    )
    bbx_flush_time = reading(
        "device_get_last_bbx_flush_time",
        "When the black box was last written, and how long that took, in µs: a tuple of two ints.",
        tuple,
    )
    board_part_number = reading("device_get_board_part_number", "The part number of the board, maybe empty.", str.strip)
