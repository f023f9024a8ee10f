# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Host, which names the host or one of its NUMA nodes as a location of memory."""

import copy
import pickle
import weakref

import pytest

from cuda.core import Host
from support.threads import COUNT, run_in_threads


def test_equal_arguments_return_the_same_object():
    assert Host() is Host(None)
    assert Host(1) is Host(numa_id=1)
    assert Host.numa_current() is Host(is_numa_current=True)
    forms = {Host(), Host(0), Host(1), Host.numa_current()}
    assert len(forms) == 4


def test_attributes_and_repr_tell_the_location():
    assert (Host().numa_id, Host().is_numa_current) == (None, False)
    assert (Host(2).numa_id, Host(2).is_numa_current) == (2, False)
    assert (Host.numa_current().numa_id, Host.numa_current().is_numa_current) == (None, True)
    assert [repr(host) for host in (Host(), Host(2), Host.numa_current())] == [
        "Host()",
        "Host(numa_id=2)",
        "Host.numa_current()",
    ]


@pytest.mark.parametrize("numa_id", [-1, True, 1.0, "1"])
def test_bad_numa_ids_are_rejected(numa_id):
    with pytest.raises(ValueError, match="numa_id"):
        Host(numa_id)


def test_node_and_current_exclude_each_other():
    with pytest.raises(ValueError, match="is_numa_current"):
        Host(1, is_numa_current=True)


@pytest.mark.parametrize("host", [Host(), Host(1), Host.numa_current()])
def test_pickle_and_copy_return_the_same_object(host):
    assert pickle.loads(pickle.dumps(host)) is host
    assert copy.copy(host) is host
    assert copy.deepcopy(host) is host


def test_hosts_are_immutable_and_compare_by_value():
    host = Host(1)
    with pytest.raises(AttributeError, match="immutable"):
        host.numa_id = 2
    with pytest.raises(AttributeError, match="immutable"):
        del host._numa_id
    assert host == Host(1)
    assert host != Host(2)
    assert host != 1
    assert weakref.ref(host)() is host


def test_threads_get_the_same_object():
    found = []
    assert run_in_threads(lambda _: found.append(Host(987))) == []
    assert len(found) == COUNT
    assert len(set(map(id, found))) == 1
