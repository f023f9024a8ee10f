# SPDX-FileCopyrightText: Copyright (c) 2026 The cuda.core developers
# SPDX-License-Identifier: Apache-2.0
"""Explanations of launches that the driver refused: grid and block dimensions above the limits."""

from __future__ import annotations

import math

from cuda.core._handles import _late

__all__ = ["exceeded_limit"]

AXES = "xyz"


def exceeded_limit(kernel, config, device_id: int) -> str:
    """Return a message about the first dimension above a limit of the device or the kernel; empty if there is none."""
    properties = _late.device_of(device_id).properties
    grid = config.grid
    if config.cluster is not None:
        grid = tuple(size * blocks for size, blocks in zip(grid, config.cluster, strict=True))
    for name, unit, sizes in (("block", "threads", config.block), ("grid", "blocks", grid)):
        for axis, size in zip(AXES, sizes, strict=True):
            limit = getattr(properties, f"max_{name}_dim_{axis}")
            if size > limit:
                return f"{name} must have at most {limit} {unit} in {axis} on this device, but is {sizes}"
    threads = math.prod(config.block)
    limit = properties.max_threads_per_block
    if threads > limit:
        return f"block must have at most {limit} threads on this device, but {config.block} has {threads}"
    limit = kernel.attributes[device_id].max_threads_per_block
    if threads > limit:
        return (
            f"block must have at most {limit} threads for this kernel, because of its registers or its "
            f"__launch_bounds__, but {config.block} has {threads}"
        )
    return ""
