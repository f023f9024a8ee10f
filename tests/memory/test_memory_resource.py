# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""The base class of all resources, which refuses the members that a subclass must define."""

import weakref

import pytest

from cuda.core import LEGACY_DEFAULT_STREAM, MemoryResource
from support.memory import HostMemoryResource


@pytest.mark.parametrize(
    "use",
    [
        lambda mr: mr.allocate(8, stream=LEGACY_DEFAULT_STREAM),
        lambda mr: mr.deallocate(4096, 8, stream=LEGACY_DEFAULT_STREAM),
        lambda mr: mr.is_device_accessible,
        lambda mr: mr.is_host_accessible,
        lambda mr: mr.device_id,
    ],
)
def test_resource_without_members_refuses_everything(use):
    class Incomplete(MemoryResource):
        pass

    for mr in (MemoryResource(), Incomplete()):
        with pytest.raises(TypeError, match=type(mr).__name__):
            use(mr)
    assert MemoryResource().is_managed is False


def test_resources_compare_by_identity():
    first, second = HostMemoryResource(), HostMemoryResource()
    assert first == first
    assert first != second
    assert len({first, second}) == 2
    assert weakref.ref(first)() is first


def test_error_names_the_class_and_the_missing_member():
    class Incomplete(MemoryResource):
        pass

    with pytest.raises(TypeError, match=r"Incomplete must define allocate\(\), as every memory resource does"):
        Incomplete().allocate(8, stream=LEGACY_DEFAULT_STREAM)
