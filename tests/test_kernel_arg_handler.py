# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""ParamHolder, which other packages launch kernels with: each argument gets memory of its size."""

import ctypes

import numpy as np
import pytest
from cuda.bindings import driver

from cuda.core import Buffer
from support.contract import ParamHolder


def cell(holder, index, ctype):
    """Return one argument as a kernel would read it."""
    addresses = ctypes.cast(holder.ptr, ctypes.POINTER(ctypes.c_void_p))
    return ctype.from_address(addresses[index])


@pytest.mark.parametrize("nothing", [(), []])
def test_no_arguments_are_a_null_array(nothing):
    assert ParamHolder(nothing).ptr == 0


@pytest.mark.parametrize(
    ("argument", "ctype", "expected"),
    [
        (-5, ctypes.c_int64, -5),
        (2**63 - 1, ctypes.c_int64, 2**63 - 1),
        (-(2**63), ctypes.c_int64, -(2**63)),
        (2**64 - 1, ctypes.c_uint64, 2**64 - 1),
        (True, ctypes.c_bool, True),
        (np.bool_(True), ctypes.c_bool, True),
        (ctypes.c_bool(True), ctypes.c_bool, True),
        (2.5, ctypes.c_double, 2.5),
        (None, ctypes.c_void_p, None),
        (np.int8(-3), ctypes.c_int8, -3),
        (np.int16(-300), ctypes.c_int16, -300),
        (np.int32(-70000), ctypes.c_int32, -70000),
        (np.int64(-(2**40)), ctypes.c_int64, -(2**40)),
        (np.uint8(200), ctypes.c_uint8, 200),
        (np.uint16(60000), ctypes.c_uint16, 60000),
        (np.uint32(2**32 - 1), ctypes.c_uint32, 2**32 - 1),
        (np.uint64(2**64 - 1), ctypes.c_uint64, 2**64 - 1),
        (np.float32(1.5), ctypes.c_float, 1.5),
        (np.float64(1.1), ctypes.c_double, 1.1),
        (ctypes.c_int8(-3), ctypes.c_int8, -3),
        (ctypes.c_uint16(60000), ctypes.c_uint16, 60000),
        (ctypes.c_int32(-70000), ctypes.c_int32, -70000),
        (ctypes.c_uint64(2**64 - 1), ctypes.c_uint64, 2**64 - 1),
        (ctypes.c_float(1.5), ctypes.c_float, 1.5),
        (ctypes.c_double(1.1), ctypes.c_double, 1.1),
        (Buffer.from_handle(0x7F0000, 16), ctypes.c_uint64, 0x7F0000),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_argument_has_its_natural_size(argument, ctype, expected):
    # The arguments on both sides show that this one has neither the wrong size nor the wrong place.
    holder = ParamHolder([1, argument, 2])
    assert cell(holder, 1, ctype).value == expected
    assert cell(holder, 0, ctypes.c_int64).value == 1
    assert cell(holder, 2, ctypes.c_int64).value == 2


@pytest.mark.parametrize(
    ("argument", "dtype"),
    [
        (1 - 2j, np.complex128),
        (np.complex64(1 - 2j), np.complex64),
        (np.complex128(3j), np.complex128),
        (np.float16(0.5), np.float16),
    ],
    ids=repr,
)
def test_complex_and_half_numbers_are_passed_by_value(argument, dtype):
    holder = ParamHolder((argument,))
    content = bytes(cell(holder, 0, ctypes.c_char * np.dtype(dtype).itemsize))
    assert np.frombuffer(content, dtype)[0] == argument


def test_structures_are_passed_by_value():
    holder = ParamHolder([b"0123456789", 7])
    assert bytes(cell(holder, 0, ctypes.c_char * 10)) == b"0123456789"
    assert cell(holder, 1, ctypes.c_int64).value == 7


def test_many_arguments_keep_their_order():
    holder = ParamHolder(range(500))
    assert [cell(holder, index, ctypes.c_int64).value for index in range(500)] == list(range(500))


def test_arguments_live_as_long_as_the_holder():
    class Tracked(bytes):
        dropped = 0

        def __del__(self):
            Tracked.dropped += 1

    holder = ParamHolder([Tracked(b"1234")])
    assert Tracked.dropped == 0
    del holder
    assert Tracked.dropped == 1


@pytest.mark.parametrize("argument", ["text", [1], {}, np.arange(3), object()], ids=lambda value: type(value).__name__)
def test_other_types_are_rejected(argument):
    name = type(argument).__name__
    with pytest.raises(TypeError, match=rf"argument 1 is (a {name}|in host memory \({name}\)), which"):
        ParamHolder([1, argument])


@pytest.mark.parametrize("argument", [2**64, -(2**63) - 1])
def test_integers_over_64_bits_are_rejected(argument):
    with pytest.raises(OverflowError, match=f"argument 0 has 8 bytes, and {argument} does not fit"):
        ParamHolder([argument])


def test_closed_buffer_is_rejected():
    buffer = Buffer.from_handle(0x7F0000, 16)
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        ParamHolder([buffer])


def test_arguments_must_be_a_sequence():
    with pytest.raises(TypeError, match="iterable"):
        ParamHolder(5)


def test_argument_resized_by_another_stays_within_its_cell():
    growing = (ctypes.c_char * 8)()

    class Resizing(driver.CUdeviceptr):
        def __int__(self):
            ctypes.resize(growing, 1 << 20)
            return 1

    with pytest.raises(TypeError, match="argument 1 has 8 bytes, but the c_char_Array_8 given has 1048576"):
        ParamHolder([Resizing(1), growing])
