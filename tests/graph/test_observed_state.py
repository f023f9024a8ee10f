# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""What captured functions observe beside their arguments: a change captures again, everything else is replayed."""

import contextlib
import enum
import functools
import operator
import os
import sys
import types
from dataclasses import dataclass, field

import numpy as np
import pytest

from cuda.core import launch
from cuda.core.graph import capture
from support.captured_work import fill, ints, kernel, values
from support.graph_work import ONE

NUMBER = 1
TABLE = {"number": 1}
HELD = [1]
AXPY = None
MODULE = types.ModuleType("global_module")


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


def of_global_module(stream, y):
    add(stream, y, MODULE.number)


def of_environment(stream, y):
    add(stream, y, int(os.environ["OBSERVED_NUMBER"]))


def of_attribute_getter(stream, y):
    add(stream, y, operator.attrgetter("number")(Settings))


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


def with_changed_keywords_of_partial():
    work = functools.partial(lambda stream, y, number: add(stream, y, number), number=1)
    return work, lambda number: work.keywords.__setitem__("number", number)


def with_partial_in_closure():
    number_of = functools.partial(lambda held: held[0], [1])
    return (lambda stream, y: add(stream, y, number_of())), lambda number: number_of.args[0].__setitem__(0, number)


def with_added_keyword_default():
    def work(stream, y, *, number=1):
        add(stream, y, number)

    return work, lambda number: setattr(work, "__kwdefaults__", {"number": number})


def with_default_of_inner_function():
    held = [1]

    def work(stream, y):
        def inner(number=held[0]):
            add(stream, y, number)

        inner()

    return work, lambda number: held.__setitem__(0, number)


def with_replaced_code():
    def work(stream, y):
        add(stream, y, len("."))  # not an int, which instructions of newer Pythons contain

    variants = {}
    for number in (1, 4, 7):
        constants = ("." * number if constant == "." else constant for constant in work.__code__.co_consts)
        variants[number] = work.__code__.replace(co_consts=(*constants,))
    return work, lambda number: setattr(work, "__code__", variants[number])


def with_dataclass():
    @dataclass
    class Parameters:
        number: int = 1
        others: list = field(default_factory=list)

    parameters = Parameters()

    def work(stream, y, parameters=parameters):
        add(stream, y, parameters.number)

    return work, lambda number: setattr(parameters, "number", number)


def with_replaced_bases():
    kinds = {number: type("Base", (), {"number": number}) for number in (1, 4, 7)}

    class Derived(kinds[1]):
        pass

    return (lambda stream, y: add(stream, y, Derived.number)), lambda number: setattr(
        Derived, "__bases__", (kinds[number],)
    )


def with_replaced_class():
    class Model:
        number = 1

        @capture
        def step(self, stream, y):
            add(stream, y, self.number)

    model = Model()
    kinds = {number: type("Other", (Model,), {"number": number}) for number in (1, 4, 7)}
    return model.step, lambda number: setattr(model, "__class__", kinds[number])


def with_replaced_namespace():
    model = Model()
    return model.step, lambda number: setattr(model, "__dict__", {"number": number})


def with_captured_class_method():
    class Counter:
        number = 1

        @classmethod
        def step(cls, stream, y):
            add(stream, y, cls.number)

    return Counter.step, lambda number: setattr(Counter, "number", number)


def with_relative_import():
    package = types.ModuleType("observed_module")
    sys.modules["observed_module"] = package
    package.number = 1
    scope = {"__package__": "observed_module", "add": add}
    exec("def work(stream, y):\n    from . import number\n    add(stream, y, number)\n", scope)
    return scope["work"], lambda number: setattr(package, "number", number)


def with_property_of_partial():
    held = [1]

    class Reader:
        number = property(functools.partial(lambda held, self: held[0], held))

        @capture
        def step(self, stream, y):
            add(stream, y, self.number)

    reader = Reader()
    return reader.step, lambda number: held.__setitem__(0, number)


class Model:
    def __init__(self):
        self.number = 1

    @capture
    def step(self, stream, y):
        add(stream, y, self.number)


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


def with_attribute_of_function():
    def work(stream, y):
        add(stream, y, work.number)

    work.number = 1
    return work, lambda number: setattr(work, "number", number)


def with_attribute_of_captured_function():
    @capture
    def work(stream, y):
        add(stream, y, work.number)

    work.number = 1
    return work, lambda number: setattr(work, "number", number)


def with_bound_captured_method():
    model = Model()
    step = model.step
    return (lambda stream, y: step(stream, y)), lambda number: setattr(model, "number", number)


class Instance:
    """Its methods, which no code names, read a global."""

    kind = 1

    def __init__(self):
        self.number = NUMBER

    def __add__(self, other):
        return NUMBER

    def __len__(self):
        return NUMBER

    def __iter__(self):
        return iter([NUMBER])

    def __enter__(self):
        return NUMBER

    def __exit__(self, *_):
        pass

    def __format__(self, spec):
        return str(NUMBER)

    def read(self):
        return self.kind


def of_context(stream, y):
    with Instance() as number:
        add(stream, y, number)


def of_method_of_instance(stream, y):
    add(stream, y, Instance().read())


class ClassWithProperty(type):
    @property
    def number(cls):
        return NUMBER


class Classified(metaclass=ClassWithProperty):
    pass


def number_of(holder):
    return holder.number


@contextlib.contextmanager
def number_in_context():
    yield NUMBER


def of_generator_context(stream, y):
    with number_in_context() as number:
        add(stream, y, number)


class Level(enum.Enum):
    LOW = 1


def set_level(number):
    Level.LOW.number = number


def with_function_of_module():
    module = types.ModuleType("lazy_module")
    exec("value = 1\ndef __getattr__(name): return value", module.__dict__)
    return (lambda stream, y: add(stream, y, module.number)), lambda number: setattr(module, "value", number)


def with_builtin():
    import builtins

    builtins.OBSERVED_NUMBER = 1
    return (
        lambda stream, y: add(stream, y, OBSERVED_NUMBER)  # noqa: F821
    ), lambda number: setattr(builtins, "OBSERVED_NUMBER", number)


def with_set():
    held = {0}

    def change(number):
        held.clear()
        held.update(range(number))

    return (lambda stream, y: add(stream, y, len(held))), change


def with_private_slot():
    class Model:
        __slots__ = ("__number", "__weakref__")

        def write(self, number):
            self.__number = number

        @capture
        def step(self, stream, y):
            add(stream, y, self.__number)

    model = Model()
    model.write(1)
    return model.step, model.write


def with_object_of_own_class():
    class Model:
        def __init__(self):
            self.number = NUMBER

        @capture
        def step(self, stream, y):
            add(stream, y, type(self)().number)

    return Model().step, set_global


def with_dataclass_method():
    @dataclass
    class Model:
        number: int = 1

        @capture
        def step(self, stream, y):
            add(stream, y, self.number)

    model = Model()
    return model.step, lambda number: setattr(model, "number", number)


def with_renamed_getattr():
    read = getattr
    return (lambda stream, y: add(stream, y, read(Settings, "number"))), set_class


def with_hasattr():
    held = Instance()
    return (lambda stream, y: add(stream, y, held.number if hasattr(held, "number") else 0)), lambda number: setattr(
        held, "number", number
    )


def with_memory():
    memory = ints(1, 1)
    return (
        lambda stream, y: add(stream, y, int(np.from_dlpack(memory.buffer).view(np.int32)[0]))
    ), lambda number: fill(memory, number, np.int32)


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
    "global module": lambda: (of_global_module, lambda number: setattr(MODULE, "number", number)),
    "environment": lambda: (of_environment, lambda number: os.environ.__setitem__("OBSERVED_NUMBER", str(number))),
    "attribute getter": lambda: (of_attribute_getter, set_class),
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
    "keywords of a partial": with_changed_keywords_of_partial,
    "partial in the closure": with_partial_in_closure,
    "replaced keyword defaults": with_added_keyword_default,
    "default of an inner function": with_default_of_inner_function,
    "replaced code": with_replaced_code,
    "dataclass": with_dataclass,
    "replaced bases": with_replaced_bases,
    "replaced class": with_replaced_class,
    "replaced namespace": with_replaced_namespace,
    "captured class method": with_captured_class_method,
    "relative import": with_relative_import,
    "property of a partial": with_property_of_partial,
    "function attribute": with_attribute_of_function,
    "captured function attribute": with_attribute_of_captured_function,
    "bound captured method": with_bound_captured_method,
    "constructor": lambda: ((lambda stream, y: add(stream, y, Instance().number)), set_global),
    "operator": lambda: ((lambda stream, y: add(stream, y, Instance() + 1)), set_global),
    "length": lambda: ((lambda stream, y: add(stream, y, len(Instance()))), set_global),
    "iteration": lambda: ((lambda stream, y: add(stream, y, max(Instance()))), set_global),
    "format": lambda: ((lambda stream, y: add(stream, y, int(f"{Instance()}"))), set_global),
    "context": lambda: (of_context, set_global),
    "generator as a context": lambda: (of_generator_context, set_global),
    "class of an instance": lambda: (of_method_of_instance, lambda number: setattr(Instance, "kind", number)),
    "metaclass": lambda: ((lambda stream, y: add(stream, y, Classified.number)), set_global),
    "module passed to code": lambda: (
        (lambda stream, y: add(stream, y, number_of(MODULE))),
        lambda number: setattr(MODULE, "number", number),
    ),
    "class passed to code": lambda: ((lambda stream, y: add(stream, y, number_of(Settings))), set_class),
    "enumeration": lambda: ((lambda stream, y: add(stream, y, Level.LOW.number)), set_level),
    "function of a module": with_function_of_module,
    "builtin": with_builtin,
    "set": with_set,
    "private slot": with_private_slot,
    "object of the own class": with_object_of_own_class,
    "method of a dataclass": with_dataclass_method,
    "renamed getattr": with_renamed_getattr,
    "hasattr": with_hasattr,
    "contents of memory": with_memory,
}

# What a key cannot hold, so that each call captures.
UNKNOWN = {
    "globals()", "environment", "attribute getter", "host array", "object", "dataclass", "relative import",
    "renamed getattr", "hasattr", "contents of memory",
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_what_a_function_observes_capture_again(stream, monkeypatch, name):
    monkeypatch.setenv("OBSERVED_NUMBER", "1")
    module = types.ModuleType("observed_module")
    module.number = 1
    monkeypatch.setitem(sys.modules, "observed_module", module)
    monkeypatch.setattr("builtins.OBSERVED_NUMBER", 1, raising=False)
    monkeypatch.setattr(Instance, "kind", 1)
    for change in (set_global, set_table, set_held, set_class):
        change(1)
    function, change = CHANGES[name]()
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
    y = ints(1)
    before = step.statistics.replays
    for _ in range(3):
        step(stream, y.buffer)
    assert step.statistics.replays - before == (0 if name in UNKNOWN else 2)


def counting_global(stream, y):
    global NUMBER
    NUMBER += 1
    add(stream, y, NUMBER)


def counting_attribute(stream, y):
    Settings.number += 1
    add(stream, y, Settings.number)


def counting_list(stream, y):
    HELD[0] += 1
    add(stream, y, HELD[0])


class Optimizer:
    def __init__(self):
        self.number = 1

    @capture
    def step(self, stream, y):
        self.number += 1
        add(stream, y, self.number)


@pytest.mark.parametrize("way", [counting_global, counting_attribute, counting_list, Optimizer])
def test_state_changed_by_the_run_itself_is_seen_by_the_next(stream, way):
    for change in (set_global, set_held, set_class):
        change(1)
    step, y = way().step if way is Optimizer else capture(way), ints(1, 1)
    for _ in range(4):
        step(stream, y.buffer)
    stream.sync()
    assert values(y) == [1 * 3 * 4 * 5 * 6]


VARYING = {
    "random": "from random import random as draw",
    "clock": "from time import perf_counter as draw",
    "numpy.random": "import numpy\ndef draw(): return numpy.random.random()",
    "datetime": "import datetime\ndef draw(): return datetime.datetime.now().timestamp()",
    "file": "def draw():\n    with open('/proc/self/stat') as file:\n        return file.read()",
    "generator": "draws = (number for number in range(9))\ndef draw(): return next(draws)",
}


@pytest.mark.parametrize("name", VARYING)
def test_functions_with_a_result_that_varies_are_called_again(stream, name):
    scope = {"__name__": "user_module"}
    exec(VARYING[name] + "\ndef work(stream): draw()", scope)
    step = capture(scope["work"])
    for _ in range(3):
        step(stream)
    assert step.statistics.replays == 0
