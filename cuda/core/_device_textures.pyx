# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The methods of Device that create arrays, textures and surfaces."""

from __future__ import annotations

from cuda.core._device_contexts cimport DeviceContexts

from cuda.core._handles import _late

__all__ = []


cdef class Factories:
    """The functions of the texture package."""

    cdef object create_opaque_array, create_mipmapped_array, create_texture_object, create_surface_object


# Filled at first use, which loads the package.
cdef Factories _factories = Factories()


cdef Factories factories():
    if _factories.create_surface_object is None:
        package = _late.texture_package()
        # Threads that come here at the same time set the same functions; the last one is that which is tested.
        _factories.create_opaque_array = package._array.create_opaque_array
        _factories.create_mipmapped_array = package._mipmapped_array.create_mipmapped_array
        _factories.create_texture_object = package._texture.create_texture_object
        _factories.create_surface_object = package._surface.create_surface_object
    return _factories


cdef class DeviceTextures(DeviceContexts):
    """The methods of :class:`Device` that create arrays, textures and surfaces."""

    def create_opaque_array(self, options: OpaqueArrayOptions) -> OpaqueArray:
        """† Return a new array, whose layout the driver chooses (``cuArray3DCreate``).

        Parameters
        ----------
        options : :class:`~cuda.core.texture.OpaqueArrayOptions` | dict
            The extents, and the format and the channels of an element.

        Raises
        ------
        TypeError
            If ``options`` is of another type.
        ValueError
            If its values are invalid or contradict each other.
        CUDAError
            Before :meth:`set_current`, or if the driver refuses, such as extents beyond those of the device.
        """
        return factories().create_opaque_array(self, options)

    def create_mipmapped_array(self, options: MipmappedArrayOptions) -> MipmappedArray:
        """† Return a new array with levels (``cuMipmappedArrayCreate``).

        Parameters
        ----------
        options : :class:`~cuda.core.texture.MipmappedArrayOptions` | dict
            The extents, the format and the channels of an element, and the number of levels.

        Raises
        ------
        TypeError
            If ``options`` is of another type.
        ValueError
            If its values are invalid or contradict each other.
        CUDAError
            Before :meth:`set_current`, or if the driver refuses, such as extents beyond those of the device.
        """
        return factories().create_mipmapped_array(self, options)

    def create_texture_object(
        self, *, resource: ResourceDescriptor, options: TextureObjectOptions | None = None
    ) -> TextureObject:
        """† Return a new texture (``cuTexObjectCreate``).

        Parameters
        ----------
        resource : :class:`~cuda.core.texture.ResourceDescriptor`
            What the texture reads from.
        options : :class:`~cuda.core.texture.TextureObjectOptions` | dict, optional
            Addressing, filtering and conversion. If None, element coordinates without filtering.

        Raises
        ------
        TypeError
            If an argument is of another type.
        ValueError
            If an option has an unknown value.
        RuntimeError
            If the source of the resource is closed.
        CUDAError
            Before :meth:`set_current`, or if the driver refuses the combination.
        """
        return factories().create_texture_object(self, resource, options)

    def create_surface_object(self, *, resource: ResourceDescriptor) -> SurfaceObject:
        """† Return a new surface (``cuSurfObjectCreate``).

        Parameters
        ----------
        resource : :class:`~cuda.core.texture.ResourceDescriptor`
            An array made with ``is_surface_load_store``.

        Raises
        ------
        TypeError
            If ``resource`` is of another type.
        ValueError
            If it describes something else, or an array that was made without that option.
        RuntimeError
            If the array is closed.
        CUDAError
            Before :meth:`set_current`.
        """
        return factories().create_surface_object(self, resource)
