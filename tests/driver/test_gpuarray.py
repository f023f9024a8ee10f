# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Functions that create, join, select and reduce arrays."""

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import gpuarray
from cuda.core.driver.gpuarray import GPUArray

pytestmark = pytest.mark.usefixtures("context")


def to_gpu(values, dtype=None):
    return gpuarray.to_gpu(np.asarray(values, dtype))


def test_new_arrays_have_the_given_shape_type_and_value():
    assert gpuarray.empty is GPUArray
    assert gpuarray.zeros((2, 3)).get().tolist() == [[0] * 3] * 2
    assert gpuarray.zeros(3).dtype == np.float64
    assert gpuarray.ones(3, np.int16).get().tolist() == [1, 1, 1]
    assert gpuarray.full((2,), 2.5).get().tolist() == [2.5, 2.5]
    assert gpuarray.full(2, 3).dtype == np.int64
    assert gpuarray.zeros((2, 3), "f4", order="F").flags.f_contiguous
    assert gpuarray.zeros(2, [("a", "i4"), ("b", "f4")]).get()[0].tolist() == (0, 0)


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_arrays_like_others_have_their_layout(order):
    host = np.zeros((2, 3, 4), "f4").transpose(2, 0, 1)
    for like, d in (
        (host, gpuarray.to_gpu(host)),
        (np.asfortranarray(host), gpuarray.to_gpu(np.asfortranarray(host))),
        (host[::2], gpuarray.to_gpu(host)[::2]),
    ):
        for name in ("empty_like", "zeros_like", "ones_like"):
            expected = getattr(np, name)(like, dtype="i2", order=order)
            found = getattr(gpuarray, name)(d, dtype="i2", order=order)
            assert found.strides == expected.strides and found.dtype == expected.dtype
            if name != "empty_like":
                assert np.array_equal(found.get(), expected)
    assert gpuarray.full_like(d, 4).get().min() == 4
    with pytest.raises(ValueError, match="order must"):
        gpuarray.empty_like(d, order="X")


def test_to_gpu_accepts_only_arrays():
    with pytest.raises(TypeError, match=r"numpy\.asarray"):
        gpuarray.to_gpu([1, 2, 3])
    with pytest.raises(TypeError, match="Python objects"):
        gpuarray.to_gpu(np.array([None]))


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((10,), {"dtype": "f4"}),
        ((2, 10), {"dtype": "i4"}),
        ((2, 10, 3), {"dtype": "i8"}),
        ((10, 2, -3), {"dtype": "i2"}),
        ((0, 1, 0.125), {"dtype": "f8"}),
        ((5, 1), {"dtype": "u4"}),
        ((0, 3, 1, np.float32), {}),
        ((), {"stop": 4, "dtype": "f2"}),
        ((2,), {"stop": 4, "dtype": "i4"}),
        ((2, 9), {"step": 4, "dtype": "i4"}),
        ((3,), {"dtype": "c8"}),
    ],
)
def test_arange_matches_numpy(args, kwargs):
    expected = np.arange(*args, **kwargs)
    found = gpuarray.arange(*args, **kwargs)
    assert found.dtype == expected.dtype and np.array_equal(found.get(), expected)


def test_arange_without_a_dtype_warns():
    with pytest.warns(UserWarning, match="pass dtype"):
        assert gpuarray.arange(3).dtype == np.int64
    with pytest.warns(UserWarning, match="float64"):
        assert gpuarray.arange(0.5, 3).get().tolist() == [0.5, 1.5, 2.5]
    assert gpuarray.arange(np.float32(3)).dtype == np.float32
    stream = drv.Stream()
    assert gpuarray.arange(3, dtype="i4", stream=stream).get(stream=stream).tolist() == [0, 1, 2]


def test_arange_rejects_invalid_arguments():
    with pytest.raises(TypeError, match="arange takes"):
        gpuarray.arange()
    with pytest.raises(TypeError, match="arange takes"):
        gpuarray.arange(1, 2, 3, "f4", 5)
    with pytest.raises(ValueError, match="step must not be 0"):
        gpuarray.arange(1, 2, 0, dtype="f4")
    with pytest.raises(TypeError, match="dtype of arange must be"):
        gpuarray.arange(3, dtype="?")


def test_reductions_are_arrays_without_dimensions():
    host = np.array([[3, 1, 2], [9, 7, 8]], "i4")
    d = to_gpu(host)
    for name in ("sum", "max", "min"):
        found = getattr(gpuarray, name)(d)
        assert found.shape == () and found.dtype == np.int32 and found.get() == getattr(host, name)()
    assert gpuarray.sum(d, dtype=np.float64).dtype == np.float64
    assert bool(gpuarray.any(d)) and bool(gpuarray.all(d))
    assert gpuarray.dot(d, d).get() == (host * host).sum()
    assert gpuarray.dot(d, d.astype("f4"), dtype="f8").dtype == np.float64
    indices = to_gpu([0, 2, 5], "i4")
    assert gpuarray.subset_sum(indices, d).get() == 3 + 2 + 8
    assert gpuarray.subset_max(indices, d).get() == 8 and gpuarray.subset_min(indices, d).get() == 2
    assert gpuarray.subset_dot(indices, d, d).get() == 9 + 4 + 64


def test_maximum_and_minimum_accept_numbers_and_arrays():
    a, b = np.array([1, 5, np.nan, 2], "f4"), np.array([3, 4, 1, np.nan], "f4")
    d, e = to_gpu(a), to_gpu(b)
    assert np.array_equal(gpuarray.maximum(d, e).get(), np.maximum(a, b), equal_nan=True)
    assert np.array_equal(gpuarray.minimum(d, 2).get(), np.minimum(a, 2), equal_nan=True)
    out = gpuarray.empty_like(d)
    assert gpuarray.maximum(3, e, out=out) is out
    assert np.array_equal(out.get(), np.maximum(3, b), equal_nan=True)
    with pytest.raises(TypeError, match="requires a GPUArray"):
        gpuarray.maximum(1, 2)
    with pytest.raises(TypeError, match="GPUArrays and numbers"):
        gpuarray.maximum(d, "text")


def test_logical_functions_return_booleans():
    a, b = np.array([0, 1, 2, 0.5], "f4"), np.array([1, 0, 3, 0], "i4")
    d, e = to_gpu(a), to_gpu(b)
    for found, expected in (
        (gpuarray.logical_and(d, e), np.logical_and(a, b)),
        (gpuarray.logical_or(d, e), np.logical_or(a, b)),
        (gpuarray.logical_not(d), np.logical_not(a)),
        (gpuarray.logical_not(to_gpu(a + 0j)), np.logical_not(a)),
        (gpuarray.logical_and(d, 1), np.logical_and(a, 1)),
    ):
        assert found.dtype == np.bool_ and np.array_equal(found.get(), expected)
    out = GPUArray(4, bool)
    assert gpuarray.logical_not(d, out) is out and out.get().tolist() == [True, False, False, False]


def test_if_positive_chooses_by_sign():
    c, a, b = np.array([-1, 0, 2, 3], "f4"), np.arange(4, dtype="i4"), np.arange(4, dtype="i4") * 10
    d, t, e = to_gpu(c), to_gpu(a), to_gpu(b)
    assert np.array_equal(gpuarray.if_positive(d, t, e).get(), np.where(c > 0, a, b))
    assert np.array_equal(gpuarray.if_positive(d, 5.0, e).get(), np.where(c > 0, 5, b))
    out = gpuarray.empty_like(t)
    assert gpuarray.if_positive(d, t, 0, out=out) is out and out.get().tolist() == [0, 0, 2, 3]
    with pytest.raises(ValueError, match="shape"):
        gpuarray.if_positive(d, t[:2], e)
    with pytest.raises(ValueError, match="type"):
        gpuarray.if_positive(d, t, e.astype("f8"))
    with pytest.raises(TypeError, match="criterion"):
        gpuarray.if_positive(c, t, e)
    with pytest.raises(TypeError, match="not ordered"):
        gpuarray.if_positive(d.astype("c8"), t, e)


def test_where_chooses_by_truth_value():
    c, a = np.array([[1], [0]], "i4"), np.arange(3, dtype="f4")
    assert np.array_equal(gpuarray.where(to_gpu(c), to_gpu(a), -1).get(), np.where(c, a, np.float32(-1)))
    assert np.array_equal(gpuarray.where(to_gpu(c), 1, 2).get(), np.where(c, 1, 2))
    assert np.array_equal(gpuarray.where(to_gpu(c + 1j), to_gpu(a), 0).get(), np.where(c + 1j, a, np.float32(0)))
    with pytest.raises(TypeError, match="criterion"):
        gpuarray.where([1], 1, 2)
    with pytest.raises(TypeError, match="then_"):
        gpuarray.where(to_gpu(c), "a", 2)


def test_take_reads_elements_by_index():
    host = np.arange(10, dtype="f8") * 1.5
    d = to_gpu(host)
    assert gpuarray.take(d, to_gpu([[3, -1], [0, 3]], "i4")).get().tolist() == [[4.5, 13.5], [0, 4.5]]
    assert gpuarray.take(d, to_gpu([10, -11, 2**31], "i8")).get().tolist() == [0, 0, 0]
    assert gpuarray.take(d, to_gpu([2**32 - 1, 1], "u4")).get().tolist() == [0, 1.5]
    out, stream = GPUArray(2, "f8"), drv.Stream()
    assert gpuarray.take(d, to_gpu([1, 2], "u1"), out, stream) is out
    assert out.get(stream=stream).tolist() == [1.5, 3.0]
    with pytest.raises(ValueError, match="out must have shape"):
        gpuarray.take(d, to_gpu([1, 2, 3], "i4"), out)
    with pytest.raises(TypeError, match="integer elements"):
        gpuarray.take(d, d)
    with pytest.raises(TypeError, match="indices must be"):
        gpuarray.take(d, [1, 2])
    with pytest.raises(TypeError, match="out must be"):
        gpuarray.take(d, to_gpu([1], "i4"), host)


def test_put_writes_elements_by_index():
    d = gpuarray.zeros(6, "f4")
    gpuarray.put(d, to_gpu([1, -1, 99], "i4"), to_gpu([5, 6, 7], "f4"))
    assert d.get().tolist() == [0, 5, 0, 0, 0, 6]
    with pytest.raises(ValueError, match="values must have"):
        gpuarray.put(d, to_gpu([1], "i4"), to_gpu([5.0]))
    with pytest.raises(ValueError, match="C-contiguous"):
        gpuarray.put(d[::2], to_gpu([1], "i4"), to_gpu([5], "f4"))


def test_several_arrays_are_taken_and_put_together():
    a, b = to_gpu([10, 11, 12, 13], "i4"), to_gpu([0.5, 1.5, 2.5, 3.5], "f4")
    source, dest = to_gpu([3, 0], "i4"), to_gpu([0, 4], "i4")
    taken = gpuarray.multi_take([a, b], source)
    assert [item.get().tolist() for item in taken] == [[13, 10], [3.5, 0.5]]
    assert gpuarray.multi_take([a], source, [taken[0]])[0] is taken[0]
    put = gpuarray.multi_put(taken, dest, dest_shape=(6,))
    assert [item.get().tolist() for item in put] == [[13, 0, 0, 0, 10, 0], [3.5, 0, 0, 0, 0.5, 0]]
    both = gpuarray.multi_take_put([a, b], dest, to_gpu([0, 1], "i4"), dest_shape=5, src_offsets=[1, 2])
    assert [item.get().tolist() for item in both] == [[11, 0, 0, 0, 12], [2.5, 0, 0, 0, 3.5]]
    assert gpuarray.multi_take_put([a], dest, source, out=[put[0]])[0] is put[0]
    with pytest.raises(ValueError, match="dest_indices and src_indices must have the same shape"):
        gpuarray.multi_take_put([a], dest, to_gpu([0], "i4"), dest_shape=5)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_arrays_are_joined(axis):
    a, b = np.arange(12, dtype="i4").reshape(3, 4), np.arange(12, dtype="f4").reshape(3, 4) * 2
    d, e = to_gpu(a), to_gpu(b)
    for found, expected in (
        (gpuarray.concatenate([d, e, d], axis), np.concatenate([a, b, a], axis)),
        (gpuarray.stack([d, e], axis), np.stack([a, b], axis)),
        (gpuarray.concatenate((d.T, e.T), axis), np.concatenate((a.T, b.T), axis)),
    ):
        assert found.dtype == expected.dtype and np.array_equal(found.get(), expected)


def test_arrays_whose_shapes_do_not_match_are_not_joined():
    a = gpuarray.zeros((3, 4), "f4")
    with pytest.raises(ValueError, match="does not match"):
        gpuarray.concatenate([a, gpuarray.zeros((3, 5), "f4")])
    with pytest.raises(ValueError, match="must have the first array's shape"):
        gpuarray.stack([a, gpuarray.zeros((3, 5), "f4")])
    with pytest.raises(ValueError, match="at least one"):
        gpuarray.concatenate([])
    with pytest.raises(ValueError, match="0-d array"):
        gpuarray.concatenate([a[0, 0]])
    with pytest.raises(TypeError, match="GPUArrays"):
        gpuarray.stack([a, np.zeros((3, 4))])
    with pytest.raises(ValueError, match="axis"):
        gpuarray.concatenate([a], 2)


def test_transpose_and_reshape_are_functions():
    d = to_gpu(np.arange(6, dtype="i4").reshape(2, 3))
    assert gpuarray.transpose(d).shape == (3, 2) and gpuarray.transpose(d, (0, 1)).shape == (2, 3)
    assert gpuarray.reshape(d, 3, 2).shape == gpuarray.reshape(d, (3, -1)).shape == (3, 2)


class Foreign:
    """An array of another library."""

    def __init__(self, array):
        self._array = array

    @property
    def __cuda_array_interface__(self):
        return self._array.__cuda_array_interface__


def test_arrays_of_other_libraries_are_viewed():
    d = to_gpu(np.arange(6, dtype="f4").reshape(2, 3))
    view = gpuarray.as_gpuarray(Foreign(d[:, ::2]))
    assert view.shape == (2, 2) and view.get().tolist() == [[0, 2], [3, 5]]
    assert gpuarray.as_gpuarray(d) is d
    structured = to_gpu(np.zeros(3, [("a", "i4"), ("b", "f4")]))
    assert gpuarray.as_gpuarray(Foreign(structured)).dtype == structured.dtype
    with pytest.raises(TypeError, match="must be a GPUArray"):
        gpuarray.as_gpuarray(np.zeros(3))
    with pytest.raises(TypeError, match="__dlpack__"):
        gpuarray.from_dlpack([1, 2])
    with pytest.raises(BufferError, match="must be device memory"):
        gpuarray.from_dlpack(np.zeros(3))
