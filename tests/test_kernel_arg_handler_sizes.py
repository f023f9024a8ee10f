# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Kernel arguments packed by the kernel's layout: which values fit which sizes, and messages about the others."""

import ctypes
import enum
import struct
import subprocess
import sys
import threading
import tracemalloc

import numpy as np
import pytest

from cuda.core import Buffer
from cuda.core._kernel_arg_handler import pack_arguments, register_buffer_class


def packed(argument, size):
    """Pack one argument after a byte of padding, and return its bytes."""
    block = pack_arguments([(0, 1), (8, size), (8 + size + 8, 1)], [0xAA, argument, 0xBB])
    assert block[0] == 0xAA
    assert block[-1] == 0xBB
    assert len(block) == 8 + size + 9
    return block[8 : 8 + size]


class Point(ctypes.Structure):
    _fields_ = (("x", ctypes.c_float), ("y", ctypes.c_float), ("tag", ctypes.c_int))


class Color(enum.IntEnum):
    RED = 3


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize(
    "make", [int, np.int8, np.int64, np.uint8, np.uint64, ctypes.c_int8, ctypes.c_int64, ctypes.c_uint16]
)
def test_integers_adapt_to_the_size(make, size):
    assert packed(make(100), size) == (100).to_bytes(size, "little")


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("make", [int, np.int8, np.int16, np.int32, np.int64, ctypes.c_int8, ctypes.c_int64])
def test_negative_integers_keep_their_sign(make, size):
    assert packed(make(-100), size) == (-100).to_bytes(size, "little", signed=True)


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_integers_fit_signed_or_unsigned(size):
    least, most = -(2 ** (8 * size - 1)), 2 ** (8 * size) - 1
    assert packed(least, size) == least.to_bytes(size, "little", signed=True)
    assert packed(most, size) == most.to_bytes(size, "little")
    for value in (least - 1, most + 1, 2**100, -(2**100)):
        with pytest.raises(OverflowError, match=f"argument 1 of the kernel has {size} byte.* {value} does not fit"):
            packed(value, size)


@pytest.mark.parametrize("value", [np.int64(-(2**31) - 1), np.uint64(2**32), ctypes.c_int64(2**40)], ids=repr)
def test_typed_integers_must_also_fit(value):
    with pytest.raises(OverflowError, match="argument 1 of the kernel has 4 bytes"):
        packed(value, 4)


@pytest.mark.parametrize("value", [0, 1, -1, 2**29, 2**30, -(2**30), 2**59, 2**60 - 1, 2**60, -(2**60), 2**62 + 12345])
def test_integers_of_any_length(value):
    assert packed(value, 8) == value.to_bytes(8, "little", signed=True)


@pytest.mark.parametrize("size", [1, 2, 4, 8])
@pytest.mark.parametrize("make", [bool, np.bool_, ctypes.c_bool])
def test_booleans_are_0_or_1(make, size):
    assert packed(make(True), size) == (1).to_bytes(size, "little")
    assert packed(make(False), size) == bytes(size)


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (1.1, struct.pack("d", 1.1)),
        (np.float64(1.1), struct.pack("d", 1.1)),
        (ctypes.c_double(1.1), struct.pack("d", 1.1)),
        (np.float32(1.1), struct.pack("f", 1.1)),
        (ctypes.c_float(1.1), struct.pack("f", 1.1)),
        (np.float16(0.5), struct.pack("e", 0.5)),
        (1 - 2j, struct.pack("dd", 1, -2)),
        (np.complex128(1 - 2j), struct.pack("dd", 1, -2)),
        (np.complex64(1 - 2j), struct.pack("ff", 1, -2)),
        (None, bytes(8)),
        (Buffer.from_handle(0x7FAB_CDEF_0120, 16), (0x7FAB_CDEF_0120).to_bytes(8, "little")),
        (ctypes.c_void_p(0x1234), (0x1234).to_bytes(8, "little")),
        (b"struct", b"struct"),
        (Point(1, 2, 3), struct.pack("ffi", 1, 2, 3)),
        ((ctypes.c_short * 3)(1, 2, 3), struct.pack("hhh", 1, 2, 3)),
        (np.array([(1, 2.5)], "i4,f4")[0], struct.pack("if", 1, 2.5)),
        (np.void(b"abc"), b"abc"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_values_need_their_own_size(argument, expected):
    assert packed(argument, len(expected)) == expected
    for size in {2, 3, 4, 8, 12, 16} - {len(expected)}:
        message = f"argument 1 of the kernel has {size} bytes, but the .* given has {len(expected)}"
        with pytest.raises(TypeError, match=message):
            packed(argument, size)


def test_int_is_rejected_for_struct_parameter():
    with pytest.raises(TypeError, match="12 bytes, but the int given has 8; pass a structure as bytes"):
        packed(5, 12)
    with pytest.raises(TypeError, match="12 bytes, but the int given has 8"):
        packed(2**100, 12)


def test_messages_say_what_to_pass_instead():
    with pytest.raises(TypeError, match=r"parameter is known: pass numpy\.float32 for a float, an int for an integer"):
        packed(1.5, 4)
    with pytest.raises(TypeError, match=r"parameter is known: pass numpy\.float16 for a __half, an int"):
        packed(1.5, 2)
    with pytest.raises(TypeError, match=r"parameter is known: pass an int for an integer"):
        packed(1.5, 1)
    with pytest.raises(TypeError, match=r"only the size of this parameter is known: pass numpy\.complex64"):
        packed(1j, 8)


@pytest.mark.parametrize("value", ["text", [1], object(), {}, len], ids=lambda item: type(item).__name__)
def test_other_types_are_rejected(value):
    with pytest.raises(
        TypeError, match=f"argument 1 is a {type(value).__name__}, which kernels do not accept; pass a number, a"
    ):
        packed(value, 8)


def test_class_is_rejected_with_its_name():
    with pytest.raises(
        TypeError, match="argument 1 is the class float32, which kernels do not accept; pass a value of"
    ):
        packed(np.float32, 4)


def test_host_arrays_are_rejected_with_a_hint():
    with pytest.raises(
        TypeError,
        match=r"argument 1 of the kernel is in host memory \(ndarray\), which the device",
    ):
        packed(np.arange(3), 8)


def test_objects_with_a_handle_are_rejected_with_a_hint():
    class Texture:
        handle = 5

    with pytest.raises(TypeError, match="is a Texture, which kernels do not accept; pass its handle"):
        packed(Texture(), 8)


def test_bindings_integer_types_are_accepted():
    from cuda.bindings import driver

    assert packed(driver.CUdeviceptr(0x7F00), 8) == (0x7F00).to_bytes(8, "little")
    assert packed(driver.CUtexObject(5), 8) == (5).to_bytes(8, "little")
    with pytest.raises(TypeError, match="4 bytes, but the CUdeviceptr given has 8"):
        packed(driver.CUdeviceptr(0x7F00), 4)


def test_subclasses_count_as_their_base():
    class Half(float):
        pass

    class Region(Buffer):
        pass

    assert packed(Color.RED, 4) == (3).to_bytes(4, "little")
    assert packed(Half(0.5), 8) == struct.pack("d", 0.5)
    assert packed(Region.from_handle(64, 8), 8) == (64).to_bytes(8, "little")


def test_closed_buffer_is_rejected():
    buffer = Buffer.from_handle(0x7F0000, 16)
    buffer.close()
    with pytest.raises(RuntimeError, match="closed"):
        packed(buffer, 8)


@pytest.mark.parametrize(
    ("layout", "arguments", "message"),
    [
        ([], [1], "takes no arguments, 1 given"),
        ([(0, 4)], [], "takes 1 argument, 0 given"),
        ([(0, 4)], [1, 2], "takes 1 argument, 2 given"),
        ([(0, 4), (4, 4)], [1, 2, 3], "takes 2 arguments, 3 given"),
    ],
)
def test_number_of_arguments_is_checked(layout, arguments, message):
    with pytest.raises(TypeError, match=message):
        pack_arguments(layout, arguments)


def test_no_arguments_take_no_bytes():
    assert pack_arguments([], []) == b""


def test_mixed_arguments_have_the_offsets_of_the_layout():
    buffer = Buffer.from_handle(0x1000, 16)
    layout = [(0, 4), (8, 8), (16, 8), (24, 1), (32, 8)]
    block = pack_arguments(layout, [np.float32(2), buffer, None, True, np.uint64(7)])
    assert block[:4] == struct.pack("f", 2)
    assert struct.unpack("QQ", block[8:24]) == (0x1000, 0)
    assert block[24] == 1
    assert struct.unpack("Q", block[32:]) == (7,)


@pytest.mark.parametrize("count", [48, 49, 64, 65, 600])
def test_many_arguments(count):
    block = pack_arguments([(8 * index, 8) for index in range(count)], list(range(count)))
    assert np.frombuffer(block, np.int64).tolist() == list(range(count))


@pytest.mark.parametrize("size", [511, 512, 513, 4096, 32000])
def test_large_structures(size):
    content = bytes(index % 251 for index in range(size))
    assert pack_arguments([(0, size)], [content]) == content


def test_rejection_after_many_arguments_frees_the_block():
    layout = [(8 * index, 8) for index in range(600)]
    tracemalloc.start()
    try:
        for _ in range(100):
            with pytest.raises(TypeError, match="argument 599"):
                pack_arguments(layout, [*range(599), "text"])
        used, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # One block has 9600 bytes.
    assert used < 100_000


def test_impossible_layout_is_out_of_memory():
    with pytest.raises(MemoryError):
        pack_arguments([(2**63, 8)], [1])


def test_only_subclasses_of_buffers_are_registered_as_such():
    class Mine(Buffer):
        pass

    register_buffer_class(Mine)
    mine = Mine._init(1 << 20, 16)
    assert packed(mine, 8) == (1 << 20).to_bytes(8, "little")
    assert pack_arguments([(0, 8)], [mine], ["float*"]) == (1 << 20).to_bytes(8, "little")
    for bad in (int, 3):
        with pytest.raises(TypeError, match="must be a subclass of Buffer"):
            register_buffer_class(bad)


def test_threads_may_register_types_at_the_same_time():
    # In a new process, no NumPy or ctypes scalar type is registered yet.
    code = """
import threading, ctypes, numpy as np
from cuda.core._kernel_arg_handler import pack_arguments, register_buffer_class
values = [np.float32(1), np.int8(2), ctypes.c_int(3), np.complex64(1j), np.uint16(5), ctypes.c_double(6)]
sizes = [4, 1, 4, 8, 2, 8]
expected = [bytes(memoryview(value).cast("B")) for value in values]
barrier, wrong = threading.Barrier(6), []
def work(turn):
    barrier.wait()
    for step in range(len(values)):
        index = (step + turn) % len(values)
        if pack_arguments([(0, sizes[index])], [values[index]]) != expected[index]:
            wrong.append(index)
threads = [threading.Thread(target=work, args=(turn,)) for turn in range(6)]
[thread.start() for thread in threads]; [thread.join() for thread in threads]
print("wrong:", wrong)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.stdout == "wrong: []\n", result.stderr


def test_packing_in_threads_does_not_mix():
    wrong = []

    def work(number):
        for _ in range(200):
            block = pack_arguments([(8 * index, 8) for index in range(60)], [number] * 60)
            if set(np.frombuffer(block, np.int64)) != {number}:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_numpy_is_not_imported_for_arguments():
    code = """
import sys
from cuda.core._kernel_arg_handler import pack_arguments, register_buffer_class
pack_arguments([(0, 8)] * 4, [1, 2.5, None, True])
try:
    pack_arguments([(0, 8)], ["text"])
except TypeError:
    print("numpy" in sys.modules, "cuda.bindings.driver" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.stdout == "False False\n", result.stderr
