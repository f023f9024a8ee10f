# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""CUDA arrays, and copies from and to them."""

import numpy as np
import pytest

import cuda.core.driver as drv

pytestmark = pytest.mark.usefixtures("context")


def line(count=16, kind=np.float32):
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.format, descriptor.num_channels = count, drv.dtype_to_array_format(kind), 1
    return drv.Array(descriptor)


def content(array, shape, kind):
    target = np.zeros(shape, kind)
    copy = drv.Memcpy3D() if len(shape) == 3 else drv.Memcpy2D()
    copy.set_src_array(array)
    copy.set_dst_host(target)
    copy.width_in_bytes = copy.dst_pitch = target.strides[-2]
    copy.height = shape[-2]
    if len(shape) == 3:
        copy.depth, copy.dst_height = shape[0], shape[1]
    copy()
    return target


def test_array_returns_its_descriptor():
    descriptor = drv.ArrayDescriptor3D()
    assert (descriptor.width, descriptor.depth, descriptor.flags) == (0, 0, 0)
    descriptor.width, descriptor.height, descriptor.num_channels = 8, 4, 2
    descriptor.format = drv.array_format.SIGNED_INT16
    array = drv.Array(descriptor)
    for found in (array.get_descriptor(), array.get_descriptor_3d()):
        assert (found.width, found.height, found.num_channels) == (8, 4, 2)
        assert found.format is drv.array_format.SIGNED_INT16
    assert isinstance(array.handle, int) and "width=8" in repr(descriptor) and "Array" in repr(array)
    array.free()
    for use in (array.free, array.get_descriptor, lambda: array.handle):
        with pytest.raises(drv.LogicError, match="the array was freed"):
            use()


@pytest.mark.parametrize(
    ("name", "value"), [("num_channels", 3), ("width", 0), ("width", -1), ("format", 99), ("num_channels", 0)]
)
def test_invalid_descriptors_are_rejected(name, value):
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.format, descriptor.num_channels = 4, drv.array_format.FLOAT, 1
    setattr(descriptor, name, value)
    with pytest.raises(drv.LogicError, match="cuArrayCreate failed"):
        drv.Array(descriptor)


def test_arrays_are_made_from_descriptors():
    with pytest.raises(TypeError, match="must be an ArrayDescriptor, not tuple"):
        drv.Array((4, 4))
    with pytest.raises(TypeError, match="array must be an Array"):
        drv.memcpy_atoh(np.zeros(1), 7, 0)


def test_arrays_end_with_their_context(context):
    array = line()
    context.detach()
    with pytest.raises(drv.LogicError, match="its context is detached"):
        array.free()


def test_one_dimensional_arrays_are_copied():
    source, target = np.arange(16, dtype=np.float32), np.zeros(8, np.float32)
    array, other = line(), line()
    drv.memcpy_htoa(array, 0, source)
    drv.memcpy_atoh(target, array, 16)
    assert (target == source[4:12]).all()
    memory = drv.mem_alloc(64)
    drv.memcpy_atod(memory, array, 0, 64)
    assert (drv.from_device(memory, 16, np.float32) == source).all()
    drv.memcpy_dtoa(other, 32, memory, 32)
    drv.memcpy_atoa(array, 0, other, 32, 32)
    drv.py_memcpy_atoh(target, array, 0)
    assert (target == source[:8]).all()
    drv.py_memcpy_htoa(array, 4, target)
    drv.memcpy_atoh(target, array, 4)
    assert (target == source[:8]).all()


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("u1", "UNSIGNED_INT8"), ("u2", "UNSIGNED_INT16"), ("u4", "UNSIGNED_INT32"), ("i1", "SIGNED_INT8"),
        ("i2", "SIGNED_INT16"), ("i4", "SIGNED_INT32"), ("f2", "HALF"), ("f4", "FLOAT"),
    ],
)  # fmt: skip
def test_each_supported_dtype_has_an_array_format(kind, name):
    assert drv.dtype_to_array_format(np.dtype(kind)) is getattr(drv.array_format, name)


@pytest.mark.parametrize("kind", ["f8", "c8", "M8[s]"])
def test_other_dtypes_have_no_array_format(kind):
    with pytest.raises(TypeError, match="do not support elements of type"):
        drv.dtype_to_array_format(kind)


@pytest.mark.parametrize("kind", [np.float32, np.uint8, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_numpy_are_copied(kind, order):
    for shape in ((3, 4), (2, 3, 4)):
        source = (np.arange(np.prod(shape)) % 200).astype(kind).reshape(shape)
        array = drv.np_to_array(source, order)
        expected = source if order == "C" else source.T
        assert (content(array, expected.shape, kind) == expected).all()


def test_matrices_are_copied():
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert drv.matrix_to_array(matrix, "C").get_descriptor().width == 4
    assert drv.matrix_to_array(matrix, "F").get_descriptor().width == 3
    assert drv.matrix_to_array(matrix.astype(float), "C", allow_double_hack=True).get_descriptor().num_channels == 2
    with pytest.raises(TypeError, match="float64"):
        drv.matrix_to_array(matrix.astype(float), "C")
    with pytest.raises(drv.LogicError, match="order must be 'C' or 'F'"):
        drv.matrix_to_array(matrix, "K")
    with pytest.raises(drv.LogicError, match="matrix must have 2 dimensions"):
        drv.matrix_to_array(matrix[0], "C")
    with pytest.raises(drv.LogicError, match="dimensions, not 1"):
        drv.np_to_array(matrix[0], "C")


@pytest.mark.parametrize("order", ["C", "F"])
def test_images_have_channels(order):
    source = np.arange(3 * 4 * 2, dtype=np.uint8).reshape(3, 4, 2)
    array = drv.make_multichannel_2d_array(source if order == "C" else source.T, order)
    found = array.get_descriptor()
    assert (found.width, found.height, found.num_channels) == (4, 3, 2)
    assert (content(array, (3, 8), np.uint8) == source.reshape(3, 8)).all()


def test_arrays_allow_surfaces():
    volume = drv.np_to_array(np.zeros((2, 3, 4), np.float32), "C", allowSurfaceBind=True)
    assert volume.get_descriptor_3d().flags == drv.array3d_flags.SURFACE_LDST
    layered = drv.np_to_array(np.zeros((3, 4), np.float32), "C", allowSurfaceBind=True).get_descriptor_3d()
    assert layered.depth == 1 and layered.flags & drv.array3d_flags.ARRAY3D_LAYERED


class DeviceArray:
    """The attributes of a GPUArray that gpuarray_to_array reads."""

    def __init__(self, host):
        self.gpudata = drv.to_device(host.ravel("K"))
        self.shape, self.dtype, self.ndim, self.flags = host.shape, host.dtype, host.ndim, host.flags


@pytest.mark.parametrize("order", ["C", "F"])
def test_device_arrays_are_copied(order):
    host = np.asarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4), order=order)
    expected = host if order == "C" else host.T
    assert (content(drv.gpuarray_to_array(DeviceArray(host), order), expected.shape, np.float32) == expected).all()
    with pytest.raises(drv.LogicError, match="must be contiguous in . order"):
        drv.gpuarray_to_array(DeviceArray(host), "F" if order == "C" else "C")


def test_copy_does_not_use_an_array_freed_since_it_was_set():
    array, target = line(), np.zeros(16, np.float32)
    copy = drv.Memcpy2D()
    copy.set_src_array(array)
    copy.set_dst_host(target)
    copy.width_in_bytes, copy.height = target.nbytes, 1
    copy()
    array.free()
    for use in (copy, lambda: copy(stream=drv.Stream())):
        with pytest.raises(drv.LogicError, match="the array was freed"):
            use()
