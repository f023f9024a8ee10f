# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Threads that share one object: what caches and counts. Without an interpreter lock these run at the same time."""

import os
import threading

import numpy as np
import pytest

from cuda.core import LegacyPinnedMemoryResource, Program
from cuda.core.utils import StridedMemoryView
from support.interpreter import run

# Imports every module, and prints those after which the interpreter has another lock than before.
IMPORT_ALL = """
import importlib, pkgutil, sys, warnings
warnings.simplefilter("ignore")
import cuda.core
is_locked = getattr(sys, "_is_gil_enabled", lambda: True)
before, count, changed = is_locked(), 0, []
for module in pkgutil.walk_packages(cuda.core.__path__, "cuda.core."):
    if module.name.rpartition(".")[2] not in ("_bundle", "__main__", "autoinit", "autoprimaryctx"):
        importlib.import_module(module.name)
        count += 1
        if is_locked() != before:
            changed.append(module.name)
            break
from cuda.core._utils.bundle import MODULES
assert {f"cuda.core.{name}" for name in MODULES} <= set(sys.modules)
print(count, changed)
"""
COUNT = 8


def run_in_threads(function) -> list:
    """Call a function in threads that start together, with the number of each, and return what they raised."""
    barrier = threading.Barrier(COUNT)
    errors = []

    def call(number):
        barrier.wait()
        try:
            function(number)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(COUNT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_no_module_enables_the_interpreter_lock():
    environment = {"PYTHONSAFEPATH": "1"}
    assert "PYTHON_GIL" not in os.environ
    count, changed = run(IMPORT_ALL, **environment).strip().splitlines()[-1].split(" ", 1)
    assert int(count) > 200
    assert changed == "[]"


@pytest.mark.requires(device=True)
def test_memoryviews_of_many_threads_are_counted(device):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    part = buffer[8:24]

    def look(number):
        for _ in range(400):
            with memoryview(part if number % 2 else buffer) as view:
                assert len(view) in (16, 64)

    assert run_in_threads(look) == []
    buffer.close()  # BufferError if a view were still counted
    assert buffer.is_closed


@pytest.mark.requires(device=True)
def test_threads_cut_one_buffer(device):
    buffer = LegacyPinnedMemoryResource().allocate(64)
    parts = [[] for _ in range(COUNT)]

    def cut(number):
        parts[number] += [buffer[number : number + 8] for _ in range(50)]

    assert run_in_threads(cut) == []
    assert all(part.size == 8 for some in parts for part in some)
    buffer.close()
    assert all(part.is_closed for some in parts for part in some)


def test_threads_ask_one_view_for_what_it_learns():
    for _ in range(50):
        view = StridedMemoryView.from_any_interface(np.zeros((3, 5), np.int16), stream_ptr=-1)
        seen = [None] * COUNT

        def look(number, view=view, seen=seen):
            seen[number] = (view.shape, view.dtype, view._layout)

        assert run_in_threads(look) == []
        assert {(shape, dtype) for shape, dtype, _ in seen} == {((3, 5), np.dtype(np.int16))}
        assert len({id(layout) for _, _, layout in seen}) == 1


@pytest.mark.requires(device=True, source=True)
def test_attributes_of_a_kernel_are_read_while_it_closes(device):
    code = Program('extern "C" __global__ void f() {}', "c++").compile("cubin")
    for _ in range(20):
        kernel = code.get_kernel("f")

        def use(number, kernel=kernel):
            for _ in range(20):
                if number:
                    assert repr(kernel.attributes) and repr(kernel.occupancy)
                else:
                    kernel.close()

        assert run_in_threads(use) == []
        assert kernel.is_closed
