# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Arguments of captured functions: how calls are compared."""

import weakref

import numpy as np
import pytest

from cuda.core import Buffer, LaunchConfig, MemoryResource, launch
from cuda.core.graph import CaptureStatistics, capture
from cuda.core.utils import register_importer
from support.captured_work import SOURCE, OnDevice, fill, ints, kernel, runs, values
from support.graph_work import ONE
from support.kernels import HostMemory, compiled


def test_floats_are_compared_by_their_bits(stream):
    scale = kernel("scale")

    @capture
    def work(stream, x, factor):
        launch(stream, ONE, scale, x, factor)

    x = HostMemory(8)
    found = []
    for factor in (0.0, -0.0, float("nan"), float("nan")):
        fill(x, 1, np.float64)
        work(stream, x.address, factor)
        stream.sync()
        found.append(float(x.array(np.float64)[0]))
    assert found[:2] == [np.inf, -np.inf] and np.isnan(found[2])
    assert work.statistics == CaptureStatistics(captures=1, updates=2, replays=1)


class Opaque:
    def __init__(self, number):
        self.number = number


COMPARED = {
    "numpy": lambda memory: np.int32(7),
    "tuple": lambda memory: (1, [2.0, None], {"a": 1j}),
    "config": lambda memory: LaunchConfig(grid=2, block=4),
    "array": OnDevice,
}


@pytest.mark.parametrize("name", COMPARED)
def test_arguments_are_compared_by_value(stream, name):
    memory = ints(4)
    work = capture(lambda stream, argument: None)
    for _ in range(3):
        work(stream, COMPARED[name](memory))
    assert work.statistics == CaptureStatistics(captures=1, replays=2)


class Older(OnDevice):
    """An array of a library with version 2 of the interface."""

    __slots__ = ("newer",)
    __module__ = "cupy"

    def __init__(self, memory):
        super().__init__(memory, version=2)
        self.newer = OnDevice(memory)


def test_importers_compare_arrays_with_an_older_interface(stream):
    memory = ints(4)
    work = capture(lambda stream, argument: None)
    for _ in range(3):
        work(stream, Older(memory))
    assert work.statistics.replays == 0
    register_importer(Older, lambda older, stream_ptr: older.newer)
    try:
        for _ in range(3):
            work(stream, Older(memory))
        assert work.statistics.replays == 2
    finally:
        register_importer(Older, None)


def test_incomparable_arguments_are_captured_each_time(stream):
    axpy = kernel("axpy")

    @capture
    def work(stream, y, box):
        launch(stream, ONE, axpy, y, y, box.number, 1)

    y, box = ints(1, 1), Opaque(1)
    for number in (1, 2, 3):
        box.number = number
        work(stream, y.address, box)
    stream.sync()
    assert values(y) == [24]
    assert work.statistics == CaptureStatistics(captures=1, updates=2, replays=0)


def test_kernels_are_compared_by_identity_and_kept(stream, device):
    work = capture(lambda stream, kernel, y: launch(stream, ONE, kernel, y, y, 1, 1))
    y = ints(1, 1)
    axpy = compiled(SOURCE).get_kernel("axpy")
    work(stream, axpy, y.address)
    work(stream, axpy, y.address)
    other = compiled(SOURCE + "//").get_kernel("axpy")
    work(stream, other, y.address)
    stream.sync()
    assert values(y) == [8]
    assert work.statistics.replays == 1


def test_configuration_changed_in_place_is_updated(stream):
    axpy, config = kernel("axpy"), LaunchConfig(grid=1, block=1)
    work = capture(lambda stream, config, y: launch(stream, config, axpy, y, y, 1, 4))
    y = ints(4, 1)
    for block in (1, 1, 2, 4):
        config.block = block
        work(stream, config, y.buffer)
    stream.sync()
    assert values(y) == [16, 4, 2, 2] and work.statistics == CaptureStatistics(1, 2, 1, 0)


def test_memory_with_a_new_address_size_or_class_is_recaptured(stream):
    axpy = kernel("axpy")

    @capture(maxsize=16)
    def work(stream, y):
        n = y.size // 4 if isinstance(y, Buffer) else 4
        launch(stream, LaunchConfig(grid=1, block=8), axpy, y, y, 1, n)

    memories = [ints(count, 1) for count in (4, 4, 8, 8)]
    for _ in range(4):
        for y in memories:
            work(stream, y.buffer)
        for y in memories[:2]:
            work(stream, OnDevice(y))
    stream.sync()
    assert [values(y) for y in memories] == [[2**8] * 4] * 2 + [[2**4] * 8] * 2
    assert work.statistics.replays == 24 - runs(work) and runs(work) <= 12


@pytest.mark.parametrize("data", [(), "many"])
def test_many_arguments_are_compared(stream, data):
    axpy = kernel("axpy")

    @capture(data=data)
    def work(stream, y, many):
        launch(stream, LaunchConfig(grid=1, block=4), axpy, y, y, many[-1], 4)

    y = ints(4, 1)
    for number in (1, 2, 3, 3):
        work(stream, y.address, list(range(100)) + [number])
    stream.sync()
    assert values(y) == [2 * 3 * 4 * 4] * 4
    assert work.statistics == CaptureStatistics(captures=1, updates=2, replays=1)


def test_numpy_dtypes_compare_with_their_fields_and_metadata(stream, capsys):
    dtypes = [
        "<i4", "<f4", [("a", "<i4")], [("b", "<i4")], np.dtype("<i4", metadata={"unit": 1}),
        np.dtype("<i4", metadata={"unit": 2}), [("a", np.dtype("<i4", metadata={"unit": 1}))],
    ]  # fmt: skip
    work = capture(lambda stream, dtype: None, maxsize=len(dtypes))
    for _ in range(3):
        for dtype in dtypes:
            work(stream, np.dtype(dtype))
    assert runs(work) == 2 * len(dtypes) - 1 and work.statistics.replays == len(dtypes) + 1
    scalar = np.zeros((), [("a", "<i4")])[()]
    of_scalar = capture(lambda stream, scalar: print(scalar.dtype.names))
    for other in (scalar, scalar, np.zeros((), [("b", "<i4")])[()]):
        of_scalar(stream, other)
    assert capsys.readouterr().out == "('a',)\n('b',)\n"


def test_one_argument_twice_differs_from_two_equal_arguments(stream, capsys):
    memory = ints(4)
    work = capture(lambda stream, x, y: print(x is y))
    pair = [Buffer.from_handle(memory.address, 16) for _ in range(2)]
    for x, y in ((pair[0], pair[0]), (pair[0], pair[1]), (pair[0], pair[0]), (pair[1], pair[1])):
        work(stream, x, y)
    assert capsys.readouterr().out.split() == ["True", "False", "True"] and work.statistics.replays == 1


def test_dropped_memory_resource_is_not_kept_alive_or_mistaken(stream):
    class Resource(MemoryResource):
        is_device_accessible = is_host_accessible = True
        device_id = -1

        def __init__(self, name):
            self.name = name

        def allocate(self, size, *, stream):
            raise NotImplementedError

        def deallocate(self, ptr, size, *, stream):
            pass

    memory, found = ints(4), []
    work = capture(lambda stream, x: found.append(x.memory_resource.name))
    for name in range(20):
        resource = Resource(name)
        work(stream, Buffer.from_handle(memory.address, 16, resource))
        gone = weakref.ref(resource)
        del resource
        assert gone() is None
    assert found == list(range(20))


@pytest.mark.parametrize("data", [(), "x"])
def test_arguments_nested_too_deep_or_in_a_cycle(stream, data):
    deep = []
    for _ in range(100_000):
        deep = [deep]
    endless = []
    endless.append(endless)
    work = capture(lambda stream, x: None, data=data)
    for x in (deep, endless, [[1, [2.0]], (None,)], [[1, [2.0]], (None,)], {"a": deep}):
        work(stream, x)
    assert runs(work) == 4
    work(stream, endless)
    assert work.statistics.replays == 1
    while deep:  # its nested deallocation would overflow the stack
        deep = deep.pop()


def structured(memory, dtype, has_description):
    """Return two items of a dtype in a memory, as another library describes them."""
    dtype = np.dtype(dtype)
    entries = {"shape": (2,), "typestr": dtype.str}
    if has_description:
        entries["descr"] = dtype.descr
    return OnDevice(memory, dtype, **entries)


@pytest.mark.parametrize("has_description", [False, True])
def test_arrays_at_one_address_are_distinguished_by_their_fields(stream, has_description, capsys):
    dtypes = [
        [("a", "<i4"), ("b", "<i4")], [("b", "<i4"), ("a", "<i4")], [("a", "<i4"), ("b", "<f4")], "<i8", "V8",
    ]  # fmt: skip
    memory = ints(4)
    work = capture(lambda stream, x: print(x.dtype), maxsize=len(dtypes))
    for _ in range(3):
        for dtype in dtypes:
            work(stream, structured(memory, dtype, has_description))
    seen = capsys.readouterr().out.splitlines()
    assert set(seen[: len(dtypes)]) == {str(np.dtype(dtype)) for dtype in dtypes}
    assert work.statistics.replays == len(dtypes) + 1


@pytest.mark.parametrize("levels", [0, 1, 31, 32, 33])
@pytest.mark.parametrize("is_key", [False, True])
def test_kernels_inside_containers_live_as_long_as_their_replays(stream, levels, is_key):
    def nested(kernel):
        argument = {kernel: 1} if is_key else {1: kernel}
        for _ in range(levels):
            argument = [argument]
        return argument

    @capture(maxsize=2)
    def work(stream, y, argument):
        while isinstance(argument, list):
            argument = argument[0]
        ((key, item),) = argument.items()
        launch(stream, ONE, key if is_key else item, y, y, 1, 1)

    found = []
    for number in range(8):
        y = ints(1, 1)
        source = f'extern "C" __global__ void axpy(int* y, const int* x, int a, int n) {{ *y = {number}; }}'
        work(stream, y.address, nested(compiled(source).get_kernel("axpy")))
        stream.sync()
        found += values(y)
    assert found == list(range(8))


@pytest.mark.parametrize("data", [(), ("x", "y")])
def test_parameter_from_two_addresses_is_right_when_both_move(stream, data):
    axpy = kernel("axpy")

    @capture(data=data)
    def work(stream, x, y):
        launch(stream, ONE, axpy, y, y, (y - x) // 4, 1)

    memory = ints(64, 1)
    expected = [1] * 64
    for first, distance in ((0, 1), (0, 2), (5, 1), (5, 2), (20, 3), (0, 1), (20, 3)):
        work(stream, memory.address + 4 * first, memory.address + 4 * (first + distance))
        expected[first + distance] *= 1 + distance
    stream.sync()
    assert values(memory) == expected


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [("z", ValueError, "no parameter 'z'"), (("x", "y"), ValueError, "no parameter 'y'"),
     ("stream", ValueError, "parameters after the stream"), ("args", ValueError, "no parameter 'args'"),
     ((1,), TypeError, "names of parameters, not int"),
     (7, TypeError, "data must be names of parameters, not int")],
)  # fmt: skip
def test_data_must_name_parameters(data, error, text):
    def work(stream, x, *args):
        pass

    with pytest.raises(error, match=text):
        capture(work, data=data)
