# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Handles: what they keep alive, when their value ends, and that stress leaks nothing."""

import gc
import os
import random
import subprocess
import sys
import sysconfig
import threading
import weakref
from pathlib import Path

import pytest

import cuda.core
from support.build import build_extension

SOURCE = Path(__file__).with_name("handle_probe.pyx")

pytestmark = pytest.mark.requires(extensions=True)


@pytest.fixture(scope="module")
def probe():
    return build_extension(SOURCE)


class Ledger:
    """Counts the values that were made and ended since its creation."""

    def __init__(self, probe):
        self.probe = probe
        self.start = probe.counts()

    @property
    def open(self):
        made, ended, _ = (now - then for now, then in zip(self.probe.counts(), self.start, strict=True))
        return made - ended

    @property
    def orphaned(self):
        return self.probe.counts()[2] - self.start[2]


@pytest.fixture
def ledger(probe):
    ledger = Ledger(probe)
    yield ledger
    gc.collect()
    assert ledger.open == 0
    assert ledger.orphaned == 0


def test_value_ends_with_the_last_copy(probe, ledger):
    node = probe.Node()
    copy = node.copy()
    assert node.use_count == 2
    node.close()
    assert not node.is_open
    assert ledger.open == 1
    copy.close()
    assert ledger.open == 0


def test_closing_twice_ends_once(probe, ledger):
    node = probe.Node()
    node.close()
    node.close()
    assert ledger.open == 0


def test_borrowed_value_is_not_ended(probe, ledger):
    node = probe.Node()
    borrowed = node.borrow()
    assert borrowed.number == node.number
    borrowed.close()
    assert ledger.open == 1
    node.close()


@pytest.mark.parametrize(("is_brief", "has_lock"), [(False, 0), (True, 1)])
def test_gil_is_released_for_an_end_that_may_block(probe, is_brief, has_lock):
    assert probe.has_lock_at_the_end(is_brief) == has_lock


def test_child_keeps_a_closed_parent(probe, ledger):
    parent = probe.Node()
    child = probe.Node(parent)
    parent.close()
    assert ledger.open == 2
    child.close()
    assert ledger.open == 0


def test_handle_keeps_a_python_object(probe, ledger):
    class Owner:
        pass

    owner = Owner()
    alive = weakref.ref(owner)
    node = probe.Node(anchor=owner)
    del owner
    gc.collect()
    assert alive() is not None
    node.close()
    assert alive() is None


def test_long_chain_of_parents_ends(probe, ledger):
    node = probe.Node()
    for _ in range(2000):
        node = probe.Node(node)
    assert ledger.open == 2001
    node.close()
    assert ledger.open == 0


def test_registry_returns_the_live_handle(probe, ledger):
    node = probe.Node()
    node.register()
    found = probe.find(node.number)
    assert found.number == node.number
    assert found.use_count == 2
    number = node.number
    node.close()
    assert probe.find(number) is not None
    found.close()
    assert probe.find(number) is None


def test_registry_has_no_entry_for_a_closed_handle(probe, ledger):
    before = probe.registered()
    node = probe.Node()
    node.close()
    assert not node.register().is_open
    assert probe.registered() == before


def test_registry_removes_handles_that_ended(probe, ledger):
    before = probe.registered()
    nodes = [probe.Node() for _ in range(100)]
    for node in nodes:
        node.register()
    assert probe.registered() == before + 100
    for node in nodes:
        node.close()
    assert probe.registered() == before


def test_registering_twice_returns_the_first_handle(probe, ledger):
    node = probe.Node()
    first = node.register()
    second = node.register()
    assert first.number == second.number == node.number
    assert node.use_count == 3


def build_forest(probe, rng, size):
    nodes = [probe.Node()]
    for _ in range(size):
        nodes.append(probe.Node(rng.choice(nodes)) if rng.random() < 0.8 else probe.Node(anchor=object()))
        if rng.random() < 0.3:
            nodes.append(rng.choice(nodes).copy())
    return nodes


def churn(probe, seed, rounds, failures):
    """Build and drop forests of handles in random order, with exceptions in between."""
    rng = random.Random(seed)
    try:
        for _ in range(rounds):
            nodes = build_forest(probe, rng, 12)
            if rng.random() < 0.5:
                nodes.sort(key=lambda node: node.number)  # parents first
            else:
                rng.shuffle(nodes)
            try:
                while nodes:
                    node = nodes.pop(0)
                    if rng.random() < 0.5:
                        node.close()
                    if rng.random() < 0.02:
                        raise KeyError(seed)
            except KeyError:
                nodes.clear()
    except BaseException as error:
        failures.append(error)


def run_threads(target, count=8):
    threads = [threading.Thread(target=target, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)


def test_eight_threads_leak_nothing_in_a_thousand_rounds(probe, ledger):
    failures = []
    run_threads(lambda seed: churn(probe, seed, 125, failures))
    assert failures == []


def test_eight_threads_without_the_gil_leak_nothing(probe, ledger):
    before = probe.registered()
    run_threads(lambda seed: probe.hammer(20_000, seed + 1))
    assert probe.registered() == before


def test_more_handles_than_the_probe_has_numbers_leak_nothing(probe, ledger):
    made = probe.counts()[0]
    kept = probe.Node()
    run_threads(lambda seed: probe.hammer(300_000, seed + 1))
    assert probe.counts()[0] - made > 1 << 20
    assert kept.is_open
    kept.close()


def test_shared_handles_are_dropped_by_any_thread(probe, ledger):
    parent = probe.Node()
    shared = [probe.Node(parent) for _ in range(200)]
    parent.close()
    pools = [[node.copy() for node in shared] for _ in range(8)]
    shared.clear()

    def drop(index):
        random.Random(index).shuffle(pools[index])
        pools[index].clear()

    run_threads(drop)
    assert ledger.open == 0


def test_forked_child_does_not_end_the_handles_of_its_parent(probe, ledger):
    nodes = [probe.Node() for _ in range(10)]
    made, ended, _ = probe.counts()
    child = os.fork()
    if child == 0:
        try:
            nodes.clear()
            is_forgotten = probe.counts()[1] == ended
            own = probe.Node()
            own.close()
            is_ended = probe.counts()[:2] == (made + 1, ended + 1)
            os._exit(0 if is_forgotten and is_ended else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def test_fork_beside_busy_threads_does_not_deadlock(probe, ledger):
    stop = threading.Event()

    def work():
        seed = 1
        while not stop.is_set():
            probe.hammer(500, seed)
            seed += 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                probe.find(1)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


EXIT_STATES = {
    "open handles in globals": "nodes = [probe.Node() for _ in range(50)]",
    "children without parents": "p = probe.Node(); c = [probe.Node(p) for _ in range(9)]; p.close()",
    "a reference cycle": "class A: pass\na = A(); a.a = a; a.node = probe.Node(anchor=a)",
    "a handle kept by a module": "import sys; sys.kept = probe.Node(probe.Node())",
    "daemon threads at work": (
        "import threading\n"
        "def work():\n"
        "    while True: probe.Node(probe.Node(anchor=object()))\n"
        "for _ in range(4): threading.Thread(target=work, daemon=True).start()"
    ),
    "an exception on its way": "node = probe.Node()\nraise SystemExit(0)",
    "a handle dropped in atexit": "import atexit; node = probe.Node(); atexit.register(node.close)",
}


@pytest.mark.parametrize("state", EXIT_STATES)
def test_interpreter_exits_cleanly_with(probe, state):
    load = (
        "import importlib.util\n"
        f"spec = importlib.util.spec_from_file_location('handle_probe', {probe.__file__!r})\n"
        "probe = importlib.util.module_from_spec(spec); spec.loader.exec_module(probe)\n"
    )
    done = subprocess.run([sys.executable, "-c", load + EXIT_STATES[state]], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_call_keeps_a_value_closed_during_it(probe, ledger):
    node = probe.Node()
    holder = probe.Holder(node)
    node.close()
    number, is_alive = holder.use(holder.close)
    assert number > 0 and is_alive
    assert ledger.open == 0
    assert holder.use(holder.close) is None


def test_nested_calls_end_a_closed_value_with_the_outer_one(probe, ledger):
    node = probe.Node()
    holder = probe.Holder(node)
    node.close()
    states = []

    def inner():
        states.append(holder.use(holder.close)[1])
        states.append(ledger.open)

    assert holder.use(inner)[1]
    assert states == [True, 1]
    assert ledger.open == 0


def test_call_keeps_the_old_value_of_an_assigned_field(probe, ledger):
    first, second = probe.Node(), probe.Node()
    holder = probe.Holder(first)
    first.close()
    number, is_alive = holder.use(lambda: holder.set(second))
    assert is_alive and number != second.number
    assert ledger.open == 1
    assert holder.use(lambda: None)[0] == second.number
    second.close()


def test_two_fields_of_one_value_can_be_closed_during_a_call(probe, ledger):
    node = probe.Node()
    holders = [probe.Holder(node), probe.Holder(node)]
    node.close()
    assert holders[0].use_count == 2
    assert holders[0].use(lambda: [holder.close() for holder in holders])[1]
    assert ledger.open == 0


def test_call_keeps_the_value_of_a_destroyed_field(probe, ledger):
    holders = [probe.Holder(probe.Node())]
    assert holders[0].use(holders.clear)[1]
    assert ledger.open == 0


def test_copy_outlives_its_field(probe, ledger):
    holder = probe.Holder(probe.Node())
    copy = holder.copy()
    holder.close()
    assert not holder.is_open and holder.use_count == 0
    assert copy.is_open and ledger.open == 1
    copy.close()


MISUSES = {
    "the value of a handle field": "field.get();",
    "the struct in a handle field": "field.value();",
    "the value of a temporary copy": "field.copy().get();",
    "the struct in a temporary copy": "field.copy().value();",
    "a copy of a pin": "Pin<int> pin; Pin<int> other(pin);",
    "a copy of a handle field": "HandleField<int> other(field);",
}


@pytest.mark.parametrize("misuse", [None, *MISUSES])
def test_raw_values_can_be_read_from_kept_references_only(misuse):
    use = MISUSES[misuse] if misuse else "Pin<int> pin; if (pin.hold(field)) pin.get();"
    folder = Path(cuda.core.__file__).parent / "_native"
    source = f'#include "handle_field.hpp"\nusing namespace cuda_core;\nvoid use(HandleField<int>& field) {{ {use} }}\n'
    command = ["g++", "-std=c++17", "-fsyntax-only", "-xc++", "-", f"-I{folder}", f"-I{sysconfig.get_path('include')}"]
    done = subprocess.run(command, input=source, capture_output=True, text=True)
    assert (done.returncode == 0) == (misuse is None), done.stderr[-2000:]
    assert misuse is None or "error:" in done.stderr
