# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Pythonic access to the CUDA driver, compiler and linker."""

from cuda.core import typing
from cuda.core._context import Context
from cuda.core._device import Device
from cuda.core._event import Event, EventOptions
from cuda.core._host import Host
from cuda.core._launch_config import LaunchConfig
from cuda.core._launcher import launch
from cuda.core._memory import (
    Buffer,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    LegacyPinnedMemoryResource,
    MemoryResource,
)
from cuda.core._module import Kernel, ObjectCode
from cuda.core._program import Program, ProgramOptions
from cuda.core._stream import LEGACY_DEFAULT_STREAM, PER_THREAD_DEFAULT_STREAM, Stream, StreamOptions
from cuda.core._utils.cuda_utils import CUDAError, LaunchError, NotSupportedError, NVRTCError, OutOfMemoryError
from cuda.core._version import __version__

__all__ = [
    "Buffer",
    "CUDAError",
    "Context",
    "Device",
    "DeviceMemoryResource",
    "DeviceMemoryResourceOptions",
    "Event",
    "EventOptions",
    "Host",
    "Kernel",
    "LEGACY_DEFAULT_STREAM",
    "LaunchConfig",
    "LaunchError",
    "LegacyPinnedMemoryResource",
    "MemoryResource",
    "NVRTCError",
    "NotSupportedError",
    "ObjectCode",
    "OutOfMemoryError",
    "PER_THREAD_DEFAULT_STREAM",
    "Program",
    "ProgramOptions",
    "Stream",
    "StreamOptions",
    "launch",
]
