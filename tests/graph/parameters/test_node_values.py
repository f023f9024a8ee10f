# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Operands of nodes: they live as long as a graph or an executable uses them."""

import gc
import weakref

from cuda.core.graph import GraphDefinition
from support.graph_work import Thing, is_released


def test_operand_lives_as_long_as_a_graph_or_executable_uses_it(memory):
    thing = Thing()
    reference = weakref.ref(thing)
    graph = GraphDefinition()
    node = graph.memset(memory.at(0), 1, 4, dst_owner=thing)
    around = GraphDefinition()
    child = around.embed(graph)
    executable = graph.instantiate()
    del thing
    node.destroy()
    gc.collect()
    assert reference() is not None
    executable.close()
    gc.collect()
    assert reference() is not None
    next(iter(child.child_graph.nodes())).destroy()
    assert is_released(reference)


def test_change_keeps_the_owner_of_an_address_that_stays(memory):
    thing = Thing()
    reference = weakref.ref(thing)
    node = GraphDefinition().memset(memory.at(0), 1, 4, dst_owner=thing)
    del thing
    node.update(value=2)
    gc.collect()
    assert reference() is not None
    node.update(dst=memory.at(1))
    assert is_released(reference)
