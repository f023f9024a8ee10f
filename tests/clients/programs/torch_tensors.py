# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
# needs: torch
"""Tensors of PyTorch as arguments, views and copies, on PyTorch's own stream."""

import numpy as np
import torch

from cuda.core import Device, LaunchConfig, Program, ProgramOptions, Stream, launch
from cuda.core.utils import StridedMemoryView, args_viewable_as_strided_memory

checks = 0


def check(condition):
    global checks
    assert condition
    checks += 1


class TorchStream:
    """PyTorch's stream, in the protocol that libraries use to exchange streams."""

    def __init__(self, stream):
        self.stream = stream

    def __cuda_stream__(self):
        return 0, self.stream.cuda_stream


SOURCE = """
template <class T> __global__ void scale(const T* in, T* out, T factor, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * factor;
}
"""
device = Device(torch.cuda.current_device())
device.set_current()
options = ProgramOptions(std="c++17", arch=f"sm_{device.arch}")
code = Program(SOURCE, "c++", options).compile("cubin", name_expressions=("scale<float>", "scale<double>"))
n = 100_003
for dtype, name in ((torch.float32, "scale<float>"), (torch.float64, "scale<double>")):
    kernel = code.get_kernel(name)
    side = torch.cuda.Stream()
    for theirs in (torch.cuda.current_stream(), side):
        with torch.cuda.stream(theirs):
            values = torch.rand(n, dtype=dtype, device="cuda")
            out = torch.empty_like(values)
            stream = device.create_stream(TorchStream(theirs))
            factor = values.new_tensor(3.0).cpu().numpy()[()]
            launch(
                stream,
                LaunchConfig(grid=(n + 255) // 256, block=256),
                kernel,
                values.data_ptr(),
                out.data_ptr(),
                factor,
                n,
            )
            check(torch.equal(out, values * 3))
    check(Stream.from_handle(side.cuda_stream).device == device)

tensor = torch.arange(60, dtype=torch.int32, device="cuda").reshape(3, 4, 5)
for source in (tensor, tensor.transpose(0, 2), tensor[1:, ::2], tensor[:, :, 0], torch.empty(0, device="cuda")):
    view = StridedMemoryView.from_any_interface(source, stream_ptr=torch.cuda.current_stream().cuda_stream)
    check(view.shape == tuple(source.shape))
    check(view.ptr == source.data_ptr() or source.numel() == 0)
    check(view.is_device_accessible and view.device_id == device.device_id)
    back = torch.from_dlpack(view)
    check(torch.equal(back.cpu(), source.cpu()))


@args_viewable_as_strided_memory((0,))
def shape_of(array, stream):
    return array.view(int(stream.handle)).shape


check(shape_of(tensor, device.create_stream()) == (3, 4, 5))

stream = device.create_stream()
buffer = device.allocate(n * 4, stream=stream)
stream.sync()
floats = torch.from_dlpack(buffer).view(torch.float32)
floats.fill_(2.5)
torch.cuda.synchronize()
target = device.allocate(n * 4, stream=stream)
buffer.copy_to(target, stream=stream)
stream.sync()
check(bool((torch.from_dlpack(target).view(torch.float32) == 2.5).all()))

graph_stream = device.create_stream()
builder = graph_stream.create_graph_builder().begin_building()
values = torch.ones(n, device="cuda")
out = torch.zeros(n, device="cuda")
kernel = code.get_kernel("scale<float>")
launch(
    builder, LaunchConfig(grid=(n + 255) // 256, block=256), kernel, values.data_ptr(), out.data_ptr(), np.float32(4), n
)
graph = builder.end_building().complete()
torch.cuda.synchronize()
graph.launch(graph_stream)
graph_stream.sync()
check(bool((out == 4).all()))
print(f"checks: {checks}")
