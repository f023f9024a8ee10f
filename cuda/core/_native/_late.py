# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""References from lower layers to higher ones, each imported at its first use."""

from __future__ import annotations


def device_of(ordinal: int):
    """Return the :class:`~cuda.core.Device` with this ordinal."""
    from cuda.core._device import Device

    return Device(ordinal)


def device_of_uuid(uuid: str):
    """Return the :class:`~cuda.core.Device` with this UUID, or None."""
    from cuda.core._device import Device

    return next((device for device in Device.get_all_devices() if device.uuid == uuid), None)


def system_device_of(uuid: str):
    """Return the :class:`~cuda.core.system.Device` with this UUID."""
    from cuda.core.system import _support

    _support.require("Device.to_system_device")
    from cuda.core.system import Device

    return Device(uuid=uuid)


def is_device(obj) -> bool:
    """Return whether ``obj`` is a :class:`~cuda.core.Device`."""
    from cuda.core._device import Device

    return isinstance(obj, Device)


def bind_kernel(kernel, config, stream):
    """Return the bound kernel of :meth:`~cuda.core.Kernel.bind`."""
    from cuda.core._launcher import _bind_kernel

    return _bind_kernel(kernel, config, stream)


def stream_of_green_context(context, device_id: int, options):
    """Return the stream of :meth:`~cuda.core.Context.create_stream`."""
    from cuda.core._stream import _create_green_stream

    return _create_green_stream(context, device_id, options)


def graph_builder_on(stream):
    """Return the builder of :meth:`~cuda.core.Stream.create_graph_builder`."""
    from cuda.core.graph._graph_builder import _create_graph_builder

    return _create_graph_builder(stream)


def program_caches():
    """Return the module behind the argument ``cache`` of :meth:`~cuda.core.Program.compile`."""
    from cuda.core._compile.cache import _lookup

    return _lookup


def texture_package():
    """Return the package behind the factories of :class:`~cuda.core.Device` for textures, surfaces and arrays."""
    from cuda.core import texture

    return texture


def view_of_buffer(buffer, shape, dtype):
    """Return the view of :meth:`~cuda.core.Buffer.view`."""
    from cuda.core._memoryview import view_of_buffer

    return view_of_buffer(buffer, shape, dtype)


def tensor_map_factory():
    """Return the function behind :meth:`StridedMemoryView.as_tensor_map`."""
    from cuda.core._tensor_map import tensor_map_of

    return tensor_map_of


def native_launch_config(config):
    """Return the ``CUlaunchConfig`` of the bindings for a :class:`~cuda.core.LaunchConfig`."""
    from cuda.core._launch_config import _to_native_launch_config

    return _to_native_launch_config(config)


def graph_definition_of(tree, graph):
    """Return the :class:`~cuda.core.graph.GraphDefinition` of a tree of graphs and a record of it."""
    from cuda.core.graph._graph_definition import view_of

    return view_of(tree, graph)
