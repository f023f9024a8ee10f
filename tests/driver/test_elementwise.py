# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""ElementwiseKernel: kernels that run user code for each index."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import elementwise, gpuarray
from cuda.core.driver.elementwise import ElementwiseKernel
from cuda.core.driver.tools import ScalarArg, VectorArg, get_or_register_dtype

pytestmark = pytest.mark.usefixtures("context")


def to_gpu(values, dtype):
    return gpuarray.to_gpu(np.asarray(values, dtype))


def test_kernel_computes_a_linear_combination():
    kernel = ElementwiseKernel("float a, float *x, float b, float *y, float *z", "z[i] = a*x[i] + b*y[i]", "lin_comb")
    x, y = np.arange(400, dtype="f4"), np.ones(400, "f4")
    z = gpuarray.zeros(400, "f4")
    assert kernel(5, to_gpu(x, "f4"), 6.0, to_gpu(y, "f4"), z) is None
    assert np.allclose(z.get(), 5 * x + 6 * y)
    assert "lin_comb(float a, float *x" in repr(kernel)


def test_arguments_can_be_objects():
    kernel = ElementwiseKernel([ScalarArg(np.int32, "k"), VectorArg(np.int64, "x")], "x[i] = k + i")
    x = gpuarray.zeros((3, 4), "i8")
    kernel(np.int32(7), x)
    assert x.get().ravel().tolist() == list(range(7, 19))


def test_code_can_use_n_the_preamble_and_code_around_the_loop():
    kernel = ElementwiseKernel(
        "int *x",
        "x[i] = n + offset + SHIFT",
        preamble="#define SHIFT 100\ntemplate <typename T> __device__ T twice(T x) { return 2 * x; }",
        loop_prep="int offset = twice(tid - tid + 3)",
        after_loop="offset = 0",
    )
    x = gpuarray.zeros(10, "i4")
    kernel(x)
    assert set(x.get().tolist()) == {116}


def test_slice_and_range_choose_the_indices():
    kernel = ElementwiseKernel("int *x", "x[i] = i + 1")
    for key in (slice(2, 8), slice(-4, None), slice(None, None, 3), slice(8, 2, -2), slice(5, 100), slice(3, 3)):
        x, expected = gpuarray.zeros(10, "i4"), np.zeros(10, "i4")
        kernel(x, slice=key)
        expected[key] = np.arange(1, 11)[key]
        assert x.get().tolist() == expected.tolist()
    x = gpuarray.zeros(10, "i4")
    kernel(x, range=slice(2, 9, 3))
    kernel(x, range=range(2))
    assert x.get().tolist() == [1, 2, 3, 0, 0, 6, 0, 0, 9, 0]
    bounds = ElementwiseKernel("int *x", "x[i] = 100 * start + 10 * stop + step")
    bounds(x, slice=slice(1, 7, 2))
    assert x.get()[1] == 172


def test_slice_and_range_are_checked():
    kernel, x = ElementwiseKernel("int *x", "x[i] = 1"), gpuarray.zeros(4, "i4")
    with pytest.raises(TypeError, match="range and slice are mutually exclusive"):
        kernel(x, slice=slice(2), range=slice(2))
    with pytest.raises(TypeError, match="slice must be"):
        kernel(x, slice=3)
    with pytest.raises(TypeError, match="range must be"):
        kernel(x, range=3)
    with pytest.raises(ValueError, match="step"):
        kernel(x, range=slice(0, 3, 0))


def test_complex_numbers_need_no_include():
    kernel = ElementwiseKernel(
        "pycuda::complex<float> *z, float *r", "r[i] = abs(z[i]); z[i] = conj(z[i]) * pycuda::complex<float>(0, 1)"
    )
    host = np.array([3 + 4j, 1j, -2], "c8")
    z, r = to_gpu(host, "c8"), gpuarray.zeros(3, "f4")
    kernel(z, r)
    assert np.allclose(r.get(), np.abs(host)) and np.allclose(z.get(), host.conj() * 1j)


def test_structures_can_be_vectors_and_scalars():
    dtype = np.dtype([("x", "f4"), ("n", "i4")])
    get_or_register_dtype("elementwise_pair", dtype)
    kernel = ElementwiseKernel(
        "elementwise_pair *p, elementwise_pair q, float3 v",
        "p[i].x += q.x * v.z; p[i].n += q.n",
        preamble="struct elementwise_pair { float x; int n; };",
    )
    p = gpuarray.zeros(3, dtype)
    kernel(p, np.array((2, 5), dtype), gpuarray.vec.make_float3(0, 0, 4))
    assert p.get().tolist() == [(8.0, 5)] * 3


def test_first_array_determines_the_size():
    kernel = ElementwiseKernel("const int *index, const float *table, float *out", "out[i] = table[index[i]]")
    out = gpuarray.zeros(4, "f4")
    kernel(to_gpu([1, 0, 1, 1], "i4"), to_gpu([5, 6], "f4"), out)
    assert out.get().tolist() == [6, 5, 6, 6]
    kernel(gpuarray.zeros(0, "i4"), out, out)


def test_kernels_run_on_streams_and_on_arrays_of_other_libraries():
    class Foreign:
        def __init__(self, array):
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    kernel, x, stream = ElementwiseKernel("float *x", "x[i] += 1"), gpuarray.zeros(1000, "f4"), drv.Stream()
    kernel(x, stream=stream)
    kernel(Foreign(x), stream=stream)
    assert x.get(stream=stream).tolist() == [2] * 1000


def test_fortran_order_is_accepted_but_gaps_are_rejected():
    kernel = ElementwiseKernel("float *x", "x[i] = i")
    x = gpuarray.zeros((2, 3), "f4", order="F")
    kernel(x)
    assert x.get().tolist() == [[0, 2, 4], [1, 3, 5]]
    with pytest.raises(RuntimeError, match="contiguous"):
        kernel(x[:, ::2])


def test_declarations_are_checked():
    with pytest.raises(ValueError, match="unknown type"):
        ElementwiseKernel("unknown_type *x", "x[i] = 0")
    with pytest.raises(AssertionError, match="at least one array"):
        ElementwiseKernel("float a", "")
    for name in ("i", "n", "tid"):
        with pytest.raises(ValueError, match=f"parameter name '{name}' is reserved"):
            ElementwiseKernel(f"float *x, int {name}", "x[i] = 0")
    with pytest.raises(TypeError, match="operation must be a str"):
        ElementwiseKernel("float *x", None)
    with pytest.raises(ValueError, match="must be a C identifier"):
        ElementwiseKernel("float *x", "", "not a name")
    with pytest.raises(TypeError, match="name must be a str"):
        ElementwiseKernel("float *x", "", 5)


def test_arguments_are_checked():
    kernel, x = ElementwiseKernel("float a, float *x", "x[i] = a"), gpuarray.zeros(3, "f4")
    with pytest.raises(TypeError, match="takes 2 arguments, 1 given"):
        kernel(x)
    with pytest.raises(TypeError, match="x must be a GPUArray"):
        kernel(1, np.zeros(3, "f4"))
    with pytest.raises(TypeError, match="a must be a number"):
        kernel("text", x)
    for dtype in ("f8", "i4", "c8", "f2"):
        with pytest.raises(TypeError, match="elements of type float32"):
            kernel(1, x.astype(dtype))
    integers = ElementwiseKernel("unsigned int *x, int k", "x[i] = k")
    y = gpuarray.zeros(3, "i4")
    integers(y, 2.75)
    assert y.get().tolist() == [2, 2, 2]
    x.gpudata.free()
    with pytest.raises(drv.LogicError, match="freed"):
        kernel(1, x)


def test_code_errors_raise_compile_error_on_every_call():
    kernel, x = ElementwiseKernel("float *x", "x[i] = undeclared"), gpuarray.zeros(3, "f4")
    for _ in range(2):
        with pytest.raises(drv.CompileError, match="undeclared"):
            kernel(x)


def test_texture_references_are_not_supported():
    with pytest.raises(drv.NotSupportedError, match="texture"):
        ElementwiseKernel("float *x", "x[i] = 0").get_texref("t")


def test_get_elwise_functions_return_prepared_kernels():
    x = gpuarray.zeros(10, "f4")
    function = elementwise.get_elwise_kernel("float *x, float a", "x[i] = a * i")
    function.prepared_call((1, 1), (32, 1, 1), x.gpudata, 2.0, x.size)
    assert x.get().tolist() == [2.0 * i for i in range(10)]
    ranged, items = elementwise.get_elwise_kernel_and_types("float *x", "x[i] = 1", use_range=True)
    ranged.prepared_call((1, 1), (32, 1, 1), x.gpudata, 2, 10, 3, x.size)
    assert x.get()[[2, 5, 8]].tolist() == [1, 1, 1] and items == [VectorArg(np.float32, "x")]
    assert elementwise.get_elwise_module("float *x", "x[i] = 1").get_function("kernel") is not None
    assert elementwise.get_elwise_range_module("float *x", "x[i] = 1", "other").get_function("other") is not None


def test_sources_have_indices_of_32_or_64_bits():
    kernel = ElementwiseKernel("float *x", "x[i] = 0")
    assert "unsigned int i;" in kernel.source() and "unsigned long i;" in kernel.source(is_wide=True)
    assert "long i;" in kernel.source(use_range=True)


def test_large_arrays_are_computed_completely():
    kernel = ElementwiseKernel("const float *x, float *y", "y[i] = 2 * x[i]")
    host = np.arange(200_000, dtype="f4")
    x = gpuarray.to_gpu(host)
    y = gpuarray.empty_like(x)
    kernel(x, y)
    assert np.array_equal(y.get(), 2 * host)
