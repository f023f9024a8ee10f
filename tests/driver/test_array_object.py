# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Methods of arrays."""

import copy
import pickle

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver.gpuarray import GPUArray

pytestmark = pytest.mark.usefixtures("context")

HOST = np.arange(24, dtype="f4").reshape(2, 3, 4)


def same(found, expected):
    assert found.shape == expected.shape and found.dtype == expected.dtype
    assert np.array_equal(found.get(), expected)


@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_reshape_matches_numpy(order):
    for view in (lambda a: a, lambda a: a.T, lambda a: a[:, ::2]):
        host, d = view(HOST), view(gpuarray.to_gpu(HOST))
        size = host.size
        for shape in ((size,), (-1, 2), (2, size // 2)):
            expected = host.reshape(shape, order=order)
            same(d.reshape(shape, order=order), expected)
            same(d.reshape(*shape, order=order), expected)


def test_reshape_shares_memory_where_it_can():
    d = gpuarray.to_gpu(HOST)
    view = d.reshape(6, 4)
    view[0] = 9
    assert (d.get()[0, 0] == 9).all()
    assert d.ravel().ptr == d.ptr and d.T.ravel().ptr != d.ptr
    same(d.T.ravel(), d.get().T.ravel())
    same(gpuarray.zeros((0, 3), "f4").ravel(), np.zeros(0, "f4"))
    with pytest.raises(ValueError, match="cannot reshape"):
        d.reshape(5, 5)
    with pytest.raises(ValueError, match="order must"):
        d.reshape(24, order="X")


def test_transpose_and_squeeze_match_numpy():
    d = gpuarray.to_gpu(HOST)
    same(d.T, HOST.T)
    same(d.transpose(1, 0, 2), HOST.transpose(1, 0, 2))
    same(d.transpose((2, 0, 1)), HOST.transpose(2, 0, 1))
    same(d.transpose([-1, 0, 1]), HOST.transpose(-1, 0, 1))
    same(d[:, :1].squeeze(), HOST[:, :1].squeeze())
    for axes in ((0, 1), (0, 0, 1), (0, 1, 3)):
        with pytest.raises(ValueError, match=r"axes|axis"):
            d.transpose(axes)


def test_view_reinterprets_contiguous_elements():
    d = gpuarray.to_gpu(HOST)
    same(d.view("u4"), HOST.view("u4"))
    same(d.view("u1"), HOST.view("u1"))
    same(d.view("f8"), HOST.view("f8"))
    same(d.T.view("i2"), np.asfortranarray(HOST.T).T.view("i2").T.copy("A"))
    assert d.view().ptr == d.ptr
    with pytest.raises(ValueError, match="must be contiguous|cannot be viewed|viewed as"):
        d[..., :3].view("f8")
    with pytest.raises(ValueError, match="must be contiguous to be viewed"):
        d[..., ::2].view("f8")
    with pytest.raises(ValueError, match="cannot be viewed"):
        d[0, 0, 0].view("f8")


def test_indexing_returns_views():
    d = gpuarray.to_gpu(HOST)
    for key in (0, (1, 2, 3), (slice(None), -1), (Ellipsis, 1), None, (1, slice(2, 0, -1), slice(None, None, 2))):
        same(d[key], np.asarray(HOST[key]))
    d[0][1] = 5
    assert (d.get()[0, 1] == 5).all()
    assert [row.shape for row in d] == [(3, 4), (3, 4)]
    with pytest.raises(IndexError):
        d[2]
    with pytest.raises(TypeError, match="0-d array"):
        iter(d[0, 0, 0])


def test_length_and_truth_value_match_numpy():
    d = gpuarray.to_gpu(HOST)
    assert len(d) == 2 and bool(d[0, 0, 1]) and not d[0, 0, 0]
    with pytest.raises(TypeError, match="0-d array"):
        len(d[0, 0, 0])
    with pytest.raises(ValueError, match="ambiguous"):
        bool(d)


def test_array_of_one_element_converts_to_a_number():
    d = gpuarray.to_gpu(np.array([2.75]))
    assert (d.item(), float(d), int(d), complex(d)) == (2.75, 2.75, 2, 2.75 + 0j)
    with pytest.raises(ValueError, match="the array must have one element, not "):
        gpuarray.zeros(3, "f4").item()


def test_str_and_repr_match_the_host_copy():
    d = gpuarray.to_gpu(HOST)
    assert str(d) == str(HOST) and repr(d) == repr(HOST)


def test_arrays_have_no_hash():
    with pytest.raises(TypeError, match="unhashable"):
        hash(gpuarray.zeros(3, "f4"))


@pytest.mark.parametrize(
    "host", [HOST, HOST.T, np.zeros((0, 3), "i2"), np.array(5.0)], ids=lambda host: str(host.shape)
)
def test_pickles_and_copies_have_the_values(host):
    d = gpuarray.to_gpu(host)
    for again in (pickle.loads(pickle.dumps(d)), copy.copy(d), copy.deepcopy(d), d.copy()):
        same(again, host)
        assert again.strides == d.strides or not host.size
        assert again.ptr != d.ptr or not host.size


def test_copies_of_views_are_packed():
    d = gpuarray.to_gpu(HOST)
    same(d[:, ::2, 1:].copy(), HOST[:, ::2, 1:])
    assert d[:, ::2, 1:].copy().flags.c_contiguous
    assert d.T.copy().strides == d.T.strides


def test_conversion_to_numpy_makes_a_copy():
    d = gpuarray.to_gpu(HOST)
    assert np.array_equal(np.asarray(d), HOST)
    assert np.asarray(d, dtype="f8").dtype == np.float64
    with pytest.raises(ValueError, match="must be copied"):
        np.array(d, copy=False)


def test_elements_are_reversed():
    same(gpuarray.to_gpu(HOST[0, 0]).reverse(), HOST[0, 0, ::-1])
    same(gpuarray.to_gpu(HOST).reverse(), HOST[::-1, ::-1, ::-1])


def test_real_imag_and_conj_of_complex_arrays():
    host = np.array([[1 + 2j, 3 - 4j], [5j, 6]], "c8")
    d = gpuarray.to_gpu(host)
    same(d.real, host.real.copy())
    same(d.imag, host.imag.copy())
    same(d.conj(), host.conj())
    same(d[:, 1].imag, host[:, 1].imag.copy())
    assert d.real.flags.c_contiguous
    out = gpuarray.empty_like(d)
    assert d.conjugate(out) is out and np.array_equal(out.get(), host.conj())


def test_real_imag_and_conj_of_real_arrays():
    d = gpuarray.to_gpu(HOST)
    assert d.real is d and d.conj() is d
    same(d.imag, np.zeros_like(HOST))


def test_mul_add_computes_a_weighted_sum():
    a, b = HOST, HOST[::-1].copy()
    d, e = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    same(d.mul_add(2, e, 0.5), 2 * a + np.float32(0.5) * b)
    same(d.mul_add(2, e.astype("f8"), 3), (2 * a + 3 * b).astype("f8"))
    out, stream = gpuarray.empty_like(d), drv.Stream()
    assert d.mul_add(1, e, -1, stream=stream, out=out) is out
    stream.synchronize()
    same(out, a - b)
    with pytest.raises(TypeError, match="other must be"):
        d.mul_add(1, 2, 3)
    with pytest.raises(TypeError, match="selffac"):
        d.mul_add("2", e, 3)


def test_any_and_all_are_arrays_of_one_boolean():
    d = gpuarray.to_gpu(HOST)
    assert d.any().dtype == np.bool_ and d.any().shape == ()
    assert bool(d.any()) and not d.all() and bool((d + 1).all())
    assert not gpuarray.zeros(3, "f4").any() and bool(gpuarray.zeros(0, "f4").all())


def test_reductions_along_axes():
    d = gpuarray.to_gpu(HOST)
    same(d.sum(axis=1), HOST.sum(axis=1))
    same(d.max(axis=(0, 2)), HOST.max(axis=(0, 2)))
    same(d.min(axis=-1, keepdims=True), HOST.min(axis=-1, keepdims=True))
    assert float(d.sum()) == HOST.sum()


def test_results_of_a_subclass_have_its_type():
    class Mine(GPUArray):
        pass

    d = Mine(3, "f4").fill(1)
    assert type(d + d) is type(d[1:]) is type(d.copy()) is type(d * 2) is Mine


def test_allocator_may_return_an_address():
    pool = drv.mem_alloc(4096)
    d = GPUArray(8, "f4", allocator=lambda nbytes: int(pool)).fill(4)
    assert d.get().tolist() == [4] * 8
