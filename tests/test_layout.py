# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Layouts, compared with the shapes and strides of NumPy arrays."""

import pickle
import random

import numpy as np
import pytest

from support.contract import _StridedLayout as Layout


def layout_of(array):
    """Return the layout of a NumPy array."""
    return Layout(array.shape, array.strides, array.itemsize, divide_strides=True)


def random_array(rng):
    shape = tuple(rng.randint(1, 4) for _ in range(rng.randint(1, 4)))
    array = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    array = array.transpose(rng.sample(range(array.ndim), array.ndim))
    if rng.random() < 0.5:
        array = array[tuple(slice(None, None, rng.choice([1, 2])) for _ in range(array.ndim))]
    return array


@pytest.fixture(params=range(25))
def array(request):
    return random_array(random.Random(request.param))


@pytest.mark.requires(cuda=(12, 4))
def test_dense_layouts_have_the_strides_of_their_order():
    assert Layout.dense((5, 3, 7), 1).strides == (21, 7, 1)
    assert Layout.dense((5, 3, 7), 1, "F").strides == (1, 5, 15)
    assert Layout.dense((5, 3, 7), 1, (2, 0, 1)).strides == (3, 1, 15)
    assert Layout.dense((5, 3, 7), 1, (2, 0, 1)).stride_order == (2, 0, 1)


def test_implicit_strides_equal_explicit_c_strides():
    assert Layout((5, 3), None, 4).strides is None
    assert Layout((5, 3), None, 4) == Layout((5, 3), (3, 1), 4)
    assert Layout((5, 3), None, 4).is_contiguous_c


def test_flags_agree_with_numpy(array):
    layout = layout_of(array)
    assert layout.is_contiguous_c == array.flags.c_contiguous
    assert layout.is_contiguous_f == array.flags.f_contiguous
    assert layout.volume == array.size
    assert layout.strides_in_bytes == array.strides
    assert layout.required_size_in_bytes() == (
        sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True)) + 4
    )


def test_unique_and_dense_agree_with_the_set_of_offsets(array):
    layout = layout_of(array)
    offsets = [sum(i * s for i, s in zip(index, layout.strides, strict=True)) for index in np.ndindex(array.shape)]
    assert layout.is_unique == (len(set(offsets)) == len(offsets))
    assert layout.is_dense == (sorted(offsets) == list(range(len(offsets))))
    assert layout.offset_bounds == (min(offsets), max(offsets))


def test_permuting_agrees_with_numpy(array):
    order = tuple(reversed(range(array.ndim)))
    assert layout_of(array).permuted(order) == layout_of(array.transpose(order))


def test_slicing_agrees_with_numpy(array):
    rng = random.Random(array.size)
    item = tuple(rng.choice([slice(None), slice(None, None, -1), slice(1, None), 0, -1]) for _ in range(array.ndim))
    part = array[item]
    layout = layout_of(array)[item]
    assert layout.shape == part.shape
    if part.size:
        assert (
            layout.slice_offset_in_bytes == part.__array_interface__["data"][0] - array.__array_interface__["data"][0]
        )
        kept = [k for k, n in enumerate(part.shape) if n > 1]
        assert [layout.strides_in_bytes[k] for k in kept] == [part.strides[k] for k in kept]


def test_broadcasting_agrees_with_numpy():
    array = np.zeros((3, 1, 4), np.int16)
    assert layout_of(array).broadcast_to((2, 3, 5, 4)) == layout_of(np.broadcast_to(array, (2, 3, 5, 4)))


@pytest.mark.parametrize("shape", [(24,), (2, 12), (4, -1), (2, 3, 4), (1, 24, 1), (2, 3, 2, 2)])
def test_reshaping_agrees_with_numpy(shape):
    array = np.arange(24, dtype=np.int64).reshape(4, 6)
    assert layout_of(array).reshaped(shape) == layout_of(array.reshape(shape))


def test_reshaping_that_would_copy_is_rejected():
    with pytest.raises(ValueError, match="without a copy"):
        layout_of(np.zeros((4, 6)).T).reshaped((24,))


def test_reshaping_splits_a_strided_axis():
    part = np.arange(24)[::2]
    assert layout_of(part).reshaped((3, 4)).strides == (8, 2)


def random_shape_of_volume(rng, volume):
    shape = []
    while volume > 1 and len(shape) < 5:
        factor = rng.choice([n for n in range(1, volume + 1) if volume % n == 0])
        shape.append(factor)
        volume //= factor
    return (*shape, volume)


def test_reshaping_copies_nothing_where_numpy_copies_nothing(array):
    rng = random.Random(array.size)
    for _ in range(10):
        shape = random_shape_of_volume(rng, array.size)
        expected = array.reshape(shape)
        if np.shares_memory(expected, array):
            reshaped = layout_of(array).reshaped(shape)
            kept = [k for k, n in enumerate(shape) if n > 1]
            assert [reshaped.strides_in_bytes[k] for k in kept] == [expected.strides[k] for k in kept]
        else:
            with pytest.raises(ValueError, match="without a copy"):
                layout_of(array).reshaped(shape)


def test_broadcasting_at_random_agrees_with_numpy(array):
    rng = random.Random(array.size)
    shape = tuple(rng.randint(2, 4) if n == 1 else n for n in array.shape)
    shape = (rng.randint(1, 3), *shape)
    expected = np.broadcast_to(array, shape)
    layout = layout_of(array).broadcast_to(shape)
    kept = [k for k, n in enumerate(shape) if n > 1]
    assert [layout.strides_in_bytes[k] for k in kept] == [expected.strides[k] for k in kept]


def test_repr_has_the_offset_of_a_slice():
    assert repr(Layout((3,), None, 4)) == "_StridedLayout(shape=(3,), strides=None, itemsize=4)"
    assert repr(Layout((3,), (2,), 4)[1:]) == "_StridedLayout(shape=(2,), strides=(2,), itemsize=4, slice_offset=2)"


def test_integers_of_numpy_are_taken():
    layout = Layout((np.int64(3), np.int32(2)), (np.int64(2), 1), 4)
    assert (layout.shape, layout.strides) == ((3, 2), (2, 1))
    assert {type(n) for n in layout.shape + layout.strides} == {int}


def test_flattening_merges_contiguous_axes():
    layout = Layout.dense((2, 3, 4), 4)
    assert layout.flattened() == Layout((24,), (1,), 4)
    assert layout.flattened(1) == Layout((2, 12), (12, 1), 4)
    assert layout.flattened_axis_mask() == 0b110
    assert Layout((2, 3, 4), (100, 4, 1), 4).flattened() == Layout((2, 12), (100, 1), 4)
    assert layout.flattened(mask=0b010) == Layout((6, 4), (4, 1), 4)


def test_squeezing_and_unsqueezing_are_opposites():
    layout = Layout.dense((3, 4), 8)
    assert layout.unsqueezed((0, 2)).shape == (1, 3, 1, 4)
    assert layout.unsqueezed((0, 2)).squeezed() == layout
    assert Layout((3, 0, 1), None, 8).squeezed() == Layout((0,), (0,), 8)


def test_repacking_changes_the_item_size():
    layout = Layout.dense((3, 8), 2)
    assert layout.repacked(8) == Layout((3, 2), (2, 1), 8)
    assert layout.repacked(1) == Layout((3, 16), (16, 1), 1)
    assert layout.repacked(16, keep_dim=False) == Layout((3,), (1,), 16)
    assert layout.max_compatible_itemsize() == 16
    assert layout.max_compatible_itemsize(data_ptr=4) == 4


def test_dense_like_keeps_the_order():
    layout = Layout((4, 6), (1, 10), 4)
    assert Layout.dense_like(layout) == Layout.dense((4, 6), 4, "F")
    assert layout.to_dense("C") == Layout.dense((4, 6), 4)


REJECTED = {
    "list as shape": (lambda: Layout([1], None, 4), TypeError),
    "list as strides": (lambda: Layout((1,), [1], 4), TypeError),
    "broken extent": (lambda: Layout((1.5,), None, 4), TypeError),
    "broken stride": (lambda: Layout((1,), (1.5,), 4), TypeError),
    "negative extent of NumPy": (lambda: Layout((np.int64(-1),), None, 4), ValueError),
    "negative extent": (lambda: Layout((-1,), None, 4), ValueError),
    "item size zero": (lambda: Layout((1,), None, 0), ValueError),
    "too few strides": (lambda: Layout((1, 2), (1,), 4), ValueError),
    "indivisible byte strides": (lambda: Layout((2,), (3,), 4, divide_strides=True), ValueError),
    "too many axes": (lambda: Layout((1,) * 65, None, 4), ValueError),
    "unknown order": (lambda: Layout.dense((2, 3), 4, "X"), ValueError),
    "no permutation": (lambda: Layout.dense((2, 3), 4, (0, 0)), ValueError),
    "K without a model": (lambda: Layout.dense((2, 3), 4, "K"), ValueError),
    "permutation of others": (lambda: Layout.dense((2, 3), 4).permuted((0, 2)), ValueError),
    "index out of range": (lambda: Layout.dense((2,), 4)[2], ValueError),
    "too many indices": (lambda: Layout.dense((2,), 4)[0, 0], ValueError),
    "ellipsis": (lambda: Layout.dense((2,), 4)[...], TypeError),
    "other volume": (lambda: Layout.dense((2, 3), 4).reshaped((7,)), ValueError),
    "indivisible volume": (lambda: Layout.dense((2, 3), 4).reshaped((4, -1)), ValueError),
    "two unknowns": (lambda: Layout.dense((2, 3), 4).reshaped((-1, -1)), ValueError),
    "incompatible broadcast": (lambda: Layout.dense((2, 3), 4).broadcast_to((2, 4)), ValueError),
    "repeated new axis": (lambda: Layout.dense((2, 3), 4).unsqueezed((0, 0)), ValueError),
    "indivisible extent": (lambda: Layout.dense((2, 3), 4).repacked(16), ValueError),
    "axis out of range": (lambda: Layout.dense((2, 3), 4).repacked(2, axis=2), ValueError),
    "an item size above the largest one": (lambda: Layout((4,), None, 4).max_compatible_itemsize(2), ValueError),
    "reach before the base": (lambda: Layout((3,), (-1,), 4).required_size_in_bytes(), ValueError),
    "pickle": (lambda: pickle.dumps(Layout((3,), None, 4)), TypeError),
    "hash": (lambda: hash(Layout((3,), None, 4)), TypeError),
}


@pytest.mark.parametrize("case", REJECTED)
def test_bad_arguments_are_rejected(case):
    call, error = REJECTED[case]
    with pytest.raises(error):
        call()


EMPTY = {
    "sliced": Layout((3, 4), (4, 1), 2)[1:1],
    "sliced twice": Layout((6,), None, 2)[1:][3:1],
    "permuted": Layout((0, 4), None, 2).permuted((1, 0)),
    "reshaped": Layout((0, 4), None, 2).reshaped((2, -1, 3)),
    "broadcast": Layout((1, 4), (4, 1), 2).broadcast_to((0, 4)),
    "dense": Layout.dense((3, 0), 2, "F"),
    "flattened": Layout((1, 2, 0, 4), None, 2).flattened(),
    "squeezed": Layout.dense((1, 0, 3), 2).squeezed(),
    "unsqueezed": Layout((0, 4), None, 2).unsqueezed((0, 3)),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_without_elements_all_strides_are_zero(kind):
    layout = EMPTY[kind]
    assert layout.strides == (0,) * layout.ndim
    assert layout.volume == 0
    assert layout.offset_bounds == (0, -1)


UNCHANGED = {
    "unsqueezed by no axes": lambda layout: layout.unsqueezed(()),
    "repacked with the same size": lambda layout: layout.repacked(4),
    "dense in C order": lambda layout: layout.to_dense("C"),
    "dense in its own order": lambda layout: layout.to_dense(),
    "dense like itself": Layout.dense_like,
}


@pytest.mark.parametrize("kind", UNCHANGED)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0, 3)], ids=str)
def test_implicit_strides_stay_implicit_if_nothing_changes(kind, shape):
    layout = UNCHANGED[kind](Layout(shape, None, 4))
    assert (layout.shape, layout.strides) == (shape, None)


@pytest.mark.parametrize("shape", [(), (5,)], ids=str)
def test_implicit_strides_of_one_axis_are_also_in_fortran_order(shape):
    assert Layout(shape, None, 4).to_dense("F").strides is None


def test_layout_dense_in_the_requested_order_keeps_its_strides():
    assert Layout.dense((16, 6, 1, 6), 2, (3, 1, 2, 0)).to_dense("F").strides == (1, 16, 16, 96)
    assert Layout((1,), (24,), 8).to_dense("C").strides == (24,)
    assert Layout((6,), (1,), 8)[2:].to_dense("C").slice_offset == 0


@pytest.mark.parametrize(
    ("layout", "order"),
    [
        (Layout.dense((1, 6), 1, "F"), (1, 0)),
        (Layout((2, 3), (0, 1), 4), (1, 0)),
        (Layout((2, 2, 2), (4, 4, 4), 4), (0, 1, 2)),
        (Layout((0, 16, 3), (0, 0, 0), 4), (1, 2, 0)),
        (Layout((1, 6), None, 4), (0, 1)),
        (Layout((3, 2), (-1, 5), 4), (1, 0)),
    ],
)
def test_axes_of_equal_strides_are_ordered_by_extent(layout, order):
    assert layout.stride_order == order


def test_new_axes_have_the_strides_of_numpy():
    rng = random.Random(8)
    for _ in range(200):
        array = random_array(rng)
        if 1 in array.shape:
            continue  # NumPy also changes the strides of axes of extent 1
        count = rng.randint(1, 3)
        axes = tuple(rng.sample(range(array.ndim + count), count))
        assert layout_of(array).unsqueezed(axes).strides_in_bytes == np.expand_dims(array, axes).strides


def test_flattening_without_axes_returns_one_axis():
    for layout in (Layout((), None, 8).flattened(), Layout((), None, 8).flattened(mask=0)):
        assert (layout.shape, layout.strides) == ((1,), (1,))
    with pytest.raises(ValueError, match="axis 0 is out of range for 0 axes"):
        Layout((), None, 8).flattened(0, 0)


def test_all_axes_merge_if_there_are_no_elements():
    layout = Layout((1, 2, 3, 0, 5), None, 4)
    assert layout.flattened_axis_mask() == 0b11110
    assert layout.flattened().shape == (0,)


def test_mask_merges_only_contiguous_axes():
    layout = Layout((2, 3, 4), (12, 4, 1), 4)
    assert layout.flattened(mask=0b110).shape == (24,)
    assert Layout((2, 3, 4), (24, 8, 1), 4).flattened(mask=0b110).shape == (6, 4)
    unit = Layout.dense((1, 6, 1, 4), 1, (2, 3, 1, 0)).flattened(mask=0b1100)
    assert (unit.shape, unit.strides) == ((1, 6, 4), (1, 1, 6))


@pytest.mark.parametrize(
    ("layout", "size"),
    [
        (Layout((12,), None, 1), 4),
        (Layout((16, 5, 4, 6), None, 2), 4),
        (Layout((16,), None, 3), 16),
        (Layout((5,), (2,), 4), 4),
        (Layout((5,), (-1,), 1), 1),
        (Layout((0,), None, 1), 1),
        (Layout((4, 6), (7, 1), 2), 2),
        (Layout((4, 6), (8, 1), 2)[:, 2:], 4),
    ],
)
def test_largest_item_size_is_a_power_of_two(layout, size):
    assert layout.max_compatible_itemsize() == size
    assert layout.repacked(size).itemsize == size


def test_largest_item_size_fits_random_layouts():
    rng = random.Random(9)
    for _ in range(500):
        array = random_array(rng)
        if array.ndim == 0:
            continue
        layout, axis = layout_of(array), rng.randrange(array.ndim)
        address = rng.choice([0, 2, 4, 8])
        size = layout.max_compatible_itemsize(16, address, axis)
        if size != layout.itemsize:
            repacked = layout.repacked(size, address, axis)
            assert repacked.volume * size == layout.volume * layout.itemsize
            assert size & (size - 1) == 0
            assert address % size == 0
        if 2 * size <= 16 and 2 * size != layout.itemsize and layout.strides[axis] == 1:
            with pytest.raises(ValueError, match="cannot be read"):
                layout.repacked(2 * size, address, axis)


def test_reshaping_to_the_same_shape_keeps_the_strides():
    assert Layout.dense((2, 1), 1, (1, 0)).reshaped((2, 1)).strides == (1, 2)
    assert Layout((6,), (4,), 8).reshaped((2, 1, 3, 1)).strides == (12, 12, 4, 4)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (((2,), None, 0.5), TypeError, "itemsize must be an int, but has a float: 0.5"),
        (((2,), None, 2**63), OverflowError, "itemsize must be below 2..63, not 9223372036854775808"),
        (((2,), None, 10**5000), OverflowError, "itemsize must be below 2..63, not an int of 16610 bits"),
        (((2,), None, -(10**5000)), ValueError, "itemsize must be positive, not an int of 16610 bits"),
        (((2**63,), None, 1), OverflowError, "must have extents below 2..63"),
        (((2**70, 0), None, 1), OverflowError, "must have extents below 2..63"),
        (((2**62, 2**62, 0), None, 1), ValueError, "larger than the address space"),
        (((2, 2), (2**62, 1), 4), ValueError, "larger than the address space"),
        (((1,), (2**63,), 1), OverflowError, "strides must be from -2..63 to"),
        (((1,), ("a",), 1), TypeError, "strides must be a tuple of int, but has a str"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_numbers_out_of_range_are_rejected(arguments, error, message):
    with pytest.raises(error, match=message):
        Layout(*arguments)


def test_layouts_are_not_broadcast_past_the_address_space():
    layout = Layout((1,), None, 1)
    with pytest.raises(ValueError, match="larger than the address space"):
        layout.broadcast_to((2**62, 2**62))
    with pytest.raises(OverflowError, match="an int of 16610 bits"):
        layout.broadcast_to((10**5000,))


@pytest.mark.parametrize("limit", [2**31, 2**32, 2**63 - 1])
def test_largest_compatible_itemsize_is_found_for_any_limit(limit):
    assert Layout((4,), None, 1).max_compatible_itemsize(limit) == 4
    assert Layout((3,), None, 3).max_compatible_itemsize(limit, 5) == 1


@pytest.mark.parametrize("limit", [2**63, 10**5000], ids=["2**63", "10**5000"])
def test_itemsize_limit_over_64_bits_is_rejected(limit):
    with pytest.raises(OverflowError, match="itemsize must be below"):
        Layout((4,), None, 1).max_compatible_itemsize(limit)
