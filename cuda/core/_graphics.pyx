# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""OpenGL buffers and images, mapped as device memory, and memory and semaphores of other interfaces."""

from __future__ import annotations

cimport cython
from libc.stdint cimport intptr_t
from libcpp.utility cimport move

from cuda.core._context cimport (
    Context_current,
    Context_enter,
    Context_enter_to_release,
    Context_leave,
    Context_leave_to_release,
    Context_ordinal,
)
from cuda.core._memory._buffer cimport Buffer, Buffer_create
from cuda.core._native._cuda_core cimport (
    Allocation,
    AllocationHandle,
    Anchor,
    ArrayHandle,
    DriverObject,
    GraphicsHandle,
    GraphicsPin,
    InContext,
    MipmappedArrayHandle,
    StreamPin,
    refuse_closed,
    retire,
)
from cuda.core._stream cimport Stream, Stream_pin
from cuda.core._utils cimport cydriver
from cuda.core._utils._cpython cimport check_self_in_methods
from cuda.core._utils.cuda_utils cimport HANDLE_RETURN, LEAVE_RETURN, WARN_RETURN, check_or_create_options
from cuda.core.texture._texture cimport (
    Array_describe,
    Array_wrap_foreign,
    MipmappedArray_destroy,
    MipmappedArray_wrap,
)

from cuda.core._utils import slots
from cuda.core._utils.validators import format_or_list, int_argument, shown

__all__ = ["ExternalMemory", "ExternalSemaphore", "GraphicsResource"]

include "_external.pxi"

_REGISTER_FLAGS = {
    "none": cydriver.CUgraphicsRegisterFlags_enum.CU_GRAPHICS_REGISTER_FLAGS_NONE,
    "read_only": cydriver.CUgraphicsRegisterFlags_enum.CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY,
    "write_discard": cydriver.CUgraphicsRegisterFlags_enum.CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD,
    "surface_load_store": cydriver.CUgraphicsRegisterFlags_enum.CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST,
    "texture_gather": cydriver.CUgraphicsRegisterFlags_enum.CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER,
}


cdef class GraphicsResource(DriverObject):
    """An OpenGL buffer or image registered with CUDA (``CUgraphicsResource``).

    A resource cannot be constructed directly: :meth:`from_gl_buffer` and :meth:`from_gl_image` return one. They need a
    current OpenGL context on the current device. :meth:`map` returns the memory as a :class:`Buffer`,
    :meth:`map_array` an image as an array. OpenGL must not use the object while it is mapped. ``with resource:``
    closes the resource when the block exits.
    """

    _made_by = "GraphicsResource.from_gl_buffer() or GraphicsResource.from_gl_image()"

    def __repr__(self):
        state = " closed" if self.is_closed else " mapped" if self.is_mapped else ""
        return f"<GraphicsResource handle={self._address():#x}{state}>"

    def __enter__(self):
        cdef GraphicsPin resource
        GraphicsResource_pin(self, &resource)
        return self if self._stream is None else self.map(stream=self._stream)

    def __exit__(self, exc_type, exc_value, traceback):
        self.close()

    @classmethod
    def from_gl_buffer(
        cls,
        gl_buffer: int,
        *,
        flags: str | tuple[str, ...] | list[str] | None = None,
        stream: Stream | None = None,
    ) -> GraphicsResource:
        """Register an OpenGL buffer object (``cuGraphicsGLRegisterBuffer``).

        Parameters
        ----------
        gl_buffer : int
            The OpenGL name of the buffer.
        flags : str | Iterable[str], optional
            How kernels access the memory: ``"none"`` (read and write), ``"read_only"``, ``"write_discard"`` (overwrite
            all of it and read nothing), ``"surface_load_store"``, ``"texture_gather"``. Defaults to ``"none"``.
        stream : :class:`Stream`, optional
            If given, ``with resource as buffer:`` maps the buffer on this stream.

        Returns
        -------
        :class:`GraphicsResource`
            The registered buffer, which is unregistered with the last reference.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If a flag is unknown, or ``gl_buffer`` is not from 0 to 2**32 - 1.
        CUDAError
            If no CUDA context or no OpenGL context is current, or OpenGL has no such buffer.
        """
        if stream is not None and not isinstance(stream, Stream):
            raise TypeError(f"stream must be a Stream or None, not {type(stream).__name__}")
        return GraphicsResource_register(cls, gl_name("gl_buffer", gl_buffer), 0, False, flags, stream)

    @classmethod
    def from_gl_image(
        cls, image: int, target: int, *, flags: str | tuple[str, ...] | list[str] | None = None
    ) -> GraphicsResource:
        """Register an OpenGL texture or renderbuffer (``cuGraphicsGLRegisterImage``).

        Parameters
        ----------
        image : int
            The OpenGL name of the texture or renderbuffer.
        target : int
            The OpenGL target of the image, such as ``GL_TEXTURE_2D`` (0x0DE1) or ``GL_RENDERBUFFER`` (0x8D41).
        flags : str | Iterable[str], optional
            How kernels access the image. See :meth:`from_gl_buffer`.

        Returns
        -------
        :class:`GraphicsResource`
            The registered image, which is unregistered with the last reference.

        Raises
        ------
        TypeError
            If an argument has the wrong type.
        ValueError
            If a flag is unknown, or a number is not from 0 to 2**32 - 1.
        CUDAError
            If no CUDA context or no OpenGL context is current, or the driver does not support the image.
        """
        return GraphicsResource_register(cls, gl_name("image", image), gl_name("target", target), True, flags, None)

    def map(self, *, stream: Stream) -> Buffer:
        """Map the memory of a buffer (``cuGraphicsMapResources``), ordered after earlier OpenGL commands.

        The memory stays mapped until the returned buffer is closed, or :meth:`unmap` or :meth:`close` is called.
        Dropping the buffer does not unmap it.

        Parameters
        ----------
        stream : :class:`Stream`
            Work enqueued on it after this call can use the memory. Unmapping is ordered after that work.

        Returns
        -------
        :class:`Buffer`
            The mapped memory. Its ``owner`` and ``memory_resource`` are None.

        Raises
        ------
        TypeError
            If ``stream`` is not a :class:`Stream`.
        RuntimeError
            If the resource is closed or already mapped, or the stream is closed.
        CUDAError
            If the resource is an image, or the driver cannot map it for another reason.
        """
        return GraphicsResource_map(self, stream)

    def map_array(self, *, stream: Stream, index: int = 0, level: int = 0) -> OpaqueArray:
        """Map one array of an image (``cuGraphicsMapResources``, ``cuGraphicsSubResourceGetMappedArray``).

        The image stays mapped until the array is closed, or :meth:`unmap` or :meth:`close` is called. Close textures
        and surfaces of the array first. A surface needs the flag ``"surface_load_store"``.

        Parameters
        ----------
        stream : :class:`Stream`
            Work enqueued on it after this call can use the array. Unmapping is ordered after that work.
        index : int, optional
            The layer of the image, or the face of a cube map. Defaults to 0.
        level : int, optional
            The mipmap level. Defaults to 0.

        Returns
        -------
        :class:`~cuda.core.texture.OpaqueArray`
            The mapped array.

        Raises
        ------
        TypeError
            If ``stream`` is not a :class:`Stream`, or a number is not an int.
        ValueError
            If a number is not from 0 to 2**32 - 1.
        RuntimeError
            If the resource is closed or already mapped, or the stream is closed.
        CUDAError
            If the resource is a buffer, or the driver cannot map it for another reason.
        """
        return GraphicsResource_map_array(self, stream, gl_name("index", index), gl_name("level", level))

    def unmap(self, *, stream: Stream | None = None) -> None:
        """Unmap the resource (``cuGraphicsUnmapResources``), and close the mapped buffer or array.

        Parameters
        ----------
        stream : :class:`Stream`, optional
            OpenGL can use the memory after the work now in this stream. Defaults to the stream of the mapping.

        Raises
        ------
        TypeError
            If ``stream`` has the wrong type.
        RuntimeError
            If the resource is closed or not mapped.
        """
        cdef GraphicsPin resource
        GraphicsResource_pin(self, &resource)
        if not self.is_mapped:
            raise RuntimeError("this GraphicsResource is not mapped")
        if stream is not None and not isinstance(stream, Stream):
            raise TypeError(f"stream must be a Stream or None, not {type(stream).__name__}")
        end_mapping(self, stream)

    def close(self, stream=None) -> None:
        """Unmap the resource if it is mapped, and unregister it (``cuGraphicsUnregisterResource``).

        Closing a closed resource has no effect.

        Parameters
        ----------
        stream : :class:`Stream`, optional
            The memory is unmapped after the work now in this stream. Defaults to the stream of the mapping.
        """
        if self.is_mapped:
            end_mapping(self, stream)
        DriverObject.close(self)

    @property
    def is_mapped(self) -> bool:
        """Whether the buffer of :meth:`map` or the array of :meth:`map_array` is open."""
        cdef DriverObject mapped
        with cython.critical_section(self):
            mapped = self._mapped
        return mapped is not None and not mapped.is_closed

    @property
    def handle(self) -> int:
        """The ``CUgraphicsResource`` as an int, or 0 if closed."""
        return self._address()

    @property
    def resource_handle(self) -> int:
        """The same as :attr:`handle`."""
        return self._address()

    cdef intptr_t _address(self) noexcept:
        cdef GraphicsPin resource
        return <intptr_t>resource.value().raw if resource.hold(self._h_resource) else 0

    cdef void _release(self) noexcept:
        self._mapped = self._mapping_stream = None
        self._h_resource.reset()

    cdef object _identity(self):
        return id(self)


def _parse_register_flags(flags) -> int:
    """Return the ``CUgraphicsRegisterFlags`` of one name or of an iterable of names.

    Raises
    ------
    TypeError
        If ``flags`` has the wrong type.
    ValueError
        If a name is unknown.
    """
    if flags is None:
        return 0
    try:
        names = (flags,) if isinstance(flags, str) else tuple(flags)
    except TypeError:
        raise TypeError(f"flags must be a str or an iterable of str, not {type(flags).__name__}") from None
    bits = 0
    for name in names:
        if not isinstance(name, str) or name not in _REGISTER_FLAGS:
            raise ValueError(f"flags must be {format_or_list(sorted(_REGISTER_FLAGS))}, not {shown(name)}")
        bits |= _REGISTER_FLAGS[name]
    return bits


# Pins the resource for a call. RuntimeError if the object is closed.
cdef inline int GraphicsResource_pin(GraphicsResource self, GraphicsPin* pin) except -1:
    return 0 if pin.hold(self._h_resource) else refuse_closed(self)


cdef object gl_name(str name, object value):
    number = int_argument(name, value, accepts_bool=False)
    if not 0 <= number < 1 << 32:
        raise ValueError(f"{name} must be from 0 to 2**32 - 1, not {shown(number)}")
    return number


cdef GraphicsResource GraphicsResource_register(
    type cls, unsigned int gl_object, unsigned int target, bint is_image, object flags, object stream
):
    cdef InContext[cydriver.CUgraphicsResource] value
    cdef unsigned int c_flags = _parse_register_flags(flags)
    cdef GraphicsResource self
    Context_current(&value.h_context)
    with nogil:
        if is_image:
            HANDLE_RETURN(
                cydriver.cuGraphicsGLRegisterImage(&value.raw, gl_object, target, c_flags),
                b"cuGraphicsGLRegisterImage",
            )
        else:
            HANDLE_RETURN(
                cydriver.cuGraphicsGLRegisterBuffer(&value.raw, gl_object, c_flags), b"cuGraphicsGLRegisterBuffer"
            )
    self = cls.__new__(cls)
    self._h_resource.set(GraphicsHandle.own(value, &GraphicsResource_destroy, Anchor()))
    self._stream = stream
    return self


cdef void GraphicsResource_destroy(InContext[cydriver.CUgraphicsResource] value) noexcept nogil:
    cdef int is_entered = Context_enter_to_release(value.h_context.get())
    if is_entered >= 0:
        WARN_RETURN(cydriver.cuGraphicsUnregisterResource(value.raw), b"cuGraphicsUnregisterResource", value.raw)
        Context_leave_to_release(is_entered)


cdef Buffer GraphicsResource_map(GraphicsResource self, object stream):
    cdef AllocationHandle h_memory
    cdef cydriver.CUdeviceptr pointer = 0
    cdef size_t size = 0
    cdef cydriver.CUgraphicsResource c_resource
    cdef Buffer buffer
    begin_mapping(self, stream, &h_memory)
    c_resource = h_memory.value().h_graphics.value().raw
    with nogil:
        HANDLE_RETURN(
            cydriver.cuGraphicsResourceGetMappedPointer(&pointer, &size, c_resource),
            b"cuGraphicsResourceGetMappedPointer",
        )
    (&h_memory.value()).pointer = pointer
    (&h_memory.value()).size = size
    buffer = Buffer_create(Buffer, h_memory, None, None)
    set_mapped(self, buffer, stream)
    return buffer


cdef DriverObject GraphicsResource_map_array(
    GraphicsResource self, object stream, unsigned int index, unsigned int level
):
    cdef AllocationHandle h_memory
    cdef InContext[cydriver.CUarray] value
    cdef cydriver.CUgraphicsResource c_resource
    cdef DriverObject array
    begin_mapping(self, stream, &h_memory)
    c_resource = h_memory.value().h_graphics.value().raw
    value.h_context = h_memory.value().h_graphics.value().h_context
    with nogil:
        HANDLE_RETURN(
            cydriver.cuGraphicsSubResourceGetMappedArray(&value.raw, c_resource, index, level),
            b"cuGraphicsSubResourceGetMappedArray",
        )
    array = Array_wrap_foreign(ArrayHandle.borrow(value, h_memory.anchor()), Context_ordinal(value.h_context))
    set_mapped(self, array, stream)
    return array


# Maps the resource. The returned handle unmaps it, even if the caller then gets no address from the driver.
cdef int begin_mapping(GraphicsResource self, object stream, AllocationHandle* h_memory) except -1:
    cdef Allocation value
    cdef GraphicsPin resource
    cdef StreamPin stream_pin
    cdef InContext[cydriver.CUgraphicsResource] registered
    cdef cydriver.CUresult err, left
    cdef int is_entered = 0
    if not isinstance(stream, Stream):
        raise TypeError(f"stream must be a Stream, not {type(stream).__name__}")
    Stream_pin(<Stream>stream, &stream_pin)
    GraphicsResource_pin(self, &resource)
    if self.is_mapped:
        raise RuntimeError("this GraphicsResource is already mapped; unmap it first")
    value.h_stream = stream_pin.handle()
    value.h_graphics = resource.handle()
    registered = resource.value()
    with nogil:
        is_entered = Context_enter(registered.h_context.get())
        err = cydriver.cuGraphicsMapResources(1, &registered.raw, stream_pin.get())
        left = Context_leave(is_entered)
    if err == cydriver.CUresult.CUDA_SUCCESS:
        h_memory[0] = AllocationHandle.own(move(value), &unmap_memory, Anchor())
    return LEAVE_RETURN(err, b"cuGraphicsMapResources", left)


cdef int end_mapping(GraphicsResource self, object stream) except -1:
    cdef DriverObject mapped
    with cython.critical_section(self):
        mapped, mapping_stream = self._mapped, self._mapping_stream
    if mapped is None:
        return 0    # another thread closed it in the meantime
    if isinstance(mapped, Buffer):
        (<Buffer>mapped).close(stream)
        return 0
    # An array is always unmapped on the stream of its mapping, which therefore waits for the given one.
    if stream is not None:
        mapping_stream.wait(stream)
    mapped.close()
    return 0


cdef int set_mapped(GraphicsResource self, DriverObject mapped, object stream) except -1:
    with cython.critical_section(self):
        self._mapped, self._mapping_stream = mapped, stream
    return 0


cdef void unmap_memory(Allocation value) noexcept nogil:
    cdef InContext[cydriver.CUgraphicsResource] resource = value.h_graphics.value()
    cdef int is_entered = Context_enter_to_release(resource.h_context.get())
    if is_entered >= 0:
        WARN_RETURN(
            cydriver.cuGraphicsUnmapResources(1, &resource.raw, value.h_stream.get()),
            b"cuGraphicsUnmapResources",
            resource.raw,
        )
        Context_leave_to_release(is_entered)


slots.register("external semaphore", ExternalSemaphore)
check_self_in_methods(globals())
