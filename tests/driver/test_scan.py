# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Scan kernels: running results of an associative operation."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver.scan import BLOCK, ExclusiveScanKernel, InclusiveScanKernel, Scan
from cuda.core.driver.tools import get_or_register_dtype

pytestmark = pytest.mark.usefixtures("context")


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 1023, 1024, 1025, 2048, 70_001, 1_100_000])
def test_scans_compute_running_sums(size):
    host = np.random.default_rng(size).integers(-9, 10, size).astype("i8")
    d, expected = gpuarray.to_gpu(host), np.cumsum(host)
    inclusive, exclusive = InclusiveScanKernel(np.int64, "a+b"), ExclusiveScanKernel(np.int64, "a+b", "0")
    found = inclusive(d, "new")
    assert found is not d and np.array_equal(found.get(), expected)
    out = gpuarray.empty_like(d)
    assert exclusive(d, out) is out and np.array_equal(out.get(), expected - host)
    assert inclusive(d) is d and np.array_equal(d.get(), expected)


def test_operands_keep_their_order():
    # Affine maps: applying one after another is associative, and not commutative.
    dtype = np.dtype([("factor", "u4"), ("offset", "u4")])
    get_or_register_dtype("scan_affine", dtype)
    preamble = """
    struct scan_affine { unsigned int factor, offset; };
    __device__ scan_affine after(scan_affine a, scan_affine b)
    { scan_affine r = { a.factor * b.factor, a.offset * b.factor + b.offset }; return r; }
    """
    rng = np.random.default_rng(0)
    host = np.zeros(5000, dtype)
    host["factor"], host["offset"] = rng.integers(1, 2**31, 5000), rng.integers(0, 2**31, 5000)
    expected, factor, offset = [], 1, 0
    before = []
    for f, o in host.tolist():
        before.append((factor, offset))
        factor, offset = factor * f % 2**32, (offset * f + o) % 2**32
        expected.append((factor, offset))
    inclusive = InclusiveScanKernel(dtype, "after(a, b)", preamble=preamble)
    assert inclusive(gpuarray.to_gpu(host), "new").get().tolist() == expected
    exclusive = ExclusiveScanKernel(dtype, "after(a, b)", "scan_affine{1, 0}", preamble=preamble)
    assert exclusive(gpuarray.to_gpu(host)).get().tolist() == before


@pytest.mark.parametrize("dtype", ["i4", "f4", "f8", "c16"])
def test_scans_compute_running_sums_of_other_types(dtype):
    host = (np.arange(3000) % 5).astype(dtype)
    found = InclusiveScanKernel(dtype, "a+b", name_prefix="sums")(gpuarray.to_gpu(host))
    assert np.array_equal(found.get(), np.cumsum(host, dtype=dtype))


def test_exclusive_scan_computes_the_running_maximum():
    host = np.random.default_rng(1).standard_normal(4000).astype("f4")
    kernel = ExclusiveScanKernel(np.float32, "max(a, b)", -np.inf)
    found = kernel(gpuarray.to_gpu(host), "new").get()
    assert found[0] == -np.inf and np.array_equal(found[1:], np.maximum.accumulate(host)[:-1])


def test_scans_use_the_given_stream_and_allocator():
    stream, sizes = drv.Stream(), []

    def allocate(nbytes):
        sizes.append(nbytes)
        return drv.mem_alloc(nbytes)

    kernel = InclusiveScanKernel(np.int32, "a+b")
    d = gpuarray.to_gpu_async(np.ones(5000, "i4"), stream=stream)
    for names in ({"stream": stream}, {"queue": stream}):
        found = kernel(d, "new", allocate, **names)
        assert found.get(stream=stream)[-1] == 5000 and 20_000 in sizes
    with pytest.raises(TypeError, match="stream and queue are mutually exclusive"):
        kernel(d, stream=stream, queue=stream)


def test_empty_array_is_returned_as_it_is():
    d = gpuarray.zeros(0, "i4")
    assert InclusiveScanKernel(np.int32, "a+b")(d) is d


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="neutral must be given"):
        ExclusiveScanKernel(np.int32, "a+b")
    with pytest.raises(TypeError, match="scan_expr must be a str"):
        InclusiveScanKernel(np.int32, None)
    with pytest.raises(drv.CompileError, match="undeclared"):
        InclusiveScanKernel(np.int32, "a + undeclared")
    kernel, d = InclusiveScanKernel(np.int32, "a+b"), gpuarray.zeros(8, "i4")
    assert "InclusiveScanKernel scan of int32" in repr(kernel)
    with pytest.raises(TypeError, match="input_ary must be"):
        kernel(np.zeros(3, "i4"))
    with pytest.raises(ValueError, match="type int32"):
        kernel(gpuarray.zeros(3, "f4"))
    with pytest.raises(ValueError, match="contiguous and one-dimensional"):
        kernel(d[::2])
    with pytest.raises(ValueError, match="contiguous and one-dimensional"):
        kernel(d.reshape(2, 4))
    with pytest.raises(ValueError, match="must have shape"):
        kernel(d, gpuarray.zeros(7, "i4"))
    with pytest.raises(ValueError, match="must not overlap"):
        kernel(d[1:], d[:-1])
    with pytest.raises(TypeError, match="output_ary must be"):
        kernel(d, "old")


def test_sums_of_many_tiles_are_scanned_in_tiles_again():
    scan = Scan("deep", "long", 8, "a + b", None, "", "", None, False)
    size = scan.tile**2 + 5
    d, sizes, memory = gpuarray.zeros(size, "i8").fill(1), [], []

    def allocate(nbytes):
        sizes.append(nbytes)
        memory.append(gpuarray.GPUArray(nbytes, "u1"))
        return memory[-1], memory[-1].ptr

    kept = scan.launch(
        "sm_{}{}".format(*drv.Context.get_device().compute_capability()), None, size, d.ptr, d.ptr, allocate
    )
    assert sizes == [8 * (scan.tile + 1), 16] and kept == memory
    host = d.get()
    assert host[-1] == size and (np.diff(host) == 1).all()


def test_wide_elements_have_smaller_tiles():
    tiles = [Scan("s", "t", itemsize, "a", None, "", "", None, False).tile for itemsize in (1, 8, 16, 64, 200)]
    assert tiles == [BLOCK * items for items in (8, 8, 4, 1, 1)]
