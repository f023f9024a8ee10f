# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Surface objects: arrays whose elements kernels read and write."""

from __future__ import annotations

cimport cython

from cpython.object cimport PyObject
from libc.stdint cimport intptr_t
from libc.string cimport memcpy

from cuda.core._context cimport Context_enter, Context_enter_to_release, Context_leave
from cuda.core._device cimport Device, Device_find
from cuda.core._device_contexts cimport Device_keep_context
from cuda.core._handles._capture_mode cimport CaptureModeScope, relax_capture_mode
from cuda.core._handles._deferred_destruction cimport (
    add_to_batch,
    are_streams_idle,
    batch_or_postpone,
    can_batch,
    destroy_later,
    find_work,
)
from cuda.core._handles._driver_object cimport DriverObject, refuse_closed
from cuda.core._handles._handles cimport Keep, KeptContext
from cuda.core._handles._images cimport Image, KeptSurface, SurfaceHandle
from cuda.core._handles._launches cimport launch_list
from cuda.core._launch._arguments cimport FITS, WRONG_SIZE, register_argument_type
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport make_hasattr_safe
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, WARN_RETURN
from cuda.core.texture._array cimport OpaqueArray
from cuda.core.texture._resource_descriptor cimport (
    ResourceDescriptor,
    ResourceDescriptor_describe,
    ResourceDescriptor_has_own_array,
)

from cuda.core._utils.validators import shown

__all__ = ["SurfaceObject"]


cdef class SurfaceObject(DriverObject):
    """A surface object (``CUsurfObject``): an array whose elements kernels read and write by coordinates.

    Surfaces come from :meth:`Device.create_surface_object`; there is no direct construction. A kernel takes the
    object itself, or its :attr:`handle`, for a parameter of type ``cudaSurfaceObject_t``. The surface keeps the
    array alive. When it is closed or dropped, it is destroyed after the work in flight on streams of this library,
    which may still use it. As a context manager a surface closes itself at the end of the block.
    """

    _made_by = "Device.create_surface_object()"

    def __repr__(self):
        return f"SurfaceObject(handle={self.handle:#x})"

    @property
    def handle(self) -> int:
        """The ``CUsurfObject`` as an int; 0 when closed."""
        cdef KeptSurface surface
        return surface.value().for_work() if surface.hold(self._h_surface) else 0

    @property
    def resource(self) -> ResourceDescriptor | None:
        """The descriptor of the array; None when closed."""
        with cython.critical_section(self):
            return self._resource

    @property
    def device(self) -> Device:
        """The :class:`Device` of the surface."""
        return Device_find(self._device_id)

    @property
    def is_closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return not self._h_surface

    cdef intptr_t _address(self) noexcept:
        cdef KeptSurface surface
        return <intptr_t>surface.value().for_work() if surface.hold(self._h_surface) else 0

    cdef void _release(self) noexcept:
        launch_list().keep_memory_of(<PyObject*>self, self._h_surface)
        self._h_surface.reset()
        self._resource = None

    cdef object _identity(self):
        return id(self)


def create_surface_object(Device device, resource: ResourceDescriptor) -> SurfaceObject:
    """Create a surface (:meth:`Device.create_surface_object`)."""
    cdef KeptContext context
    cdef Keep keep
    cdef Image[cydriver.CUsurfObject] value
    cdef cydriver.CUDA_RESOURCE_DESC c_resource
    cdef SurfaceObject self
    if not isinstance(resource, ResourceDescriptor):
        raise TypeError(f"resource must be a ResourceDescriptor, not {type(resource).__name__}")
    if (<ResourceDescriptor>resource)._kind != "array":
        raise ValueError(f"resource of a surface must be of kind 'array', not {shown(resource.kind)}")
    if not (<OpaqueArray>(<ResourceDescriptor>resource)._source)._flags & cydriver.CUDA_ARRAY3D_SURFACE_LDST:
        raise ValueError("resource of a surface must be an array created with is_surface_load_store=True")
    ResourceDescriptor_describe(resource, &c_resource, &keep)
    Device_keep_context(device, &context)
    value.h_context = context.handle()
    value.needs = keep
    value.is_small = ResourceDescriptor_has_own_array(resource)
    create_in_context(value, &c_resource)
    self = SurfaceObject.__new__(SurfaceObject)
    self._h_surface.set(SurfaceHandle.own(value, &Surface_end, Keep()))
    self._resource = resource
    self._device_id = device._id
    return self


cdef int create_in_context(
    Image[cydriver.CUsurfObject]& value, const cydriver.CUDA_RESOURCE_DESC* c_resource
) except -1:
    cdef int is_entered = 0
    with nogil:
        is_entered = Context_enter(value.h_context.get())
        try:
            HANDLE_RETURN(cydriver.cuSurfObjectCreate(&value.raw, c_resource), b"cuSurfObjectCreate")
        finally:
            Context_leave(is_entered)
    return 0


cdef void Surface_end(Image[cydriver.CUsurfObject] value) noexcept nogil:
    if not value.may_be_in_use() or are_streams_idle() or not batch_or_postpone(
        value, &Surface_destroy, can_batch(value.is_small, value.h_context), add_to_batch, find_work, destroy_later
    ):
        Surface_destroy(value)


cdef void Surface_destroy(Image[cydriver.CUsurfObject] value) noexcept nogil:
    cdef CaptureModeScope mode
    cdef int is_entered = Context_enter_to_release(value.h_context.get())
    if is_entered >= 0:
        relax_capture_mode(mode)
        WARN_RETURN(cydriver.cuSurfObjectDestroy(value.raw), b"cuSurfObjectDestroy")
        Context_leave(is_entered)


# Writes a kernel argument: the 64-bit CUsurfObject.
cdef int write_surface(PyObject* argument, size_t natural_size, char* target, size_t size) except -1:
    cdef KeptSurface surface
    cdef cydriver.CUsurfObject c_surface
    if not surface.hold((<SurfaceObject>argument)._h_surface):
        refuse_closed(<object>argument)
    if size != sizeof(c_surface):
        return WRONG_SIZE
    c_surface = surface.value().for_work()
    memcpy(target, &c_surface, sizeof(c_surface))
    return FITS


register_argument_type(SurfaceObject, &write_surface, 8)
make_hasattr_safe(SurfaceObject)
