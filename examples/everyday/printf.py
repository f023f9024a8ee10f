# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Print from a kernel."""

from cuda.core import Device, utils

greet = utils.kernel('__global__ void greet(int n) { printf("%d of %d: verified\\n", threadIdx.x, n); }', "greet")
greet(2, grid=1, block=2)
Device().sync()
