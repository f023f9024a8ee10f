# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Signatures of constructors and methods, as help() and editors show them."""

from __future__ import annotations

import inspect
import pydoc
import re

import pytest

import cuda.core
from cuda.core import (
    CachingMemoryResource,
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    LimitingMemoryResource,
    MemoryResource,
    Stream,
)
from cuda.core._utils.signatures import ConstructorSignature
from support import public


def has_signature(function) -> bool:
    try:
        return isinstance(inspect.signature(function), inspect.Signature)
    except (TypeError, ValueError):
        return False


def test_every_public_callable_has_a_signature():
    # Objects of the bindings or the standard library are not checked. An extension type that fails here needs
    # `__signature__ = ConstructorSignature()`, itself or in a base, and a docstring of its `__init__`.
    found = {name: value for name, value in public.values() if callable(value)}
    ours = {name: value for name, value in found.items() if value.__module__.startswith("cuda.core")}
    assert len(ours) > 200
    assert [name for name, value in ours.items() if not has_signature(value)] == []


def test_every_public_method_has_a_signature():
    methods = {(name, method): function for name, cls in public.classes() for method, function in public.methods(cls)}
    assert len(methods) > 200
    assert [name for name, function in methods.items() if not has_signature(function)] == []


def test_signature_of_a_launch_configuration_has_its_fields():
    signature = inspect.signature(LaunchConfig)
    assert list(signature.parameters) == [
        "grid", "cluster", "block", "shmem_size", "is_cooperative", "programmatic_stream_serialization",
        "cluster_scheduling_policy_preference", "priority", "attributes",
    ]  # fmt: skip
    assert signature.parameters["is_cooperative"].default is False
    assert signature.parameters["shmem_size"].annotation == "int | None"
    assert signature.bind(grid=1, block=2).arguments == {"grid": 1, "block": 2}
    # Since Python 3.13, each parameter has its own line.
    text = " ".join(pydoc.render_doc(LaunchConfig, renderer=pydoc.plaintext).replace("|", " ").split())
    assert "LaunchConfig(grid: " in text.replace("( ", "(")


def test_keyword_only_arguments_are_shown():
    parameters = inspect.signature(CachingMemoryResource).parameters
    assert list(parameters) == ["upstream", "max_cached_bytes"]
    assert parameters["max_cached_bytes"].kind is inspect.Parameter.KEYWORD_ONLY
    assert parameters["upstream"].default is inspect.Parameter.empty


def test_classes_that_only_factories_make_have_an_open_signature():
    assert str(inspect.signature(Stream)) == "(*args, **kwargs)"
    assert str(inspect.signature(cuda.core.ManagedBuffer)) == "(*args, **kwargs)"


def test_subclasses_have_their_own_constructor_signature():
    class Plain(MemoryResource):
        pass

    class Own(MemoryResource):
        def __init__(self, size, *, name=None):
            pass

    class New(MemoryResource):
        def __new__(cls, place=3):
            return super().__new__(cls)

    class Below(Own):
        pass

    class Cached(CachingMemoryResource):
        pass

    assert str(inspect.signature(Plain)) == "()"
    assert str(inspect.signature(Own)) == str(inspect.signature(Below)) == "(size, *, name=None)"
    assert str(inspect.signature(New)) == "(place=3)"
    assert inspect.signature(Cached) == inspect.signature(CachingMemoryResource)
    assert list(inspect.signature(LimitingMemoryResource).parameters) == ["upstream", "limit"]
    assert str(inspect.signature(Device)) == "(device_id=None)"


def test_instances_have_no_signature():
    with pytest.raises(AttributeError, match="'LaunchConfig' object has no attribute '__signature__'"):
        LaunchConfig(grid=1, block=1).__signature__  # noqa: B018


def test_constructor_without_a_docstring_is_left_to_inspect():
    class Foreign(list):
        __signature__ = ConstructorSignature()

    with pytest.raises(AttributeError, match="'Foreign' object has no attribute '__signature__'"):
        Foreign.__signature__  # noqa: B018


def callables():
    """Yield the public functions, constructors and class methods that do not take any keyword."""
    for name, value in public.values():
        if not callable(value) or not (value.__module__ or "").startswith("cuda.core"):
            continue
        own = vars(value).items() if isinstance(value, type) else ()
        makers = [(f"{name}.{key}", getattr(value, key)) for key, made in own if isinstance(made, classmethod)]
        for label, function in [(name, value), *makers]:
            kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
            # As in the official package, resources without options ignore what they are given.
            if inspect.Parameter.VAR_KEYWORD not in kinds and function not in (
                MemoryResource,
                LegacyPinnedMemoryResource,
            ):
                yield label, function


def test_unknown_keyword_is_named():
    functions = dict(callables())
    assert len(functions) > 200
    answers = {}
    for name, function in functions.items():
        with pytest.raises((TypeError, RuntimeError)) as raised:
            function(no_such_word=1)
        answers[name] = str(raised.value)
    expected = re.compile("no_such_word|takes no arguments|constructed directly")
    assert {name: text for name, text in answers.items() if not expected.search(text)} == {}
