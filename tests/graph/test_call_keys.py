# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What captured functions observe beside their arguments: a change captures again, everything else is replayed."""

import functools
import sys
import types

import numpy as np
import pytest

from cuda.core import LaunchConfig, launch
from cuda.core.graph import CaptureStatistics, capture
from support.captured_work import ints, kernel, values
from support.graph_work import ONE

NUMBER = 1
TABLE = {"number": 1}
HELD = [1]
AXPY = None


def add(stream, y, number):
    launch(stream, ONE, AXPY, y, y, number, 1)


class Settings:
    number = 1

    @classmethod
    def read(cls):
        return cls.number

    @property
    def doubled(self):
        return 2 * self.number


@pytest.fixture(autouse=True)
def loaded_kernel(device, monkeypatch):
    monkeypatch.setitem(globals(), "AXPY", kernel("axpy"))


def set_global(number):
    globals()["NUMBER"] = number


def set_table(number):
    TABLE["number"] = number


def set_held(number):
    HELD[0] = number


def set_class(number):
    Settings.number = number


def of_global(stream, y):
    add(stream, y, NUMBER)


def of_table(stream, y):
    add(stream, y, TABLE["number"])


def of_list(stream, y):
    add(stream, y, HELD[0])


def of_class(stream, y):
    add(stream, y, Settings.number)


def of_class_method(stream, y):
    add(stream, y, Settings.read())


def helper():
    return NUMBER


def of_helper(stream, y):
    add(stream, y, helper())


def of_nested_code(stream, y):
    for number in [NUMBER for _ in range(1)]:
        (lambda: add(stream, y, number))()


def of_lambda(stream, y):
    add(stream, y, (lambda: NUMBER)())


def of_globals(stream, y):
    add(stream, y, globals()["NUMBER"])


def of_module(stream, y):
    import observed_module

    add(stream, y, observed_module.number)


def with_default():
    held = [1]

    def work(stream, y, held=held):
        add(stream, y, held[0])

    return work, lambda number: held.__setitem__(0, number)


def with_replaced_default():
    def work(stream, y, number=1):
        add(stream, y, number)

    return work, lambda number: setattr(work, "__defaults__", (number,))


def with_keyword_default():
    def work(stream, y, *, table={"number": 1}):  # noqa: B006
        add(stream, y, table["number"])

    return work, lambda number: work.__kwdefaults__["table"].__setitem__("number", number)


def with_closure():
    number = 1

    def work(stream, y):
        add(stream, y, number)

    def change(new):
        nonlocal number
        number = new

    return work, change


def with_closure_of_helper():
    held = {"a": [1]}

    def inner(stream, y):
        add(stream, y, held["a"][0])

    return (lambda stream, y: inner(stream, y)), lambda number: held.__setitem__("a", [number])


def with_array():
    held = np.ones(1, np.int32)

    def work(stream, y):
        add(stream, y, int(held[0]))

    return work, lambda number: held.fill(number)


def with_object():
    held = types.SimpleNamespace(number=1)

    def work(stream, y):
        add(stream, y, held.number)

    return work, lambda number: setattr(held, "number", number)


def with_partial():
    held = [1]

    def work(stream, y, held):
        add(stream, y, held[0])

    return functools.partial(work, held=held), lambda number: held.__setitem__(0, number)


def with_callable_object():
    class Work:
        def __init__(self):
            self.number = 1

        def __call__(self, stream, y):
            add(stream, y, self.number)

    work = Work()
    return work, lambda number: setattr(work, "number", number)


def with_captured_function():
    held = [1]

    @capture
    def inner(stream, y):
        add(stream, y, held[0])

    return (lambda stream, y: inner(stream, y)), lambda number: held.__setitem__(0, number)


def with_replaced_function():
    work, _ = with_closure()
    scope = {"work": work}

    def change(number):
        scope["work"] = lambda stream, y: add(stream, y, number)

    def outer(stream, y):
        scope["work"](stream, y)

    return outer, change


def with_attribute(number_of):
    class Model:
        def __init__(self):
            self.number = 1

        def read(self):
            return self.number

        doubled = property(lambda self: 2 * self.number)

        @capture
        def step(self, stream, y):
            add(stream, y, number_of(self))

    model = Model()
    return model.step, lambda number: setattr(model, "number", number)


def with_slots():
    class Model:
        __slots__ = ("__weakref__", "number")

        def read(self):
            return self.number

        @capture
        def step(self, stream, y):
            add(stream, y, self.read())

    model = Model()
    model.number = 1
    return model.step, lambda number: setattr(model, "number", number)


CHANGES = {
    "global": lambda: (of_global, set_global),
    "global dict": lambda: (of_table, set_table),
    "global list": lambda: (of_list, set_held),
    "class attribute": lambda: (of_class, set_class),
    "class method": lambda: (of_class_method, set_class),
    "helper": lambda: (of_helper, set_global),
    "nested code": lambda: (of_nested_code, set_global),
    "lambda": lambda: (of_lambda, set_global),
    "globals()": lambda: (of_globals, set_global),
    "module": lambda: (of_module, lambda number: setattr(sys.modules["observed_module"], "number", number)),
    "default": with_default,
    "replaced default": with_replaced_default,
    "keyword default": with_keyword_default,
    "closure": with_closure,
    "closure of a helper": with_closure_of_helper,
    "host array": with_array,
    "object": with_object,
    "partial": with_partial,
    "callable object": with_callable_object,
    "captured function": with_captured_function,
    "replaced function": with_replaced_function,
    "attribute": lambda: with_attribute(lambda self: self.number),
    "method": lambda: with_attribute(lambda self: self.read()),
    "property": lambda: with_attribute(lambda self: self.doubled // 2),
    "slots": with_slots,
}


@pytest.mark.parametrize("make", CHANGES.values(), ids=CHANGES)
def test_changes_of_what_a_function_observes_capture_again(stream, monkeypatch, make):
    module = types.ModuleType("observed_module")
    module.number = 1
    monkeypatch.setitem(sys.modules, "observed_module", module)
    for change in (set_global, set_table, set_held, set_class):
        change(1)
    function, change = make()
    step = function if type(function).__name__ == "CapturedFunction" else capture(function)
    expected = []
    found = []
    for number in (1, 1, 4, 4, 1, 7, 7):
        y = ints(1, 1)
        change(number)
        step(stream, y.buffer)
        stream.sync()
        found += values(y)
        expected.append(1 + number)
    assert found == expected
