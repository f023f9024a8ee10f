# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The behavior of all resources: identity, closing, references, pickling."""

import copy
import gc
import pickle
import weakref

import pytest

from cuda.core import _module
from support import contract, public
from support.capabilities import capabilities
from support.samples import SAMPLES, class_of


def _marks(name):
    sample = SAMPLES[name]
    return pytest.mark.requires(device=True, nvrtc=True, **sample.needs) if sample.needs_device else ()


def samples(**wanted):
    """Parametrize over the samples whose fields have these values."""
    chosen = [name for name, sample in SAMPLES.items() if all(getattr(sample, k) == v for k, v in wanted.items())]
    return pytest.mark.parametrize(
        "name",
        [pytest.param(name, marks=_marks(name)) for name in chosen],
    )


@samples()
def test_repr_names_the_class(name):
    text = repr(SAMPLES[name].make())
    assert name in text and " object at " not in text


@samples(closes=True)
def test_repr_of_a_closed_object_says_so(name):
    sample = SAMPLES[name].make()
    text = repr(sample)
    sample.close()
    assert repr(sample) != text
    assert name in repr(sample) and ("closed" in repr(sample) or "=0x0" in repr(sample))


def test_every_public_class_has_a_repr():
    classes = {name: cls for name, cls in public.classes() if not getattr(cls, "_is_protocol", False)}
    assert len(classes) > 200
    assert [name for name, cls in classes.items() if cls.__repr__ is object.__repr__] == []


@samples()
def test_object_is_equal_to_itself_and_not_to_others(name):
    sample = SAMPLES[name].make()
    assert sample == sample
    assert sample != object()
    assert sample.__eq__(3) is NotImplemented
    assert hash(sample) == hash(sample)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=_marks(name)) for name, sample in SAMPLES.items() if sample.again],
)
def test_two_objects_of_one_resource_are_equal(name):
    sample = SAMPLES[name].make()
    twin = SAMPLES[name].again(sample)
    assert twin == sample
    assert hash(twin) == hash(sample)


@samples()
def test_objects_can_be_referenced_weakly(name):
    sample = SAMPLES[name].make()
    reference = weakref.ref(sample)
    assert reference() is sample


@samples(closes=True)
def test_unreferenced_object_is_destroyed_immediately(name):
    sample = SAMPLES[name].make()
    reference = weakref.ref(sample)
    del sample
    assert reference() is None


@samples(closes=True)
def test_close_can_be_repeated(name):
    sample = SAMPLES[name].make()
    assert not sample.is_closed
    sample.close()
    sample.close()
    assert sample.is_closed
    assert isinstance(repr(sample), str)
    assert sample == sample
    assert isinstance(hash(sample), int)


@samples(closes=True)
def test_closed_object_rejects_work(name):
    sample = SAMPLES[name].make()
    sample.close()
    with pytest.raises(RuntimeError, match="closed"):
        SAMPLES[name].use(sample)


@pytest.mark.parametrize("name", ["Stream", "Event", "Buffer"])
@pytest.mark.requires(device=True)
def test_with_closes(name):
    with SAMPLES[name].make() as sample:
        assert not sample.is_closed
    assert sample.is_closed


@pytest.mark.parametrize("name", ["Stream", "Event", "Buffer"])
@pytest.mark.requires(device=True)
def test_with_closes_and_does_not_swallow_exceptions(name):
    sample = SAMPLES[name].make()
    with pytest.raises(KeyError), sample:
        raise KeyError
    assert sample.is_closed


@pytest.mark.parametrize("name", [name for name, sample in SAMPLES.items() if not sample.is_direct])
def test_direct_construction_raises_and_names_the_method_to_use(name):
    kind = class_of(name)
    for arguments in [(), (1,), (1, 2, 3)]:
        with pytest.raises(RuntimeError, match="use"):
            kind(*arguments)


@pytest.mark.parametrize("name", ["Context", "Stream", "Event", "Kernel", "LaunchConfig", "Program"])
@pytest.mark.requires(device=True, nvrtc=True)
def test_objects_of_this_process_are_not_pickled(name):
    with pytest.raises(TypeError):
        pickle.dumps(SAMPLES[name].make())


@pytest.mark.parametrize("name", ["ComputeCapability", "ParamInfo", "MaxPotentialBlockSizeOccupancyResult"])
def test_named_tuples_are_pickled(name):
    cls = getattr(contract if name == "ComputeCapability" else _module, name)
    again = pickle.loads(pickle.dumps(cls(9, 1)))
    assert again == (9, 1) and type(again) is cls


@pytest.mark.requires(device=True)
def test_device_pickles_to_the_same_device(device):
    assert pickle.loads(pickle.dumps(device)) == device
    assert copy.copy(device) == device


@pytest.mark.requires(device=True, nvrtc=True)
def test_uninitialized_objects_do_not_crash():
    # __new__ alone creates an object without a resource: each member may raise, but must not crash.
    for name in SAMPLES:
        kind = class_of(name)
        try:
            empty = kind.__new__(kind)
        except TypeError:
            continue
        for attribute in dir(kind):
            if attribute.startswith("__") and attribute not in ("__repr__", "__hash__", "__cuda_stream__"):
                continue
            try:
                value = getattr(empty, attribute)
                if attribute in ("__repr__", "__hash__", "__cuda_stream__", "close", "sync"):
                    value()
            except Exception as error:
                assert not isinstance(error, SystemError), (name, attribute)
    gc.collect()
    assert capabilities().device_count > 0
