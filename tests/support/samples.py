# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""One sample of every class, and what the class supports; the protocol tests run with all samples."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable

import cuda.core
from cuda.core import (
    Device,
    DeviceMemoryResource,
    DeviceMemoryResourceOptions,
    ExternalMemory,
    ExternalSemaphore,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    ManagedMemoryResource,
    PinnedMemoryResource,
    Program,
    ProgramOptions,
    Stream,
    launch,
)
from cuda.core.texture import ResourceDescriptor

SOURCE = 'extern "C" __global__ void sample(int* out) { *out = 42; }'


@dataclasses.dataclass(frozen=True)
class Sample:
    """How to make an object, and what it supports."""

    make: Callable
    again: Callable | None = None  # another object that must be equal to a given one
    closes: bool = True
    is_direct: bool = False  # may be constructed by the user
    needs_device: bool = True
    needs: dict = dataclasses.field(default_factory=dict)  # further capabilities, as for the ``requires`` marker
    use: Callable | None = None  # a call that raises if the object is closed
    has_is_closed: bool = True


def _program():
    return Program(SOURCE, "c++", ProgramOptions(arch="sm_90"))


def _code():
    return _program().compile("cubin")


def _device():
    device = Device(0)
    device.set_current()
    return device


def _pool():
    return DeviceMemoryResource(_device(), DeviceMemoryResourceOptions())


def _buffer():
    device = _device()
    return device.allocate(64, stream=device.default_stream)


def _managed_buffer():
    return ManagedMemoryResource({}).allocate(64, stream=_device().default_stream)


def _array():
    fields = {"shape": (8, 4), "format": "float32", "num_channels": 1, "is_surface_load_store": True}
    return _device().create_opaque_array(fields)


def _mipmapped_array():
    fields = {"shape": (8, 4), "format": "float32", "num_channels": 1, "num_levels": 2}
    return _device().create_mipmapped_array(fields)


def _external(make):
    """Import a file as the software device does."""
    _device()
    file = os.memfd_create("sample")
    try:
        os.truncate(file, 4096)
        return make(file)
    finally:
        os.close(file)


def _described_array():
    return ResourceDescriptor.from_opaque_array(_array())


def _launch_with(argument):
    code = Program('extern "C" __global__ void look(unsigned long long image) {}', "c++").compile("cubin")
    launch(_device().default_stream, LaunchConfig(grid=1, block=1), code.get_kernel("look"), argument)


SAMPLES = {
    "Device": Sample(_device, again=lambda d: Device(int(d)), closes=False, is_direct=True),
    "Context": Sample(lambda: _device().create_stream().context, again=lambda c: _device().context, closes=False),
    "Stream": Sample(
        lambda: _device().create_stream(),
        again=lambda s: Stream.from_handle(int(s.handle)),
        use=lambda s: s.sync(),
    ),
    "Event": Sample(lambda: _device().create_stream().record(), use=lambda e: e.sync()),
    "Buffer": Sample(_buffer, use=lambda b: b.is_device_accessible),
    "DeviceMemoryResource": Sample(_pool, is_direct=True, use=lambda p: p.allocate(8, stream=_device().default_stream)),
    "PinnedMemoryResource": Sample(
        lambda: _device() and PinnedMemoryResource({}),
        is_direct=True,
        needs={"host_mempool": True},
        use=lambda p: p.allocate(8, stream=_device().default_stream),
    ),
    "ManagedMemoryResource": Sample(
        lambda: _device() and ManagedMemoryResource({}),
        is_direct=True,
        needs={"managed_mempool": True},
        use=lambda p: p.allocate(8, stream=_device().default_stream),
    ),
    "ManagedBuffer": Sample(_managed_buffer, needs={"managed_mempool": True}, use=lambda b: b.read_mostly),
    "OpaqueArray": Sample(_array, use=lambda a: a.copy_to(bytearray(128), stream=_device().default_stream)),
    "MipmappedArray": Sample(_mipmapped_array, use=lambda m: m.get_level(0)),
    "TextureObject": Sample(lambda: _device().create_texture_object(resource=_described_array()), use=_launch_with),
    "SurfaceObject": Sample(lambda: _device().create_surface_object(resource=_described_array()), use=_launch_with),
    "ExternalMemory": Sample(
        lambda: _external(lambda file: ExternalMemory.from_fd(file, 4096)),
        needs={"software": True},
        use=lambda m: m.map(),
    ),
    "ExternalSemaphore": Sample(
        lambda: _external(ExternalSemaphore.from_fd),
        needs={"software": True},
        use=lambda s: _device().default_stream.signal(s, 1),
    ),
    "LegacyPinnedMemoryResource": Sample(LegacyPinnedMemoryResource, closes=False, is_direct=True),
    "Program": Sample(_program, is_direct=True, needs_device=False, use=lambda p: p.compile("ptx")),
    "ObjectCode": Sample(_code, closes=False),
    "Kernel": Sample(lambda: _code().get_kernel("sample"), closes=False),
    "LaunchConfig": Sample(
        lambda: LaunchConfig(grid=2, block=(4, 2)),
        again=lambda c: LaunchConfig(grid=(2, 1, 1), block=(4, 2)),
        closes=False,
        is_direct=True,
        needs_device=False,
    ),
}


def class_of(name: str) -> type:
    """Return the class of a sample."""
    homes = (cuda.core, cuda.core._memory, cuda.core.texture)
    return getattr(next(home for home in homes if hasattr(home, name)), name)
