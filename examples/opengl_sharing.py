# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Share memory with OpenGL: kernels move vertices in a buffer and paint a texture, and OpenGL reads both.

You need no window, because EGL creates the OpenGL context on the GPU that is device 0. On the software device, a
stand-in replaces the OpenGL buffer and the texture is skipped.

Shows: GraphicsResource.from_gl_buffer and from_gl_image, mapping as context managers, surfaces on a mapped array.
"""

import ctypes
import sys

import numpy as np

import cuda.emulator
from cuda.core import Device, GraphicsResource, LaunchConfig, Program, ProgramOptions, launch
from cuda.core.texture import ResourceDescriptor

VERTICES, STEPS = 1000, 5
WIDTH, HEIGHT = 320, 200

CODE = r"""
extern "C" __global__ void move(float2* vertices, int count, float step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        vertices[i].y += step * vertices[i].x;
}

extern "C" __global__ void paint(cudaSurfaceObject_t image, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        surf2Dwrite(make_uchar4(x % 256, y % 256, (x ^ y) % 256, 255), image, 4 * x, y);
}
"""


class OpenGL:
    """A windowless OpenGL context, current on this thread. Raises OSError if OpenGL is not available."""

    ARRAY_BUFFER, DYNAMIC_DRAW = 0x8892, 0x88E8
    TEXTURE_2D, TEXTURE_MIN_FILTER, NEAREST = 0x0DE1, 0x2801, 0x2600
    RGBA8, RGBA, UNSIGNED_BYTE = 0x8058, 0x1908, 0x1401

    def __init__(self, ordinal: int):
        self.egl = ctypes.CDLL("libEGL.so.1")
        self.egl.eglGetProcAddress.restype = ctypes.c_void_p
        self.egl.eglCreateContext.restype = ctypes.c_void_p
        display = self.display_of(ordinal)
        if not self.egl.eglInitialize(display, None, None) or not self.egl.eglBindAPI(0x30A2):
            raise OSError("EGL has no OpenGL")
        config, count = ctypes.c_void_p(), ctypes.c_int()
        wanted = (ctypes.c_int * 5)(0x3033, 0x0001, 0x3040, 0x0008, 0x3038)  # off-screen, for OpenGL
        self.egl.eglChooseConfig(display, wanted, ctypes.byref(config), 1, ctypes.byref(count))
        context = ctypes.c_void_p(self.egl.eglCreateContext(display, config, None, None))
        if not context or not self.egl.eglMakeCurrent(display, None, None, context):
            raise OSError("EGL cannot create a context without a window")

    def function(self, name: str, result=None, *arguments):
        address = self.egl.eglGetProcAddress(name.encode())
        if not address:
            raise OSError(f"{name} is missing")
        return ctypes.CFUNCTYPE(result, *arguments)(address)

    def display_of(self, ordinal: int) -> ctypes.c_void_p:
        """Return the display of the GPU with the given CUDA ordinal."""
        pointer, number = ctypes.c_void_p, ctypes.c_int
        query = self.function("eglQueryDevicesEXT", number, number, pointer, pointer)
        attribute = self.function("eglQueryDeviceAttribEXT", number, pointer, number, pointer)
        get = self.function("eglGetPlatformDisplayEXT", pointer, number, pointer, pointer)
        devices, count = (pointer * 16)(), number()
        query(16, ctypes.addressof(devices), ctypes.addressof(count))
        for device in devices[: count.value]:
            found = ctypes.c_ssize_t(-1)
            if attribute(device, 0x323A, ctypes.addressof(found)) and found.value == ordinal:
                return pointer(get(0x313F, device, None))
        raise OSError(f"EGL has no display for CUDA device {ordinal}")

    def call(self, name: str, *arguments) -> None:
        types = [ctypes.c_void_p if isinstance(value, ctypes.c_void_p) else ctypes.c_ssize_t for value in arguments]
        self.function(name, None, *types)(*arguments)

    def new(self, function: str) -> int:
        name = ctypes.c_uint()
        self.call(function, 1, ctypes.c_void_p(ctypes.addressof(name)))
        return name.value

    def buffer(self, data: np.ndarray) -> int:
        """Return the name of a new buffer that contains the data."""
        name = self.new("glGenBuffers")
        self.call("glBindBuffer", self.ARRAY_BUFFER, name)
        pointer = ctypes.c_void_p(data.ctypes.data)
        self.call("glBufferData", self.ARRAY_BUFFER, data.nbytes, pointer, self.DYNAMIC_DRAW)
        return name

    def read_buffer(self, name: int, like: np.ndarray) -> np.ndarray:
        data = np.empty_like(like)
        self.call("glBindBuffer", self.ARRAY_BUFFER, name)
        self.call("glGetBufferSubData", self.ARRAY_BUFFER, 0, data.nbytes, ctypes.c_void_p(data.ctypes.data))
        return data

    def texture(self, width: int, height: int) -> int:
        name = self.new("glGenTextures")
        self.call("glBindTexture", self.TEXTURE_2D, name)
        self.call("glTexParameteri", self.TEXTURE_2D, self.TEXTURE_MIN_FILTER, self.NEAREST)
        kind = (self.RGBA, self.UNSIGNED_BYTE, ctypes.c_void_p())
        self.call("glTexImage2D", self.TEXTURE_2D, 0, self.RGBA8, width, height, 0, *kind)
        return name

    def read_texture(self, name: int, width: int, height: int) -> np.ndarray:
        data = np.empty((height, width, 4), np.uint8)
        self.call("glBindTexture", self.TEXTURE_2D, name)
        pointer = ctypes.c_void_p(data.ctypes.data)
        self.call("glGetTexImage", self.TEXTURE_2D, 0, self.RGBA, self.UNSIGNED_BYTE, pointer)
        return data


class StandIn:
    """The software device's replacement for an OpenGL buffer."""

    def buffer(self, data: np.ndarray) -> int:
        self.own = cuda.emulator.GraphicsBuffer(data.nbytes)
        self.own.write(data.tobytes())
        return self.own.name

    def read_buffer(self, name: int, like: np.ndarray) -> np.ndarray:
        return np.frombuffer(self.own.read(), like.dtype).reshape(like.shape)


def move_vertices(gl, code, stream) -> bool:
    """Move vertices in an OpenGL buffer, and return whether OpenGL reads the values that NumPy computes."""
    before = np.random.default_rng(3).random((VERTICES, 2), dtype=np.float32)
    name = gl.buffer(before)
    config = LaunchConfig(grid=(VERTICES + 127) // 128, block=128)
    with GraphicsResource.from_gl_buffer(name) as resource:
        for _ in range(STEPS):
            # Only CUDA may use the mapped buffer. Leaving the block unmaps it after the kernel.
            with resource.map(stream=stream) as vertices:
                launch(stream, config, code.get_kernel("move"), vertices, VERTICES, np.float32(0.25))
    stream.sync()
    after = before.copy()
    for _ in range(STEPS):
        after[:, 1] += np.float32(0.25) * after[:, 0]
    return np.allclose(gl.read_buffer(name, before), after, atol=1e-6)


def paint_texture(gl, code, device, stream) -> bool:
    """Paint an OpenGL texture, and return whether OpenGL reads the same pixels."""
    name = gl.texture(WIDTH, HEIGHT)
    config = LaunchConfig(grid=((WIDTH + 15) // 16, (HEIGHT + 15) // 16), block=(16, 16))
    with GraphicsResource.from_gl_image(name, gl.TEXTURE_2D, flags="surface_load_store") as resource:
        with resource.map_array(stream=stream) as array:
            with device.create_surface_object(resource=ResourceDescriptor.from_opaque_array(array)) as surface:
                launch(stream, config, code.get_kernel("paint"), surface, WIDTH, HEIGHT)
                stream.sync()
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    expected = np.stack([x % 256, y % 256, (x ^ y) % 256, np.full_like(x, 255)], axis=-1)
    return np.array_equal(gl.read_texture(name, WIDTH, HEIGHT), expected)


def main() -> int:
    """Share a buffer and a texture, and compare the results with NumPy's."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    code = Program(CODE, "c++", ProgramOptions(arch=f"sm_{device.arch}")).compile("cubin")
    if cuda.emulator.is_active():
        print("the software device has no OpenGL: the texture is skipped")
        gl: StandIn | OpenGL = StandIn()
        shared = "a stand-in for an OpenGL buffer"
    else:
        try:
            gl = OpenGL(device.device_id)
            shared = "an OpenGL buffer and texture"
        except OSError as reason:
            print(f"skipped, because this machine has no OpenGL: {reason}")
            return 0
    is_right = {"vertices": move_vertices(gl, code, stream)}
    if isinstance(gl, OpenGL):
        is_right["pixels"] = paint_texture(gl, code, device, stream)
    if not all(is_right.values()):
        print(f"the values that OpenGL reads differ from NumPy's: {is_right}")
        return 1
    print(f"verified: {', '.join(is_right)} in {shared}, on {device.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
