# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""OpenGL without a window, through EGL, on the GPU of device 0, with buffers and textures for tests."""

from __future__ import annotations

import ctypes
import functools

EGL_CUDA_DEVICE_NV = 0x323A
EGL_PLATFORM_DEVICE_EXT = 0x313F
EGL_OPENGL_API = 0x30A2
EGL_NONE = 0x3038
EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT = 0x3040, 0x0008
EGL_SURFACE_TYPE, EGL_PBUFFER_BIT = 0x3033, 0x0001
GL_ARRAY_BUFFER, GL_DYNAMIC_DRAW = 0x8892, 0x88E8
GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST = 0x0DE1, 0x2801, 0x2600
GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE = 0x8058, 0x1908, 0x1401


class OpenGL:
    """An OpenGL context, current on this thread; the constructor raises OSError if device 0 has none."""

    def __init__(self):
        self._egl = ctypes.CDLL("libEGL.so.1")
        self._egl.eglGetProcAddress.restype = ctypes.c_void_p
        for name in ("eglCreateContext",):
            getattr(self._egl, name).restype = ctypes.c_void_p
        display = self._display()
        if not self._egl.eglInitialize(display, None, None) or not self._egl.eglBindAPI(EGL_OPENGL_API):
            raise OSError("EGL has no OpenGL")
        wanted = (EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE)
        config, count = ctypes.c_void_p(), ctypes.c_int()
        self._egl.eglChooseConfig(display, (ctypes.c_int * 5)(*wanted), ctypes.byref(config), 1, ctypes.byref(count))
        if not count.value:
            raise OSError("EGL has no configuration for OpenGL")
        context = self._egl.eglCreateContext(display, config, None, None)
        if not context or not self._egl.eglMakeCurrent(display, None, None, ctypes.c_void_p(context)):
            raise OSError("EGL makes no context without a surface")

    def _function(self, name, result=None, *arguments):
        address = self._egl.eglGetProcAddress(name.encode())
        if not address:
            raise OSError(f"there is no {name}")
        return ctypes.CFUNCTYPE(result, *arguments)(address)

    def _display(self):
        pointer, number = ctypes.c_void_p, ctypes.c_int
        query = self._function("eglQueryDevicesEXT", number, number, pointer, pointer)
        attribute = self._function("eglQueryDeviceAttribEXT", number, pointer, number, pointer)
        get = self._function("eglGetPlatformDisplayEXT", pointer, number, pointer, pointer)
        devices, count = (pointer * 16)(), ctypes.c_int()
        query(16, ctypes.addressof(devices), ctypes.addressof(count))
        for device in devices[: count.value]:
            ordinal = ctypes.c_ssize_t(-1)
            if attribute(device, EGL_CUDA_DEVICE_NV, ctypes.addressof(ordinal)) and ordinal.value == 0:
                return ctypes.c_void_p(get(EGL_PLATFORM_DEVICE_EXT, device, None))
        raise OSError("EGL does not know device 0 of CUDA")

    def call(self, name: str, *arguments) -> None:
        """Call an OpenGL function with ints and addresses."""
        types = [ctypes.c_void_p if isinstance(value, ctypes.c_void_p) else ctypes.c_ssize_t for value in arguments]
        self._function(name, None, *types)(*arguments)

    def new_name(self, function: str) -> int:
        """Return a new object name from a function such as ``glGenBuffers``."""
        name = ctypes.c_uint()
        self.call(function, 1, ctypes.c_void_p(ctypes.addressof(name)))
        return name.value


@functools.cache
def opengl() -> OpenGL:
    """Return the context of this process."""
    return OpenGL()


class RealBuffer:
    """An OpenGL buffer with the interface of ``cuda.emulator.GraphicsBuffer``."""

    def __init__(self, size: int):
        self.size = size
        self.name = opengl().new_name("glGenBuffers")
        self._bind()
        zeros = ctypes.create_string_buffer(size)
        opengl().call("glBufferData", GL_ARRAY_BUFFER, size, ctypes.c_void_p(ctypes.addressof(zeros)), GL_DYNAMIC_DRAW)

    def _bind(self):
        opengl().call("glBindBuffer", GL_ARRAY_BUFFER, self.name)

    def read(self) -> bytes:
        self._bind()
        data = ctypes.create_string_buffer(self.size)
        opengl().call("glGetBufferSubData", GL_ARRAY_BUFFER, 0, self.size, ctypes.c_void_p(ctypes.addressof(data)))
        return data.raw

    def write(self, data: bytes) -> None:
        self._bind()
        held = ctypes.create_string_buffer(bytes(data), len(data))
        opengl().call("glBufferSubData", GL_ARRAY_BUFFER, 0, len(data), ctypes.c_void_p(ctypes.addressof(held)))

    def delete(self) -> None:
        name = ctypes.c_uint(self.name)
        opengl().call("glDeleteBuffers", 1, ctypes.c_void_p(ctypes.addressof(name)))


class RealImage:
    """An OpenGL texture with four 8-bit channels."""

    def __init__(self, width: int, height: int):
        self.shape = height, width, 4
        self.name = opengl().new_name("glGenTextures")
        self._bind()
        opengl().call("glTexParameteri", GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST)
        opengl().call(
            "glTexImage2D", GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, ctypes.c_void_p()
        )

    def _bind(self):
        opengl().call("glBindTexture", GL_TEXTURE_2D, self.name)

    def read(self) -> bytes:
        self._bind()
        data = ctypes.create_string_buffer(self.shape[0] * self.shape[1] * 4)
        pointer = ctypes.c_void_p(ctypes.addressof(data))
        opengl().call("glGetTexImage", GL_TEXTURE_2D, 0, GL_RGBA, GL_UNSIGNED_BYTE, pointer)
        return data.raw

    def delete(self) -> None:
        name = ctypes.c_uint(self.name)
        opengl().call("glDeleteTextures", 1, ctypes.c_void_p(ctypes.addressof(name)))


def make_buffer(size: int):
    """Return an OpenGL buffer, or the emulated one of the software device."""
    import cuda.emulator

    return cuda.emulator.GraphicsBuffer(size) if cuda.emulator.is_active() else RealBuffer(size)
