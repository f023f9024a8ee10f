# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Memory and kernels for graphs."""

import pytest

from support import graph_work


@pytest.fixture(scope="module")
def kernels():
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    return graph_work.kernels(device)


@pytest.fixture
def memory(stream):
    return graph_work.Memory(stream)
