# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""One kernel on arrays of NumPy, PyTorch and CuPy, without a copy, in the order of their streams.

    python array_exchange.py

Each library makes an array with work of its own, a kernel of ours changes it in place on our stream, and the library
goes on with the result. Memory that we allocate is given to the library as one of its arrays, too. A library that is
not installed, or has no GPU to work on, is left out with a sentence.
"""

import importlib
import importlib.util
import sys

import numpy as np

import cuda.emulator
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView

SOURCE = """
// x = a * x + b for a matrix of any strides, which count elements.
extern "C" __global__ void affine(float* x, long long rows, long long columns, long long down, long long right,
                                  float a, float b)
{
    const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < rows * columns) {
        float& element = x[i / columns * down + i % columns * right];
        element = a * element + b;
    }
}
"""
ROWS, COLUMNS = 300, 200


class Affine:
    """The kernel, on a stream, for whatever array of float32 it is given."""

    def __init__(self, device, stream):
        program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
        self.kernel = program.compile("cubin").get_kernel("affine")
        self.stream = stream

    def __call__(self, array, a, b) -> None:
        # The view lets our stream wait for what the library has enqueued for the array.
        view = StridedMemoryView.from_any_interface(array, int(self.stream.handle))
        if view.dtype != np.float32 or view.readonly:
            raise ValueError(f"an array of float32 that may be written is needed, not {view!r}")
        down, right = view.strides or (view.shape[1], 1)
        config = LaunchConfig(grid=-(-view.size // 256), block=256)
        launch(self.stream, config, self.kernel, view, *view.shape, down, right, np.float32(a), np.float32(b))


def expected(a, b):
    """Return what becomes of 0, 1, 2, ... in float32: the product and the sum round, or both at once."""
    return np.arange(ROWS * COLUMNS, dtype=np.float64).reshape(ROWS, COLUMNS) * a + b


def with_numpy(device, stream, affine) -> float:
    """Let host and device work on page-locked memory in turn."""
    memory = LegacyPinnedMemoryResource().allocate(ROWS * COLUMNS * 4)
    array = np.from_dlpack(memory).view(np.float32).reshape(ROWS, COLUMNS)
    array[:] = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
    # NumPy does not know that the device reaches its memory; the buffer does.
    affine(memory.view((ROWS, COLUMNS), np.float32), 2, 1)
    stream.sync()
    return np.abs(array - expected(2, 1)).max()


def with_torch(device, stream, affine) -> float:
    """Give tensors of PyTorch to the kernel, and a buffer to PyTorch."""
    torch = importlib.import_module("torch")
    place = f"cuda:{device.device_id}"
    theirs = torch.cuda.ExternalStream(int(stream.handle), device=place)
    tensor = torch.arange(ROWS * COLUMNS, dtype=torch.float32, device=place).reshape(ROWS, COLUMNS)
    affine(tensor, 2, 1)
    affine(tensor.T, 1, -1)  # the same memory by its columns

    buffer = device.allocate(tensor.nbytes, stream=stream)
    with torch.cuda.stream(theirs):  # what PyTorch enqueues here follows on our kernels
        ours = torch.from_dlpack(buffer.view((ROWS, COLUMNS), np.float32))
        ours.copy_(tensor)
        ours += 1
    stream.sync()
    return np.abs(ours.cpu().numpy() - expected(2, 1)).max()


def with_cupy(device, stream, affine) -> float:
    """Do the same with CuPy."""
    cupy = importlib.import_module("cupy")
    cupy.cuda.Device(device.device_id).use()
    array = cupy.arange(ROWS * COLUMNS, dtype=cupy.float32).reshape(ROWS, COLUMNS)
    affine(array, 2, 1)
    affine(array.T, 1, -1)

    # CuPy takes streams of other libraries as they are from version 14 on.
    from_external = getattr(cupy.cuda.Stream, "from_external", None)
    theirs = from_external(stream) if from_external else cupy.cuda.ExternalStream(int(stream.handle))
    buffer = device.allocate(array.nbytes, stream=stream)
    with theirs:
        ours = cupy.from_dlpack(buffer.view((ROWS, COLUMNS), np.float32))
        ours[...] = array
        ours += 1
    stream.sync()
    return np.abs(ours.get() - expected(2, 1)).max()


def why_not(module) -> str:
    """Return why a library is left out; empty where it is not."""
    if importlib.util.find_spec(module) is None:
        return "is not installed"
    if cuda.emulator.is_active():
        return "works on GPUs only, and this is the software device"
    return ""


def main() -> int:
    """Exchange arrays with each library, and compare with NumPy's result."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    affine = Affine(device, stream)
    # Numbers below 2**24 are exact in float32.
    errors = {"NumPy": with_numpy(device, stream, affine)}
    for name, module, exchange in (("PyTorch", "torch", with_torch), ("CuPy", "cupy", with_cupy)):
        if reason := why_not(module):
            print(f"{name} {reason}: left out")
        else:
            errors[name] = exchange(device, stream, affine)
    if any(errors.values()):
        print(f"the largest errors are {errors}")
        return 1
    print(f"verified: {ROWS} x {COLUMNS} elements shared with {', '.join(errors)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
