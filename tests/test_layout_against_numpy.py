# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Random operations change the offsets of layouts as NumPy changes an array of offsets, with up to 64 axes."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from support.contract import _StridedLayout as Layout

ITEMSIZE = 4
steady = settings(deadline=1000, max_examples=40)


@st.composite
def shapes(draw, most_axes=64):
    """Extents of up to 64 axes with at most 3000 elements; zeros and ones are frequent."""
    extents = draw(st.lists(st.sampled_from([1, 1, 1, 2, 2, 3, 4, 5, 7, 0]), max_size=most_axes))
    volume = 1
    for axis, extent in enumerate(extents):
        if volume * extent > 3000:
            extents[axis] = 1
        volume *= max(1, extents[axis])
    return tuple(extents)


@st.composite
def slices(draw, shape):
    """Indices and slices for some of the first axes."""
    items = []
    for extent in shape[: draw(st.integers(0, len(shape)))]:
        bound = st.one_of(st.none(), st.integers(-extent - 2, extent + 2))
        step = st.one_of(st.none(), st.integers(-3, 3).filter(bool))
        cut = st.builds(slice, bound, bound, step)
        items.append(draw(st.one_of(cut, st.integers(-extent, extent - 1)) if extent else cut))
    return tuple(items)


@st.composite
def shapes_of_volume(draw, volume):
    """Shapes with a given number of elements."""
    shape = []
    while volume > 1 and len(shape) < 8:
        factor = draw(st.sampled_from([n for n in range(1, volume + 1) if volume % n == 0]))
        shape.append(factor)
        volume //= factor
    return (*shape, *([volume] if volume != 1 or not shape else []), *[1] * draw(st.integers(0, 2)))


@st.composite
def chains(draw):
    """A layout after some operations, and the array of its offsets after the same operations."""
    shape = draw(shapes())
    order = draw(st.sampled_from(["C", "F"]))
    layout = Layout.dense(shape, ITEMSIZE, order)
    array = np.arange(math.prod(shape)).reshape(shape, order=order)
    for _ in range(draw(st.integers(0, 4))):
        match draw(st.sampled_from(["slice", "permute", "squeeze", "unsqueeze", "broadcast", "reshape"])):
            case "slice":
                items = draw(slices(array.shape))
                layout, array = layout.sliced(items), array[items]
            case "permute":
                axes = draw(st.permutations(range(array.ndim)))
                layout, array = layout.permuted(tuple(axes)), array.transpose(axes)
            case "squeeze" if 0 not in array.shape:
                layout, array = layout.squeezed(), array.squeeze()
            case "unsqueeze" if array.ndim < 60:
                axes = tuple(draw(st.sets(st.integers(0, array.ndim + 1), min_size=2, max_size=2)))
                layout, array = layout.unsqueezed(axes), np.expand_dims(array, axes)
            case "broadcast" if array.size < 500 and array.ndim < 60:
                wide = tuple(draw(st.sampled_from([1, 3])) if extent == 1 else extent for extent in array.shape)
                wide = (*draw(st.sampled_from([(), (2,), (1,)])), *wide)
                if math.prod(wide) < 3000:
                    layout, array = layout.broadcast_to(wide), np.broadcast_to(array, wide)
            case "reshape" if array.size:
                shape = draw(shapes_of_volume(array.size))
                try:
                    array = array.reshape(shape, copy=False)
                except ValueError:
                    continue
                layout = layout.reshaped(shape)
    return layout, array


def offsets(layout):
    """Return the offset of each element, calculated from shape, strides and slice offset alone."""
    strides = layout.strides if layout.strides is not None else Layout.dense(layout.shape, layout.itemsize).strides
    found = np.full((1,) * layout.ndim, layout.slice_offset)
    for axis, (extent, stride) in enumerate(zip(layout.shape, strides, strict=True)):
        shape = [1] * layout.ndim
        shape[axis] = extent
        found = found + (np.arange(extent) * stride).reshape(shape)
    return found


@steady
@given(chains())
def test_each_element_has_the_offset_of_numpy(chain):
    layout, array = chain
    assert layout.shape == array.shape
    assert np.array_equal(offsets(layout), array)
    assert (layout.ndim, layout.volume) == (array.ndim, array.size)
    if 0 in array.shape and layout.strides is not None:
        assert set(layout.strides) <= {0}


@steady
@given(chains())
def test_properties_agree_with_the_offsets(chain):
    layout, array = chain
    assert layout.is_contiguous_c == array.flags.c_contiguous
    assert layout.is_contiguous_f == array.flags.f_contiguous
    low, high = (int(array.min()), int(array.max())) if array.size else (0, -1)
    assert layout.offset_bounds == (low, high) == (layout.min_offset, layout.max_offset)
    if low >= 0:
        assert layout.required_size_in_bytes() == (high + 1) * ITEMSIZE
    is_unique = len(np.unique(array)) == array.size
    assert is_unique or not layout.is_unique
    if layout.is_dense:
        assert sorted(array.ravel().tolist()) == list(range(array.size))


@steady
@given(chains(), st.data())
def test_layout_is_reshaped_exactly_if_numpy_makes_no_copy(chain, data):
    layout, array = chain
    assume(array.size)
    shape = data.draw(shapes_of_volume(array.size))
    try:
        expected = array.reshape(shape, copy=False)
    except ValueError:
        expected = None
    try:
        found = layout.reshaped(shape)
    except ValueError:
        assert expected is None
    else:
        assert expected is not None and np.array_equal(offsets(found), expected)


@steady
@given(chains())
def test_flattening_keeps_the_elements_and_their_order(chain):
    layout, array = chain
    flat = layout.flattened()
    assert np.array_equal(offsets(flat).ravel(), array.ravel())
    assert flat.flattened_axis_mask() == 0
    mask = layout.flattened_axis_mask()
    assert layout.flattened(mask=mask) == flat


@steady
@given(chains(), st.data())
def test_dense_layouts_have_no_gaps(chain, data):
    layout, array = chain
    order = data.draw(st.sampled_from(["C", "F", "K", tuple(data.draw(st.permutations(range(array.ndim))))]))
    dense = layout.to_dense(order)
    assert (dense.shape, dense.is_dense, dense.is_unique) == (layout.shape, True, True)
    assert sorted(offsets(dense).ravel().tolist()) == list(range(array.size))
    assert sorted(layout.stride_order) == list(range(array.ndim))
    if order == "C":
        assert dense.is_contiguous_c
    elif order == "F":
        assert dense.is_contiguous_f
    elif isinstance(order, tuple) and array.size > 1:
        assert dense.permuted(order).is_contiguous_c


@steady
@given(chains(), st.sampled_from([1, 2, 4, 8, 16]), st.data())
def test_items_of_other_sizes_cover_the_same_bytes(chain, itemsize, data):
    layout, array = chain
    assume(array.ndim and array.size)
    axis = data.draw(st.integers(-array.ndim, array.ndim - 1))
    strides = Layout(layout.shape, layout.strides, ITEMSIZE).strides or Layout.dense(layout.shape, ITEMSIZE).strides
    fits = itemsize == ITEMSIZE or (
        strides[axis] == 1
        and layout.shape[axis] * ITEMSIZE % itemsize == 0
        and layout.slice_offset * ITEMSIZE % itemsize == 0
        and all(stride * ITEMSIZE % itemsize == 0 for k, stride in enumerate(strides) if k != axis % array.ndim)
    )
    if not fits:
        with pytest.raises(ValueError, match="cannot be read with items"):
            layout.repacked(itemsize, axis=axis)
        return
    found = layout.repacked(itemsize, axis=axis)

    def all_bytes(items, size):
        return sorted((items.ravel()[:, None] * size + np.arange(size)).ravel().tolist())

    assert all_bytes(offsets(found), itemsize) == all_bytes(array, ITEMSIZE)
    assert found.itemsize == itemsize and found.ndim == layout.ndim


@steady
@given(shapes(), st.data())
def test_strides_in_bytes_and_in_elements_agree(shape, data):
    strides = tuple(data.draw(st.lists(st.integers(-50, 50), min_size=len(shape), max_size=len(shape))))
    layout = Layout(shape, strides, ITEMSIZE)
    in_bytes = tuple(stride * ITEMSIZE for stride in strides)
    assert Layout(shape, in_bytes, ITEMSIZE, divide_strides=True) == layout
    assert layout.strides_in_bytes == in_bytes
    low, high = layout.offset_bounds
    found = offsets(layout)
    assert (low, high) == ((int(found.min()), int(found.max())) if found.size else (0, -1))
