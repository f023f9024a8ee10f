# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Initialization, versions, and the debugging mode."""

from __future__ import annotations

from cuda.core import _device as core_device
from cuda.core._utils.validators import shown
from cuda.core._utils.cuda_utils import driver_version
from cuda.core.driver._errors import INVALID_VALUE, logic_error, translated

__all__ = ["get_driver_version", "get_version", "have_gl_ext", "init", "set_debugging"]

# The CUDA version of this interface.
CUDA_VERSION = (13, 0, 0)


@translated
def init(flags: int = 0) -> None:
    """Initialize the driver (``cuInit``). Optional: all functions of this package do so themselves.

    Parameters
    ----------
    flags : int, optional
        Must be 0.

    Raises
    ------
    LogicError
        If ``flags`` is not 0.
    """
    if flags != 0:
        raise logic_error("cuInit", INVALID_VALUE, f"flags must be 0, not {shown(flags)}")
    core_device.Device.get_all_devices()


def get_version() -> tuple[int, int, int]:
    """Return the CUDA version for which this interface is built, such as ``(13, 0, 0)``."""
    return CUDA_VERSION


def get_driver_version() -> int:
    """Return the latest CUDA version that the driver supports, 13000 for 13.0 (``cuDriverGetVersion``)."""
    major, minor = driver_version()[:2]
    return 1000 * major + 10 * minor


def have_gl_ext() -> bool:
    """Return True: :mod:`cuda.core.driver.gl` is always available."""
    return True


class _Debugging:
    is_on = False


def set_debugging(flag: bool = True) -> None:
    """Compile later sources with debug information (``-g -G``), keep the compiler's files, and bypass the cache."""
    _Debugging.is_on = bool(flag)


def is_debugging() -> bool:
    """Return whether :func:`set_debugging` has turned debugging on."""
    return _Debugging.is_on
