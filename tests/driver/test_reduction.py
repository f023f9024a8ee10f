# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""ReductionKernel: kernels that reduce an expression over all indices."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver.reduction import ReductionKernel, c_literal
from cuda.core.driver.tools import get_or_register_dtype

pytestmark = pytest.mark.usefixtures("context")


def test_kernel_computes_a_dot_product():
    dot = ReductionKernel(
        np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]", arguments="float *x, float *y"
    )
    x, y = np.arange(400, dtype="f4"), np.arange(400, dtype="f4")
    found = dot(gpuarray.to_gpu(x), gpuarray.to_gpu(y))
    assert found.shape == () and found.dtype == np.float32
    assert float(found.get()) == pytest.approx(float(np.dot(x, y)))
    assert "ReductionKernel reduce_kernel" in repr(dot)


@pytest.mark.parametrize("size", [1, 31, 256, 257, 5000, 300_001])
def test_every_index_counts_once(size):
    kernel = ReductionKernel(np.int64, "0", "a+b", "x[i] * scale + i", "const int *x, int scale", "counted")
    host = np.arange(size, dtype="i4") % 7
    assert kernel(gpuarray.to_gpu(host), 3).get() == 3 * host.sum(dtype="i8") + size * (size - 1) // 2


def test_elements_are_reduced_if_no_map_is_given():
    largest = ReductionKernel(np.float64, -np.inf, "max(a, b)")
    host = np.array([3.0, -1, 7, 2])
    assert largest(gpuarray.to_gpu(host)).get() == 7
    assert largest(gpuarray.zeros(0, "f8")).get() == -np.inf


def test_result_can_go_into_an_array():
    kernel, x = ReductionKernel(np.int32, 0, "a+b"), gpuarray.arange(10, dtype="i4")
    out = gpuarray.zeros(5, "i4")
    assert kernel(x, out=out[3]).base is out
    assert out.get().tolist() == [0, 0, 0, 45, 0]
    with pytest.raises(ValueError, match="elements of type int32"):
        kernel(x, out=gpuarray.zeros(1, "f4"))
    with pytest.raises(ValueError, match="not 0 of type"):
        kernel(x, out=gpuarray.zeros(0, "i4"))
    with pytest.raises(TypeError, match="out must be"):
        kernel(x, out=np.zeros(1, "i4"))


def test_kernels_use_the_given_stream_and_allocator():
    kernel, x, stream, sizes = ReductionKernel(np.int32, 0, "a+b"), gpuarray.arange(10, dtype="i4"), drv.Stream(), []

    def allocate(nbytes):
        sizes.append(nbytes)
        return drv.mem_alloc(nbytes)

    drv.Context.synchronize()
    assert kernel(x, stream=stream, allocator=allocate).get(stream=stream) == 45 and 4 in sizes


def test_results_can_be_structures_without_operators():
    dtype = np.dtype([("least", "i4"), ("most", "i4"), ("place", "i8")])
    get_or_register_dtype("reduction_extremes", dtype)
    kernel = ReductionKernel(
        dtype,
        neutral="start()",
        reduce_expr="joined(a, b)",
        map_expr="one(x[i], i)",
        arguments="int *x",
        preamble="""
        struct reduction_extremes { int least, most; long place; };
        __device__ reduction_extremes start() { reduction_extremes e = {2147483647, -2147483647, -1}; return e; }
        __device__ reduction_extremes one(int x, long i) { reduction_extremes e = {x, x, i}; return e; }
        __device__ reduction_extremes joined(const reduction_extremes &a, const reduction_extremes &b)
        {
            reduction_extremes e;
            e.least = min(a.least, b.least);
            e.most = max(a.most, b.most);
            const bool is_first = (unsigned long)a.place < (unsigned long)b.place;
            e.place = a.most > b.most || (a.most == b.most && is_first) ? a.place : b.place;
            return e;
        }
        """,
    )
    host = np.random.default_rng(0).integers(-1000, 1000, 20_000).astype("i4")
    found = kernel(gpuarray.to_gpu(host)).get()
    assert found.tolist() == (host.min(), host.max(), host.argmax())


def test_results_can_be_complex():
    kernel = ReductionKernel(
        np.complex64, 0, "a+b", "x[i] * conj(y[i])", "pycuda::complex<float> *x, pycuda::complex<float> *y"
    )
    x = np.array([1 + 1j, 2], "c8")
    assert kernel(gpuarray.to_gpu(x), gpuarray.to_gpu(x)).get() == 6


def test_code_and_arguments_are_checked():
    with pytest.raises(drv.CompileError, match="undeclared"):
        ReductionKernel(np.float32, "0", "a + undeclared")
    with pytest.raises(ValueError, match="has no C name|must be a C identifier"):
        ReductionKernel([("not", "f4"), ("known", "f8")], "0", "a")
    with pytest.raises(TypeError, match="reduce_expr must be a str"):
        ReductionKernel(np.float32, "0", None)
    with pytest.raises(AssertionError, match="at least one array"):
        ReductionKernel(np.float32, "0", "a+b", "k", "int k")
    kernel = ReductionKernel(np.float32, "0", "a+b", "x[i]", "float *x")
    x = gpuarray.zeros((4, 4), "f4")
    with pytest.raises(RuntimeError, match="contiguous"):
        kernel(x[:, ::2])
    with pytest.raises(TypeError, match="takes 1 arguments"):
        kernel(x, x)
    with pytest.raises(TypeError, match="elements of type float32"):
        kernel(x.astype("f8"))


@pytest.mark.parametrize(
    ("number", "dtype", "text"),
    [
        (0, "f4", "(0.0)"),
        (True, "?", "true"),
        (2**64 - 1, "u8", "(18446744073709551615ULL)"),
        (-3, "i4", "(-3LL)"),
        (1 - 2j, "c8", "pycuda::complex<float>(1.0, -2.0)"),
    ],
)
def test_numbers_become_c_literals(number, dtype, text):
    assert c_literal(number, np.dtype(dtype)) == text
    assert "7ff8" in c_literal(float("nan"), np.dtype("f4")) and "-" in c_literal(-np.inf, np.dtype("f4"))
