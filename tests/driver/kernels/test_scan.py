# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Scan kernels: tiles, and tiles of tiles."""

import numpy as np
import pytest

from cuda.core.driver import gpuarray
from cuda.core.driver._array_base import array_device
from cuda.core.driver.scan import BLOCK, Scan

pytestmark = pytest.mark.usefixtures("context")


def test_sums_of_many_tiles_are_scanned_in_tiles_again():
    scan = Scan("deep", "long", 8, "a + b", None, "", "", None, False)
    size = scan.tile**2 + 5
    d, sizes, memory = gpuarray.zeros(size, "i8").fill(1), [], []

    def allocate(nbytes):
        sizes.append(nbytes)
        memory.append(gpuarray.GPUArray(nbytes, "u1"))
        return memory[-1], memory[-1].ptr

    kept = scan.launch(array_device().arch, None, size, d.ptr, d.ptr, allocate)
    assert sizes == [8 * (scan.tile + 1), 16] and kept == memory
    host = d.get()
    assert host[-1] == size and (np.diff(host) == 1).all()


def test_wide_elements_have_smaller_tiles():
    tiles = [Scan("s", "t", itemsize, "a", None, "", "", None, False).tile for itemsize in (1, 8, 16, 64, 200)]
    assert tiles == [BLOCK * items for items in (8, 8, 4, 1, 1)]
