# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Generated kernels: their sources, and how they are compiled for the layout of their arrays and launched."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import _kernels, _random_source, gpuarray
from cuda.core.driver._array_base import array_device, overlap
from cuda.core.driver._array_functions import BINARY, UNARY
from cuda.core.driver._array_reductions import Reduction
from cuda.core.driver._compilation import Request, compile_object
from cuda.core.driver._kernels import Elementwise, Operand
from cuda.core.driver.elementwise import ElementwiseKernel
from cuda.core.driver.scan import Scan

needs_context = pytest.mark.usefixtures("context")


# --- Sources ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        ("?", "bool"),
        ("i8", "long long"),
        ("f2", "cuda_core::half"),
        ("c8", "pycuda::complex<float>"),
        ("V12", "cuda_core::record<unsigned int, 3>"),
        ("V7", "cuda_core::record<unsigned char, 7>"),
        ("V16", "cuda_core::record<unsigned long long, 2>"),
    ],
)
def test_each_dtype_has_a_storage_type_in_c(dtype, name):
    assert _kernels.storage_name(np.dtype(dtype)) == name


def test_halves_are_computed_as_floats():
    assert _kernels.compute_dtype(np.dtype("f2")) == np.float32
    assert _kernels.compute_dtype(np.dtype("i2")) == np.int16
    assert _kernels.COMPUTE_TYPES[np.dtype("f2")] == "float"


def test_prelude_has_only_the_needed_definitions():
    assert "struct half" in _kernels.prelude(np.dtype("f2")) and "complex" not in _kernels.prelude(np.dtype("f2"))
    assert _kernels.prelude(np.dtype("c8")).startswith(_kernels.COMPLEX_HEADER)
    assert "half" not in _kernels.prelude(np.dtype("f4"))


def sources():
    """Yield generated sources of all kinds, with names."""
    for name in ("xorwow", "mrg32k3a", "philox"):
        yield name, _random_source.pseudo_source(name)
    for width in (32, 64):
        yield f"sobol{width}", _random_source.quasi_source(width)
    for operation in (*BINARY, *UNARY):
        for kind, dtype in {"i": "i4", "f": "f4", "c": "c16"}.items():
            if operation.bodies.get(kind, operation.default) is not None:
                names = "ab"[: operation.ufunc.nin]
                inputs = [Operand(name, np.dtype(dtype)) for name in names]
                types = "".join(f"typedef {inputs[0].variable} {name}; " for name in ("T", "A"))
                text = operation.expression(kind)
                kernel = Elementwise("f", [Operand("r", np.dtype(dtype))], inputs, f"{types} r = {text}")
                yield f"{operation.name} {dtype}", kernel.dense_source(kernel.width)
    half = Elementwise("f", [Operand("r", np.dtype("f2"))], [Operand("a", np.dtype("f2"))], "r = a")
    yield "strided", half.strided_source(3, "unsigned long long")
    total = Reduction("f", "float", 4, "0", "a + b", "x[i]", ["const float* x"], _kernels.prelude())
    yield "reduction", total.source()
    packed = Reduction(
        "f", "float", 4, "0", "a + b", "x[i]", ["const float* x"], _kernels.prelude(),
        packs=(4, {"x": "float"}, "x_p.items[k]"),
    )  # fmt: skip
    yield "packed reduction", packed.source(True)
    for text in ("y[i] = 2 * x[i]", "y[i] += sin(x[i]) > 0 ? x[i] : n"):
        yield f"packed {text}", ElementwiseKernel("const float *x, double *y", text).packed_source()
    yield "scan", Scan("f", "float", 4, "a + b", "0", "", "", None, False).source


@pytest.mark.requires(nvrtc=True, software=False)
@pytest.mark.parametrize("part", range(24))
def test_generated_sources_compile_without_warnings(part):
    # Messages of a successful compilation are issued as a warning, which fails the test.
    for _, text in list(sources())[part::24]:
        assert compile_object(Request(text, no_extern_c=True, arch="sm_90", cache_dir=False), "cubin") is not None


# --- Launches --------------------------------------------------------------------------------------


F4, F8, I1, C16 = (np.dtype(name) for name in ("f4", "f8", "i1", "c16"))


def twice(dtype):
    return Elementwise("twice", [Operand("r", dtype)], [Operand("a", dtype)], "r = a + a")


def launch(kernel, out, a):
    places = [(item.ptr, item.strides) for item in (out, a)]
    kernel.launch(array_device().arch, None, out.shape, places, (out.ptr, a.ptr))


@pytest.mark.parametrize(("dtype", "width"), [(F4, 4), (F8, 2), (I1, 16), (C16, 1), (np.dtype("V12"), 1)])
@needs_context
def test_packs_have_16_bytes(dtype, width):
    kernel = twice(dtype)
    assert kernel.width == width
    assert kernel.alignment_mask == max(width * dtype.itemsize, 1) - 1 or dtype.kind == "V"
    mixed = Elementwise("mixed", [Operand("r", F8)], [Operand("a", I1)], "r = a")
    assert mixed.width == 2 and mixed.alignment_mask == 15


@pytest.mark.parametrize("size", [1, 3, 4, 5, 255, 1024, 4097])
@needs_context
def test_packed_arrays_use_the_packed_kernel(size):
    host = np.arange(size, dtype=F4)
    kernel, a, out = twice(F4), gpuarray.to_gpu(host), gpuarray.zeros(size, F4)
    launch(kernel, out, a)
    assert np.array_equal(out.get(), 2 * host)
    assert len(kernel._packed) == 1 and not kernel._dense and not kernel._strided


@needs_context
def test_unaligned_arrays_use_the_dense_kernel():
    host = np.arange(1001, dtype=F4)
    kernel, a, out = twice(F4), gpuarray.to_gpu(host), gpuarray.zeros(1000, F4)
    launch(kernel, out, a[1:])
    assert np.array_equal(out.get(), 2 * host[1:])
    assert len(kernel._dense) == 1 and not kernel._packed


@needs_context
def test_dimensions_are_joined_before_a_strided_kernel_is_taken():
    host = np.arange(120, dtype=F4).reshape(4, 5, 6)
    kernel, a, out = twice(F4), gpuarray.to_gpu(host), gpuarray.zeros((4, 5, 6), F4)
    for view in (lambda x: x[::2], lambda x: x[:, ::2], lambda x: x[:, :, ::2], lambda x: x.transpose((2, 0, 1))):
        launch(kernel, view(out), view(a))
        assert np.array_equal(view(out).get(), 2 * view(host))
    # The last view has no gaps, only another order of axes, so that it is packed.
    assert [key[1] for key in kernel._strided] == [2, 3, 1] and len(kernel._packed) == 1
    launch(kernel, out.transpose((2, 0, 1)), gpuarray.to_gpu(host.transpose(2, 0, 1).copy()))
    assert np.array_equal(out.get(), 2 * host)


@needs_context
def test_body_that_uses_the_index_gets_it_in_c_order():
    numbered = Elementwise("numbered", [Operand("r", F4)], [Operand("a", F4)], "r = a + i")
    out = gpuarray.zeros((2, 3), F4, order="F")
    launch(numbered, out, gpuarray.zeros((2, 3), F4))
    assert out.get().tolist() == [[0, 1, 2], [3, 4, 5]]


@needs_context
def test_sources_index_with_64_bits_where_they_must():
    assert "unsigned long long rest" in twice(F4).strided_source(2, "unsigned long long")
    assert "pack<float, 4>" in twice(F4).dense_source(4) and "pack<float" not in twice(F4).dense_source(1)


@needs_context
def test_bodies_use_numbers_indices_and_pointers():
    kernel = Elementwise(
        "indexed",
        [Operand("r", F8), Operand("s", np.dtype("i4"))],
        [Operand("k", F4, is_scalar=True), Operand("table", F4, is_pointer=True), Operand("a", I1, F8)],
        "r = table[i % 2] * k + a; s = (int)i",
        "/* a preamble */",
    )
    table, a = gpuarray.to_gpu(np.array([1, 10], F4)), gpuarray.to_gpu(np.arange(5, dtype=I1))
    r, s = gpuarray.zeros(5, F8), gpuarray.zeros(5, "i4")
    places = [(item.ptr, item.strides) for item in (r, s, a)]
    kernel.launch(array_device().arch, None, (5,), places, (r.ptr, s.ptr, np.float32(2), table.ptr, a.ptr))
    assert r.get().tolist() == [2, 21, 4, 23, 6] and s.get().tolist() == [0, 1, 2, 3, 4]


@needs_context
def test_nothing_is_launched_for_empty_arrays():
    kernel, a = twice(F4), gpuarray.zeros((3, 0), F4)
    launch(kernel, a, a)
    assert not kernel._packed and not kernel._dense and not kernel._strided


SOURCE = """
extern "C" __global__ void count(int* out, int step) { atomicAdd(out, step); }
"""


@needs_context
def test_kernel_is_launched_with_as_many_blocks_as_elements_need():
    (kernel,) = _kernels.build_kernel(SOURCE, ["count"], array_device().arch, 32, 100)
    out = gpuarray.zeros(1, "i4")
    for size, blocks in ((1, 1), (100, 1), (101, 2), (1000, 10)):
        out.fill(0)
        kernel.launch(None, size, out.ptr, 1)
        assert out.get()[0] == 32 * blocks
    kernel.launch_blocks(drv.Stream()._stream, 3, out.ptr, 2)
    drv.Context.synchronize()
    assert out.get()[0] == 320 + 3 * 64


@needs_context
def test_number_of_cached_launch_configurations_is_limited():
    (kernel,) = _kernels.build_kernel(SOURCE, ["count"], array_device().arch, 1, 1)
    out = gpuarray.zeros(1, "i4")
    for stream in (None, drv.Stream()._stream):
        for blocks in range(1, 300):
            kernel.launch_blocks(stream, blocks, out.ptr, 1)
            assert len(kernel.bound) <= _kernels.MAX_CONFIGS < 598
    drv.Context.synchronize()
    assert out.get()[0] == 2 * sum(range(1, 300))


@needs_context
def test_errors_in_user_code_raise_the_classic_compile_error():
    with pytest.raises(drv.CompileError, match="undeclared"):
        _kernels.build_user_kernel("__global__ void f() { undeclared; }", ["f"], array_device().arch, 1, 1, None, False)


@needs_context
def test_rejected_launches_raise_the_classic_errors():
    (kernel,) = _kernels.build_kernel(SOURCE, ["count"], array_device().arch, 4096, 1)
    with pytest.raises(drv.Error, match="cuLaunchKernel failed"):
        kernel.launch(None, 1, np.uint64(0), 1)


@needs_context
def test_overlap_is_by_the_range_of_memory():
    d = gpuarray.zeros((4, 4), "f4")
    assert not overlap(d, d)
    assert overlap(d, d.T)
    assert overlap(d[:3], d[1:])
    assert not overlap(d[:2], d[2:])
    assert not overlap(d, gpuarray.zeros(16, "f4"))
    assert not overlap(d[0:0], d)
    assert overlap(d.view("f8"), d.view("f8").view("f4")[:, ::2])
