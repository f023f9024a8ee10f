# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Launches over the limits of the device or the kernel."""

import pytest

from cuda.core import CUDAError, LaunchConfig, launch
from support.kernels import compiled

SOURCE = """
extern "C" __global__ void f() {}
extern "C" __global__ void __launch_bounds__(64) small() {}
"""


@pytest.fixture(scope="module")
def code():
    return compiled(SOURCE)


@pytest.mark.parametrize(
    ("name", "sizes", "message"),
    [
        ("f", {"block": 2048}, r"block must have at most 1024 threads in x on this device, but is \(2048, 1, 1\)"),
        ("f", {"block": (1, 1, 65)}, r"block must have at most 64 threads in z on this device, but is \(1, 1, 65\)"),
        ("f", {"block": (32, 64)}, r"block must have at most 1024 threads on this device, but .* has 2048"),
        (
            "f",
            {"grid": (1, 70_000)},
            r"grid must have at most 65535 blocks in y on this device, but is \(1, 70000, 1\)",
        ),
        ("small", {"block": 128}, r"block must have at most 64 threads for this kernel, because of its registers"),
    ],
)
def test_rejected_launch_names_the_size_and_the_limit(device, stream, code, name, sizes, message):
    config = LaunchConfig(**{"grid": 1, "block": 1, **sizes})
    with pytest.raises(CUDAError, match=message):
        launch(stream, config, code.get_kernel(name))
