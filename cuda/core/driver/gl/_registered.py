# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""OpenGL objects registered with CUDA, and their memory mappings."""

from __future__ import annotations

from cuda.core import CUDAError, GraphicsResource
from cuda.core.driver._checks import checked_int
from cuda.core.driver._constants import graphics_map_flags
from cuda.core.driver._context import Context, Device, classic_member, context_for
from cuda.core.driver._cuda_arrays import Array, wrapped_array
from cuda.core.driver._errors import INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED, classic_error, logic_error
from cuda.core.driver._streams import core_stream

__all__ = [
    "BufferObject",
    "BufferObjectMapping",
    "RegisteredBuffer",
    "RegisteredImage",
    "RegisteredMapping",
    "graphics_map_flags",
    "init",
    "make_context",
]


# OpenGL names have 32 bits.
MAX_NAME = 2**32 - 1


class _Registered:
    """Base class of registered OpenGL buffers and images."""

    _register_api: str

    def __init__(self, bufobj: int, flags: int, register, *more):
        context = context_for(self._register_api)
        flag = classic_member(graphics_map_flags, flags, self._register_api)
        self._name = checked_int("bufobj", bufobj, 0, MAX_NAME, self._register_api)
        try:
            self._resource = register(self._name, *more, flags=str(flag).lower())
        except CUDAError as error:
            raise classic_error(error) from None
        self._context = context
        context._objects.add(self)

    def __repr__(self):
        resource = self.__dict__.get("_resource")
        state = "unregistered" if resource is None or resource.is_closed else f"of OpenGL object {self._name}"
        return f"<cuda.core.driver.gl.{type(self).__name__} {state}>"

    def gl_handle(self) -> int:
        """Return the OpenGL name of the object."""
        return self._name

    def unregister(self) -> None:
        """Unregister the object and end its mapping, if any (``cuGraphicsUnregisterResource``).

        Raises
        ------
        LogicError
            If the object was already unregistered, or its context is detached.
        """
        self._open("cuGraphicsUnregisterResource").close()

    def map(self, stream=None) -> RegisteredMapping:
        """Map the object for use by CUDA after earlier OpenGL commands have completed (``cuGraphicsMapResources``).

        Parameters
        ----------
        stream : Stream, optional
            The stream whose later work can use the memory. Defaults to the default stream.

        Raises
        ------
        LogicError
            If the object is already mapped, or is no longer registered.
        """
        resource, inner = self._open("cuGraphicsMapResources"), core_stream(stream)
        if resource.is_mapped:
            raise logic_error("cuGraphicsMapResources", INVALID_HANDLE, "the object is already mapped")
        try:
            return RegisteredMapping(self, self._map(resource, inner), inner)
        except CUDAError as error:
            raise classic_error(error) from None

    def _map(self, resource: GraphicsResource, stream):
        raise NotImplementedError

    def _open(self, api: str) -> GraphicsResource:
        if self._resource.is_closed:
            raise logic_error(api, INVALID_HANDLE, "the object is no longer registered, or its context is detached")
        return self._resource

    def _invalidate(self) -> None:
        self._resource.close()


class RegisteredBuffer(_Registered):
    """An OpenGL buffer registered with CUDA (``cuGraphicsGLRegisterBuffer``).

    An OpenGL context must be current when the object is created.

    Parameters
    ----------
    bufobj : int
        The OpenGL name of the buffer.
    flags : graphics_map_flags | int, optional
        How kernels use the buffer: ``NONE`` (read and write, the default), ``READ_ONLY`` or ``WRITE_DISCARD``.

    Raises
    ------
    LogicError
        If OpenGL has no such buffer, the flags are unknown, or no CUDA context is current.
    """

    _register_api = "cuGraphicsGLRegisterBuffer"

    def __init__(self, bufobj: int, flags: int = graphics_map_flags.NONE):
        super().__init__(bufobj, flags, GraphicsResource.from_gl_buffer)

    def _map(self, resource: GraphicsResource, stream):
        return resource.map(stream=stream)


class RegisteredImage(_Registered):
    """An OpenGL texture or renderbuffer registered with CUDA (``cuGraphicsGLRegisterImage``).

    Parameters
    ----------
    bufobj : int
        The OpenGL name of the texture or renderbuffer.
    target : int
        The OpenGL target, such as ``GL_TEXTURE_2D``.
    flags : graphics_map_flags | int, optional
        As in :class:`RegisteredBuffer`.

    Raises
    ------
    LogicError
        If OpenGL has no such image, the flags are unknown, or no CUDA context is current.
    """

    _register_api = "cuGraphicsGLRegisterImage"

    def __init__(self, bufobj: int, target: int, flags: int = graphics_map_flags.NONE):
        super().__init__(
            bufobj,
            flags,
            GraphicsResource.from_gl_image,
            checked_int("target", target, 0, MAX_NAME, self._register_api),
        )

    def _map(self, resource: GraphicsResource, stream):
        return resource.map_array(stream=stream)


class RegisteredMapping:
    """The mapped memory of a registered object, returned by :meth:`RegisteredBuffer.map`.

    OpenGL must not use the object until it is unmapped by :meth:`unmap`, or because nothing refers to the mapping.
    """

    def __init__(self, registered: _Registered, mapped, stream):
        if not isinstance(registered, _Registered):
            kind = type(registered).__name__
            raise TypeError(f"registered must be a RegisteredBuffer or RegisteredImage, not {kind}")
        self._registered = registered
        self._mapped = mapped
        self._stream = stream
        self._place = (0, 0)

    def __repr__(self):
        mapped = self.__dict__.get("_mapped")
        state = "unmapped" if mapped is None or mapped.is_closed else "mapped"
        return f"<cuda.core.driver.gl.RegisteredMapping {state}>"

    def __del__(self):
        mapped = self.__dict__.get("_mapped")
        if mapped is not None and not mapped.is_closed:
            mapped.close()

    def unmap(self, stream=None) -> None:
        """Unmap the object so that OpenGL can use it (``cuGraphicsUnmapResources``).

        Parameters
        ----------
        stream : Stream, optional
            The stream whose earlier work completes first. Defaults to the mapping's stream.

        Raises
        ------
        LogicError
            If the object was already unmapped.
        """
        self._check("cuGraphicsUnmapResources")
        inner = self._stream if stream is None else core_stream(stream)
        try:
            self._registered._resource.unmap(stream=inner)
        except CUDAError as error:
            raise classic_error(error) from None

    def device_ptr_and_size(self) -> tuple[int, int]:
        """Return a buffer's address, and its size in bytes (``cuGraphicsResourceGetMappedPointer``).

        Raises
        ------
        LogicError
            If the object is unmapped, or is an image.
        """
        api = "cuGraphicsResourceGetMappedPointer"
        self._check(api)
        if isinstance(self._registered, RegisteredImage):
            raise logic_error(api, INVALID_VALUE, "an image has no address; use array()")
        return self._mapped.handle, self._mapped.size

    def array(self, index: int, level: int) -> Array:
        """Return the array for a layer and level of an image (``cuGraphicsSubResourceGetMappedArray``).

        This closes arrays that the mapping previously returned for other layers or levels.

        Parameters
        ----------
        index : int
            The layer, or the face of a cube map.
        level : int
            The mipmap level.

        Raises
        ------
        LogicError
            If the object is unmapped or is a buffer, or the image has no such layer or level.
        """
        api = "cuGraphicsSubResourceGetMappedArray"
        self._check(api)
        place = (checked_int("index", index, 0, MAX_NAME, api), checked_int("level", level, 0, MAX_NAME, api))
        if not isinstance(self._registered, RegisteredImage):
            raise logic_error(api, INVALID_VALUE, "a buffer is not an array; use device_ptr_and_size()")
        if place != self._place:
            resource = self._registered._resource
            try:
                resource.unmap(stream=self._stream)
                self._mapped = resource.map_array(stream=self._stream, index=place[0], level=place[1])
            except CUDAError as error:
                raise classic_error(error) from None
            self._place = place
        return wrapped_array(self._mapped, self._registered._context)

    def _check(self, api: str) -> None:
        if self._mapped.is_closed:
            raise logic_error(api, INVALID_HANDLE, "the object is no longer mapped")


def make_context(dev: Device, flags: int = 0) -> Context:
    """Return a new context and make it current. Every context works with OpenGL.

    Parameters
    ----------
    dev : Device
        The device.
    flags : ctx_flags | int, optional
        How the host waits for the device. See :meth:`Device.make_context`.

    Raises
    ------
    TypeError
        If ``dev`` is not a Device.
    """
    if not isinstance(dev, Device):
        raise TypeError(f"dev must be a Device, not {type(dev).__name__}")
    return dev.make_context(flags)


def init() -> None:
    """Raise NotSupportedError, because CUDA 13 has no ``cuGLInit`` and OpenGL needs no initialization.

    Raises
    ------
    NotSupportedError
        Always.
    """
    raise logic_error("cuGLInit", NOT_SUPPORTED, "CUDA 13 removed cuGLInit; RegisteredBuffer works without it")


class BufferObject:
    """An unsupported class, because CUDA 13 has no buffer objects. Use :class:`RegisteredBuffer` instead.

    Raises
    ------
    NotSupportedError
        Always.
    """

    def __init__(self, *args, **kwargs):
        text = "CUDA 13 has no buffer objects; use RegisteredBuffer"
        raise logic_error("cuGLRegisterBufferObject", NOT_SUPPORTED, text)

    def __repr__(self):
        return f"<cuda.core.driver.gl.{type(self).__name__}, not supported by CUDA 13>"


class BufferObjectMapping(BufferObject):
    """An unsupported class. See :class:`BufferObject`."""
