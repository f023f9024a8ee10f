# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory, kernels and builders for graphs."""

import pytest

from support import captured_work, graph_work


@pytest.fixture(scope="module")
def kernels():
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    return graph_work.kernels(device)


@pytest.fixture
def memory(stream):
    return graph_work.Memory(stream)


@pytest.fixture
def kernel(kernels):
    """The kernels of graph_work.SOURCE by name, as a function."""
    return kernels.__getitem__


@pytest.fixture
def builder(device):
    """A builder that has not begun; closed at the end."""
    with device.create_graph_builder() as builder:
        yield builder


@pytest.fixture
def step(device):
    """A captured function: y += a * x, `times` times."""
    return captured_work.make_step()


@pytest.fixture
def data_step(device):
    """A captured function: y += a * x, with the pointers and the factor as data."""
    return captured_work.make_data_step()
