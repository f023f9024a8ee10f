# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The internals of CPython that the package relies on, checked with the version that runs the tests."""

import ctypes
import functools
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from support.build import build_extension

pytestmark = pytest.mark.requires(extensions=True)


@pytest.fixture(scope="module")
def probe():
    return build_extension(Path(__file__).parent / "cpython_probe.pyx")


@pytest.mark.parametrize("items", [(), (1,), tuple("abcdefghijklmnop")], ids=len)
def test_items_of_a_tuple_are_read_in_place(probe, items):
    assert probe.items_of(items) == list(items)


DIGIT = 1 << sys.int_info.bits_per_digit


@pytest.mark.parametrize("value", [0, 1, 255, 256, DIGIT - 1, DIGIT, DIGIT + 1, DIGIT**2 - 1])
def test_ints_of_two_digits_are_read_without_a_call(probe, value):
    assert (probe.short_int(value), probe.short_int(-value)) == (value, -value)


@pytest.mark.parametrize("value", [DIGIT**2, DIGIT**2 + 1, 1 << 63, 1 << 200])
def test_longer_ints_are_not_read(probe, value):
    assert (probe.short_int(value), probe.short_int(-value)) == (None, None)


def test_truth_values_are_read_as_ints(probe):
    assert (probe.short_int(True), probe.short_int(False)) == (1, 0)


def test_running_instruction_is_found(probe):
    def runs_at(offset):
        return probe.runs(runs_at.__code__, offset)

    places = range(0, len(runs_at.__code__.co_code), 2)
    assert [runs_at(offset) for offset in places].count(True) == 1
    assert not any(probe.runs(runs_at.__code__, offset) for offset in places)


def test_thread_without_python_code_runs_no_code(probe):
    def code():
        pass

    # Python 3.15 has a sentinel frame there. The argument of the thread is the offset.
    start = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p)(functools.partial(probe.runs, code.__code__))
    libc = ctypes.CDLL(None)
    thread, found = ctypes.c_ulong(), ctypes.c_ssize_t(-1)
    assert libc.pthread_create(ctypes.byref(thread), None, start, ctypes.c_void_p(2)) == 0
    assert libc.pthread_join(thread, ctypes.byref(found)) == 0
    assert found.value == 0


def test_callback_does_not_see_the_pending_error_and_keeps_it(probe):
    assert probe.call_while_an_error_is_pending(7) == ([(7, False)], True)


def test_callback_takes_the_gil(probe):
    assert probe.call_without_lock(8) == [(8, False)]


def test_exception_is_set_without_the_lock(probe):
    with pytest.raises(BufferError, match="of a thread without the lock"):
        probe.raise_without_lock()


def test_type_call_and_new_use_separate_functions(probe):
    found = probe.Singleton(1, 2)
    assert found.made == ("call", [1, 2])
    assert probe.Singleton.__new__(probe.Singleton, 3) is found
    assert found.made == ("new", [3])


def test_calling_an_instance_makes_no_tuple(probe):
    adder = probe.Adder()
    assert (adder(), adder(1, 2, 3), adder(*range(10))) == (0, 6, 45)


@pytest.mark.parametrize("other", [5, None, object(), "text"])
def test_method_rejects_an_object_of_another_class(probe, other):
    name = type(other).__name__
    with pytest.raises(TypeError, match=f"descriptor 'read' for 'cpython_probe.Word' .* a '{name}' object"):
        probe.Word.read(other)
    with pytest.raises(TypeError, match="descriptor 'join' for"):
        probe.Word.join(other, 1, named=2)


def test_method_rejects_a_call_without_an_object(probe):
    with pytest.raises(TypeError, match=r"unbound method cpython_probe.Word.read\(\) needs an argument"):
        probe.Word.read()
    with pytest.raises(TypeError, match=r"unbound method cpython_probe.Word.join\(\) needs an argument"):
        probe.Word.join(named=1)


def test_method_accepts_its_class_and_subclasses(probe):
    word, sentence = probe.Word("a"), probe.Sentence("b")
    assert (word.read(), probe.Word.read(word), probe.Word.read(sentence), sentence.read()) == ("a", "a", "b", "b")
    assert probe.Word.join(word) == ("a", (), {})
    assert sentence.join(1, 2, x=3, y=4) == ("b", (1, 2), {"x": 3, "y": 4})
    assert word.join(*range(3)) == ("a", (0, 1, 2), {})


def test_functions_without_self_are_not_checked(probe):
    assert (probe.Word.plain(5), probe.Sentence.make("c").read(), probe.Sentence.shout(5)) == (5, "c", "5!")


def test_state_of_the_gil_is_known(probe):
    assert (probe.gil_is_held(), probe.gil_is_held_after_release()) == (True, False)


def test_state_of_the_gil_is_known_on_other_threads(probe):
    found = []
    thread = threading.Thread(target=lambda: found.append((probe.gil_is_held(), probe.gil_is_held_after_release())))
    thread.start()
    thread.join()
    assert found == [(True, False)]


def test_namespace_of_a_type_is_its_dict(probe):
    assert dict(probe.namespace_of(probe.Adder)) == dict(vars(probe.Adder))


def run_with_probe(probe, program):
    load = f"""
import builtins, importlib.util, os
spec = importlib.util.spec_from_file_location("cpython_probe", {probe.__file__!r})
probe = importlib.util.module_from_spec(spec)
spec.loader.exec_module(probe)
"""
    result = subprocess.run([sys.executable, "-c", load + program], capture_output=True, text=True, timeout=60)
    return result.returncode, result.stdout, result.stderr


def test_exit_of_the_interpreter_is_detected(probe):
    program = """
class Late:
    def __init__(self, ask, write):
        self.ask, self.write = ask, write

    def __del__(self):
        self.write(1, str(self.ask()).encode())


builtins.late = Late(probe.is_exiting, os.write)
os.write(1, str(probe.is_exiting()).encode())
"""
    assert run_with_probe(probe, program) == (0, "FalseTrue", "")


@pytest.mark.parametrize("call", ["wait(200_000)", "wait_each(200_000)"])
def test_thread_in_a_method_at_exit_ends_silently(probe, call):
    program = f"""
import threading, time


class Late:
    def __init__(self, sleep, write):
        self.sleep, self.write = sleep, write

    def __del__(self):
        self.sleep(0.5)  # without the GIL, which the thread then asks for
        self.write(1, b"exit")


builtins.late = Late(time.sleep, os.write)
threading.Thread(target=lambda: probe.Word("").{call}, daemon=True).start()
time.sleep(0.05)
"""
    assert run_with_probe(probe, program) == (0, "exit", "")
