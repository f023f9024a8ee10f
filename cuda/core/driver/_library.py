# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The interface as a whole: initialising the driver, versions, and debug information in what is compiled."""

from __future__ import annotations

from cuda.core import _device as core_device
from cuda.core._utils.validators import shown
from cuda.core._utils.version import driver_version
from cuda.core.driver._errors import INVALID_VALUE, logic_error, translated

__all__ = ["get_driver_version", "get_version", "have_gl_ext", "init", "set_debugging"]

# The CUDA version that the interface is that of.
CUDA_VERSION = (13, 0, 0)


@translated
def init(flags: int = 0) -> None:
    """Initialise the driver (``cuInit``); everything here does so by itself.

    Parameters
    ----------
    flags : int, optional
        0.

    Raises
    ------
    LogicError
        If ``flags`` is anything else.
    """
    if flags != 0:
        raise logic_error("cuInit", INVALID_VALUE, f"flags must be 0, not {shown(flags)}")
    core_device.Device.get_all_devices()


def get_version() -> tuple[int, int, int]:
    """Return the version of CUDA that this interface is built against, such as ``(13, 0, 0)``."""
    return CUDA_VERSION


def get_driver_version() -> int:
    """Return the newest version of CUDA that the driver supports, 13000 for 13.0 (``cuDriverGetVersion``)."""
    major, minor = driver_version()[:2]
    return 1000 * major + 10 * minor


def have_gl_ext() -> bool:
    """Return True: :mod:`cuda.core.driver.gl` is always here."""
    return True


class _Debugging:
    is_on = False


def set_debugging(flag: bool = True) -> None:
    """Have the sources compiled from now on with debug information, kept in files, and not cached."""
    _Debugging.is_on = bool(flag)


def is_debugging() -> bool:
    """Return whether :func:`set_debugging` asked for debug information."""
    return _Debugging.is_on
