# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Results cached per context."""

import pytest

import cuda.core.driver as drv
from cuda.core.driver import tools
from cuda.core.driver.tools import drop_detached

pytestmark = pytest.mark.usefixtures("context")


def test_results_are_cached_per_context_and_arguments():
    calls = []

    @tools.context_dependent_memoize
    def function(*args, **kwargs):
        """Count."""
        calls.append((args, kwargs))
        return len(calls)

    assert function.__name__ == "function" and function.__doc__ == "Count."
    assert [function(1), function(1), function(2), function(1, a=3), function(1, a=3)] == [1, 1, 2, 3, 3]
    context = drv.Device(0).make_context()
    assert [function(1), function(1)] == [4, 4]
    context.detach()
    assert function(1) == 1
    other = drv.Device(0).make_context()
    assert function(1) == 5
    other.detach()
    tools.clear_context_caches()
    assert function(1) == 6
    with pytest.raises(TypeError, match="unhashable"):
        function([1])


def test_results_of_detached_contexts_are_dropped():
    context = drv.Device(0).make_context()
    results = {1: (context, {}), 2: (drv.Context.get_current(), {})}
    context.detach()
    drop_detached(results)
    assert results == {}


def test_mark_cuda_test_runs_a_function_in_its_own_context():
    before = drv.Context.get_current()

    @tools.mark_cuda_test
    def test(number):
        inside = drv.Context.get_current()
        assert inside is not before
        return inside, number

    inside, number = test(3)
    assert number == 3 and drv.Context.get_current() is before
    with pytest.raises(drv.LogicError, match="detached"):
        inside.push()

    @tools.mark_cuda_test
    def failing():
        drv.Context.get_current().detach()
        raise KeyError("seen")

    with pytest.raises(KeyError, match="seen"):
        failing()
    assert drv.Context.get_current() is before


def test_fixture_makes_a_context_and_ends_it():
    generator = tools.init_cuda_context_fixture()
    context = next(generator)
    assert drv.Context.get_current() is context
    assert next(generator, "end") == "end"
    assert drv.Context.get_current() is not context
