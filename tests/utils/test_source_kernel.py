# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernels from source: compiled when a device first needs them."""

import re

import numpy as np
import pytest

from cuda.core import CUDAError, Device, Kernel, LaunchConfig, NVRTCError, launch
from cuda.core.utils import FileStreamProgramCache, InMemoryProgramCache, SourceKernel, kernel
from support import interpreter
from support.threads import in_thread, run_in_threads

SOURCE = """
template <class T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; }
extern "C" __global__ void fill(int* x, int value) { x[threadIdx.x] = value; }
"""


@pytest.fixture
def x(device, stream):
    return device.to_device(np.arange(4, dtype=np.float32), stream=stream)


def test_default_stream_launch_makes_the_device_current(device):
    empty = kernel("__global__ void empty() {}", "empty", cache=False)

    def work():
        empty(grid=1, block=1)
        return Device().context

    assert in_thread(work) == device.context


@pytest.mark.requires(cuda=(12, 4))
def test_kernel_launches_in_every_way(stream, x):
    scale = kernel(SOURCE, "scale<float>", cache=False)
    scale(x, 2, grid=1, block=4, stream=stream)
    scale[1, 4, 0, stream](x, 2)
    launch(stream, LaunchConfig(grid=1, block=4), scale, x, by=2)
    scale.bind(LaunchConfig(grid=1, block=4), stream=stream, by=2)(x)
    assert x.to_host(stream=stream).tolist() == [0, 16, 32, 48]


def test_kernel_launches_on_the_default_stream(device):
    stream = device.default_stream
    x = device.to_device(np.arange(4, dtype=np.int32), stream=stream)
    fill = kernel(SOURCE, "fill", cache=False)
    fill(x, 7, grid=1, block=2)
    fill[1, 1](x, 5)
    assert x.to_host(stream=stream).tolist() == [5, 7, 2, 3]


@pytest.mark.requires(cuda=(12, 4))
def test_source_kernel_knows_its_structures(device, stream):
    source = "struct P { char c; float4 v; }; __global__ void first(P p, P* all) { *all = p; }"
    first = kernel(source, "first", cache=False)
    assert first.dtype("p") == first.dtype(0) == first.struct("P")
    records = np.zeros(1, first.struct("P"))
    out = device.zeros(records.nbytes, np.uint8, stream=stream)
    records["v"] = [1, 2, 3, 4]
    first(records[0], out, grid=1, block=1, stream=stream)
    assert out.to_host(stream=stream).view(records.dtype)["v"].tolist() == [[1, 2, 3, 4]]


@pytest.mark.requires(cuda=(12, 4))
def test_kernel_is_captured(device, stream, x):
    scale = kernel(SOURCE, "scale<float>", cache=False)
    builder = device.create_graph_builder().begin_building()
    scale(x, 3, grid=1, block=4, stream=builder)
    scale[1, 4, 0, builder](x, 2)
    graph = builder.end_building().complete()
    stream.sync()
    graph.launch(stream)
    assert x.to_host(stream=stream).tolist() == [0, 6, 12, 18]


def test_nothing_is_compiled_before_the_first_use(device):
    broken = kernel("no source", "f", cache=False)
    assert repr(broken) == "<SourceKernel 'f' compiled for no device yet>"
    with pytest.raises(NVRTCError):
        broken.for_device()


@pytest.mark.requires(cuda=(12, 4))
def test_devices_of_one_architecture_share_the_kernel(device, devices):
    fill = kernel(SOURCE, "fill", cache=False)
    found = fill.for_device()
    assert type(found) is Kernel
    assert fill.for_device(device) is found is fill.for_device(device.device_id)
    assert str(found.signature) == "(x: 'int*', value: 'int')"
    assert f"'sm_{device.arch}'" in repr(fill)


def test_threads_compile_once(device):
    cache = InMemoryProgramCache()
    fill = kernel(SOURCE, "fill", cache=cache)
    found = []
    run_in_threads(lambda _: found.append(fill.for_device(device.device_id)))
    assert len(set(found)) == 1
    assert len(cache) > 0


def test_compiled_code_is_cached(device, tmp_path):
    cache = FileStreamProgramCache(tmp_path)
    kernel(SOURCE, "fill", cache=cache).for_device()
    count = len(cache)
    kernel(SOURCE, "fill", cache=cache).for_device()
    assert count == len(cache) > 0


def test_user_cache_is_the_default(device, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kernel(SOURCE, "fill").for_device()
    assert len(FileStreamProgramCache()) > 0


def test_options_apply(device, stream):
    source = 'extern "C" __global__ void f(int* x) { *x = VALUE; }'
    x = device.zeros(1, np.int32, stream=stream)
    kernel(source, "f", options={"define_macro": ("VALUE", "42")}, cache=False)(x, grid=1, block=1, stream=stream)
    assert x.to_host(stream=stream)[0] == 42
    arch = f"sm_{device.arch}"
    assert kernel(SOURCE, "fill", options={"arch": arch}, cache=False).for_device().handle


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"source": b"", "name": "f"}, "source must be a str"),
        ({"source": "", "name": None}, "name must be a str or a sequence of str"),
        ({"source": "", "name": ("f", 3)}, "name must be a str or a sequence of str"),
        ({"source": "", "name": "f", "name_expressions": "f"}, "name_expressions must be a sequence of str"),
        ({"source": "", "name": "f", "code_type": 3}, "code_type must be a str"),
        ({"source": "", "name": "f", "cache": "/tmp"}, "cache must be"),
        ({"source": "", "name": "f", "options": 3}, "options"),
    ],
)
def test_wrong_types_are_rejected(arguments, text):
    with pytest.raises(TypeError, match=text):
        kernel(**arguments)


def test_wrong_keys_are_rejected(device):
    fill = kernel(SOURCE, "fill", cache=False)
    for key in (1, (1,), (1, 1, 0, None, 1)):
        with pytest.raises(TypeError, match=r"kernel\[grid, block\]"):
            fill[key]


@pytest.mark.parametrize("name", ["scale.cu", "my kernels/Scale.CU", "/tmp/scale.ptx"])
def test_str_with_a_file_name_is_rejected(name):
    with pytest.raises(ValueError, match=re.escape(f"to read a file, pass pathlib.Path({name!r})")):
        kernel(name, "scale")
    assert kernel("// scale.cu\n// of scale.cu", "scale")
    assert kernel("__global__ void scale() {} // scale.cu", "scale")


@pytest.mark.requires(device=True)
def test_short_way_needs_no_bindings():
    lines = interpreter.run(
        "import sys\n"
        "sys.modules['cuda.bindings'] = None\n"
        "import numpy as np\n"
        "from cuda.core import Device, Stream\n"
        "from cuda.core.utils import kernel\n"
        "double = kernel('__global__ void f(float* x) { x[threadIdx.x] *= 2; }', 'f', cache=False)\n"
        "x = Device().to_device(np.ones(4, np.float32))\n"
        "double[1, 4](x)\n"
        "double(x, grid=1, block=4, stream=Stream.from_handle(0))\n"
        "Device().sync()\n"
        "with Device().create_stream().use():\n"
        "    double[1, 4](x)\n"
        "print(x.to_host())\n"
    ).splitlines()
    assert lines == ["[8. 8. 8. 8.]"]


@pytest.mark.parametrize("source", [SOURCE, None, 3])
def test_source_kernel_cannot_be_constructed_directly(source):
    with pytest.raises(RuntimeError, match=r"cannot be constructed directly; use cuda.core.utils.kernel\(\)$"):
        SourceKernel(source, 10**5000)


def test_a_kernel_needs_a_name():
    with pytest.raises(ValueError, match="at least one name"):
        kernel(SOURCE, ())


VARIABLES = """
__device__ int total;
namespace inner { __constant__ int step; }
__global__ void count(int* x) { total += inner::step; *x = total; }
extern "C" __global__ void reset() { total = 0; }
"""


def test_kernels_of_one_source_share_their_variables(device, stream):
    count, reset = kernel(VARIABLES, ["count", "reset"], name_expressions=["&inner::step"], cache=False)
    step = count.get_global("&inner::step")
    step.copy_from(np.array([3], np.int32), stream=stream)
    x = device.zeros(1, np.int32, stream=stream)
    reset(grid=1, block=1, stream=stream)
    count(x, grid=1, block=1, stream=stream)
    count(x, grid=1, block=1, stream=stream)
    assert x.tolist(stream=stream) == [6]
    assert reset.get_global("total").view(dtype=np.int32).tolist() == [6]


@pytest.mark.requires(cuda=(12, 4))
def test_properties_are_those_of_the_kernel_for_the_device(device):
    scale = kernel(SOURCE, "scale<float>", cache=False)
    assert str(scale.signature) == "(x: 'float*', by: 'float')"
    assert scale.attributes.num_regs == scale.for_device().attributes.num_regs
    assert scale.occupancy.max_active_blocks_per_multiprocessor(64, 0) > 0


NAMES = [
    ("fil", "'fil' is not valid: .*did you mean 'fill'"),
    ("zzz", "'zzz' is not valid: .*it has fill, scale"),
    ("scale", "'scale' is not valid"),
    ("other::fill", "'other::fill' is not valid"),
    ("&nothing", "'&nothing' is not valid"),
]


@pytest.mark.parametrize(("name", "text"), NAMES, ids=[name for name, _ in NAMES])
def test_unknown_name_is_explained_in_one_line(device, name, text):
    with pytest.raises(NVRTCError) as caught:
        kernel(SOURCE, name, cache=False).for_device()
    _, line = str(caught.value).split("\n")
    assert re.search(text, line)


def test_errors_of_the_source_are_those_of_the_compiler(device):
    with pytest.raises(NVRTCError, match="aa") as caught:
        kernel(SOURCE.replace("value; }", "aa; }"), "fil", cache=False).for_device()
    assert caught.value.diagnostics


def test_unknown_variable_is_an_error(device):
    with pytest.raises(CUDAError, match="no variable 'totl'"):
        kernel(VARIABLES, "count", cache=False).get_global("totl")


@pytest.mark.requires(cuda=(12, 4))  # older drivers do not tell that the factor is a float
def test_default_stream_launch_runs_on_the_used_stream(device, stream, x):
    scale = kernel(SOURCE, "scale<float>", cache=False)
    with stream.use():
        scale(x, 2, grid=1, block=4)
        bound = scale[1, 4]
    assert bound.stream is stream
    assert x.tolist(stream=stream) == [0, 2, 4, 6]
