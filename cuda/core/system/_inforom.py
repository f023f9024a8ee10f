# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The InfoROM: the non-volatile memory of a board."""

from __future__ import annotations

from cuda.core.system._attributes import DeviceView, reading
from cuda.core.system._mappings import _INFOROM_OBJECT_MAPPING, choose
from cuda.core.system._support import nvml
from cuda.core.system.typing import InforomObject

__all__ = ["InforomInfo"]


class InforomInfo(DeviceView):
    """The InfoROM of a device, from :attr:`Device.inforom`."""

    __slots__ = ()

    def get_version(self, inforom: InforomObject | str) -> str:
        """Return the version of an InfoROM object (``nvml.device_get_inforom_version``).

        Parameters
        ----------
        inforom : :class:`~cuda.core.system.typing.InforomObject` | str
            The object.

        Raises
        ------
        ValueError
            If ``inforom`` is not one of the objects.
        NvmlError
            If the InfoROM of the device does not have the object.
        """
        return nvml.device_get_inforom_version(self._handle, choose(inforom, _INFOROM_OBJECT_MAPPING, "inforom"))

    def validate(self) -> None:
        """Check the InfoROM against its checksum (``nvml.device_validate_inforom``).

        Raises
        ------
        CorruptedInforomError
            If the checksum is wrong.
        """
        nvml.device_validate_inforom(self._handle)

    image_version = reading("device_get_inforom_image_version", "The version of the InfoROM image, a str.")
    configuration_checksum = reading(
        "device_get_inforom_configuration_checksum",
        "The checksum of the InfoROM configuration, an int. Boards with equal configurations have equal checksums.",
    )
    bbx_flush_time = reading(
        "device_get_last_bbx_flush_time",
        "The timestamp of the last flush of the black box (BBX) object and its duration in µs, a tuple of two ints.",
        tuple,
    )
    board_part_number = reading(
        "device_get_board_part_number", "The part number of the board; may be empty.", str.strip
    )
