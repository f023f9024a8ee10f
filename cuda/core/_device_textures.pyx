# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The methods of Device that create arrays, textures and surfaces."""

from __future__ import annotations

from cuda.core._device_contexts cimport DeviceContexts

from cuda.core._handles import _late

__all__ = []


cdef class Factories:
    """The functions of :mod:`cuda.core.texture` that create the objects."""

    cdef object create_opaque_array, create_mipmapped_array, create_texture_object, create_surface_object


# Filled at first use, which loads the package.
cdef Factories _factories = Factories()


cdef Factories factories():
    if _factories.create_surface_object is None:
        package = _late.texture_package()
        # Threads that do this at the same time set the same functions. The one that is tested above is set last.
        _factories.create_opaque_array = package._array.create_opaque_array
        _factories.create_mipmapped_array = package._mipmapped_array.create_mipmapped_array
        _factories.create_texture_object = package._texture.create_texture_object
        _factories.create_surface_object = package._surface.create_surface_object
    return _factories


cdef class DeviceTextures(DeviceContexts):
    """The methods of :class:`Device` that create arrays, textures and surfaces."""

    def create_opaque_array(self, options: OpaqueArrayOptions) -> OpaqueArray:
        """† Create a CUDA array, whose memory layout is opaque (``cuArray3DCreate``).

        Parameters
        ----------
        options : :class:`~cuda.core.texture.OpaqueArrayOptions` | dict
            The extents, the element format and the number of channels.

        Returns
        -------
        :class:`~cuda.core.texture.OpaqueArray`
            The array, with undefined contents.

        Raises
        ------
        TypeError
            If ``options`` has the wrong type.
        ValueError
            If an option has an invalid value, or two options exclude each other.
        CUDAError
            Before :meth:`set_current`, or if the driver refuses: for extents above the device's limits, for instance.
        """
        return factories().create_opaque_array(self, options)

    def create_mipmapped_array(self, options: MipmappedArrayOptions) -> MipmappedArray:
        """† Create a mipmapped array (``cuMipmappedArrayCreate``).

        Parameters
        ----------
        options : :class:`~cuda.core.texture.MipmappedArrayOptions` | dict
            The extents of level 0, the element format, the number of channels and of levels.

        Returns
        -------
        :class:`~cuda.core.texture.MipmappedArray`
            The mipmapped array, with undefined contents.

        Raises
        ------
        TypeError
            If ``options`` has the wrong type.
        ValueError
            If an option has an invalid value, or two options exclude each other.
        CUDAError
            Before :meth:`set_current`, or if the driver refuses: for extents above the device's limits, for instance.
        """
        return factories().create_mipmapped_array(self, options)

    def create_texture_object(
        self, *, resource: ResourceDescriptor, options: TextureObjectOptions | None = None
    ) -> TextureObject:
        """† Create a texture object (``cuTexObjectCreate``).

        Parameters
        ----------
        resource : :class:`~cuda.core.texture.ResourceDescriptor`
            The memory that the texture reads: an array, a mipmapped array, or linear or pitched memory.
        options : :class:`~cuda.core.texture.TextureObjectOptions` | dict, optional
            Address modes, filter mode and read mode. If None: coordinates in elements, no filtering.

        Returns
        -------
        :class:`~cuda.core.texture.TextureObject`
            The texture object, which keeps the memory alive.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If an option has an unknown value.
        RuntimeError
            If the array or buffer of the resource is closed.
        CUDAError
            Before :meth:`set_current`, or if the driver refuses these options for this resource.
        """
        return factories().create_texture_object(self, resource, options)

    def create_surface_object(self, *, resource: ResourceDescriptor) -> SurfaceObject:
        """† Create a surface object (``cuSurfObjectCreate``).

        Parameters
        ----------
        resource : :class:`~cuda.core.texture.ResourceDescriptor`
            An array that was created with ``is_surface_load_store=True``.

        Returns
        -------
        :class:`~cuda.core.texture.SurfaceObject`
            The surface object, which keeps the array alive.

        Raises
        ------
        TypeError
            If ``resource`` has the wrong type.
        ValueError
            If it does not describe an array, or the array was created without ``is_surface_load_store``.
        RuntimeError
            If the array is closed.
        CUDAError
            Before :meth:`set_current`.
        """
        return factories().create_surface_object(self, resource)
