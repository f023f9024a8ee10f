# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memoization per context, and contexts for tests."""

from __future__ import annotations

import functools
import gc
import threading

from cuda.core.driver._context import current_context, make_default_context

__all__ = ["clear_context_caches", "context_dependent_memoize", "init_cuda_context_fixture", "mark_cuda_test"]


def context_dependent_memoize(func):
    """Decorate a function so that its results are cached for each context and arguments.

    Parameters
    ----------
    func : callable
        A function of hashable arguments.

    Returns
    -------
    callable
        The function with a cache. It raises TypeError for arguments that are not hashable, and LogicError if no
        context is current.

    Examples
    --------
    >>> @context_dependent_memoize
    ... def get_kernel(dtype):
    ...     return SourceModule(source_for(dtype)).get_function("kernel")
    """
    results: dict = {}
    with _lock:
        _caches.append(results)

    @functools.wraps(func)
    def memoized(*args, **kwargs):
        context = current_context("cuCtxGetCurrent")
        # Contexts of a device are equal, but resources of a detached one are invalid in another.
        known = results.get(id(context))
        if known is None or known[0] is not context:
            drop_detached(results)
            known = results[id(context)] = (context, {})
        key = (args, tuple(sorted(kwargs.items()))) if kwargs else args
        try:
            return known[1][key]
        except KeyError:
            result = known[1][key] = func(*args, **kwargs)
            return result

    return memoized


def clear_context_caches() -> None:
    """Clear the caches of all functions that :func:`context_dependent_memoize` decorates."""
    with _lock:
        caches = list(_caches)
    for results in caches:
        results.clear()


def mark_cuda_test(func):
    """Decorate a test so that it runs in a new context on the default device, which is detached afterwards."""

    @functools.wraps(func)
    def test(*args, **kwargs):
        generator = init_cuda_context_fixture()
        next(generator)
        try:
            return func(*args, **kwargs)
        finally:
            next(generator, None)

    return test


def init_cuda_context_fixture():
    """Create a context on the default device, yield it, and detach it: the body of a pytest fixture.

    Examples
    --------
    >>> @pytest.fixture(autouse=True)
    ... def context():
    ...     yield from init_cuda_context_fixture()
    """
    context = make_default_context()
    try:
        yield context
    finally:
        clear_context_caches()
        if not context._is_detached:
            context.detach()
        gc.collect()


def drop_detached(results: dict) -> None:
    for key, (context, _) in list(results.items()):
        if context._is_detached:
            results.pop(key, None)


_lock = threading.Lock()
_caches: list[dict] = []
