# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The samples of the guide run in their order, with the names that its pages take for given."""

import queue

import numpy as np
import pytest

import cuda.core
import cuda.core.graph
import cuda.core.utils
from cuda.core import LaunchConfig, LegacyPinnedMemoryResource, Program, ProgramOptions
from support.pages import code_blocks

DECIDE = """
extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

extern "C" __global__ void decide(cudaGraphConditionalHandle condition, float* x, float* y, int n)
{
    cudaGraphSetConditional(condition, 0);
}
"""


def kernel(parameters, name="k"):
    """Return a kernel that does nothing; ``P`` is a pointer to float."""
    source = f'typedef float* P;\nextern "C" __global__ void {name}({parameters}) {{}}'
    return Program(source, "c++").compile("cubin").get_kernel(name)


class Page:
    """The samples of a page, which share the public names of the library and what is set before them."""

    def __init__(self, name, device, **given):
        self.blocks = iter(code_blocks(f"guide/{name}"))
        self.names = {}
        for module in (cuda.core, cuda.core.utils, cuda.core.graph):
            self.names |= {public: getattr(module, public) for public in module.__all__}
        stream, config = device.create_stream(), LaunchConfig(grid=1, block=1)
        self.names |= {"np": np, "cuda": cuda, "device": device, "stream": stream, "config": config} | given

    def run(self, **given):
        """Run the next sample, with further names; return all names."""
        self.names |= given
        exec(next(self.blocks), self.names)
        return self.names

    def is_done(self):
        return next(self.blocks, None) is None


def allocated(page, size):
    return page.names["device"].allocate(size, stream=page.names["stream"])


@pytest.mark.requires(device=True, nvrtc=True, compute=(9, 0))
def test_samples_about_launching_run(device):
    page = Page("launching.md", device)
    source = 'extern "C" __global__ void scale(float* x) {}'
    assert page.run(source=source)["code"].code_type == "cubin"
    template = "template <class T> __global__ void scale(T* x) {}"
    program = Program(template, "c++", ProgramOptions(arch="sm_90"))
    assert page.run(program=program)["kernel"].num_arguments == 1
    scale = kernel("P x, float factor, unsigned long long n")
    page.run(kernel=scale, width=64, height=64, count=32, buffer=allocated(page, 4096))
    page.run(kernel=kernel("P x, float factor"))
    assert page.is_done()


@pytest.mark.requires(device=True, nvrtc=True, mempool=True)
def test_samples_about_memory_run(device):
    page, default = Page("memory.md", device, size=8192), device.memory_resource
    page.run(kernel=kernel("P x"))
    source, destination, buffer = (allocated(page, 8192) for _ in range(3))
    given = {"source": source, "destination": destination, "sources": [source], "destinations": [destination]}
    array, columns = np.ones((32, 64), np.float32), np.empty((32, 128), np.float32)
    page.run(buffer=buffer, array=array, columns=columns, **given)
    page.names["stream"].sync()
    assert (columns[:, ::2] == 1).all()
    page.run(kernel=kernel("P x, P y"))
    page.run(kernel=kernel("P x"), array=np.empty(2048, np.float32))
    assert page.run(count=100)["array"].shape == (100,)
    try:
        page.run()
        assert device.memory_resource.in_use == 0
        with pytest.warns(RuntimeWarning, match="not freed when its TrackingMemoryResource was closed"):
            names = page.run()
        names["buffer"].close()
    finally:
        device.memory_resource = default
    assert page.is_done()


@pytest.mark.requires(device=True, nvrtc=True)
def test_samples_about_views_run(device):
    page = Page("views.md", device, array=np.zeros((4, 4), np.float32))
    page.names["array"] = allocated(page, 64).view((4, 4), np.float32)
    page.run(kernel=kernel("P x, unsigned long long n"))
    image = type("Image", (), {"pixels": np.zeros(3)})
    page.run(Image=image)
    assert page.names["StridedMemoryView"].from_any_interface(image(), stream_ptr=-1).shape == (3,)
    view = page.names["StridedMemoryView"].from_any_interface(np.zeros((4, 4), np.float32), stream_ptr=-1)
    names = page.run(view=view)
    assert (names["rows"].shape, names["bits"].dtype) == ((2, 4), np.uint32)
    page.run()["scale"](np.zeros(4), 2, page.names["stream"])
    assert page.is_done()


@pytest.mark.requires(device=True, nvrtc=True, cuda=(12, 4))
def test_samples_about_graphs_run(device):
    page = Page("graphs.md", device, one=LaunchConfig(grid=1, block=1), n=16, queue=queue.Queue())
    given = {name: allocated(page, 64) for name in ("x", "y", "z", "w")}
    single, pair = kernel("P x, int n"), kernel("P x, P y, int n")
    page.run(scale=single, first=single, second=single, combine=pair, relax=pair, exchange=pair, sum_up=pair, **given)
    page.run(builder=device.create_graph_builder().begin_building())
    builder = page.run()["builder"]
    builder.end_building().complete().launch(page.names["stream"])
    page.names["stream"].sync()
    assert page.names["queue"].get(timeout=10) == "step done"
    decide = Program(DECIDE, "c++").compile("cubin").get_kernel("decide")
    page.run(has_converged=decide, builder=device.create_graph_builder().begin_building())
    page.names["builder"].end_building().complete().launch(page.names["stream"])
    statistics = page.run()["step"].statistics
    assert (statistics.captures, statistics.replays, statistics.updates, statistics.patches) == (2, 2, 1, 0)
    page.run(result=LegacyPinnedMemoryResource().allocate(4))
    page.run(kernel=single, batches=[given["x"], given["y"]])
    page.names["stream"].sync()


@pytest.mark.requires(device=True, nvrtc=True, mempool=True)
def test_samples_about_errors_run(device, capsys):
    page = Page("errors.md", device, __file__=__file__)
    page.run()
    assert capsys.readouterr().out.split("\n")[:2] == ["2", "CUDA_ERROR_OUT_OF_MEMORY"]
    page.run(program=Program("int x = ;", "c++"))
    assert capsys.readouterr().out.startswith("error ")
    assert page.run()["options"].first_line == 120
    assert page.is_done()


@pytest.mark.requires(device=True, nvrtc=True)
def test_samples_about_textures_run(device):
    page = Page("textures.md", device, width=8, height=4, pixels=np.zeros((4, 8, 4), np.uint8))
    sampled = kernel("cudaTextureObject_t texture, P out")
    names = page.run(kernel=sampled, output=allocated(page, 64))
    page.run(resource=names["ResourceDescriptor"].from_opaque_array(names["array"]))
    page.names["stream"].sync()
    assert names["array"].shape == (8, 4)


@pytest.mark.requires(device=True, nvrtc=True, compute=(9, 0))
def test_samples_about_tensor_maps_run(device):
    page = Page("tensor-maps.md", device, n=2, c=16, h=8, w=32)
    page.names["buffer"] = allocated(page, 4096 * 4096 * 4)
    source = """
    struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
    extern "C" __global__ void k(const __grid_constant__ CUtensorMap tiles) {}
    """
    page.run(kernel=Program(source, "c++").compile("cubin").get_kernel("k"))
    assert type(page.run()["tiles"]).__name__ == "TensorMapDescriptor"
    assert page.is_done()


@pytest.mark.requires(software=True)
def test_samples_about_the_software_device_run(device):
    page = Page("software-device.md", device)
    message = page.run()["message"]
    assert message.startswith("CUDA_ERROR_OUT_OF_MEMORY: out of memory (cuMemAllocFromPoolAsync)")
    assert "cuStreamCreateWithPriority" in page.run()["names"]
    assert page.is_done()
