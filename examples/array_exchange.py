# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Run one kernel on NumPy, PyTorch and CuPy arrays, without copies and in stream order.

    python array_exchange.py

Each library creates an array on its own stream, our kernel changes it in place on our stream, and the library continues
with the result. In the other direction, one of our buffers becomes the library's array. The example prints a message
and skips libraries that are not installed or have no GPU to run on.
"""

import importlib
import importlib.util
import sys

import numpy as np

import cuda.emulator
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions, launch
from cuda.core.utils import StridedMemoryView

SOURCE = """
// x = a * x + b for a matrix with any strides, in elements.
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
    """The kernel and its stream. Accepts any float32 matrix."""

    def __init__(self, device, stream):
        program = Program(SOURCE, "c++", ProgramOptions(arch=f"sm_{device.arch}"))
        self.kernel = program.compile("cubin").get_kernel("affine")
        self.stream = stream

    def __call__(self, array, a, b) -> None:
        # Creating the view makes our stream wait for the library's pending work on the array.
        view = StridedMemoryView.from_any_interface(array, int(self.stream.handle))
        if view.dtype != np.float32 or view.readonly:
            raise ValueError(f"the array must be writable and of type float32, not {view!r}")
        down, right = view.strides or (view.shape[1], 1)
        config = LaunchConfig(grid=-(-view.size // 256), block=256)
        launch(self.stream, config, self.kernel, view, *view.shape, down, right, np.float32(a), np.float32(b))


def expected(a, b):
    """Return ``a * x + b`` for x = 0, 1, 2, ..."""
    return np.arange(ROWS * COLUMNS, dtype=np.float64).reshape(ROWS, COLUMNS) * a + b


def with_numpy(device, stream, affine) -> float:
    """Access page-locked memory from the host and from the device in turn."""
    memory = LegacyPinnedMemoryResource().allocate(ROWS * COLUMNS * 4)
    array = np.from_dlpack(memory).view(np.float32).reshape(ROWS, COLUMNS)
    array[:] = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)
    # Pass the buffer's view: unlike NumPy's array, it reports that the device can access the memory.
    affine(memory.view((ROWS, COLUMNS), np.float32), 2, 1)
    stream.sync()
    return np.abs(array - expected(2, 1)).max()


def with_torch(device, stream, affine) -> float:
    """Pass PyTorch tensors to the kernel, and a buffer to PyTorch."""
    torch = importlib.import_module("torch")
    place = f"cuda:{device.device_id}"
    theirs = torch.cuda.ExternalStream(int(stream.handle), device=place)
    tensor = torch.arange(ROWS * COLUMNS, dtype=torch.float32, device=place).reshape(ROWS, COLUMNS)
    affine(tensor, 2, 1)
    affine(tensor.T, 1, -1)  # the same memory, transposed

    buffer = device.allocate(tensor.nbytes, stream=stream)
    with torch.cuda.stream(theirs):  # PyTorch enqueues on our stream, after our kernels
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

    # CuPy 14 and later read external streams through __cuda_stream__.
    from_external = getattr(cupy.cuda.Stream, "from_external", None)
    theirs = from_external(stream) if from_external else cupy.cuda.ExternalStream(int(stream.handle))
    buffer = device.allocate(array.nbytes, stream=stream)
    with theirs:
        ours = cupy.from_dlpack(buffer.view((ROWS, COLUMNS), np.float32))
        ours[...] = array
        ours += 1
    stream.sync()
    return np.abs(ours.get() - expected(2, 1)).max()


def reason_to_skip(module) -> str:
    """Return why a library cannot be used here, or an empty string if it can."""
    if importlib.util.find_spec(module) is None:
        return "is not installed"
    if cuda.emulator.is_active():
        return "needs a GPU, and this is the software device"
    return ""


def main() -> int:
    """Exchange arrays with every library and compare the results with NumPy's."""
    device = Device()
    device.set_current()
    stream = device.create_stream()
    affine = Affine(device, stream)
    # All values are integers below 2**24, which float32 represents exactly.
    errors = {"NumPy": with_numpy(device, stream, affine)}
    for name, module, exchange in (("PyTorch", "torch", with_torch), ("CuPy", "cupy", with_cupy)):
        if reason := reason_to_skip(module):
            print(f"{name} {reason}: skipped")
        else:
            errors[name] = exchange(device, stream, affine)
    if any(errors.values()):
        print(f"the largest errors are {errors}")
        return 1
    print(f"verified: {ROWS} x {COLUMNS} elements shared with {', '.join(errors)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
