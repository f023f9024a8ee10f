# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Calls keep their operands alive, even if the same thread or another one closes them during the call."""

import pytest

from support.closing import (
    PROPERTIES,
    SIZE,
    USES,
    WORKS,
    allocate_closes_the_source,
    closed_by_another_thread,
    export_while_an_argument_closes,
    launch_with_an_argument_that_closes,
    use_while_the_resource_closes,
)
from support.processes import Child

pytestmark = pytest.mark.requires(device=True)


class Children:
    """A child process, which is replaced if it dies."""

    def __init__(self):
        self.child = None

    def call(self, function, *arguments):
        if self.child is None:
            self.child = Child()
        try:
            return self.child.call(function, *arguments)
        except (EOFError, ConnectionError, TimeoutError):
            status, self.child = self.child.stop(), None
            raise AssertionError(f"the child process died with status {status}") from None


@pytest.fixture(scope="module")
def children():
    children = Children()
    yield children
    if children.child is not None:
        assert children.child.stop() == 0


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("closing", PROPERTIES)
def test_resource_property_may_close_the_buffer_during_a_call(children, closing, use):
    outcome = children.call(use_while_the_resource_closes, closing, use)
    assert outcome in OUTCOMES.get(use, TYPES | {"RuntimeError"})


# The types of results, or the exceptions.
TYPES = {"bytes", "PyCapsule", "tuple", "Buffer", "ndarray", "NoneType", "StridedMemoryView", "bool", "int"}
OUTCOMES = {
    # The memory is not managed; this is checked before or after the buffer is closed.
    "prefetch": {"ValueError", "RuntimeError"},
}


@pytest.mark.parametrize("argument", ["dl_device", "copy", "max_version"])
def test_export_keeps_memory_of_a_buffer_closed_by_an_argument(children, argument):
    outcome = children.call(export_while_an_argument_closes, argument)
    assert outcome == ("PyCapsule", True, True)


def test_copy_reads_a_source_closed_by_the_target_allocation(children):
    assert children.call(allocate_closes_the_source) == (b"\x07" * SIZE, 1)


@pytest.mark.parametrize("bound", [False, True], ids=["launch", "bound kernel"])
def test_launch_keeps_objects_that_one_of_its_arguments_closes(children, bound):
    stored, are_closed, frees = children.call(launch_with_an_argument_that_closes, bound)
    assert stored == 42
    assert are_closed == [True] * 4
    assert frees == [0, 1]


@pytest.mark.requires(cuda=(12, 4))
@pytest.mark.parametrize("work", WORKS)
def test_other_threads_close_the_objects_of_a_call(children, work):
    outcomes = children.call(closed_by_another_thread, work, 0.3)
    failed = {name for name in outcomes if name != "done"}
    assert failed <= {f"this {name} is closed" for name in ("Stream", "Event", "Buffer", "Kernel", "ObjectCode")}
