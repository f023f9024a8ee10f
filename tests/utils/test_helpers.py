# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Small helpers that other packages import."""

import multiprocessing
import subprocess
import sys
import warnings

import pytest

from cuda.core import CUDAWarning
from support.contract import (
    Transaction,
    cast_to_3_tuple,
    check_multiprocessing_start_method,
    is_nested_sequence,
    is_sequence,
    precondition,
    reset_fork_warning,
)
from support.interpreter import run

# --- Transaction -----------------------------------------------------------------------------------


def run_transaction(is_committed, error=None):
    undone = []
    with Transaction() as transaction:
        transaction.append(undone.append, "first")
        transaction.append(lambda *, what: undone.append(what), what="second")
        if is_committed:
            transaction.commit()
        if error:
            raise error
    return undone


def test_transaction_shows_whether_it_is_entered():
    transaction = Transaction()
    assert repr(transaction) == "<Transaction outside its block>"
    with transaction:
        assert repr(transaction) == "<Transaction in its block>"


def test_transaction_undoes_in_reverse_order():
    assert run_transaction(is_committed=False) == ["second", "first"]


def test_committed_transaction_stays():
    assert run_transaction(is_committed=True) == []


def test_transaction_undoes_after_an_exception_and_lets_it_pass():
    undone = []
    with pytest.raises(KeyError), Transaction() as transaction:
        transaction.append(undone.append, 1)
        raise KeyError
    assert undone == [1]


def test_transaction_takes_actions_after_a_commit():
    undone = []
    with Transaction() as transaction:
        transaction.append(undone.append, 1)
        transaction.commit()
        transaction.append(undone.append, 2)
    assert undone == [2]


def test_append_needs_the_block():
    transaction = Transaction()
    with pytest.raises(RuntimeError, match="with"):
        transaction.append(print)
    with transaction:
        pass
    with pytest.raises(RuntimeError, match="with"):
        transaction.append(print)
    assert transaction.commit() is None


# --- Tuples and sequences --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [(4, (4, 1, 1)), ((), (1, 1, 1)), ((4,), (4, 1, 1)), ((4, 5), (4, 5, 1)), ((4, 5, 6), (4, 5, 6))],
)
def test_cast_to_3_tuple(given, expected):
    assert cast_to_3_tuple("grid", given) == expected


@pytest.mark.parametrize("given", [0, -1, (0,), (1, -1), (1, 1, 1, 1), [1], 1.0, "1", None, (1, None)])
def test_cast_to_3_tuple_rejects(given):
    with pytest.raises(ValueError, match="grid"):
        cast_to_3_tuple("grid", given)


def test_is_sequence():
    assert [is_sequence(x) for x in ([], (), "", range(1), {}, set(), 1, None)] == [True] * 4 + [False] * 4


def test_is_nested_sequence():
    assert [is_nested_sequence(x) for x in ([[1]], [1, ()], ["a"], [], [1], 1)] == [True] * 3 + [False] * 3


# --- precondition ----------------------------------------------------------------------------------


def test_precondition_calls_the_checker_with_the_arguments():
    calls = []

    class Thing:
        def check(self, *args, what, **kwargs):
            calls.append((args, what, kwargs))
            if not args:
                raise LookupError(what)

        @precondition(check, what="Thing")
        def use(self, *args, **kwargs):
            """Use it."""
            return "used"

    assert Thing().use(1, two=2) == "used"
    assert calls == [((1,), "Thing", {"two": 2})]
    assert Thing.use.__doc__ == "Use it."
    with pytest.raises(LookupError, match="Thing"):
        Thing().use()


# --- Forking ---------------------------------------------------------------------------------------


@pytest.fixture
def start_method(monkeypatch):
    """A function that sets the start method for ``multiprocessing``; an earlier warning is forgotten."""
    monkeypatch.delitem(sys.modules, "multiprocessing.resource_tracker", raising=False)
    before = multiprocessing.get_start_method(allow_none=True)
    reset_fork_warning()
    yield lambda chosen: multiprocessing.set_start_method(chosen, force=True)
    multiprocessing.set_start_method(before, force=True)
    reset_fork_warning()


def test_forking_is_warned_about_once(start_method):
    start_method("fork")
    with pytest.warns(UserWarning, match="spawn") as warned:
        check_multiprocessing_start_method()
    assert warned[0].filename == __file__
    with warnings.catch_warnings(record=True) as again:
        check_multiprocessing_start_method()
    assert again == []
    reset_fork_warning()
    with pytest.warns(UserWarning):
        check_multiprocessing_start_method()


@pytest.mark.parametrize("chosen", ["spawn", "forkserver", None])
def test_other_start_methods_do_not_warn(start_method, chosen):
    start_method(chosen)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        check_multiprocessing_start_method()
    # Before Python 3.14, processes are forked unless the program chooses otherwise.
    assert len(warned) == (chosen is None and multiprocessing.get_all_start_methods()[0] == "fork")


@pytest.mark.parametrize(("methods", "count"), [(["spawn"], 0), (["spawn", "fork"], 1), (["fork"], 1), ([], 1)])
def test_only_children_that_may_be_forked_are_warned_about(start_method, monkeypatch, methods, count):
    children = [multiprocessing.get_context(method).Process() for method in methods]
    monkeypatch.setattr(multiprocessing, "active_children", lambda: children)
    start_method(None)
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["fork", "spawn", "forkserver"])
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        check_multiprocessing_start_method()
    assert len(warned) == count


def test_objects_passed_to_a_spawned_process_do_not_warn(start_method):
    start_method("fork")
    multiprocessing.context.set_spawning_popen(object())
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            check_multiprocessing_start_method()
    finally:
        multiprocessing.context.set_spawning_popen(None)
    assert warned == []


@pytest.mark.requires(ipc=True)
def test_queue_of_a_spawn_context_does_not_warn():
    program = (
        "import multiprocessing, warnings\nfrom multiprocessing.reduction import ForkingPickler\n"
        "from cuda.core import Device\ndevice = Device(0)\ndevice.set_current()\n"
        "event = device.create_stream().record(options={{'ipc_enabled': True}})\n"
        "with warnings.catch_warnings(record=True) as warned:\n    warnings.simplefilter('always')\n"
        "    {queue}\n    ForkingPickler.dumps(event)\nprint(len(warned))"
    )
    assert run(program.format(queue="queue = multiprocessing.get_context('spawn').Queue()")) == "0\n"
    is_forked = multiprocessing.get_all_start_methods()[0] == "fork"  # before Python 3.14
    assert run(program.format(queue="pass")) == f"{is_forked:d}\n"


def test_check_does_not_set_the_start_method():
    before = multiprocessing.get_start_method(allow_none=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_multiprocessing_start_method()
    assert multiprocessing.get_start_method(allow_none=True) == before


# --- CUDAWarning -----------------------------------------------------------------------------------


def test_cuda_warning_is_a_runtime_warning_that_python_shows():
    code = "import warnings; from cuda.core import CUDAWarning; warnings.warn('message', CUDAWarning)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "CUDAWarning: message" in result.stderr
    assert issubclass(CUDAWarning, RuntimeWarning)
