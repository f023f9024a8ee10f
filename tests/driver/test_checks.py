# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Argument checks: accepted values, and the error for other values."""

import pathlib

import numpy as np
import pytest

import cuda.core.driver as drv
from cuda.core.driver import _checks, characterize, compiler, gpuarray
from cuda.core.driver.curandom import generate_direction_vectors
from cuda.core.driver.elementwise import ElementwiseKernel
from cuda.core.driver.reduction import ReductionKernel
from cuda.core.driver.tools import DeviceData, OccupancyRecord, ScalarArg, get_or_register_dtype, make_default_context

HUGE = 10**5000


def test_ints_are_checked():
    assert _checks.checked_int("n", np.int8(3)) == 3 and type(_checks.checked_int("n", True)) is int
    assert _checks.flags_argument("flags", 2**32 - 1, "cuCall") == 2**32 - 1
    for value in (1.5, "3", None, [3]):
        with pytest.raises(TypeError, match=f"n must be an int, not {type(value).__name__}"):
            _checks.checked_int("n", value)
    with pytest.raises(ValueError, match="n must be at least 4, not 3"):
        _checks.checked_int("n", 3, 4)
    with pytest.raises(ValueError, match="n must be from 0 to 2, not an int of"):
        _checks.checked_int("n", HUGE, 0, 2)
    with pytest.raises(drv.LogicError, match="cuCall failed: invalid argument - flags must be from 0 to 4294967295"):
        _checks.flags_argument("flags", -1, "cuCall")


def test_data_types_are_checked():
    assert _checks.numpy_dtype("f4") == np.float32 and _checks.numpy_dtype(np.dtype("i2")) == np.int16
    nested = []
    nested.append(nested)
    for value in (nested, "\ud800", HUGE, 3.5):
        with pytest.raises(TypeError, match="kind must be a numpy.dtype"):
            _checks.numpy_dtype(value, "kind")


def test_shapes_are_checked():
    assert _checks.host_shape(3, 4) == (3,) and _checks.host_shape(iter([2, np.int8(3)]), 4) == (2, 3)
    assert _checks.host_shape((), 4) == () and _checks.host_shape((0, 2**62), 4) == (0, 2**62)
    for value in (1.5, "3", (1, None)):
        with pytest.raises(TypeError, match="shape must be an int or a sequence of ints"):
            _checks.host_shape(value, 4)
    with pytest.raises(ValueError, match="must contain non-negative sizes"):
        _checks.host_shape((3, -HUGE), 4)
    with pytest.raises(ValueError, match="too large"):
        _checks.host_shape((2**40, 2**40), 4)
    with pytest.raises(ValueError, match="at most 64 dimensions, not 65"):
        _checks.host_shape((1,) * 65, 4)


def test_orders_and_host_arrays_are_checked():
    assert _checks.ordered("F") == "F"
    for value in ("K", None, np.zeros(3)):
        with pytest.raises(ValueError, match="order must be 'C' or 'F'"):
            _checks.ordered(value)
    assert _checks.ndarray_argument("array", np.ones(1)) == 1
    with pytest.raises(TypeError, match="array must be a numpy.ndarray, not list"):
        _checks.ndarray_argument("array", [1])


def test_strings_are_checked():
    assert _checks.texts_argument("options", None) == [] and _checks.texts_argument("options", "-w") == ["-w"]
    assert _checks.texts_argument("options", ("-a", "-b")) == ["-a", "-b"]
    with pytest.raises(TypeError, match="each of options must be a str, not int"):
        _checks.texts_argument("options", [3])
    for value in ("a\0b", "\ud800"):
        with pytest.raises(ValueError, match="not contain null characters or surrogates"):
            _checks.text_argument("name", value)


def test_paths_and_callables_are_checked(tmp_path):
    assert _checks.path_argument("path", tmp_path) == str(tmp_path) == _checks.path_argument("path", bytes(tmp_path))
    for value in (1, True, None):
        with pytest.raises(TypeError, match="path must be a path, not"):
            _checks.path_argument("path", value)
    with pytest.raises(ValueError, match="null characters"):
        _checks.path_argument("path", "a\0b")

    class Odd(pathlib.PurePosixPath):
        def __fspath__(self):
            raise ValueError("no")

    with pytest.raises(ValueError, match="must be a valid path: no"):
        _checks.path_argument("path", Odd())
    assert _checks.callable_argument("f", len) is len and _checks.callable_argument("f", None) is None
    with pytest.raises(TypeError, match="f must be callable or None, not int"):
        _checks.callable_argument("f", 3)


class NoData:
    __cuda_array_interface__ = {"shape": (1,)}


class RefersToItself:
    @property
    def gpudata(self):
        return self


class NegativeAddress(drv.PointerHolderBase):
    def get_pointer(self):
        return -1


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: drv.memset_d8(-1, 0, 1), drv.LogicError, "an address must be from 0"),
        (lambda: drv.memset_d8(2**64, 0, 1), drv.LogicError, "an address must be from 0"),
        (lambda: drv.memset_d8(NegativeAddress(), 0, 1), drv.LogicError, "an address must be from 0"),
        (lambda: drv.memset_d8(NoData(), 0, 1), TypeError, "NoData contains no device pointer: the array"),
        (lambda: drv.memset_d8(RefersToItself(), 0, 1), TypeError, "not the object itself"),
        (lambda: drv.memset_d32(0, HUGE, 1), drv.LogicError, "data must fit in 32 bits"),
        (lambda: drv.memset_d2d8(0, "4", 0, 1, 1), TypeError, "pitch must be an int, not str"),
        (lambda: drv.memset_d2d8(0, 4, 0, -1, 1), drv.LogicError, "width must be from 0"),
        (lambda: drv.mem_alloc_like(3), TypeError, "ary must be an array"),
        (lambda: drv.mem_alloc_pitch(4, 4, -1), drv.LogicError, "access_size must be from 0"),
        (lambda: drv.mem_alloc(1.5), TypeError, "size must be an int, not float"),
        (lambda: drv.mem_host_alloc(4, 2**40), drv.LogicError, "flags must be from 0"),
        (lambda: drv.aligned_empty_like(3), TypeError, "array must be a numpy.ndarray"),
        (lambda: drv.pagelocked_zeros_like(None), TypeError, "array must be a numpy.ndarray"),
        (lambda: drv.managed_empty_like("x"), TypeError, "array must be a numpy.ndarray"),
        (lambda: drv.managed_zeros_like("x"), TypeError, "array must be a numpy.ndarray"),
        (lambda: drv.aligned_zeros(HUGE, "i1"), ValueError, "too large"),
        (lambda: drv.pagelocked_empty((2**62, 8), "f8"), ValueError, "too large"),
        (lambda: drv.from_device_like(0, 3), TypeError, "other_ary must be a numpy.ndarray"),
        (lambda: drv.matrix_to_array(3, "C"), TypeError, "matrix must be a numpy.ndarray"),
        (lambda: drv.np_to_array(3, "C"), TypeError, "nparray must be a numpy.ndarray"),
        (lambda: drv.gpuarray_to_array(3, "C"), TypeError, "gpuarray must be a GPUArray"),
        (lambda: drv.module_from_file(1), TypeError, "filename must be a path, not int"),
        (lambda: drv.module_from_file(True), TypeError, "filename must be a path, not bool"),
        (lambda: drv.module_from_buffer(b"", message_handler=3), TypeError, "message_handler must be callable"),
        (lambda: drv.Linker(options=[3]), TypeError, "pairs of a jit_option"),
        (lambda: drv.Linker(options=[(drv.jit_option.TARGET, 9 << 16)]), drv.LogicError, "must be a jit_target"),
        (lambda: drv.Function(3, "f"), TypeError, "module must be a Module"),
        (lambda: drv.IPCMemoryHandle(3), TypeError, "handle must be bytes, not int"),
        (lambda: drv.Event(None), TypeError, "flags must be an int"),
        (lambda: make_default_context(3), TypeError, "ctx_maker must be callable"),
        (lambda: DeviceData(3), TypeError, "dev must be a Device, not int"),
        (lambda: OccupancyRecord(3, 1), TypeError, "devdata must be a DeviceData"),
        (lambda: gpuarray.GPUArray(3, "f4", allocator=3), TypeError, "allocator must be callable"),
        (lambda: gpuarray.GPUArray(3, "f4", strides=3), TypeError, "strides must be a list, not int"),
        (lambda: gpuarray.GPUArray((3,), "f4", strides=(1,)), ValueError, "multiples of 4 bytes"),
        (lambda: gpuarray.GPUArray((3,), "i1", strides=(HUGE,)), ValueError, "has more than"),
        (lambda: gpuarray.splay(3, "device"), TypeError, "dev must be a Device or None"),
        (lambda: gpuarray.multi_take(3, 3), TypeError, "arrays must be a sequence of GPUArrays"),
        (lambda: gpuarray.concatenate(3), TypeError, "arrays must be a sequence of GPUArrays"),
        (lambda: gpuarray.transpose(3), TypeError, "a must be a GPUArray"),
        (lambda: gpuarray.reshape(3, 1), TypeError, "a must be a GPUArray"),
        (lambda: gpuarray.as_gpuarray(NoData()), TypeError, "interface of .* is invalid"),
        (lambda: ElementwiseKernel(3, "x"), TypeError, "arguments must be a str, or a list"),
        (lambda: ScalarArg("f4", 3), TypeError, "name must be a str, not int"),
        (lambda: ReductionKernel("f4", [], "a+b"), TypeError, "neutral must be a str or a number"),
        (lambda: get_or_register_dtype(3), TypeError, "names must be a list of str, not int"),
        (lambda: generate_direction_vectors(1, "x"), TypeError, "direction must be an int"),
        (lambda: drv.bind_array_to_texref(3, 4), TypeError, "texref must be a TextureReference"),
        (lambda: characterize.sizeof({}), TypeError, "type_name must be a str"),
        (lambda: gpuarray.arange("x"), TypeError, "must be numbers, not 'x'"),
        (lambda: gpuarray.arange(float("nan")), TypeError, "must be numbers, not nan"),
        (lambda: gpuarray.arange(2**70, dtype="i8"), ValueError, "64 bits"),
        (lambda: gpuarray.ones(b"long"), TypeError, "shape must be an int or a sequence"),
        (lambda: gpuarray.ones((1,) * 65), ValueError, "at most 64 dimensions"),
        (lambda: gpuarray.zeros(2, "S2000").fill(b"x"), ValueError, "cannot fill elements of 2000 bytes"),
        (lambda: drv.mem_alloc(2**64), drv.MemoryError, "no device has"),
        (lambda: drv.np_to_array(np.zeros((2, 2), "f4"), None), drv.LogicError, "order must be 'C' or 'F'"),
        (lambda: ElementwiseKernel("int n1", "n1 = 1"), AssertionError, "at least one array"),
        (lambda: ElementwiseKernel("int n1", "n1 = 1"), ValueError, "at least one array"),
        (lambda: compiler.compile("", target=HUGE), TypeError, "target must be a str, not int"),
        (lambda: compiler.compile("\ud800"), ValueError, "source must not contain null"),
        (lambda: gpuarray.full(3, HUGE, "i4"), OverflowError, "value must be convertible to int32, got an int of"),
        (lambda: gpuarray.ones(3).fill(range(4)), ValueError, "value must be convertible to float64, got range"),
        (lambda: gpuarray.full(3, [[1], [1, 2]]), TypeError, "fill_value must be a number"),
        (lambda: gpuarray.ones(3).reshape(HUGE), ValueError, "cannot reshape"),
        (lambda: generate_direction_vectors(1, HUGE), ValueError, "direction must be from 0"),
        (lambda: ReductionKernel("i4", None, "a+b"), TypeError, "number of type int32, not NoneType"),
        (lambda: compiler.get_nvcc_version("\ud800"), ValueError, "nvcc must be a valid path"),
    ],
)
def test_functions_name_the_wrong_argument(context, call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_result_and_offset_lists_need_one_item_per_array(context):
    a, indices = gpuarray.zeros(4, "f4"), gpuarray.zeros(2, "i4")
    with pytest.raises(ValueError, match="out must have 1 items"):
        gpuarray.multi_take([a], indices, out=[None, None])
    with pytest.raises(ValueError, match="out must have 2 items"):
        gpuarray.multi_put([indices, indices], indices, out=[indices])
    with pytest.raises(ValueError, match="src_offsets must have 1 items"):
        gpuarray.multi_take_put([a], indices, indices, src_offsets=[1, 2])
