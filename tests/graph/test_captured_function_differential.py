# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Captured functions against direct calls of the same functions, over kinds of arguments.

``CUDA_CORE_DIFFERENTIAL_CALLS`` sets the number of calls per kind of argument.
"""

import dataclasses
import os
import random
import threading

import numpy as np
import pytest

from cuda.core import Buffer, LaunchConfig, launch
from cuda.core.graph import capture
from cuda.core.utils import StridedMemoryView
from support.captured_work import OnDevice, fill, ints, kernel
from support.graph_work import ONE
from support.kernels import compiled
from support.threads import run_in_threads

CALLS = int(os.environ.get("CUDA_CORE_DIFFERENTIAL_CALLS") or 40)
ITEMS = 1024
RANGE = 4 * 64  # bytes; ranges begin at multiples, so that addresses agree in their alignment


class Board:
    """Memory that a function changes, and what builds arguments for it."""

    def __init__(self, random_numbers):
        self.memory = ints(ITEMS, 1)
        self.random = random_numbers
        self.axpy = kernel("axpy")

    def address(self, overlapping=False):
        place = self.random.randrange(8)
        return self.memory.address + (RANGE // 2 if overlapping else RANGE) * place

    def buffer(self, size=RANGE):
        return Buffer.from_handle(self.address(), size)

    def reset(self):
        fill(self.memory, 1, np.int32)

    def bytes(self):
        return self.memory.array(np.int32).tobytes()


def add(stream, board, address, number):
    """Add `number` to the first int at an address."""
    launch(stream, ONE, board.axpy, int(address), board.memory.address + 4 * (ITEMS - 1), int(number), 1)


@dataclasses.dataclass
class Record:
    target: object
    number: int


@dataclasses.dataclass(frozen=True)
class FrozenRecord:
    target: object
    number: int


DTYPES = [[("a", "<i4"), ("b", "<i4")], [("b", "<i4"), ("a", "<i4")], [("a", "<f4"), ("b", "<i4")]]


def with_dtype(board):
    dtype = np.dtype(board.random.choice(DTYPES))
    return (OnDevice(board.memory, dtype, shape=(1,), typestr=f"|V{dtype.itemsize}"),)


def dtype_work(board):
    def work(stream, array):
        add(stream, board, array.__cuda_array_interface__["data"][0], 1 + DTYPES.index(array.dtype.descr))

    return work


def sizes_work(board):
    def work(stream, x):
        add(stream, board, x.handle, x.size)

    return work


def moved_work(board):
    def work(stream, x, y):
        add(stream, board, x.handle, int(y.handle) - int(x.handle))

    return work


def moved(board):
    first = board.address()
    distance = board.random.choice((RANGE, 2 * RANGE, RANGE))
    return Buffer.from_handle(first, RANGE), Buffer.from_handle(first + distance, RANGE)


def copy_work(board):
    def work(stream, x, y):
        x.copy_to(y, stream=stream)

    return work


def overlapping(board):
    return (
        Buffer.from_handle(board.address(overlapping=True), RANGE),
        Buffer.from_handle(board.address(overlapping=True), RANGE),
    )


def branch_work(board):
    def work(stream, x, y, n):
        if x is y:
            add(stream, board, x.handle, 100)
        for _ in range(n % 3):
            add(stream, board, y.handle, n)

    return work


def aliases(board):
    x, y = board.buffer(), board.buffer()
    return x, board.random.choice((x, y)), board.random.randrange(4)


def typed_work(board):
    def work(stream, number):
        add(stream, board, board.memory.address, 1 + ["int", "bool", "float", "str", "int32"].index(kind_of(number)))

    return work


def kind_of(number):
    return type(number).__name__


def numbers(board):
    return (board.random.choice((1, True, 1.0, "1", np.int32(1), 0, False, 0.0, -0.0, "0", np.int32(0))),)


def nested_work(board):
    def work(stream, things):
        stack, total = [things], 0
        while stack:
            thing = stack.pop()
            if isinstance(thing, dict):
                stack += [*thing.keys(), *thing.values()]
            elif isinstance(thing, (tuple, list)):
                total = total * 3 + (1 if isinstance(thing, list) else 2)
                stack += thing
            elif isinstance(thing, (Record, FrozenRecord)):
                stack += [thing.target, thing.number]
            elif isinstance(thing, Buffer):
                add(stream, board, thing.handle, total % 1000)
            elif isinstance(thing, int):
                total = total * 3 + thing

    return work


def nested(board, depth=0):
    kind = board.random.randrange(6 if depth < 3 else 2)
    if kind == 0:
        return board.random.randrange(3)
    if kind == 1:
        return board.buffer()
    items = [nested(board, depth + 1) for _ in range(board.random.randrange(3))]
    if kind == 2:
        return items
    if kind == 3:
        return tuple(items)
    if kind == 4:
        return {number: item for number, item in enumerate(items)}
    return board.random.choice((Record, FrozenRecord))(board.buffer(), board.random.randrange(3))


def changed_record(board, record=Record(None, 0)):  # noqa: B008 - one object, whose attributes change
    record.target, record.number = board.buffer(), board.random.randrange(3)
    return (record,)


def kernel_work(board):
    def work(stream, kernels):
        for name in kernels if isinstance(kernels, dict) else [kernels]:
            while isinstance(name, list):
                (name,) = name
            launch(stream, ONE, name, board.memory.address)

    return work


def kernels(board):
    made = compiled.__wrapped__(
        f'extern "C" __global__ void k(int* y) {{ *y += {board.random.randrange(1000)}; }}'
    ).get_kernel("k")
    nest = made
    for _ in range(31):
        nest = [nest]
    return (board.random.choice(({made: 1}, nest, made)),)


def address_work(board):
    def work(stream, x, number, offset):
        add(stream, board, x.handle if isinstance(x, Buffer) else x, number % 1000)
        add(stream, board, board.memory.address + offset, 1)

    return work


def addresses(board):
    address = board.address()
    return (
        board.random.choice((address, Buffer.from_handle(address, RANGE))),
        board.random.choice((address, address + RANGE, 7)),
        board.random.choice((0, RANGE)),
    )


def view_work(board):
    def work(stream, view):
        add(stream, board, view.ptr, sum(view.shape) * 10 + len(view.shape) + view.dtype.itemsize)

    return work


def views(board):
    whole = StridedMemoryView.from_any_interface(OnDevice(board.memory), stream_ptr=-1)
    dtype = np.dtype(board.random.choice(("<i4", "<f4")))
    buffer = board.buffer()
    view = StridedMemoryView.from_buffer(buffer, (board.random.choice((4, 8)),), dtype=dtype)
    return (board.random.choice((view, view.view(dtype=np.dtype("<u4")), whole)),)


def failing_work(board):
    def work(stream, x, n):
        launch(stream, ONE, board.axpy, x, board.memory.address, n, 1)
        if n % 3 == 0:
            raise LookupError(n)
        if n % 5 == 0:
            launch(stream, ONE, board.axpy, x, "rejected", 1, 1)

    return work


def failing(board):
    buffer = board.buffer()
    if board.random.randrange(8) == 0:
        buffer.close()
    return buffer, board.random.randrange(1, 12)


def config_work(board):
    def work(stream, config, *, factor=1):
        launch(stream, config, board.axpy, board.memory.address, board.memory.address, factor, ITEMS)

    return work


def configs(board, changed=LaunchConfig(grid=1, block=1)):  # noqa: B008 - one object that changes
    changed.block = board.random.choice((1, 2, 4))
    return (board.random.choice((changed, LaunchConfig(grid=board.random.choice((1, 2)), block=2))),)


KINDS = {
    "structured dtypes at one address": (dtype_work, with_dtype),
    "sizes": (sizes_work, lambda board: (board.buffer(board.random.choice((8, 16))),)),
    "correlated moves": (moved_work, moved),
    "overlapping copies": (copy_work, overlapping),
    "one buffer twice": (branch_work, aliases),
    "equal numbers of other types": (typed_work, numbers),
    "nested containers": (nested_work, lambda board: (nested(board),)),
    "a record that changes": (nested_work, changed_record),
    "kernels in containers": (kernel_work, kernels),
    "ints equal to addresses": (address_work, addresses),
    "views of views": (view_work, views),
    "exceptions and rejected arguments": (failing_work, failing),
    "configurations": (config_work, configs),
}


def outcome(function, stream, board, args):
    """Return the memory after a call, and the type of its exception."""
    board.reset()
    error = None
    try:
        function(stream, *args)
    except Exception as caught:
        error = type(caught)
    stream.sync()
    return error, board.bytes()


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("options", [{}, {"maxsize": 2}])
def test_captured_function_matches_the_function(stream, name, options):
    board = Board(random.Random(name))
    make_work, make_args = KINDS[name]
    work = make_work(board)
    captured = capture(work, **options)
    is_costly = make_args is kernels
    for _ in range(max(CALLS // 10, 2) if is_costly else CALLS):
        args = make_args(board)
        expected = outcome(lambda stream, *args: direct(work, stream, args), stream, board, args)
        assert outcome(captured, stream, board, args) == expected


def direct(work, stream, args):
    # Nothing of a call that fails while it is captured runs.
    before = None
    with stream.device.create_stream() as probe, probe.create_graph_builder().begin_building() as builder:
        work(builder, *args)
        before = builder.end_building()
    assert before is not None
    work(stream, *args)


class Model:
    __slots__ = ("board", "factor")

    def __init__(self, board, factor):
        self.board, self.factor = board, factor

    @capture(data="x")
    def step(self, stream, x, n):
        if n % 2:
            add(stream, self.board, x.handle, 1000)
        add(stream, self.board, x.handle, n * self.factor)

    @staticmethod
    @capture(data=("x",))
    def static(stream, board_address, x, n):
        launch(stream, ONE, kernel("axpy"), x, board_address, n, 1)

    @capture
    @staticmethod
    def outer_static(stream, board_address, x, n):
        Model.static.__wrapped__(stream, board_address, x, n)

    @classmethod
    @capture(data="x")
    def of_class(cls, stream, board_address, x, n):
        launch(stream, ONE, kernel("axpy"), x, board_address, n * len(cls.__name__), 1)

    @capture
    @classmethod
    def outer_class(cls, stream, board_address, x, n):
        launch(stream, ONE, kernel("axpy"), x, board_address, n * len(cls.__name__), 1)


class Tracked(Model):
    """With weak references to its instances."""


@pytest.mark.parametrize("cls", [Model, Tracked])
def test_methods_match_the_functions(stream, cls):
    board = Board(random.Random(cls.__name__))
    models = [cls(board, factor) for factor in (1, 3)]
    source = board.memory.address + 4 * (ITEMS - 1)
    for _ in range(CALLS):
        model, x, n = board.random.choice(models), board.buffer(), board.random.randrange(4)
        step = board.random.choice((model.step, lambda *args, model=model: cls.step(model, *args)))
        plain = Model.step.__wrapped__
        assert outcome(step, stream, board, (x, n)) == outcome(
            lambda stream, *args, model=model, plain=plain: plain(model, stream, *args), stream, board, (x, n)
        )
        for name, factor in (("static", 1), ("outer_static", 1), ("of_class", 5), ("outer_class", 5)):
            factor = len(cls.__name__) if factor > 1 else 1
            method = getattr(board.random.choice((model, cls)), name)
            expected = outcome(
                lambda stream, *args, factor=factor: Model.static.__wrapped__(stream, *args[:-1], args[-1] * factor),
                stream, board, (source, x, n),
            )  # fmt: skip
            assert outcome(method, stream, board, (source, x, n)) == expected


def test_threads_get_the_results_for_their_arguments(device):
    shared = capture(lambda stream, y, x, a, n: launch(stream, LaunchConfig(grid=1, block=4), axpy, y, x, a, n))
    axpy = kernel("axpy")
    lock = threading.Lock()
    wrong = []

    def work(index):
        device.set_current()
        stream, numbers = device.create_stream(), random.Random(index)
        memories = [ints(4) for _ in range(3)]
        x = ints(4, 1)
        totals = [0] * 3
        for _ in range(CALLS):
            which, factor = numbers.randrange(3), numbers.randrange(5)
            shared(stream, memories[which].buffer, x.buffer, factor, 4)
            totals[which] += factor
        stream.sync()
        with lock:
            wrong.extend(
                1 for memory, total in zip(memories, totals, strict=True)
                if memory.array(np.int32).tolist() != [total] * 4
            )  # fmt: skip

    assert run_in_threads(work) == [] and wrong == []
